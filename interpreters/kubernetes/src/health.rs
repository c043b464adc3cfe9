//! Whether a member object does what it is there for.

use crate::json::{Result, int, list, text};
use windlass_sdk::Value;

/// Healthy or not, by the rule of the kind.
pub(crate) fn interpret(kind: &str, object: &Value) -> Result<bool> {
    let status = |field: &str| -> Result<i64> { Ok(int(object, &["status", field])?.unwrap_or(0)) };
    let current = || -> Result<bool> {
        Ok(status("observedGeneration")? == int(object, &["metadata", "generation"])?.unwrap_or(0))
    };
    let enough = |field: &str| -> Result<bool> {
        Ok(match int(object, &["spec", "replicas"])? {
            Some(wanted) => status(field)? >= wanted,
            None => true,
        })
    };
    match kind {
        "Deployment" | "StatefulSet" => Ok(current()?
            && enough("updatedReplicas")?
            && status("availableReplicas")? >= status("updatedReplicas")?),
        "ReplicaSet" => Ok(current()? && enough("availableReplicas")?),
        "DaemonSet" => Ok(current()?
            && status("updatedNumberScheduled")? >= status("desiredNumberScheduled")?
            && status("numberAvailable")? >= status("updatedNumberScheduled")?),
        "Service" => Ok(text(object, &["spec", "type"])? != "LoadBalancer" || has_ingress(object)?),
        "Ingress" => has_ingress(object),
        "PersistentVolumeClaim" => Ok(text(object, &["status", "phase"])? == "Bound"),
        "Pod" => match text(object, &["status", "phase"])? {
            "Succeeded" => Ok(true),
            "Running" => {
                for condition in list(object, &["status", "conditions"])? {
                    if text(condition, &["type"])? == "Ready" && text(condition, &["status"])? == "True" {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        },
        "PodDisruptionBudget" => Ok(status("currentHealthy")? >= status("desiredHealthy")?),
        other => Err(format!("kind {other} has no rule for health")),
    }
}

fn has_ingress(object: &Value) -> Result<bool> {
    for entry in list(object, &["status", "loadBalancer", "ingress"])? {
        if !text(entry, &["hostname"])?.is_empty() || !text(entry, &["ip"])?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
