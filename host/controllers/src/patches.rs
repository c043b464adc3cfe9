//! Writing the difference between two versions of an object.

use crate::ahead::Ahead;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::patch::diff;
use windlass_runtime::objects::code;
use windlass_runtime::{Handle, ObjectKey, Objects};

/// How often an object is written again at once when somebody else was faster.
const ATTEMPTS: usize = 5;

/// Makes an object, or patches the one that is known, into what `merge` makes of it; again on what there is now if
/// somebody else was faster. `guards` are the fields that this rests on. Gives the object as written; nothing if there
/// was nothing to write.
///
/// # Errors
/// Those of `merge`, and what the server says.
pub(crate) async fn put<E: From<kube::Error>>(
    ahead: &Ahead,
    (handle, objects): (&Handle, &Objects),
    key: &ObjectKey,
    guards: &[&str],
    mut merge: impl FnMut(Option<&Value>) -> Result<Option<Value>, E>,
) -> Result<Option<Arc<Value>>, E> {
    let (namespace, name) = (key.namespace.as_str(), key.name.as_str());
    let mut held = ahead.get(handle, key);
    for attempt in 0..ATTEMPTS {
        let Some(merged) = merge(held.as_deref())? else { return Ok(None) };
        let written = match &held {
            None => objects.create(&merged).await.map(|answer| ahead.made(handle, answer)),
            Some(held) => {
                let patched = objects.patch_json(namespace, name, &guarded(held, &merged, guards)).await;
                patched.map(|answer| ahead.note(handle, answer))
            }
        };
        match written {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) if attempt + 1 < ATTEMPTS && matches!(code(&error), Some(404 | 409 | 422)) => {
                held = objects.get(namespace, name).await?.map(Arc::new);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Makes `held` what is wanted, while the fields at these pointers are as they were read: those that the decision rests
/// on. What others do elsewhere in the object is no conflict.
pub(crate) fn guarded(held: &Value, wanted: &Value, fields: &[&str]) -> Value {
    let read = |path: &&str| Some(json!({"op": "test", "path": path, "value": held.pointer(path)?}));
    let mut operations: Vec<Value> = fields.iter().filter_map(read).collect();
    if let Value::Array(rest) = diff(held, wanted) {
        operations.extend(rest);
    }
    Value::Array(operations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_object::patch::apply_json_patch;

    #[test]
    fn only_what_the_decision_rests_on_is_guarded() {
        let held = json!({"metadata": {"uid": "u"}, "spec": {"version": 1, "replicas": 1}});
        let wanted = json!({"metadata": {"uid": "u"}, "spec": {"version": 2, "replicas": 3}});
        let patch = guarded(&held, &wanted, &["/metadata/uid", "/spec/version", "/spec/absent"]);
        let mut live = held.clone();
        live["spec"]["clusters"] = json!(["m1"]);
        apply_json_patch(&mut live, &patch).unwrap();
        assert_eq!(live["spec"], json!({"version": 2, "replicas": 3, "clusters": ["m1"]}));
        assert!(apply_json_patch(&mut live, &patch).is_err(), "another version");
    }
}
