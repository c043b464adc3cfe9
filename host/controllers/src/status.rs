//! Writing a status that several controllers share: only the fields that differ, and of the conditions, which are one
//! list, only one's own.

use serde_json::{Value, json};
use windlass_object::meta::Meta;
use windlass_object::patch::escape_token;
use windlass_runtime::Objects;
use windlass_runtime::objects::code;

/// How often a status is worked out anew when somebody else was faster.
const ATTEMPTS: usize = 5;

/// The field that is shared.
const CONDITIONS: &str = "conditions";

/// How a condition is added that the object didn't have when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Added {
    /// Only if the list is as it was read: the writer may have added it already, and not know.
    Once,
    /// Whatever others do to the list.
    Anyway,
}

/// A JSON Patch that brings an object's status to `fresh`; nothing if it is there.
pub(crate) fn patch(object: &Value, fresh: &Value) -> Option<Value> {
    patch_as(object, fresh, Added::Once)
}

/// As [`patch`], for a writer that knows what it has written itself (see [`crate::ahead`]).
pub(crate) fn patch_knowing(object: &Value, fresh: &Value) -> Option<Value> {
    patch_as(object, fresh, Added::Anyway)
}

fn patch_as(object: &Value, fresh: &Value, added: Added) -> Option<Value> {
    let empty = json!({});
    let held = object.get("status").unwrap_or(&empty);
    let (Some(before), Some(after)) = (held.as_object(), fresh.as_object()) else { return None };
    let mut operations = vec![json!({"op": "test", "path": "/metadata/uid", "value": object.uid()})];
    if after.contains_key(CONDITIONS) && !before.contains_key(CONDITIONS) {
        // What isn't there can't be tested: somebody may have begun the list since it was read.
        let version = object.resource_version();
        operations.push(json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}));
    }
    if object.get("status").is_none() {
        if after.is_empty() {
            return None;
        }
        operations.push(json!({"op": "add", "path": "/status", "value": fresh}));
        return Some(Value::Array(operations));
    }
    let path = |field: &str| format!("/status/{}", escape_token(field));
    let guards = operations.len();
    for (field, value) in after {
        match (before.get(field), value) {
            (Some(held), value) if held == value => {}
            (Some(Value::Array(held)), Value::Array(wanted)) if field == CONDITIONS => {
                operations.extend(entries(held, wanted, added));
            }
            _ => operations.push(json!({"op": "add", "path": path(field), "value": value})),
        }
    }
    for field in before.keys().filter(|field| !after.contains_key(*field)) {
        operations.push(json!({"op": "remove", "path": path(field)}));
    }
    (operations.len() > guards).then_some(Value::Array(operations))
}

/// Conditions that have changed, each over its own type alone: others may change theirs meanwhile. Only a new one, or
/// one that goes, is written over the list that was read.
fn entries(held: &[Value], wanted: &[Value], added: Added) -> Vec<Value> {
    const LIST: &str = "/status/conditions";
    let type_ = |entry: &Value| entry.get("type").cloned().unwrap_or_default();
    let over_all = json!({"op": "test", "path": LIST, "value": held});
    let in_place =
        wanted.len() >= held.len() && held.iter().zip(wanted).all(|(old, new)| type_(old) == type_(new));
    if !in_place {
        return vec![over_all, json!({"op": "replace", "path": LIST, "value": wanted})];
    }
    let (changed, fresh) = wanted.split_at(held.len());
    let mut operations = Vec::new();
    for (place, (old, new)) in held.iter().zip(changed).enumerate().filter(|(_, (old, new))| old != new) {
        operations.push(json!({"op": "test", "path": format!("{LIST}/{place}/type"), "value": type_(old)}));
        operations.push(json!({"op": "replace", "path": format!("{LIST}/{place}"), "value": new}));
    }
    if !fresh.is_empty() {
        if added == Added::Once {
            operations.insert(0, over_all);
        }
        operations
            .extend(fresh.iter().map(|new| json!({"op": "add", "path": format!("{LIST}/-"), "value": new})));
    }
    operations
}

