//! Single steps of a JSON Patch on a document, by JSON pointer.

use serde_json::Value;

/// The value at a pointer.
pub(super) fn get<'a>(document: &'a Value, path: &str) -> Result<&'a Value, String> {
    lookup(document, path)?.ok_or_else(|| "there is nothing at that path".to_owned())
}

/// The value at a pointer, or nothing if only its last step is missing.
pub(super) fn lookup<'a>(document: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let tokens = tokens(path)?;
    let Some((last, parents)) = tokens.split_last() else { return Ok(Some(document)) };
    let mut at = document;
    for token in parents {
        at = child(at, token)?.ok_or_else(|| format!("its parent {token:?} does not exist"))?;
    }
    child(at, last)
}

/// Adds: inserts into a list, sets in a map, replaces the document for the empty path.
pub(super) fn add(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let Some((parent, last)) = parent(document, path)? else {
        *document = value;
        return Ok(());
    };
    match parent {
        Value::Object(map) => {
            map.insert(last, value);
            Ok(())
        }
        Value::Array(list) => {
            // Here a negative index counts from behind the end: -1 appends.
            let index = if last == "-" { list.len() } else { index(&last, list.len() + 1)? };
            if index > list.len() {
                return Err(format!("index {last} is beyond the list of {}", list.len()));
            }
            list.insert(index, value);
            Ok(())
        }
        other => Err(not_a_container(other)),
    }
}

/// Replaces what is there.
pub(super) fn replace(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let Some((parent, last)) = parent(document, path)? else {
        *document = value;
        return Ok(());
    };
    *child_mut(parent, &last)?.ok_or_else(|| "there is nothing to replace".to_owned())? = value;
    Ok(())
}

/// Removes and returns what is there.
pub(super) fn remove(document: &mut Value, path: &str) -> Result<Value, String> {
    let Some((parent, last)) = parent(document, path)? else { return Ok(document.take()) };
    match parent {
        Value::Object(map) => map.remove(&last).ok_or_else(|| "there is nothing to remove".to_owned()),
        Value::Array(list) => {
            let index = index(&last, list.len())?;
            if index >= list.len() {
                return Err(format!("index {last} is beyond the list of {}", list.len()));
            }
            Ok(list.remove(index))
        }
        other => Err(not_a_container(other)),
    }
}

fn tokens(path: &str) -> Result<Vec<String>, String> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let rest = path.strip_prefix('/').ok_or("a path must be empty or start with \"/\"")?;
    Ok(rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

/// The container that holds the last step, and that step; nothing for the whole document.
fn parent<'a>(document: &'a mut Value, path: &str) -> Result<Option<(&'a mut Value, String)>, String> {
    let mut tokens = tokens(path)?;
    let Some(last) = tokens.pop() else { return Ok(None) };
    let mut at = document;
    for token in &tokens {
        at = child_mut(at, token)?.ok_or_else(|| format!("its parent {token:?} does not exist"))?;
    }
    Ok(Some((at, last)))
}

fn child<'a>(value: &'a Value, token: &str) -> Result<Option<&'a Value>, String> {
    match value {
        Value::Object(map) => Ok(map.get(token)),
        Value::Array(list) => Ok(list.get(index(token, list.len())?)),
        other => Err(not_a_container(other)),
    }
}

fn child_mut<'a>(value: &'a mut Value, token: &str) -> Result<Option<&'a mut Value>, String> {
    match value {
        Value::Object(map) => Ok(map.get_mut(token)),
        Value::Array(list) => {
            let index = index(token, list.len())?;
            Ok(list.get_mut(index))
        }
        other => Err(not_a_container(other)),
    }
}

/// A list index; a negative one counts from `length`.
fn index(token: &str, length: usize) -> Result<usize, String> {
    let number: isize = token.parse().map_err(|_| format!("{token:?} is no list index"))?;
    if number >= 0 {
        return Ok(number.unsigned_abs());
    }
    length
        .checked_sub(number.unsigned_abs())
        .ok_or_else(|| format!("index {token} is before the start of the list"))
}

fn not_a_container(value: &Value) -> String {
    format!("its parent is {}, not a map or a list", super::type_name(value))
}
