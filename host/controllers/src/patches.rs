//! Patches of the difference between two versions of an object.

use serde_json::{Value, json};
use windlass_object::patch::diff;

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
