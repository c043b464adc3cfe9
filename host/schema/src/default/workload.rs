//! Kinds that make pods.

use super::{Fields, core, pod};
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Retries of a Job's pods.
const BACKOFF_LIMIT: i32 = 6;

pub(super) fn deployment(object: &mut Object) {
    let spec = object.made("spec");
    pod::template(spec);
    spec.set("replicas", 1);
    spec.set("revisionHistoryLimit", 10);
    spec.set("progressDeadlineSeconds", 600);
    let strategy = spec.made("strategy");
    strategy.fill("type", "RollingUpdate");
    if strategy.text("type") == "RollingUpdate" {
        let rolling = strategy.made("rollingUpdate");
        rolling.set("maxUnavailable", "25%");
        rolling.set("maxSurge", "25%");
    }
}

pub(super) fn stateful_set(object: &mut Object) {
    let spec = object.made("spec");
    pod::template(spec);
    spec.set("replicas", 1);
    spec.set("revisionHistoryLimit", 10);
    spec.set("podManagementPolicy", "OrderedReady");
    let strategy = spec.made("updateStrategy");
    strategy.fill("type", "RollingUpdate");
    if strategy.text("type") == "RollingUpdate" {
        strategy.made("rollingUpdate").set("partition", 0);
    }
    let retention = spec.made("persistentVolumeClaimRetentionPolicy");
    retention.fill("whenDeleted", "Retain");
    retention.fill("whenScaled", "Retain");
    spec.each("volumeClaimTemplates", |claim| {
        claim.insert("apiVersion".into(), "v1".into());
        claim.insert("kind".into(), "PersistentVolumeClaim".into());
        core::claim(claim);
    });
}

pub(super) fn daemon_set(object: &mut Object) {
    let spec = object.made("spec");
    pod::template(spec);
    spec.set("revisionHistoryLimit", 10);
    let strategy = spec.made("updateStrategy");
    strategy.fill("type", "RollingUpdate");
    if strategy.text("type") == "RollingUpdate" {
        let rolling = strategy.made("rollingUpdate");
        rolling.set("maxUnavailable", 1);
        rolling.set("maxSurge", 0);
    }
}

pub(super) fn replica_set(object: &mut Object) {
    let spec = object.made("spec");
    pod::template(spec);
    spec.set("replicas", 1);
}

pub(super) fn replication_controller(object: &mut Object) {
    let spec = object.made("spec");
    pod::template(spec);
    spec.set("replicas", 1);
    let labels = template_labels(spec);
    if let Some(labels) = labels {
        if !spec.has("selector") {
            spec.insert("selector".into(), labels.clone());
        }
        labels_from_template(object, labels);
    }
}

pub(super) fn job(object: &mut Object) {
    let spec = object.made("spec");
    job_spec(spec);
    if !spec.has("completions") && !spec.has("parallelism") {
        spec.insert("completions".into(), 1.into());
    }
    spec.set("parallelism", 1);
    let limit = if spec.has("backoffLimitPerIndex") { i32::MAX } else { BACKOFF_LIMIT };
    spec.set("backoffLimit", limit);
    spec.set("completionMode", "NonIndexed");
    spec.set("suspend", false);
    spec.set("manualSelector", false);
    let replacement = if spec.has("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    spec.set("podReplacementPolicy", replacement);
    if let Some(labels) = template_labels(spec) {
        labels_from_template(object, labels);
    }
}

fn job_spec(spec: &mut Object) {
    pod::template(spec);
    if let Some(policy) = spec.inner("podFailurePolicy") {
        policy.each("rules", |rule| rule.each("onPodConditions", |pattern| pattern.fill("status", "True")));
    }
}

pub(super) fn cron_job(object: &mut Object) {
    let spec = object.made("spec");
    spec.fill("concurrencyPolicy", "Allow");
    spec.set("suspend", false);
    spec.set("successfulJobsHistoryLimit", 3);
    spec.set("failedJobsHistoryLimit", 1);
    if let Some(job) = spec.inner("jobTemplate").and_then(|t| t.inner("spec")) {
        job_spec(job);
    }
}

fn template_labels(spec: &Object) -> Option<Value> {
    let labels = spec.get("template")?.get("metadata")?.get("labels")?;
    labels.as_object().is_some_and(|labels| !labels.is_empty()).then(|| labels.clone())
}

/// Objects without labels of their own take those of their pods.
fn labels_from_template(object: &mut Object, labels: Value) {
    let metadata = object.made("metadata");
    if !metadata.get("labels").is_some_and(|own| own != &json!({})) {
        metadata.insert("labels".into(), labels);
    }
}
