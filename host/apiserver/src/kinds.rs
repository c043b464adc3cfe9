//! What single built-in kinds need beyond the general rules when they are written.

use crate::error::{ApiError, Cause};
use crate::handler::Call;
use crate::limits::MAX_CONFIG_DATA;
use crate::registry::Resource;
use crate::server::Server;
use crate::{crd, jobs, pods, services};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use windlass_object::LabelSelector;
use windlass_object::meta::Meta as _;
use windlass_object::path;
use windlass_store::Snapshot;

/// Kept in `spec.finalizers` of a namespace until its content is gone.
pub(crate) const NAMESPACE_FINALIZER: &str = "kubernetes";
/// The label by which selectors find a namespace by name.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";
/// Namespaces that refuse to go.
const PERMANENT: &[&str] = &["default", "kube-system", "kube-public"];

/// Completes a new object.
pub(crate) fn on_create(
    server: &Server,
    call: &Call,
    object: &mut Value,
    snapshot: &Snapshot,
) -> Result<(), ApiError> {
    let resource = call.resource.as_ref();
    if !resource.builtin {
        return Ok(());
    }
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") => {
            let name = object.name().to_owned();
            object.set_label(NAMESPACE_LABEL, &name);
            path::set(object, &["spec", "finalizers"], json!([NAMESPACE_FINALIZER]));
            path::set(object, &["status"], json!({"phase": "Active"}));
        }
        ("", "Service") => services::allocate(object, snapshot)?,
        ("", "Pod") => pods::complete(server, call, object),
        ("", "PersistentVolumeClaim" | "PersistentVolume") => {
            path::set(object, &["status", "phase"], json!("Pending"));
        }
        ("batch", "Job") => jobs::complete(object),
        ("certificates.k8s.io", "CertificateSigningRequest") => {
            path::set(object, &["spec", "username"], json!(call.identity.user));
            path::set(object, &["spec", "groups"], json!(call.identity.groups));
        }
        _ if crd::is_crd(resource) => crd::prepare(server, None, object)?,
        _ => {}
    }
    Ok(())
}

/// Completes a changed object.
pub(crate) fn on_update(server: &Server, call: &Call, live: &Value, object: &mut Value) -> Result<(), ApiError> {
    let resource = call.resource.as_ref();
    if !resource.builtin {
        return Ok(());
    }
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") => {
            let name = object.name().to_owned();
            object.set_label(NAMESPACE_LABEL, &name);
            if call.subresource != "finalize" {
                match path::get(live, &["spec", "finalizers"]) {
                    Some(list) => {
                        path::set(object, &["spec", "finalizers"], list.clone());
                    }
                    None => {
                        path::remove(object, &["spec", "finalizers"]);
                    }
                }
            }
        }
        ("", "Service") if call.subresource.is_empty() => services::keep(live, object)?,
        ("apps", _) if call.subresource == "status" => {
            // Labels of workloads are not changed through their status.
            match live.get("metadata").and_then(|m| m.get("labels")) {
                Some(labels) => object.metadata_mut().insert("labels".into(), labels.clone()),
                None => object.metadata_mut().remove("labels"),
            };
        }
        _ if crd::is_crd(resource) && call.subresource.is_empty() => crd::prepare(server, Some(live), object)?,
        _ => {}
    }
    Ok(())
}

/// Refuses deletes that would leave a cluster without what every cluster has.
pub(crate) fn on_delete(resource: &Resource, live: &Value) -> Result<(), ApiError> {
    if resource.builtin && resource.kind == "Namespace" && PERMANENT.contains(&live.name()) {
        return Err(ApiError::forbidden(resource.target(live.name()), "this namespace may not be deleted"));
    }
    Ok(())
}

/// What an object that begins to be deleted shows and waits for.
pub(crate) fn mark(resource: &Resource, new: &mut Value) {
    if !resource.builtin {
        return;
    }
    if resource.kind == "Namespace" {
        path::set(new, &["status", "phase"], json!("Terminating"));
    } else if crd::is_crd(resource) && !new.is_deleting() {
        crd::mark_terminating(new);
    }
}

/// Whether something beside finalizers keeps a deleted object.
pub(crate) fn holds(resource: &Resource, object: &Value) -> bool {
    resource.builtin
        && resource.kind == "Namespace"
        && !path::list_at(object, &["spec", "finalizers"]).is_empty()
}

/// How long a deleted object is given, in seconds.
pub(crate) fn grace(resource: &Resource, live: &Value, asked: Option<i64>) -> i64 {
    if !resource.builtin || resource.kind != "Pod" || !resource.group.is_empty() {
        return 0;
    }
    // Nobody runs a pod without a node, and a finished one has nothing to end.
    let phase = path::str_at(live, &["status", "phase"]);
    if path::str_at(live, &["spec", "nodeName"]).is_empty() || matches!(phase, "Succeeded" | "Failed") {
        return 0;
    }
    asked.or_else(|| path::i64_at(live, &["spec", "terminationGracePeriodSeconds"])).unwrap_or(30)
}

