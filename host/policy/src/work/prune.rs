//! What of a template must not reach a member: what the control plane's API server filled in, and what the member's own
//! controllers will.

use serde_json::{Map, Value};
use windlass_object::Meta;
use windlass_object::gvk::split_api_version;
use windlass_object::path::{bool_at, get_mut, str_at};

/// Fields of `metadata` that belong to the API server an object is on.
const METADATA: [&str; 10] = [
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
    "ownerReferences",
    "finalizers",
];

/// Labels that the job controller sets.
const JOB_SELECTOR_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
const JOB_POD_LABELS: [&str; 4] =
    ["controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"];

/// Takes out what must not reach a member. Kinds are Kubernetes' own only by group and name: a stranger's `Service` stays as
/// it is.
pub fn prune(object: &mut Value) {
    if let Some(metadata) = fields(object, &["metadata"]) {
        metadata.retain(|key, _| !METADATA.contains(&key.as_str()));
    }
    if let Some(object) = object.as_object_mut() {
        object.remove("status");
    }
    let group = split_api_version(object.api_version()).0.to_owned();
    match (group.as_str(), object.kind()) {
        ("apps", "Deployment") => {
            object.remove_annotation("deployment.kubernetes.io/revision");
            object.remove_annotation("deployment.kubernetes.io/revision-history");
        }
        ("batch", "Job") => prune_job(object),
        ("", "Secret") => prune_secret(object),
        ("", "ServiceAccount") => prune_service_account(object),
        ("", "Service") if str_at(object, &["spec", "clusterIP"]) != "None" => {
            remove_all(object, &["spec"], &["clusterIP", "clusterIPs"]);
        }
        ("", "PersistentVolumeClaim") => {
            object.remove_annotation("volume.kubernetes.io/selected-node");
        }
        _ => {}
    }
}

fn prune_job(job: &mut Value) {
    remove_all(job, &["spec"], &["ttlSecondsAfterFinished"]);
    if !bool_at(job, &["spec", "manualSelector"]) {
        remove_all(job, &["spec", "selector", "matchLabels"], &JOB_SELECTOR_LABELS);
        remove_all(job, &["spec", "template", "metadata", "labels"], &JOB_POD_LABELS);
    }
}

fn prune_secret(secret: &mut Value) {
    if str_at(secret, &["type"]) == "kubernetes.io/service-account-token" {
        secret.remove_annotation("kubernetes.io/service-account.uid");
        if let Some(secret) = secret.as_object_mut() {
            secret.insert("data".to_owned(), Value::Null);
        }
    }
}

/// Secrets that the token controller made for it.
fn prune_service_account(account: &mut Value) {
    let prefix = format!("{}-token-", account.name());
    let Some(account) = account.as_object_mut() else { return };
    if let Some(secrets) = account.get_mut("secrets").and_then(Value::as_array_mut) {
        secrets.retain(|secret| !str_at(secret, &["name"]).starts_with(&prefix));
    }
}

fn remove_all(object: &mut Value, path: &[&str], keys: &[&str]) {
    if let Some(map) = fields(object, path) {
        map.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

fn fields<'a>(object: &'a mut Value, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    get_mut(object, path)?.as_object_mut()
}
