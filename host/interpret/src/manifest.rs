//! Manifests on their way into a Work: what is taken off (spec 03 §6.1) and which keys are recorded as ours (§6.2).
//! Admission and controllers both use these, so that a write in a steady state changes nothing.

use serde_json::Value;
use windlass_api::labels::{ANNOTATION_MANAGED_ANNOTATIONS, ANNOTATION_MANAGED_LABELS, LABEL_WORK_ID};
use windlass_object::meta::Meta;
use windlass_object::path;

/// Metadata that the control plane's API server made and a member's makes anew.
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

/// Takes off what must not travel to a member. Kinds are matched with their group: a foreign kind of the same name is
/// left alone.
pub fn prune(manifest: &mut Value) {
    let Some(map) = manifest.as_object_mut() else { return };
    map.remove("status");
    if let Some(metadata) = map.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in METADATA {
            metadata.remove(field);
        }
    }
    let gvk = manifest.gvk();
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("apps", "Deployment") => {
            manifest.remove_annotation("deployment.kubernetes.io/revision");
            manifest.remove_annotation("deployment.kubernetes.io/revision-history");
        }
        ("batch", "Job") => prune_job(manifest),
        ("", "Secret") if path::str_at(manifest, &["type"]) == "kubernetes.io/service-account-token" => {
            manifest.remove_annotation("kubernetes.io/service-account.uid");
            if let Some(map) = manifest.as_object_mut() {
                map.insert("data".into(), Value::Null);
            }
        }
        ("", "ServiceAccount") => prune_service_account(manifest),
        ("", "Service") if path::str_at(manifest, &["spec", "clusterIP"]) != "None" => {
            path::remove(manifest, &["spec", "clusterIP"]);
            path::remove(manifest, &["spec", "clusterIPs"]);
        }
        ("", "PersistentVolumeClaim") => {
            manifest.remove_annotation("volume.kubernetes.io/selected-node");
        }
        _ => {}
    }
}

/// Records which labels and annotations are ours, and sets the Work's identity as a label; the order matters.
/// `work_id` is the Work's own permanent id; empty if it has none yet.
pub fn record_managed(manifest: &mut Value, work_id: &str) {
    let mut annotations: Vec<String> = manifest.annotations().map(|(key, _)| key.to_owned()).collect();
    for key in [ANNOTATION_MANAGED_ANNOTATIONS, ANNOTATION_MANAGED_LABELS] {
        if !annotations.iter().any(|a| a == key) {
            annotations.push(key.to_owned());
        }
    }
    annotations.sort();
    manifest.set_annotation(ANNOTATION_MANAGED_ANNOTATIONS, &annotations.join(","));
    if !work_id.is_empty() {
        manifest.set_label(LABEL_WORK_ID, work_id);
    }
    let mut labels: Vec<String> = manifest.labels().map(|(key, _)| key.to_owned()).collect();
    labels.sort();
    manifest.set_annotation(ANNOTATION_MANAGED_LABELS, &labels.join(","));
}

fn prune_job(job: &mut Value) {
    path::remove(job, &["spec", "ttlSecondsAfterFinished"]);
    if path::bool_at(job, &["spec", "manualSelector"]) {
        return;
    }
    for key in ["controller-uid", "batch.kubernetes.io/controller-uid"] {
        path::remove(job, &["spec", "selector", "matchLabels", key]);
        path::remove(job, &["spec", "template", "metadata", "labels", key]);
    }
    for key in ["job-name", "batch.kubernetes.io/job-name"] {
        path::remove(job, &["spec", "template", "metadata", "labels", key]);
    }
}

fn prune_service_account(account: &mut Value) {
    let prefix = format!("{}-token-", account.name());
    if let Some(secrets) = path::get_mut(account, &["secrets"]).and_then(Value::as_array_mut) {
        secrets.retain(|s| !path::str_at(s, &["name"]).starts_with(&prefix));
    }
}
