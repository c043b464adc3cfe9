//! Deletion protection: of any object, by a label that the user sets.

use serde_json::Value;
use windlass_api::labels::{LABEL_DELETION_PROTECTED, VALUE_ALWAYS};
use windlass_object::meta::Meta;

use crate::denied::Denied;

pub(crate) fn check(object: &Value) -> Result<(), Denied> {
    if object.label(LABEL_DELETION_PROTECTED) != Some(VALUE_ALWAYS) {
        return Ok(());
    }
    let message = format!(
        "{} {} is protected from deletion; remove its label {LABEL_DELETION_PROTECTED} first",
        object.kind(),
        windlass_api::names::namespaced(object.namespace(), object.name())
    );
    Err(Denied { webhook: Some("resourcedeletionprotection.karmada.io"), ..Denied::forbidden(message) })
}
