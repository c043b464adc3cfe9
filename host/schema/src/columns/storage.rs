//! Cells of volumes, claims and storage classes.

use super::text::{UNSET, plain};
use jiff::Timestamp;
use serde_json::Value;
use windlass_object::{Meta, path};

const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// `RWO,ROX`: short forms in a fixed order.
fn short(modes: &[Value]) -> String {
    const ORDER: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let given = ORDER.iter().filter(|(mode, _)| modes.iter().any(|m| m == mode));
    given.map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

pub(super) fn modes(volume: &Value, _: Timestamp) -> Value {
    short(path::list_at(volume, &["spec", "accessModes"])).into()
}

pub(super) fn phase(object: &Value, _: Timestamp) -> Value {
    if object.is_deleting() {
        "Terminating".into()
    } else {
        path::str_at(object, &["status", "phase"]).into()
    }
}

pub(super) fn claim(volume: &Value, _: Timestamp) -> Value {
    let part = |name| path::str_at(volume, &["spec", "claimRef", name]);
    match part("name") {
        "" => "".into(),
        name => format!("{}/{name}", part("namespace")).into(),
    }
}

pub(super) fn class(object: &Value, _: Timestamp) -> Value {
    object.annotation(OLD_CLASS).unwrap_or_else(|| path::str_at(object, &["spec", "storageClassName"])).into()
}

pub(super) fn claim_capacity(claim: &Value, _: Timestamp) -> Value {
    if path::str_at(claim, &["spec", "volumeName"]).is_empty() {
        return "".into();
    }
    claim.pointer("/status/capacity/storage").map_or_else(String::new, plain).into()
}

pub(super) fn claim_modes(claim: &Value, _: Timestamp) -> Value {
    if path::str_at(claim, &["spec", "volumeName"]).is_empty() {
        return "".into();
    }
    short(path::list_at(claim, &["status", "accessModes"])).into()
}

pub(super) fn class_name(class: &Value, _: Timestamp) -> Value {
    if class.annotation(DEFAULT_CLASS) == Some("true") {
        format!("{} (default)", class.name()).into()
    } else {
        class.name().into()
    }
}

pub(super) fn token_requests(driver: &Value, _: Timestamp) -> Value {
    let audiences: Vec<&str> = path::list_at(driver, &["spec", "tokenRequests"])
        .iter()
        .map(|r| path::str_at(r, &["audience"]))
        .collect();
    if audiences.is_empty() { UNSET.into() } else { audiences.join(",").into() }
}

pub(super) fn csi_modes(driver: &Value, _: Timestamp) -> Value {
    let modes: Vec<String> =
        path::list_at(driver, &["spec", "volumeLifecycleModes"]).iter().map(plain).collect();
    modes.join(",").into()
}

/// A device claim's state, in words.
pub(super) fn claim_state(claim: &Value, _: Timestamp) -> Value {
    let mut states = Vec::new();
    if claim.is_deleting() {
        states.push("deleted");
    }
    if claim.pointer("/status/allocation").is_some_and(|a| !a.is_null()) {
        states.push("allocated");
    }
    if !path::list_at(claim, &["status", "reservedFor"]).is_empty() {
        states.push("reserved");
    }
    if states.is_empty() { "pending".into() } else { states.join(",").into() }
}
