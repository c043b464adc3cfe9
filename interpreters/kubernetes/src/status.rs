//! The part of a member object's status that is worth carrying to the control plane.

use crate::json::{Result, get, int, status, text};
use windlass_sdk::{Map, Value, json};

/// The template's generation, which the control plane leaves on each member object.
const TEMPLATE_GENERATION: &str = "resourcetemplate.karmada.io/generation";

/// Fields of a status: name, and whether a zero is carried, too.
type Fields = &'static [(&'static str, bool)];

const DEPLOYMENT: Fields = &[
    ("observedGeneration", false),
    ("replicas", false),
    ("updatedReplicas", false),
    ("readyReplicas", false),
    ("availableReplicas", false),
    ("unavailableReplicas", false),
];
const REPLICA_SET: Fields = &[
    ("observedGeneration", false),
    ("replicas", true),
    ("readyReplicas", false),
    ("availableReplicas", false),
];
const DAEMON_SET: Fields = &[
    ("observedGeneration", false),
    ("currentNumberScheduled", true),
    ("desiredNumberScheduled", true),
    ("numberMisscheduled", true),
    ("numberReady", true),
    ("updatedNumberScheduled", false),
    ("numberAvailable", false),
    ("numberUnavailable", false),
];
const STATEFUL_SET: Fields = &[
    ("observedGeneration", false),
    ("replicas", true),
    ("availableReplicas", true),
    ("currentReplicas", false),
    ("readyReplicas", false),
    ("updatedReplicas", false),
];
const BUDGET: Fields = &[
    ("disruptionsAllowed", true),
    ("expectedPods", true),
    ("desiredHealthy", true),
    ("currentHealthy", true),
];

/// The status to carry; `None` if there is nothing to tell.
pub(crate) fn interpret(kind: &str, observed: &Value) -> Result<Option<Value>> {
    let Some(live) = status(observed)? else { return Ok(None) };
    match kind {
        "Deployment" => wrapped(observed, DEPLOYMENT),
        "ReplicaSet" => wrapped(observed, REPLICA_SET),
        "DaemonSet" => wrapped(observed, DAEMON_SET),
        "StatefulSet" => {
            // The reference leaves observedGeneration out here, and with it whether a member is up to date.
            let mut result = wrapped(observed, STATEFUL_SET)?;
            if let Some(Value::Object(map)) = &mut result {
                map.remove("observedGeneration");
            }
            Ok(result)
        }
        "Service" => {
            if text(observed, &["spec", "type"])? != "LoadBalancer" {
                return Ok(None);
            }
            let balancer = live.get("loadBalancer").cloned().unwrap_or_else(|| json!({}));
            Ok(Some(json!({ "loadBalancer": balancer })))
        }
        "Job" => {
            let mut result = picked(observed, &[("active", false), ("succeeded", false), ("failed", false)])?;
            for field in ["conditions", "startTime", "completionTime"] {
                if let Some(value) = get(observed, &["status", field])?.filter(|value| !is_empty(value)) {
                    result.insert(field.into(), value.clone());
                }
            }
            Ok(Some(Value::Object(result)))
        }
        "PodDisruptionBudget" => {
            let mut result = picked(observed, BUDGET)?;
            if let Some(pods) = get(observed, &["status", "disruptedPods"])?.filter(|value| !is_empty(value))
            {
                result.insert("disruptedPods".into(), pods.clone());
            }
            Ok(Some(Value::Object(result)))
        }
        "HorizontalPodAutoscaler" => {
            let mut result = picked(observed, &[("currentReplicas", false), ("desiredReplicas", true)])?;
            result.insert("currentMetrics".into(), Value::Null);
            Ok(Some(Value::Object(result)))
        }
        _ => Ok(Some(Value::Object(live.clone()))),
    }
}

fn wrapped(observed: &Value, fields: Fields) -> Result<Option<Value>> {
    let note = text(observed, &["metadata", "annotations", TEMPLATE_GENERATION])?;
    let template: i64 = note.parse().map_err(|_| {
        format!(
            "metadata.annotations[{TEMPLATE_GENERATION}]: expected the template's generation, found {note:?}"
        )
    })?;
    let mut result = picked(observed, fields)?;
    let generation = int(observed, &["metadata", "generation"])?.unwrap_or(0);
    for (name, value) in [("generation", generation), ("resourceTemplateGeneration", template)] {
        if value != 0 {
            result.insert(name.into(), json!(value));
        }
    }
    Ok(if result.is_empty() { None } else { Some(Value::Object(result)) })
}

fn picked(observed: &Value, fields: Fields) -> Result<Map<String, Value>> {
    let mut result = Map::new();
    for (name, keep_zero) in fields {
        let value = int(observed, &["status", name])?.unwrap_or(0);
        if value != 0 || *keep_zero {
            result.insert((*name).into(), json!(value));
        }
    }
    Ok(result)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
