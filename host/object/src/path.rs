//! Reaching into objects: plain paths of field names, and Kubernetes' JSONPath dialect for printer columns and field references.

use std::fmt;

use jsonpath_rust::parser::{model::JpQuery, parse_json_path};
use jsonpath_rust::query::js_path_process;
use serde_json::{Map, Value};

mod dialect;

/// The value at a path of field names; a number indexes a list.
pub fn get<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |at, step| match at {
        Value::Object(map) => map.get(*step),
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The string at a path, empty if there is none.
pub fn str_at<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    get(value, path).and_then(Value::as_str).unwrap_or_default()
}

/// The integer at a path.
pub fn i64_at(value: &Value, path: &[&str]) -> Option<i64> {
    get(value, path).and_then(Value::as_i64)
}

/// The flag at a path, false if there is none.
pub fn bool_at(value: &Value, path: &[&str]) -> bool {
    get(value, path).and_then(Value::as_bool).unwrap_or_default()
}

/// The list at a path, empty if there is none.
pub fn list_at<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    get(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The value at a path, to change it.
pub fn get_mut<'a>(value: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |at, step| match at {
        Value::Object(map) => map.get_mut(*step),
        Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Sets the value at a path of field names, making maps on the way; false if something that is no map stands in the way.
pub fn set(value: &mut Value, path: &[&str], new: Value) -> bool {
    let mut at = value;
    for step in path {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        at = match at {
            Value::Object(map) => map.entry(*step).or_insert(Value::Null),
            Value::Array(list) => match step.parse::<usize>().ok().and_then(|index| list.get_mut(index)) {
                Some(item) => item,
                None => return false,
            },
            _ => return false,
        };
    }
    *at = new;
    true
}

/// Removes and returns the field at a path of field names.
pub fn remove(value: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parent) = path.split_last()?;
    get_mut(value, parent)?.as_object_mut()?.remove(*last)
}

/// Why a JSONPath was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("JSONPath {path:?}: {reason}")]
pub struct JsonPathError {
    /// The path as given.
    pub path: String,
    /// What is wrong with it.
    pub reason: String,
}

/// A compiled JSONPath in Kubernetes' dialect: an optional pair of braces, no leading `$` needed, `\.` escapes dots in names.
#[derive(Clone, Debug)]
pub struct JsonPath {
    source: String,
    query: JpQuery,
}

impl JsonPath {
    /// Compiles a path.
    pub fn compile(path: &str) -> Result<Self, JsonPathError> {
        let refuse = |reason: String| JsonPathError { path: path.to_owned(), reason };
        let standard = dialect::translate(path).map_err(refuse)?;
        let query = parse_json_path(&standard).map_err(|error| refuse(error.to_string()))?;
        Ok(Self { source: path.to_owned(), query })
    }

    /// All values that the path selects, in document order; none where a field is missing.
    pub fn eval(&self, value: &Value) -> Vec<Value> {
        self.eval_ref(value).into_iter().cloned().collect()
    }

    /// [`JsonPath::eval`] without copies.
    pub fn eval_ref<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        js_path_process(&self.query, value)
            .map(|found| found.into_iter().map(|item| item.val()).collect())
            .unwrap_or_default()
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_paths() {
        let mut value = json!({"spec": {"replicas": 3, "list": [{"a": "x"}], "on": true}});
        assert_eq!(i64_at(&value, &["spec", "replicas"]), Some(3));
        assert_eq!(str_at(&value, &["spec", "list", "0", "a"]), "x");
        assert_eq!(list_at(&value, &["spec", "list"]).len(), 1);
        assert!(bool_at(&value, &["spec", "on"]) && !bool_at(&value, &["spec", "off"]));
        assert!(set(&mut value, &["status", "deep", "er"], json!(1)));
        assert!(!set(&mut value, &["spec", "replicas", "x"], json!(1)));
        assert_eq!(remove(&mut value, &["status", "deep", "er"]), Some(json!(1)));
        assert_eq!(remove(&mut value, &["status", "gone"]), None);
    }
}
