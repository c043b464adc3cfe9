//! Whether a placement differs from the one that was applied. With affinity groups only the one in force counts, so that
//! groups can be added and edited without moving what runs.

use serde_json::Value;
use windlass_api::labels::ANNOTATION_APPLIED_PLACEMENT;
use windlass_object::Meta;
use windlass_object::path::{list_at, str_at};

/// Parts of a placement that always count.
const PARTS: [&str; 4] = ["clusterAffinity", "clusterTolerations", "spreadConstraints", "replicaScheduling"];

/// Whether a binding's placement differs from the one in its annotation in a way that calls for a pass.
pub fn placement_changed(binding: &Value, placement: &Value) -> bool {
    let applied = binding.annotation(ANNOTATION_APPLIED_PLACEMENT).unwrap_or_default();
    if applied.is_empty() {
        return true;
    }
    // What can't be read is not ours to judge.
    let Ok(applied) = serde_json::from_str::<Value>(applied) else { return false };
    let (applied, current) = (canonical(&applied), canonical(placement));
    if applied == current {
        return false;
    }
    if PARTS.iter().any(|part| applied.get(part) != current.get(part)) {
        return true;
    }
    let observed = super::observed_affinity(binding);
    if observed.is_empty() {
        return true;
    }
    match (term(&applied, observed), term(&current, observed)) {
        (Some(before), Some(now)) => before != now,
        _ => true,
    }
}

fn term<'a>(placement: &'a Value, name: &str) -> Option<&'a Value> {
    list_at(placement, &["clusterAffinities"]).iter().find(|term| str_at(term, &["affinityName"]) == name)
}

/// Without fields that say nothing: absent, null, zero and empty texts, lists and maps of labels are the same.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, value)| !says_nothing(key, value))
            .map(|(key, value)| (key.clone(), canonical(value)))
            .collect(),
        Value::Array(items) => items.iter().map(canonical).collect(),
        other => other.clone(),
    }
}

fn says_nothing(key: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => key == "matchLabels" && fields.is_empty(),
        Value::Bool(true) => false,
    }
}
