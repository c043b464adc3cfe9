//! Metadata, which all kinds share.

use super::check::{Check, IMMUTABLE, entries, look};
use super::names;
use crate::builtin::table;
use crate::field_error::{FieldError, Reason};
use serde_json::Value;
use windlass_object::{Gvk, Meta, path};

/// All annotations of an object together.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// The metadata of an object. Of custom resources as well, whose scope the caller knows.
pub(super) fn metadata(gvk: &Gvk, object: &Value, check: &mut Check) {
    let (name, prefix) = (object.name(), path::str_at(object, &["metadata", "generateName"]));
    if !prefix.is_empty() {
        for detail in names::prefix(gvk, prefix) {
            check.invalid("metadata.generateName", prefix, detail);
        }
    }
    if name.is_empty() {
        if prefix.is_empty() {
            check.required("metadata.name", "name or generateName is required");
        }
    } else {
        for detail in names::name(gvk, name) {
            check.invalid("metadata.name", name, detail);
        }
    }
    if let Some(kind) = table().kind(gvk) {
        let namespace = object.namespace();
        if kind.namespaced {
            if namespace.is_empty() {
                check.required("metadata.namespace", "");
            }
            check.follows("metadata.namespace", &Value::from(namespace), names::label);
        } else if !namespace.is_empty() {
            check.forbidden("metadata.namespace", "not allowed on this type");
        }
    }
    check.labels("metadata.labels", look(object, &["metadata", "labels"]));
    annotations(object, check);
    for (index, finalizer) in object.finalizers().into_iter().enumerate() {
        for detail in names::qualified(finalizer) {
            check.invalid("metadata.finalizers", finalizer, detail);
        }
        if !finalizer.contains('/') && !STANDARD.contains(&finalizer) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            check.invalid(format!("metadata.finalizers[{index}]"), finalizer, detail);
        }
    }
    let finalizers = object.finalizers();
    if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        check.invalid("metadata.finalizers", look(object, &["metadata", "finalizers"]).clone(), detail);
    }
    owners(object, check);
}

/// Finalizers without a domain.
const STANDARD: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

fn annotations(object: &Value, check: &mut Check) {
    let mut size = 0;
    for (key, value) in entries(look(object, &["metadata", "annotations"])) {
        for detail in names::qualified(&key.to_lowercase()) {
            check.invalid("metadata.annotations", key.as_str(), detail);
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MAX_ANNOTATIONS {
        check.push(FieldError::too_long("metadata.annotations", MAX_ANNOTATIONS as u64));
    }
}

fn owners(object: &Value, check: &mut Check) {
    let mut controllers = Vec::new();
    for owner in object.owner_references() {
        let version = path::str_at(owner, &["apiVersion"]);
        if version.is_empty() || version.matches('/').count() > 1 {
            check.invalid("metadata.ownerReferences.apiVersion", version, "version must not be empty");
        }
        for field in ["kind", "name", "uid"] {
            if path::str_at(owner, &[field]).is_empty() {
                check.invalid(format!("metadata.ownerReferences.{field}"), "", "must not be empty");
            }
        }
        // They come and go by themselves, and would take their dependents along.
        if version == "v1" && path::str_at(owner, &["kind"]) == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            check.invalid("metadata.ownerReferences", owner.clone(), detail);
        }
        if path::bool_at(owner, &["controller"]) {
            controllers.push(format!(
                "{}/{}",
                path::str_at(owner, &["kind"]),
                path::str_at(owner, &["name"])
            ));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let text = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        check.invalid(
            "metadata.ownerReferences",
            look(object, &["metadata", "ownerReferences"]).clone(),
            text,
        );
    }
}

/// What may not change in metadata.
pub(super) fn metadata_update(new: &Value, old: &Value, check: &mut Check) {
    for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] {
        let at = |object: &Value| path::str_at(object, &["metadata", field]).to_owned();
        let (new, old) = (at(new), at(old));
        if new != old && (!new.is_empty() || matches!(field, "name" | "namespace")) {
            check.push(FieldError {
                field: format!("metadata.{field}"),
                reason: Reason::Invalid,
                value: new.into(),
                detail: IMMUTABLE.into(),
            });
        }
    }
    if old.is_deleting() {
        for finalizer in new.finalizers() {
            if !old.finalizers().contains(&finalizer) {
                let text = "no new finalizers can be added if the object is being deleted, found new finalizers []string{";
                check.forbidden("metadata.finalizers", &format!("{text}{finalizer:?}}}"));
            }
        }
    }
}
