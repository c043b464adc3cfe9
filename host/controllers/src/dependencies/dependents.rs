//! Which workloads' bindings depend on an object that has changed.

use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_api::labels::ANNOTATION_DEPENDENCIES;
use windlass_object::meta::Meta;
use windlass_object::path::str_at;
use windlass_policy::change;
use windlass_policy::dependencies::means_object;
use windlass_runtime::{Change, Handle, ObjectKey, Queue};

/// Index of bindings: by the namespace and kind of what they depend on.
const BY_DEPENDENCY: &str = "dependency";

/// Bindings, and the queue that they go to.
type Target = (Handle, Queue<ObjectKey>);

/// Brings bindings back when what they depend on changes. Clones are handles to the same.
#[derive(Clone, Default)]
pub(crate) struct Dependents(Arc<Mutex<Option<Target>>>);

/// What is recorded of a binding's dependencies.
fn recorded(binding: &Value) -> Vec<Value> {
    let text = binding.annotation(ANNOTATION_DEPENDENCIES).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

fn place(api_version: &str, kind: &str, namespace: &str) -> String {
    format!("{api_version} {kind} {namespace}")
}

impl Dependents {
    /// Bindings go to this queue from now on.
    pub(super) fn go_to(&self, bindings: &Handle, queue: &Queue<ObjectKey>) {
        bindings.add_index(BY_DEPENDENCY, |binding| {
            let of = |entry: &Value| {
                let part = |key: &str| str_at(entry, &[key]).to_owned();
                place(&part("apiVersion"), &part("kind"), &part("namespace"))
            };
            recorded(binding).iter().map(of).collect()
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((bindings.clone(), queue.clone()));
    }

    /// A possible template was made, changed or deleted.
    pub(crate) fn changed(&self, change: &Change) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (Some((bindings, queue)), Some(object)) = (held, change.object()) else { return };
        if let (Some(old), Some(new)) = (&change.old, &change.new)
            && !change::differs(old, new)
        {
            return;
        }
        let place = place(object.api_version(), object.kind(), object.namespace());
        for binding in bindings.by_index(BY_DEPENDENCY, &place) {
            // By its labels of before it may have been meant, too.
            let versions = [&change.old, &change.new];
            let is_meant = |entry: &Value| {
                versions.iter().copied().flatten().any(|version| means_object(entry, version))
            };
            if recorded(&binding).iter().any(is_meant) {
                queue.add(ObjectKey::of(&binding));
            }
        }
    }
}
