//! Writing a status that several controllers share: only the fields that differ, and conditions, which
//! are one list, only over the list that was read.

use serde_json::{Value, json};
use windlass_object::meta::Meta;
use windlass_object::patch::escape_token;
use windlass_runtime::Objects;
use windlass_runtime::objects::code;

/// How often a status is worked out anew when somebody else was faster.
const ATTEMPTS: usize = 5;

/// A JSON Patch that brings an object's status to `fresh`; nothing if it is there.
pub(crate) fn patch(object: &Value, fresh: &Value) -> Option<Value> {
    let empty = json!({});
    let held = object.get("status").unwrap_or(&empty);
    let (Some(before), Some(after)) = (held.as_object(), fresh.as_object()) else { return None };
    let mut operations = vec![json!({"op": "test", "path": "/metadata/uid", "value": object.uid()})];
    if object.get("status").is_none() {
        if after.is_empty() {
            return None;
        }
        operations.push(json!({"op": "add", "path": "/status", "value": fresh}));
        return Some(Value::Array(operations));
    }
    let path = |field: &str| format!("/status/{}", escape_token(field));
    if after.get("conditions") != before.get("conditions")
        && let Some(conditions) = before.get("conditions")
    {
        operations.push(json!({"op": "test", "path": "/status/conditions", "value": conditions}));
    }
    let guards = operations.len();
    for (field, value) in after {
        if before.get(field) != Some(value) {
            operations.push(json!({"op": "add", "path": path(field), "value": value}));
        }
    }
    for field in before.keys().filter(|field| !after.contains_key(*field)) {
        operations.push(json!({"op": "remove", "path": path(field)}));
    }
    (operations.len() > guards).then_some(Value::Array(operations))
}

/// Brings an object's status to what `compute` makes of the object; reads it anew whenever the write was refused
/// because somebody else was faster. Gives whether anything was written; an object that is gone needs nothing.
///
/// # Errors
/// What the server says.
pub(crate) async fn write(
    objects: &Objects,
    object: &Value,
    mut compute: impl FnMut(&Value) -> Option<Value>,
) -> Result<bool, kube::Error> {
    let mut current = object.clone();
    for attempt in 0..ATTEMPTS {
        let Some(patch) = compute(&current).and_then(|fresh| patch(&current, &fresh)) else {
            return Ok(false);
        };
        match objects.patch_status_json(current.namespace(), current.name(), &patch).await {
            Ok(_) => return Ok(true),
            Err(error) if code(&error) == Some(404) => return Ok(false),
            Err(error) if matches!(code(&error), Some(409 | 422)) && attempt + 1 < ATTEMPTS => {
                match objects.get(current.namespace(), current.name()).await? {
                    Some(fresh) if fresh.uid() == current.uid() => current = fresh,
                    _ => return Ok(false),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_object::patch::apply_json_patch;

    #[test]
    fn only_differences_and_only_over_what_was_read() {
        let mut object = json!({"metadata": {"uid": "u"}, "status": {"conditions": [1], "a": 1, "gone": 2}});
        let fresh = json!({"conditions": [1, 2], "a": 1, "b": 3});
        let patch = patch(&object, &fresh).unwrap();
        apply_json_patch(&mut object, &patch).unwrap();
        assert_eq!(object["status"], fresh);
        assert!(apply_json_patch(&mut object, &patch).is_err(), "the list has changed");
        assert_eq!(super::patch(&object, &fresh), None);
    }
}
