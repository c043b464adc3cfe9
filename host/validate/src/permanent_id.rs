//! Permanent ids: a random UUID in a label, set by us, never changed.

use serde_json::Value;
use windlass_object::meta::Meta;

use crate::admit::Write;
use crate::denied::Denied;

/// Sets the label if it is missing or empty.
pub(crate) fn ensure(object: &mut Value, label: &str) {
    if object.label(label).unwrap_or_default().is_empty() {
        renew(object, label);
    }
}

/// Sets the label to a new id, whatever it was.
pub(crate) fn renew(object: &mut Value, label: &str) {
    object.set_label(label, &uuid::Uuid::new_v4().to_string());
}

/// On update: an absent label comes back, a missing one is made, another value is refused.
pub(crate) fn keep(write: &Write<'_>, object: &mut Value, label: &str) -> Result<(), Denied> {
    let stored = write.old.and_then(|old| old.label(label)).unwrap_or_default();
    let submitted = object.label(label).unwrap_or_default();
    if submitted.is_empty() {
        match stored {
            "" => renew(object, label),
            stored => object.set_label(label, stored),
        }
        return Ok(());
    }
    if !stored.is_empty() && submitted != stored {
        return Err(Denied::forbidden(format!(
            "label {label} is {stored:?} and can't be changed to {submitted:?}: it is set by the system"
        )));
    }
    Ok(())
}
