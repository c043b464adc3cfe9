//! Secrets, namespaces, nodes, volumes, quotas, classes and bindings.

use super::{Fields, pod};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

const RBAC: &str = "rbac.authorization.k8s.io";
/// Lifetime of a requested token.
const TOKEN_SECONDS: i32 = 3600;

/// The type, and `stringData` folded into `data`.
pub(super) fn secret(object: &mut Object) {
    object.fill("type", "Opaque");
    let Some(Value::Object(plain)) = object.remove("stringData") else { return };
    if plain.is_empty() {
        return;
    }
    let data = object.made("data");
    for (name, value) in plain {
        let text = value.as_str().unwrap_or_default();
        data.insert(name, STANDARD.encode(text).into());
    }
}

pub(super) fn namespace(object: &mut Object) {
    let name = object.get("metadata").and_then(|m| m.get("name")).and_then(Value::as_str).unwrap_or_default();
    if !name.is_empty() {
        let name = name.to_owned();
        object.made("metadata").made("labels").set("kubernetes.io/metadata.name", name);
    }
}

/// What a node can give is what it has, unless it says so; its address range stands in two fields.
pub(super) fn node(object: &mut Object) {
    if let Some(spec) = object.inner("spec")
        && let range @ Some(Value::String(_)) = spec.get("podCIDR").cloned()
    {
        spec.set("podCIDRs", range.into_iter().collect::<Value>());
    }
    let Some(status) = object.inner("status") else { return };
    if let Some(capacity) = status.get("capacity").cloned() {
        status.set("allocatable", capacity);
    }
}

pub(super) fn claim(object: &mut Object) {
    claim_spec(object.made("spec"));
    object.made("status").fill("phase", "Pending");
}

/// The spec of a claim, also in templates. A data source of the two kinds that both fields allow is kept in both.
pub(super) fn claim_spec(spec: &mut Object) {
    spec.set("volumeMode", "Filesystem");
    let local = |source: &Value| {
        let group = source.get("apiGroup").and_then(Value::as_str).unwrap_or_default();
        let kind = source.get("kind").and_then(Value::as_str).unwrap_or_default();
        let elsewhere = source.get("namespace").and_then(Value::as_str).is_some_and(|n| !n.is_empty());
        let known = matches!(
            (group, kind),
            ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
        );
        (known && !elsewhere).then(|| source.clone())
    };
    match (spec.get("dataSource"), spec.get("dataSourceRef")) {
        (Some(source), None) => {
            let source = local(source);
            source.map(|s| spec.insert("dataSourceRef".into(), s));
        }
        (None, Some(source)) => {
            let source = local(source);
            source.map(|s| spec.insert("dataSource".into(), s));
        }
        _ => {}
    }
}

pub(super) fn volume(object: &mut Object) {
    let spec = object.made("spec");
    spec.set("persistentVolumeReclaimPolicy", "Retain");
    spec.set("volumeMode", "Filesystem");
    if let Some(source) = spec.inner("hostPath") {
        source.set("type", "");
    }
    if let Some(source) = spec.inner("azureDisk") {
        pod::azure_disk(source);
    }
    object.made("status").fill("phase", "Pending");
}

/// Limits default to maxima, requests to limits and then to minima.
pub(super) fn limit_range(object: &mut Object) {
    let Some(spec) = object.inner("spec") else { return };
    spec.each("limits", |item| {
        for list in ["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"] {
            if let Some(list) = item.inner(list) {
                pod::round_list(list);
            }
        }
        if item.text("type") != "Container" {
            return;
        }
        let copy = |item: &mut Object, from: &str, to: &str| {
            let Some(Value::Object(source)) = item.get(from).cloned() else { return };
            let target = item.made(to);
            source.into_iter().for_each(|(name, value)| target.set(&name, value));
        };
        copy(item, "max", "default");
        copy(item, "default", "defaultRequest");
        copy(item, "min", "defaultRequest");
    });
}

pub(super) fn resource_quota(object: &mut Object) {
    if let Some(hard) = object.inner("spec").and_then(|spec| spec.inner("hard")) {
        pod::round_list(hard);
    }
    if let Some(status) = object.inner("status") {
        for list in ["hard", "used"] {
            if let Some(list) = status.inner(list) {
                pod::round_list(list);
            }
        }
    }
}

pub(super) fn storage_class(object: &mut Object) {
    object.set("reclaimPolicy", "Delete");
    object.set("volumeBindingMode", "Immediate");
}

pub(super) fn csi_driver(object: &mut Object) {
    let spec = object.made("spec");
    spec.set("attachRequired", true);
    spec.set("fsGroupPolicy", "ReadWriteOnceWithFSType");
    spec.set("podInfoOnMount", false);
    spec.set("requiresRepublish", false);
    spec.set("seLinuxMount", false);
    spec.set("storageCapacity", false);
    spec.set("volumeLifecycleModes", json!(["Persistent"]));
}

pub(super) fn priority_class(object: &mut Object) {
    object.set("preemptionPolicy", "PreemptLowerPriority");
}

pub(super) fn token_request(object: &mut Object) {
    object.made("spec").set("expirationSeconds", TOKEN_SECONDS);
}

pub(super) fn role_binding(object: &mut Object) {
    object.made("roleRef").fill("apiGroup", RBAC);
    object.each("subjects", |subject| {
        if matches!(subject.text("kind"), "User" | "Group") {
            subject.fill("apiGroup", RBAC);
        }
    });
}

/// The spec of a claim on devices: one device a request.
pub(super) fn device_claim(spec: &mut Object) {
    let Some(devices) = spec.inner("devices") else { return };
    devices.each("requests", |request| {
        if let Some(exactly) = request.inner("exactly") {
            device_request(exactly);
        }
        request.each("firstAvailable", device_request);
    });
}

fn device_request(request: &mut Object) {
    request.fill("allocationMode", "ExactCount");
    if request.text("allocationMode") == "ExactCount" {
        request.fill("count", 1);
    }
}
