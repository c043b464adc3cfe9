//! Reading Kubernetes objects out of JSON with errors that name the field, and changing them.

use windlass_sdk::{Map, Value};

/// Why an operation could not be carried out, in words for the object's owner.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// Follows a path of keys. Absent and `null` are the same, as for Go's decoder;
/// something that isn't an object on the way is an error.
pub(crate) fn get<'a>(value: &'a Value, path: &[&str]) -> Result<Option<&'a Value>> {
    let mut at = value;
    for (depth, key) in path.iter().enumerate() {
        match at {
            Value::Object(map) => match map.get(*key) {
                None | Some(Value::Null) => return Ok(None),
                Some(next) => at = next,
            },
            other => return Err(wrong(path.get(..depth).unwrap_or(path), "an object", other)),
        }
    }
    Ok(Some(at))
}

/// An integer, or `None` if absent.
pub(crate) fn int(value: &Value, path: &[&str]) -> Result<Option<i64>> {
    match get(value, path)? {
        None => Ok(None),
        Some(found) => match found.as_i64() {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(path, "an integer", found)),
        },
    }
}

/// A text; empty if absent.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> Result<&'a str> {
    match get(value, path)? {
        None => Ok(""),
        Some(found) => found.as_str().ok_or_else(|| wrong(path, "a string", found)),
    }
}

/// A list; empty if absent.
pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> Result<&'a [Value]> {
    match get(value, path)? {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(found) => Err(wrong(path, "a list", found)),
    }
}

/// An object, or `None` if absent.
pub(crate) fn object<'a>(value: &'a Value, path: &[&str]) -> Result<Option<&'a Map<String, Value>>> {
    match get(value, path)? {
        None => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(found) => Err(wrong(path, "an object", found)),
    }
}

/// The object's status; `None` if it has none yet.
pub(crate) fn status(value: &Value) -> Result<Option<&Map<String, Value>>> {
    object(value, &["status"])
}

fn wrong(path: &[&str], expected: &str, found: &Value) -> String {
    let kind = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let place = if path.is_empty() { "the object".to_owned() } else { path.join(".") };
    format!("{place}: expected {expected}, found {kind}")
}

/// Sets the value at a path, making the objects on the way that are missing.
pub(crate) fn set(object: &mut Value, path: &[&str], value: Value) {
    let mut at = object;
    for key in path {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(map) = at else { return };
        at = map.entry(*key).or_insert(Value::Null);
    }
    *at = value;
}

/// Removes what is at a path, if it is there.
pub(crate) fn remove(object: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    let parent = parents.iter().try_fold(object, |at, key| at.get_mut(*key));
    if let Some(Value::Object(map)) = parent {
        map.remove(*last);
    }
}

/// Sets or removes, as `value` has it.
pub(crate) fn mirror(object: &mut Value, path: &[&str], value: Option<&Value>) {
    match value {
        Some(value) if !value.is_null() => set(object, path, value.clone()),
        _ => remove(object, path),
    }
}
