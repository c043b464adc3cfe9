//! JSON Patch and JSON merge patch, in the dialect of the Kubernetes API server: negative indices count from the end,
//! `add` needs its parent, `replace` and `remove` need their target, the path `""` is the whole document.

use serde_json::Value;

mod pointer;

/// Operations that one JSON Patch may have, as kube-apiserver allows.
pub const MAX_OPERATIONS: usize = 10_000;

/// Bytes that all `copy` operations of one JSON Patch may copy: a few of them, each of what those before it made, would
/// otherwise double a document until memory ends. What one request body may have, as kube-apiserver allows.
pub const MAX_COPIED: usize = 3 << 20;

/// Why a patch was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The patch is not a list of operations.
    #[error("a JSON Patch must be a list of operations, got {0}")]
    NotAList(&'static str),
    /// It has too many operations.
    #[error("the allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {0}")]
    TooLong(usize),
    /// An operation lacks a field or has a wrong one.
    #[error("operation {index} of the JSON Patch: {reason}")]
    Malformed {
        /// Position in the patch.
        index: usize,
        /// What is wrong.
        reason: String,
    },
    /// An operation does not apply to this document.
    #[error("operation {index} of the JSON Patch: {op} {path:?}: {reason}")]
    Failed {
        /// Position in the patch.
        index: usize,
        /// The operation.
        op: String,
        /// Its path.
        path: String,
        /// Why it does not apply.
        reason: String,
    },
    /// A `test` operation found something else.
    #[error("operation {index} of the JSON Patch: test of {path:?} failed")]
    TestFailed {
        /// Position in the patch.
        index: usize,
        /// Its path.
        path: String,
    },
}

/// Applies an RFC 6902 patch, all of it or nothing.
pub fn apply_json_patch(document: &mut Value, patch: &Value) -> Result<(), PatchError> {
    *document = json_patched(document.clone(), patch)?;
    Ok(())
}

/// The same for a document that nobody needs if the patch is refused: it is not copied.
pub fn json_patched(mut document: Value, patch: &Value) -> Result<Value, PatchError> {
    let Value::Array(operations) = patch else { return Err(PatchError::NotAList(type_name(patch))) };
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooLong(operations.len()));
    }
    let mut budget = MAX_COPIED;
    for (index, operation) in operations.iter().enumerate() {
        apply_one(&mut document, index, operation, &mut budget)?;
    }
    Ok(document)
}

/// Applies an RFC 7396 merge patch.
pub fn apply_merge_patch(document: &mut Value, patch: &Value) {
    json_patch::merge(document, patch);
}

/// The RFC 6902 patch that turns `a` into `b`; an empty list if they are equal.
pub fn diff(a: &Value, b: &Value) -> Value {
    serde_json::to_value(json_patch::diff(a, b)).unwrap_or_else(|_| Value::Array(Vec::new()))
}

/// The RFC 7396 merge patch that turns `a` into `b`, where one exists (`b` has no nulls in maps that `a` lacks).
pub fn merge_diff(a: &Value, b: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (a, b) else { return b.clone() };
    let mut patch = serde_json::Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        match old.get(key) {
            Some(before) if before == value => {}
            Some(before @ Value::Object(_)) if value.is_object() => {
                patch.insert(key.clone(), merge_diff(before, value));
            }
            _ => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(patch)
}

/// Escapes a field name as one token of a JSON pointer.
pub fn escape_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn apply_one(
    document: &mut Value,
    index: usize,
    operation: &Value,
    budget: &mut usize,
) -> Result<(), PatchError> {
    let malformed = |reason: &str| PatchError::Malformed { index, reason: reason.to_owned() };
    let field = |name: &str| operation.get(name).and_then(Value::as_str);
    let op = field("op").ok_or_else(|| malformed("it has no string \"op\""))?;
    let path = field("path").ok_or_else(|| malformed("it has no string \"path\""))?;
    let failed =
        |reason: String| PatchError::Failed { index, op: op.to_owned(), path: path.to_owned(), reason };
    // A missing value counts as null, as the reference sends null for it.
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    let from = || field("from").ok_or_else(|| malformed("it has no string \"from\""));
    match op {
        "add" => pointer::add(document, path, value()).map_err(failed),
        "replace" => pointer::replace(document, path, value()).map_err(failed),
        "remove" => pointer::remove(document, path).map(drop).map_err(failed),
        "copy" => {
            let copied = pointer::get(document, from()?).map_err(failed)?;
            *budget = budget
                .checked_sub(size(copied))
                .ok_or_else(|| failed(format!("all copies together are larger than {MAX_COPIED} bytes")))?;
            let copied = copied.clone();
            pointer::add(document, path, copied).map_err(failed)
        }
        "move" => {
            let from = from()?;
            if path.strip_prefix(from).is_some_and(|rest| rest.starts_with('/')) {
                return Err(failed(format!("{from:?} cannot be moved into itself")));
            }
            let moved = pointer::remove(document, from).map_err(failed)?;
            pointer::add(document, path, moved).map_err(failed)
        }
        "test" => {
            let wanted = operation.get("value").unwrap_or(&Value::Null);
            let found = pointer::lookup(document, path).map_err(failed)?;
            if found.unwrap_or(&Value::Null) == wanted {
                Ok(())
            } else {
                Err(PatchError::TestFailed { index, path: path.to_owned() })
            }
        }
        other => {
            Err(malformed(&format!("unknown op {other:?}; use add, remove, replace, move, copy or test")))
        }
    }
}

/// About how many bytes a value has as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(key, value)| key.len() + 4 + size(value)).sum::<usize>()
        }
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn copies_of_copies_end() {
        let mut operations = vec![json!({"op": "add", "path": "/data/b", "value": "x".repeat(1000)})];
        operations
            .extend((0..40).map(|n| json!({"op": "copy", "from": "/data", "path": format!("/data/c{n}")})));
        let error = json_patched(json!({"data": {}}), &Value::Array(operations)).unwrap_err();
        assert!(error.to_string().contains("all copies together are larger"), "{error}");
        let many = vec![json!({"op": "remove", "path": "/a"}); MAX_OPERATIONS + 1];
        assert_eq!(
            json_patched(json!({}), &Value::Array(many)),
            Err(PatchError::TooLong(MAX_OPERATIONS + 1))
        );
    }
}
