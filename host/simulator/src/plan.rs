//! What a member's loops decide: pure functions from objects to writes.

pub(crate) mod daemon;
pub(crate) mod deployment;
pub(crate) mod job;
pub(crate) mod pod;
pub(crate) mod replicas;
pub(crate) mod stateful;

use crate::kinds::{Key, Kind};
use serde_json::{Value, json};
use windlass_object::hash::fnv1a32;
use windlass_object::meta::Meta;

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Write {
    /// Makes an object.
    Create(Kind, Value),
    /// Deletes one, at once.
    Delete(Key),
    /// Merges into the object itself, or into a subresource of it.
    Merge(Key, &'static str, Value),
}

/// Characters of generated names: no vowels, so no words.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A short name part made from a number.
pub(crate) fn encode(mut number: u32, length: usize) -> String {
    let mut out = String::new();
    for _ in 0..length {
        let at = number as usize % ALPHABET.len();
        out.push(char::from(ALPHABET.get(at).copied().unwrap_or(b'x')));
        number = (number / 27) ^ (number << 7);
    }
    out
}

/// The name part that stands for a pod template: equal templates, equal names.
pub(crate) fn template_hash(template: &Value) -> String {
    encode(fnv1a32(template.to_string().as_bytes()), 9)
}

/// A reference that makes `owner` the controller of another object.
pub(crate) fn owner(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner.api_version(), "kind": owner.kind(), "name": owner.name(), "uid": owner.uid(),
        "controller": true, "blockOwnerDeletion": true,
    }])
}

/// An integer at a pointer, with a default.
pub(crate) fn int(object: &Value, pointer: &str, default: i64) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(default)
}

/// A pod of a workload's template.
pub(crate) fn pod(workload: &Value, name: &str, labels: &[(&str, &str)]) -> Value {
    let template = workload.pointer("/spec/template").cloned().unwrap_or_default();
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": workload.namespace(), "ownerReferences": owner(workload),
        },
        "spec": template.get("spec").cloned().unwrap_or_else(|| json!({})),
    });
    for field in ["labels", "annotations"] {
        if let Some(entries) =
            template.pointer(&format!("/metadata/{field}")).filter(|found| found.is_object())
        {
            pod.metadata_mut().insert(field.into(), entries.clone());
        }
    }
    for (key, value) in labels {
        pod.set_label(key, value);
    }
    pod
}

/// Whether a pod is ready.
pub(crate) fn is_ready(pod: &Value) -> bool {
    windlass_object::condition::is_true(windlass_object::condition::of(pod), "Ready")
}

/// Whether a pod has ended.
pub(crate) fn is_finished(pod: &Value) -> bool {
    matches!(pod.pointer("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"))
}

/// A merge of `status`, if it differs from what is there. Conditions are compared without their times.
pub(crate) fn status(object: &Value, key: &Key, fresh: Value) -> Option<Write> {
    let held = object.get("status").cloned().unwrap_or_default();
    let same = fresh.as_object().is_none_or(|fields| {
        fields.iter().all(|(name, value)| match (name.as_str(), held.get(name)) {
            ("conditions", Some(old)) => timeless(old) == timeless(value),
            (_, Some(old)) => old == value,
            (_, None) => value.is_null() || value.as_i64() == Some(0),
        })
    });
    (!same).then(|| Write::Merge(key.clone(), "status", json!({ "status": fresh })))
}

fn timeless(conditions: &Value) -> Value {
    let mut conditions = conditions.clone();
    for condition in conditions.as_array_mut().into_iter().flatten() {
        if let Some(map) = condition.as_object_mut() {
            map.retain(|field, _| !field.ends_with("Time"));
        }
    }
    conditions
}