/// What is wrong with an object of a built-in kind.
pub(crate) fn validate(resource: &Resource, object: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    if !resource.builtin {
        return;
    }
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "ConfigMap") => config(object, old, &["data", "binaryData"], causes),
        ("", "Secret") => {
            config(object, old, &["data"], causes);
            if let Some(old) = old
                && old.get("type") != object.get("type")
            {
                let value = object.get("type").cloned().unwrap_or_default();
                causes.push(Cause::invalid("type", &value, "field is immutable"));
            }
        }
        ("apps", "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet") => {
            selector(object, old, causes);
            pods::check_template(object, "spec.template", causes);
        }
        ("batch", "Job") => {
            if let Some(old) = old {
                unchanged(old, object, &["spec", "selector"], causes);
                unchanged(old, object, &["spec", "completionMode"], causes);
            }
            pods::check_template(object, "spec.template", causes);
        }
        ("", "Pod") => pods::check_pod(object, old, causes),
        ("", "Service") => services::check(object, old, causes),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            if let Some(old) = old
                && old.get("roleRef") != object.get("roleRef")
            {
                let value = object.get("roleRef").cloned().unwrap_or_default();
                causes.push(Cause::invalid("roleRef", &value, "cannot change roleRef"));
            }
        }
        ("", "PersistentVolumeClaim") => {
            if let Some(old) = old {
                unchanged(old, object, &["spec", "accessModes"], causes);
                unchanged(old, object, &["spec", "storageClassName"], causes);
            }
        }
        _ if crd::is_crd(resource) => crd::check(object, old, causes),
        _ => {}
    }
}

pub(crate) fn unchanged(old: &Value, new: &Value, keys: &[&str], causes: &mut Vec<Cause>) {
    let (before, after) = (path::get(old, keys), path::get(new, keys));
    if before.is_some_and(|value| !value.is_null()) && before != after {
        let value = after.cloned().unwrap_or_default();
        causes.push(Cause::invalid(&keys.join("."), &value, "field is immutable"));
    }
}

/// Keys, size and immutability of ConfigMaps and Secrets.
fn config(object: &Value, old: Option<&Value>, parts: &[&str], causes: &mut Vec<Cause>) {
    let mut size = 0;
    for part in parts {
        for (key, value) in object.get(*part).and_then(Value::as_object).into_iter().flatten() {
            let fits = !key.is_empty()
                && key.len() <= 253
                && key != "."
                && key != ".."
                && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
            if !fits {
                let detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
                              'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
                causes.push(Cause::invalid(&format!("{part}[{key}]"), &json!(key), detail));
            }
            let text = value.as_str().unwrap_or_default();
            size += if *part == "data" && parts.len() > 1 { text.len() } else { text.len() / 4 * 3 };
            let is_bytes = *part == "binaryData" || parts.len() == 1;
            if is_bytes && STANDARD.decode(text).is_err() {
                causes.push(Cause::invalid(&format!("{part}[{key}]"), &json!(""), "must be base64"));
            }
        }
    }
    if size > MAX_CONFIG_DATA {
        causes.push(Cause::too_long("", MAX_CONFIG_DATA));
    }
    let Some(old) = old else { return };
    if old.get("immutable").and_then(Value::as_bool) != Some(true) {
        return;
    }
    if object.get("immutable").and_then(Value::as_bool) != Some(true) {
        causes.push(Cause::forbidden("immutable", "field is immutable when `immutable` is set"));
    }
    for part in parts {
        if old.get(*part) != object.get(*part) {
            causes.push(Cause::forbidden(part, "field is immutable when `immutable` is set"));
        }
    }
}

/// A workload's selector: there, fitting its template, and never changed.
fn selector(object: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let selector = path::get(object, &["spec", "selector"]).cloned().unwrap_or_default();
    if let Some(old) = old {
        if path::get(old, &["spec", "selector"]) != Some(&selector) {
            causes.push(Cause::invalid("spec.selector", &selector, "field is immutable"));
        }
        // What was valid stays so; a template's labels are looked at again below.
    }
    if selector.is_null() {
        causes.push(Cause::required("spec.selector", ""));
        return;
    }
    if selector.as_object().is_none_or(Map::is_empty) {
        causes.push(Cause::invalid("spec.selector", &selector, "empty selector is invalid for deployment"));
        return;
    }
    let labels = path::get(object, &["spec", "template", "metadata", "labels"]).cloned().unwrap_or_default();
    match LabelSelector::from_json(&selector) {
        Ok(parsed) if !parsed.matches(|key| labels.get(key).and_then(Value::as_str)) => {
            let detail = "`selector` does not match template `labels`";
            causes.push(Cause::invalid("spec.template.metadata.labels", &labels, detail));
        }
        Ok(_) => {}
        Err(error) => causes.push(Cause::invalid("spec.selector", &selector, &error.to_string())),
    }
}
