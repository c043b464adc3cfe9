//! Volumes, claims and storage classes.

use super::check::{Check, look, missing};
use crate::field_error::FieldError;
use serde_json::Value;
use windlass_object::{Quantity, path};

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const CLAIM: &str = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

fn modes(check: &mut Check, spec: &Value) {
    let modes = path::list_at(spec, &["accessModes"]);
    if modes.is_empty() {
        check.required("spec.accessModes", "at least 1 access mode is required");
    }
    for mode in modes {
        check.one_of("spec.accessModes", mode, &MODES);
    }
    let single = modes.iter().any(|mode| mode == "ReadWriteOncePod");
    if single && modes.len() > 1 {
        check.forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes");
    }
    check.one_of("spec.volumeMode", look(spec, &["volumeMode"]), &["Block", "Filesystem"]);
}

pub(super) fn claim(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    modes(check, spec);
    let storage = look(spec, &["resources", "requests", "storage"]);
    match Quantity::from_json(storage) {
        Err(_) => check.required("spec.resources[storage]", ""),
        Ok(quantity) if quantity.sign() <= 0 => {
            check.invalid("spec.resources[storage]", storage.clone(), "must be greater than zero");
        }
        Ok(_) => {}
    }
    let Some(old) = old else { return };
    let bound = look(old, &["status", "phase"]) == "Bound";
    let fixed = |spec: &Value, adopt: &Value| {
        let mut spec = spec.clone();
        if let Some(map) = spec.as_object_mut() {
            // A volume can grow once there is one.
            if bound {
                map.remove("resources");
                map.remove("volumeAttributesClassName");
            }
            // The binder may fill in what was open.
            for field in ["volumeName", "storageClassName"] {
                if missing(look(adopt, &[field])) {
                    map.remove(field);
                }
            }
        }
        spec
    };
    let before = look(old, &["spec"]);
    if fixed(spec, before) != fixed(before, before) {
        check.forbidden("spec", CLAIM);
    }
    let size = |spec: &Value| Quantity::from_json(look(spec, &["resources", "requests", "storage"])).ok();
    if let (Some(new), Some(old)) = (size(spec), size(before))
        && new < old
    {
        check.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
    }
}

pub(super) fn volume(new: &Value, old: Option<&Value>, check: &mut Check) {
    let spec = look(new, &["spec"]);
    modes(check, spec);
    if missing(look(spec, &["capacity"])) {
        check.required("spec.capacity", "");
    }
    if look(spec, &["capacity"])
        .as_object()
        .is_none_or(|list| list.len() != 1 || !list.contains_key("storage"))
    {
        check.push(FieldError::not_supported(
            "spec.capacity",
            look(spec, &["capacity"]).clone(),
            ["storage"],
        ));
    }
    check.quantities("spec.capacity", look(spec, &["capacity"]));
    check.one_of(
        "spec.persistentVolumeReclaimPolicy",
        look(spec, &["persistentVolumeReclaimPolicy"]),
        &["Delete", "Recycle", "Retain"],
    );
    let sources = source_fields(spec);
    if sources.is_empty() {
        check.required("spec", "must specify a volume type");
    }
    if let Some(old) = old
        && sources.iter().any(|field| look(spec, &[*field]) != look(old, &["spec", *field]))
    {
        check.forbidden(
            "spec.persistentvolumesource",
            "spec.persistentvolumesource is immutable after creation",
        );
    }
}

fn source_fields(spec: &Value) -> Vec<&str> {
    const OTHER: [&str; 9] = [
        "capacity",
        "accessModes",
        "claimRef",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "mountOptions",
        "volumeMode",
        "nodeAffinity",
        "volumeAttributesClassName",
    ];
    super::check::entries(spec).map(|(name, _)| name.as_str()).filter(|name| !OTHER.contains(name)).collect()
}

pub(super) fn storage_class(new: &Value, old: Option<&Value>, check: &mut Check) {
    check.text("provisioner", look(new, &["provisioner"]));
    check.one_of("reclaimPolicy", look(new, &["reclaimPolicy"]), &["Delete", "Retain"]);
    check.one_of(
        "volumeBindingMode",
        look(new, &["volumeBindingMode"]),
        &["Immediate", "WaitForFirstConsumer"],
    );
    let Some(old) = old else { return };
    for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
        check.immutable(field, new, Some(old), &[field]);
    }
}
