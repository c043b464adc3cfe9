//! ConfigMaps, Secrets, and kinds with a rule or two.

use super::check::{Check, entries, look};
use super::names;
use crate::field_error::FieldError;
use serde_json::Value;
use windlass_object::{Meta, path};

/// All values of a ConfigMap or Secret together.
const MAX_DATA: usize = 1024 * 1024;

/// Priorities above this are the system's.
const MAX_PRIORITY: i64 = 1_000_000_000;

const TLS: &str = "kubernetes.io/tls";

pub(super) fn config_map(new: &Value, old: Option<&Value>, check: &mut Check) {
    let mut size = keys(check, "data", look(new, &["data"]), false);
    size += keys(check, "binaryData", look(new, &["binaryData"]), true);
    for (key, _) in entries(look(new, &["binaryData"])) {
        if look(new, &["data"]).get(key).is_some() {
            check.invalid(format!("data[{key}]"), key.as_str(), "duplicate of key present in binaryData");
        }
    }
    if size > MAX_DATA {
        check.push(FieldError::too_long("", MAX_DATA as u64));
    }
    frozen(check, new, old, &["data", "binaryData"]);
}

/// Checks keys and gives the size of all values.
fn keys(check: &mut Check, field: &str, data: &Value, encoded: bool) -> usize {
    let mut size = 0;
    for (key, value) in entries(data) {
        for detail in names::config_key(key) {
            check.invalid(format!("{field}[{key}]"), key.as_str(), detail);
        }
        let text = value.as_str().unwrap_or_default();
        size += if encoded { text.trim_end_matches('=').len() * 3 / 4 } else { text.len() };
    }
    size
}

fn frozen(check: &mut Check, new: &Value, old: Option<&Value>, fields: &[&str]) {
    let Some(old) = old.filter(|old| path::bool_at(old, &["immutable"])) else { return };
    if !path::bool_at(new, &["immutable"]) {
        check.forbidden("immutable", "field is immutable when `immutable` is set");
    }
    for field in fields {
        if look(new, &[*field]) != look(old, &[*field]) {
            check.forbidden(*field, "field is immutable when `immutable` is set");
        }
    }
}

pub(super) fn secret(new: &Value, old: Option<&Value>, check: &mut Check) {
    if keys(check, "data", look(new, &["data"]), true) > MAX_DATA {
        check.push(FieldError::too_long("data", MAX_DATA as u64));
    }
    let needed: &[&str] = match look(new, &["type"]).as_str().unwrap_or_default() {
        TLS => &["tls.crt", "tls.key"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        "kubernetes.io/service-account-token" => {
            if new.annotation("kubernetes.io/service-account.name").unwrap_or_default().is_empty() {
                check.required("metadata.annotations[kubernetes.io/service-account.name]", "");
            }
            &[]
        }
        "kubernetes.io/basic-auth" => {
            if look(new, &["data"]).get("username").is_none()
                && look(new, &["data"]).get("password").is_none()
            {
                check.required("data[username]", "");
                check.required("data[password]", "");
            }
            &[]
        }
        _ => &[],
    };
    for key in needed {
        if look(new, &["data"]).get(*key).is_none() {
            check.required(format!("data[{key}]"), "");
        }
    }
    check.immutable("type", new, old, &["type"]);
    frozen(check, new, old, &["data"]);
}

pub(super) fn small(kind: &str, new: &Value, check: &mut Check) {
    match kind {
        "LimitRange" => {
            for (index, limit) in path::list_at(new, &["spec", "limits"]).iter().enumerate() {
                let at = format!("spec.limits[{index}]");
                check.text(&format!("{at}.type"), look(limit, &["type"]));
                for list in ["min", "max", "default", "defaultRequest"] {
                    check.quantities(&format!("{at}.{list}"), look(limit, &[list]));
                }
            }
        }
        "ResourceQuota" => check.quantities("spec.hard", look(new, &["spec", "hard"])),
        _ => {}
    }
}

pub(super) fn priority_class(new: &Value, old: Option<&Value>, check: &mut Check) {
    let value = look(new, &["value"]).as_i64().unwrap_or_default();
    if value > MAX_PRIORITY && !new.name().starts_with("system-") {
        check.forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
    }
    check.one_of("preemptionPolicy", look(new, &["preemptionPolicy"]), &["PreemptLowerPriority", "Never"]);
    let Some(old) = old else { return };
    if look(new, &["value"]) != look(old, &["value"]) {
        check.forbidden("value", "may not be changed in an update.");
    }
    check.immutable("preemptionPolicy", new, Some(old), &["preemptionPolicy"]);
}

pub(super) fn lease(new: &Value, check: &mut Check) {
    check.positive("spec.leaseDurationSeconds", look(new, &["spec", "leaseDurationSeconds"]));
    check.not_negative("spec.leaseTransitions", look(new, &["spec", "leaseTransitions"]));
}
