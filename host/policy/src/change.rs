//! What of an update to a template matters: whether there is any, and whether a user made it.

use serde_json::{Map, Value};
use windlass_api::labels::LABEL_SKIP_AUTO_PROPAGATION;

/// Part of every label or annotation key of ours on a template. Keys that begin with `karmada.io/` are a user's business.
const OWN_KEY: &str = ".karmada.io";

/// Whether anything but status and bookkeeping differs.
pub fn differs(old: &Value, new: &Value) -> bool {
    content(old, false) != content(new, false)
}

/// Whether the difference is only what Windlass itself writes: such a change doesn't activate a lazy policy.
pub fn is_own_change(old: &Value, new: &Value) -> bool {
    content(old, true) == content(new, true)
}

/// Everything outside `status` and `metadata`, and what counts of `metadata`. With `strict` also without the generation
/// and without our own labels and annotations.
fn content(object: &Value, strict: bool) -> (Vec<(&String, &Value)>, Map<String, Value>) {
    let fields = object.as_object();
    let body =
        fields.into_iter().flatten().filter(|(key, _)| *key != "status" && *key != "metadata").collect();
    let mut metadata = object.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.remove("managedFields");
    metadata.remove("resourceVersion");
    if strict {
        metadata.remove("generation");
        for field in ["labels", "annotations"] {
            if let Some(map) = metadata.get_mut(field).and_then(Value::as_object_mut) {
                map.retain(|key, _| key == LABEL_SKIP_AUTO_PROPAGATION || !key.contains(OWN_KEY));
                if map.is_empty() {
                    metadata.remove(field);
                }
            }
        }
    }
    (body, metadata)
}
