//! Pods, and the pod templates of workloads.

use super::{Fields, core};
use serde_json::{Map, Value, json};
use windlass_object::{Quantity, quantity::Format};

type Object = Map<String, Value>;

/// File mode of projected files: 0644.
const FILE_MODE: i32 = 0o644;
/// How long a projected token lives.
const TOKEN_SECONDS: i32 = 3600;

/// A pod itself: what templates get, and a few things more.
pub(super) fn pod(object: &mut Object) {
    let Some(pod) = object.inner("spec") else { return };
    spec(pod);
    pod.set("enableServiceLinks", true);
    let host_network = pod.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["containers", "initContainers"] {
        pod.each(list, |container| {
            requests_from_limits(container);
            if host_network {
                container.each("ports", |port| {
                    let number = port.get("containerPort").cloned().unwrap_or_default();
                    port.fill("hostPort", number);
                });
            }
        });
    }
    requests_of_pod(pod);
}

/// A pod that states resources for itself requests what its containers do, and then what it limits.
fn requests_of_pod(pod: &mut Object) {
    if !pod.has("resources") {
        return;
    }
    let request = |container: &Value, name: &str| {
        container
            .get("resources")
            .and_then(|r| r.get("requests")?.get(name))
            .and_then(|v| Quantity::from_json(v).ok())
    };
    let list = |name: &str| pod.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (containers, first) = (list("containers"), list("initContainers"));
    let sidecar = |c: &&Value| c.get("restartPolicy").and_then(Value::as_str) == Some("Always");
    let mut sums = Vec::new();
    for name in ["cpu", "memory"] {
        let running: Vec<Quantity> =
            containers.iter().chain(first.iter().filter(sidecar)).filter_map(|c| request(c, name)).collect();
        let starting = first.iter().filter(|c| !sidecar(c)).filter_map(|c| request(c, name)).max();
        let together = running.into_iter().reduce(|a, b| a + b);
        if let Some(sum) = together.into_iter().chain(starting).max() {
            sums.push((name, sum.to_string()));
        }
    }
    let Some(resources) = pod.inner("resources") else { return };
    let limits = resources.get("limits").and_then(Value::as_object).cloned().unwrap_or_default();
    if sums.is_empty() && limits.is_empty() {
        return;
    }
    let requests = resources.made("requests");
    sums.into_iter().for_each(|(name, sum)| requests.set(name, sum));
    limits.into_iter().for_each(|(name, limit)| requests.set(&name, limit));
}

fn requests_from_limits(container: &mut Object) {
    let Some(resources) = container.inner("resources") else { return };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    let requests = resources.made("requests");
    for (name, value) in limits {
        requests.set(&name, value);
    }
}

/// An object or field that has `template`.
pub(super) fn template(object: &mut Object) {
    if let Some(pod) = object.inner("template").and_then(|t| t.inner("spec")) {
        spec(pod);
    }
}

/// A pod's `spec`.
pub(super) fn spec(pod: &mut Object) {
    pod.set("dnsPolicy", "ClusterFirst");
    pod.set("restartPolicy", "Always");
    pod.set("securityContext", json!({}));
    pod.set("terminationGracePeriodSeconds", 30);
    pod.set("schedulerName", "default-scheduler");
    // Two names of one field; the newer one wins.
    let account =
        [pod.text("serviceAccountName"), pod.text("serviceAccount")].into_iter().find(|n| !n.is_empty());
    if let Some(account) = account.map(str::to_owned) {
        pod.insert("serviceAccountName".into(), account.clone().into());
        pod.insert("serviceAccount".into(), account.into());
    }
    if let Some(resources) = pod.inner("resources") {
        round(resources);
    }
    if let Some(overhead) = pod.inner("overhead") {
        round_list(overhead);
    }
    pod.each("volumes", volume);
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        pod.each(list, container);
    }
}

