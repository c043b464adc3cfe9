//! The annotation of client-side apply: kubectl's way over to server-side apply.

use super::collect::collect;
use super::compare::compare;
use super::set::FieldSet;
use super::types::Type;
use serde_json::Value;
use windlass_object::Meta;

/// The manager for whom the annotation is read and rewritten.
pub(super) const KUBECTL: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Fields of the annotation that the live object still holds with the same values.
pub(super) fn unchanged(ty: Type<'_>, live: &Value, api_version: &str) -> Option<FieldSet> {
    let text = live.annotation(ANNOTATION).filter(|text| !text.is_empty())?;
    let last: Value = serde_json::from_str(text).ok()?;
    if last.api_version() != api_version {
        return None;
    }
    let delta = compare(ty, &last, live);
    Some(collect(ty, &last).difference(&delta.changed).difference(&delta.removed))
}

/// Brings the annotation up to date, where there is one.
pub(super) fn rewrite(object: &mut Value, applied: &Value) {
    if object.annotation(ANNOTATION).is_none_or(str::is_empty) {
        return;
    }
    let mut applied = applied.clone();
    applied.remove_annotation(ANNOTATION);
    object.set_annotation(ANNOTATION, &format!("{applied}\n"));
}
