//! What a member's object keeps on update whatever its kind: resourceVersion, finalizers, owners, and the labels and
//! annotations that are not ours (spec 03 §7.3, 06 §1.4).

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use windlass_api::labels::{ANNOTATION_MANAGED_ANNOTATIONS, ANNOTATION_MANAGED_LABELS};
use windlass_object::meta::Meta;

/// Makes `desired` keep what belongs to the member in `observed`.
pub fn retain(desired: &mut Value, observed: &Value) {
    for field in ["resourceVersion", "finalizers", "ownerReferences"] {
        let kept = observed.get("metadata").and_then(|m| m.get(field)).cloned();
        let metadata = desired.metadata_mut();
        match kept {
            Some(value) => metadata.insert(field.into(), value),
            None => metadata.remove(field),
        };
    }
    merge(desired, observed, "annotations", ANNOTATION_MANAGED_ANNOTATIONS);
    merge(desired, observed, "labels", ANNOTATION_MANAGED_LABELS);
}

/// Adds the observed keys that are not desired, but for those that were ours and are desired no more.
fn merge(desired: &mut Value, observed: &Value, field: &str, record: &str) {
    let Some(observed_map) = observed.get("metadata").and_then(|m| m.get(field)).and_then(Value::as_object)
    else {
        return;
    };
    let ours: BTreeSet<&str> = observed.annotation(record).unwrap_or_default().split(',').collect();
    let metadata = desired.metadata_mut();
    let mut merged = match metadata.remove(field) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    for (key, value) in observed_map {
        if !ours.contains(key.as_str()) && !merged.contains_key(key) {
            merged.insert(key.clone(), value.clone());
        }
    }
    if !merged.is_empty() {
        metadata.insert(field.to_owned(), Value::Object(merged));
    }
}
