//! What single built-in kinds need beyond the general rules when they are written.

use crate::error::ApiError;
use crate::handler::Call;
use crate::registry::Resource;
use crate::server::Server;
use crate::{crd, jobs, pods, services};
use serde_json::{Value, json};
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
            let mut finalizers = path::list_at(object, &["spec", "finalizers"]).to_vec();
            if !finalizers.iter().any(|finalizer| finalizer == NAMESPACE_FINALIZER) {
                finalizers.push(json!(NAMESPACE_FINALIZER));
            }
            path::set(object, &["spec", "finalizers"], Value::Array(finalizers));
            path::set(object, &["status"], json!({"phase": "Active"}));
        }
        ("", "Service") => services::allocate(object, snapshot)?,
        ("", "Pod") => pods::complete(server, call, object)?,
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

/// What belongs to whoever changes an object, though the server adds it.
pub(crate) fn before_update(call: &Call, object: &mut Value) {
    if call.resource.builtin && call.resource.kind == "Namespace" {
        let name = object.name().to_owned();
        object.set_label(NAMESPACE_LABEL, &name);
    }
}

/// Completes a changed object.
pub(crate) fn on_update(
    server: &Server,
    call: &Call,
    live: &Value,
    object: &mut Value,
) -> Result<(), ApiError> {
    let resource = call.resource.as_ref();
    if !resource.builtin {
        return Ok(());
    }
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("", "Namespace") if call.subresource != "finalize" => {
            match path::get(live, &["spec", "finalizers"]) {
                Some(list) => path::set(object, &["spec", "finalizers"], list.clone()),
                None => path::remove(object, &["spec", "finalizers"]).is_some(),
            };
        }
        ("", "Service") if call.subresource.is_empty() => {
            services::keep(live, object, &server.store().snapshot())?
        }
        ("apps", _) if call.subresource == "status" => {
            // Labels of workloads are not changed through their status.
            match live.get("metadata").and_then(|m| m.get("labels")) {
                Some(labels) => object.metadata_mut().insert("labels".into(), labels.clone()),
                None => object.metadata_mut().remove("labels"),
            };
        }
        _ if crd::is_crd(resource) && call.subresource.is_empty() => {
            crd::prepare(server, Some(live), object)?
        }
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
