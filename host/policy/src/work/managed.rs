//! Which labels and annotations of a member object are ours: listed on the object itself, so that a key that goes from the
//! template goes from the member too, and a member's own keys stay.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_api::labels::{ANNOTATION_MANAGED_ANNOTATIONS, ANNOTATION_MANAGED_LABELS, LABEL_WORK_ID};
use windlass_object::Meta;
use windlass_object::path::get_mut;

/// Records the keys of every manifest of a Work, and the Work's own id, in that order: annotations, id, labels.
pub fn record_managed_keys(work: &mut Value) {
    let id = work.label(LABEL_WORK_ID).map(str::to_owned);
    let manifests = get_mut(work, &["spec", "workload", "manifests"]).and_then(Value::as_array_mut);
    for manifest in manifests.into_iter().flatten() {
        let mut keys: BTreeSet<&str> = manifest.annotations().map(|(key, _)| key).collect();
        keys.extend([ANNOTATION_MANAGED_ANNOTATIONS, ANNOTATION_MANAGED_LABELS]);
        let keys = join(keys);
        manifest.set_annotation(ANNOTATION_MANAGED_ANNOTATIONS, &keys);
        if let Some(id) = id.as_deref().filter(|id| !id.is_empty()) {
            manifest.set_label(LABEL_WORK_ID, id);
        }
        let keys = join(manifest.labels().map(|(key, _)| key).collect());
        manifest.set_annotation(ANNOTATION_MANAGED_LABELS, &keys);
    }
}

fn join(keys: BTreeSet<&str>) -> String {
    keys.into_iter().collect::<Vec<_>>().join(",")
}
