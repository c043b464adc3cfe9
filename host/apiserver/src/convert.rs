//! Kinds that are served twice and stored once: v1 and events.k8s.io/v1 Events,
//! autoscaling/v1 and v2 HorizontalPodAutoscalers. Custom resources change their
//! apiVersion only (conversion `None`).

use serde_json::{Map, Value, json};
use windlass_object::meta::Meta as _;

/// Event fields: name in v1, name in events.k8s.io/v1.
const EVENT_FIELDS: &[(&str, &str)] = &[
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Annotation fields of autoscaling/v1 that carry what it has no fields for.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// Brings an object to another version of its kind.
pub(crate) fn convert(object: &mut Value, api_version: &str, builtin: bool) {
    let from = object.api_version().to_owned();
    if from == api_version {
        return;
    }
    if builtin {
        match (from.as_str(), api_version) {
            ("v1", "events.k8s.io/v1") => rename(object, EVENT_FIELDS.iter().copied()),
            ("events.k8s.io/v1", "v1") => rename(object, EVENT_FIELDS.iter().map(|(core, new)| (*new, *core))),
            ("autoscaling/v2", "autoscaling/v1") => hpa_to_v1(object),
            ("autoscaling/v1", "autoscaling/v2") => hpa_to_v2(object),
            _ => {}
        }
    }
    if let Some(map) = object.as_object_mut() {
        map.insert("apiVersion".into(), json!(api_version));
    }
}

fn rename<'a>(object: &mut Value, fields: impl Iterator<Item = (&'a str, &'a str)>) {
    let Some(map) = object.as_object_mut() else { return };
    let moved: Vec<(&str, Value)> =
        fields.filter_map(|(from, to)| map.remove(from).map(|value| (to, value))).collect();
    for (to, value) in moved {
        map.insert(to.into(), value);
    }
}

fn part<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Map<String, Value>> {
    object.get_mut(name).and_then(Value::as_object_mut)
}

/// Whether a metric is the one that v1 has a field for; gives its target.
fn cpu_target<'a>(metric: &'a Value, side: &str, field: &str) -> Option<&'a Value> {
    let resource = metric.get("resource").filter(|_| metric.get("type") == Some(&json!("Resource")))?;
    (resource.get("name") == Some(&json!("cpu"))).then_some(())?;
    resource.get(side)?.get(field)
}

fn hpa_to_v1(object: &mut Value) {
    let mut notes: Vec<(&str, Value)> = Vec::new();
    if let Some(spec) = part(object, "spec") {
        if let Some(Value::Array(mut metrics)) = spec.remove("metrics") {
            let at = metrics.iter().position(|m| cpu_target(m, "target", "averageUtilization").is_some());
            if let Some(at) = at {
                let metric = metrics.remove(at);
                let target = cpu_target(&metric, "target", "averageUtilization").cloned().unwrap_or_default();
                spec.insert("targetCPUUtilizationPercentage".into(), target);
            }
            if !metrics.is_empty() {
                notes.push((METRICS, Value::Array(metrics)));
            }
        }
        if let Some(behavior) = spec.remove("behavior") {
            notes.push((BEHAVIOR, behavior));
        }
    }
    if let Some(status) = part(object, "status") {
        if let Some(Value::Array(metrics)) = status.remove("currentMetrics") {
            let cpu = metrics.iter().find_map(|m| cpu_target(m, "current", "averageUtilization").cloned());
            if let Some(cpu) = cpu {
                status.insert("currentCPUUtilizationPercentage".into(), cpu);
            }
            if !metrics.is_empty() {
                notes.push((CURRENT, Value::Array(metrics)));
            }
        }
        if let Some(conditions) = status.remove("conditions").filter(|c| !c.is_null()) {
            notes.push((CONDITIONS, conditions));
        }
    }
    for (key, value) in notes {
        object.set_annotation(key, &value.to_string());
    }
}

fn hpa_to_v2(object: &mut Value) {
    let mut take = |key: &str| {
        let value = object.annotation(key).and_then(|text| serde_json::from_str::<Value>(text).ok());
        object.remove_annotation(key);
        value
    };
    let (metrics, behavior, current, conditions) = (take(METRICS), take(BEHAVIOR), take(CURRENT), take(CONDITIONS));
    if let Some(spec) = part(object, "spec") {
        let mut list = match metrics {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        if let Some(target) = spec.remove("targetCPUUtilizationPercentage") {
            let target = json!({"type": "Utilization", "averageUtilization": target});
            list.push(json!({"type": "Resource", "resource": {"name": "cpu", "target": target}}));
        }
        if !list.is_empty() {
            spec.insert("metrics".into(), Value::Array(list));
        }
        if let Some(behavior) = behavior {
            spec.insert("behavior".into(), behavior);
        }
    }
    if let Some(status) = part(object, "status") {
        status.remove("currentCPUUtilizationPercentage");
        status.insert("currentMetrics".into(), current.unwrap_or_default());
        if let Some(conditions) = conditions {
            status.insert("conditions".into(), conditions);
        }
    }
}
