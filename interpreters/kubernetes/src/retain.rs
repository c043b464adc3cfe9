//! What of a live member object must survive an update from the control plane.

use crate::json::{Result, get, int, list, mirror, object, set, text};
use windlass_sdk::{Value, json};

/// Set on templates whose replicas belong to the member (an autoscaler there).
const RETAIN_REPLICAS: &str = "resourcetemplate.karmada.io/retain-replicas";

/// Takes it over into `desired`.
pub(crate) fn retain(kind: &str, desired: &mut Value, observed: &Value) -> Result<()> {
    match kind {
        "Deployment" => replicas(desired, observed)?,
        "Pod" => pod(desired, observed)?,
        "Service" => service(desired, observed)?,
        "ServiceAccount" => {
            for field in ["secrets", "imagePullSecrets"] {
                let merged = references(desired, observed, field)?;
                set(desired, &[field], merged);
            }
        }
        "PersistentVolumeClaim" => {
            let volume = text(observed, &["spec", "volumeName"])?;
            if !volume.is_empty() {
                set(desired, &["spec", "volumeName"], json!(volume));
            }
        }
        "PersistentVolume" => keep(desired, observed, &["spec", "claimRef"])?,
        "Job" => {
            keep(desired, observed, &["spec", "selector", "matchLabels"])?;
            keep(desired, observed, &["spec", "template", "metadata", "labels"])?;
        }
        "Secret" if text(desired, &["type"])? == "kubernetes.io/service-account-token" => {
            keep(desired, observed, &["data"])?;
        }
        _ => {}
    }
    Ok(())
}

fn keep(desired: &mut Value, observed: &Value, path: &[&str]) -> Result<()> {
    if let Some(value) = get(observed, path)? {
        set(desired, path, value.clone());
    }
    Ok(())
}

fn replicas(desired: &mut Value, observed: &Value) -> Result<()> {
    if text(desired, &["metadata", "labels", RETAIN_REPLICAS])? != "true" {
        return Ok(());
    }
    let Some(live) = int(observed, &["spec", "replicas"])? else {
        return Err("spec.replicas: the member's object has none to retain".into());
    };
    set(desired, &["spec", "replicas"], json!(live));
    Ok(())
}

fn pod(desired: &mut Value, observed: &Value) -> Result<()> {
    for field in ["nodeName", "serviceAccountName", "volumes"] {
        mirror(desired, &["spec", field], get(observed, &["spec", field])?);
    }
    for field in ["containers", "initContainers"] {
        for live in list(observed, &["spec", field])? {
            let name = text(live, &["name"])?;
            let mounts = get(live, &["volumeMounts"])?;
            let wanted =
                desired.get_mut("spec").and_then(|spec| spec.get_mut(field)).and_then(Value::as_array_mut);
            for container in wanted.into_iter().flatten() {
                if text(container, &["name"])? == name {
                    mirror(container, &["volumeMounts"], mounts);
                }
            }
        }
    }
    Ok(())
}

fn service(desired: &mut Value, observed: &Value) -> Result<()> {
    let port = int(observed, &["spec", "healthCheckNodePort"])?.unwrap_or(0);
    if port > 0 {
        set(desired, &["spec", "healthCheckNodePort"], json!(port));
    }
    let address = text(observed, &["spec", "clusterIP"])?;
    if !address.is_empty() {
        set(desired, &["spec", "clusterIP"], json!(address));
    }
    Ok(())
}

/// Desired entries first, then those of the member whose name is new.
fn references(desired: &Value, observed: &Value, field: &str) -> Result<Value> {
    let mut merged = list(desired, &[field])?.to_vec();
    let named = |entry: &Value| -> Result<String> {
        object(entry, &[])?;
        text(entry, &["name"]).map(str::to_owned)
    };
    let mut names = merged.iter().map(named).collect::<Result<Vec<_>>>()?;
    for entry in list(observed, &[field])? {
        let name = named(entry)?;
        if !names.contains(&name) {
            names.push(name);
            merged.push(entry.clone());
        }
    }
    Ok(if merged.is_empty() { Value::Null } else { Value::Array(merged) })
}