/// Brings an object's status to what `compute` makes of the object; reads it anew whenever the write was refused
/// because somebody else was faster. Gives whether anything was written; an object that is gone needs nothing.
///
/// # Errors
/// What the server says.
pub(crate) async fn write(
    objects: &Objects,
    object: &Value,
    compute: impl FnMut(&Value) -> Option<Value>,
) -> Result<bool, kube::Error> {
    Ok(written(objects, object, patch, compute).await?.is_some())
}

/// As [`write`], with patches of one's own making; gives the server's answer.
///
/// # Errors
/// What the server says.
pub(crate) async fn written(
    objects: &Objects,
    object: &Value,
    patch: fn(&Value, &Value) -> Option<Value>,
    mut compute: impl FnMut(&Value) -> Option<Value>,
) -> Result<Option<Value>, kube::Error> {
    let mut anew: Option<Value> = None;
    for attempt in 0..ATTEMPTS {
        let current = anew.as_ref().unwrap_or(object);
        let Some(patch) = compute(current).and_then(|fresh| patch(current, &fresh)) else {
            return Ok(None);
        };
        match objects.patch_status_json(current.namespace(), current.name(), &patch).await {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) if code(&error) == Some(404) => return Ok(None),
            Err(error) if matches!(code(&error), Some(409 | 422)) && attempt + 1 < ATTEMPTS => {
                match objects.get(current.namespace(), current.name()).await? {
                    Some(fresh) if fresh.uid() == object.uid() => anew = Some(fresh),
                    _ => return Ok(None),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
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

    #[test]
    fn two_writers_of_conditions_don_t_meet() {
        let entry = |type_: &str, status: &str| json!({"type": type_, "status": status});
        let object = |one: &str, other: &str| json!({"metadata": {"uid": "u"}, "status": {"conditions": [entry("One", one), entry("Other", other)]}});
        let read = object("False", "False");
        let mut live = object("True", "False");
        let patch = patch(&read, &object("False", "True")["status"]).unwrap();
        apply_json_patch(&mut live, &patch).unwrap();
        assert_eq!(live, object("True", "True"));
        // One that is no longer where it was is not written over.
        live["status"]["conditions"] = json!([entry("Other", "False")]);
        assert!(apply_json_patch(&mut live, &patch).is_err());
        // A new one is added whatever became of the others, if its writer knows that it is new.
        let more =
            json!({"conditions": [entry("One", "False"), entry("Other", "False"), entry("New", "True")]});
        let mut live = object("True", "True");
        assert!(apply_json_patch(&mut live, &super::patch(&read, &more).unwrap()).is_err());
        apply_json_patch(&mut live, &patch_as(&read, &more, Added::Anyway).unwrap()).unwrap();
        let wanted = json!([entry("One", "True"), entry("Other", "True"), entry("New", "True")]);
        assert_eq!(live["status"]["conditions"], wanted);
        // The first one is added to no list that another has begun.
        let none = json!({"metadata": {"uid": "u", "resourceVersion": "1"}});
        let first = patch_as(&none, &json!({"conditions": [entry("One", "True")]}), Added::Anyway).unwrap();
        let mut live = none.clone();
        apply_json_patch(&mut live, &first).unwrap();
        live["metadata"]["resourceVersion"] = json!("2");
        assert!(apply_json_patch(&mut live, &first).is_err());
        // One that goes takes the whole list along.
        let less = super::patch(&read, &json!({"conditions": [entry("Other", "False")]})).unwrap();
        let mut live = read.clone();
        apply_json_patch(&mut live, &less).unwrap();
        assert_eq!(live["status"]["conditions"], json!([entry("Other", "False")]));
        assert!(apply_json_patch(&mut object("True", "False"), &less).is_err());
    }
}