fn container(container: &mut Object) {
    let policy = if is_latest(container.text("image")) { "Always" } else { "IfNotPresent" };
    container.set("imagePullPolicy", policy);
    container.set("terminationMessagePath", "/dev/termination-log");
    container.set("terminationMessagePolicy", "File");
    container.each("ports", |port| port.set("protocol", "TCP"));
    container.each("env", |variable| {
        let Some(source) = variable.inner("valueFrom") else { return };
        if let Some(field) = source.inner("fieldRef") {
            field.set("apiVersion", "v1");
        }
    });
    if let Some(resources) = container.inner("resources") {
        round(resources);
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.inner(probe) {
            probe.fill("timeoutSeconds", 1);
            probe.fill("periodSeconds", 10);
            probe.fill("successThreshold", 1);
            probe.fill("failureThreshold", 3);
            http(probe);
            if let Some(grpc) = probe.inner("grpc") {
                grpc.set("service", "");
            }
        }
    }
    if let Some(lifecycle) = container.inner("lifecycle") {
        for hook in ["postStart", "preStop"] {
            if let Some(hook) = lifecycle.inner(hook) {
                http(hook);
            }
        }
    }
}

fn http(handler: &mut Object) {
    if let Some(get) = handler.inner("httpGet") {
        get.set("path", "/");
        get.set("scheme", "HTTP");
    }
}

/// Whether an image reference means the tag `latest`: it says so, or names neither tag nor digest.
fn is_latest(image: &str) -> bool {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    // A colon before the last slash belongs to a registry's port.
    let last = name.rsplit('/').next().unwrap_or(name);
    match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => digest.is_none() && !image.is_empty(),
    }
}

fn volume(volume: &mut Object) {
    if volume.keys().all(|key| key == "name") {
        volume.insert("emptyDir".into(), json!({}));
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(source) = volume.inner(source) {
            source.set("defaultMode", FILE_MODE);
            downward(source);
            source.each("sources", |projection| {
                if let Some(token) = projection.inner("serviceAccountToken") {
                    token.set("expirationSeconds", TOKEN_SECONDS);
                }
                if let Some(source) = projection.inner("downwardAPI") {
                    downward(source);
                }
            });
        }
    }
    if let Some(source) = volume.inner("hostPath") {
        source.set("type", "");
    }
    if let Some(source) = volume.inner("azureDisk") {
        azure_disk(source);
    }
    if let Some(source) = volume.inner("image") {
        let policy = if is_latest(source.text("reference")) { "Always" } else { "IfNotPresent" };
        source.set("pullPolicy", policy);
    }
    if let Some(claim) = volume.inner("ephemeral").and_then(|e| e.inner("volumeClaimTemplate")) {
        core::claim_spec(claim.made("spec"));
    }
}

/// The disk of an Azure volume, in pods and in persistent volumes.
pub(super) fn azure_disk(source: &mut Object) {
    source.set("cachingMode", "ReadWrite");
    source.set("kind", "Shared");
    source.set("fsType", "ext4");
    source.set("readOnly", false);
}

fn downward(source: &mut Object) {
    source.each("items", |item| {
        if let Some(field) = item.inner("fieldRef") {
            field.set("apiVersion", "v1");
        }
    });
}

fn round(resources: &mut Object) {
    for list in ["limits", "requests"] {
        if let Some(list) = resources.inner(list) {
            round_list(list);
        }
    }
}

/// Quantities finer than a thousandth are rounded up to one.
pub(super) fn round_list(list: &mut Object) {
    for value in list.values_mut() {
        let Ok(quantity) = Quantity::from_json(value) else { continue };
        let rounded = Quantity::from_milli(quantity.milli_value()).with_format(quantity.format());
        if rounded > quantity && quantity.milli_value() != i64::MAX {
            // Binary suffixes can't write thousandths.
            let rounded = if quantity.format() == Format::BinarySi {
                rounded.with_format(Format::DecimalSi)
            } else {
                rounded
            };
            *value = rounded.to_string().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_is_read_as_container_runtimes_do() {
        for (image, latest) in [
            ("nginx", true),
            ("nginx:latest", true),
            ("nginx:1.29", false),
            ("localhost:5000/nginx", true),
            ("localhost:5000/nginx:1", false),
            ("nginx@sha256:0123", false),
            ("nginx:latest@sha256:0123", true),
        ] {
            assert_eq!(is_latest(image), latest, "{image}");
        }
    }
}
