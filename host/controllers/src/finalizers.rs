//! Taking our finalizers off an object, over the object that was read.

use serde_json::{Value, json};
use windlass_object::meta::Meta;
use windlass_runtime::Objects;
use windlass_runtime::objects::is_not_found;

/// Takes `ours` off an object; one that is gone has none.
///
/// # Errors
/// What the server says.
pub(crate) async fn take_off(objects: &Objects, object: &Value, ours: &[&str]) -> Result<(), kube::Error> {
    let Some(patch) = release(object, ours) else { return Ok(()) };
    match objects.patch_json(object.namespace(), object.name(), &patch).await {
        Err(error) if !is_not_found(&error) => Err(error),
        _ => Ok(()),
    }
}

/// A JSON Patch that leaves all finalizers but `ours`; nothing if none of them is there.
pub(crate) fn release(object: &Value, ours: &[&str]) -> Option<Value> {
    let held = object.finalizers();
    let left: Vec<&str> = held.iter().copied().filter(|finalizer| !ours.contains(finalizer)).collect();
    (left.len() < held.len()).then(|| {
        let mut operations = vec![json!({"op": "test", "path": "/metadata/uid", "value": object.uid()})];
        if !left.is_empty() {
            // Others' may go at the same time, and must not come back.
            operations.push(json!({"op": "test", "path": "/metadata/finalizers", "value": held}));
        }
        operations.push(json!({"op": "add", "path": "/metadata/finalizers", "value": left}));
        Value::Array(operations)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_stay() {
        let object = json!({"metadata": {"uid": "u", "finalizers": ["a", "ours", "b"]}});
        let patch = release(&object, &["ours", "mine"]).unwrap();
        assert_eq!(
            patch[1],
            json!({"op": "test", "path": "/metadata/finalizers", "value": ["a", "ours", "b"]})
        );
        assert_eq!(patch[2]["value"], json!(["a", "b"]));
        let alone = json!({"metadata": {"uid": "u", "finalizers": ["ours"]}});
        assert_eq!(release(&alone, &["ours"]).unwrap()[1]["value"], json!([]));
        assert_eq!(release(&object, &["mine"]), None);
    }
}
