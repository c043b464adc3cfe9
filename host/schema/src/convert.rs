//! Kinds that are served in two versions and stored in one: events (`v1` and `events.k8s.io/v1`) and horizontal pod
//! autoscalers (`v1` and `v2`, where v1 keeps in annotations what it has no fields for).

use crate::builtin::table;
use crate::canonical;
use crate::validate::look;
use serde_json::{Map, Value, json};
use windlass_object::{Gvk, Meta, path};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// Brings an object to another version of its kind. `None` if it is of another kind, or if none of the two versions is
/// known; an object that is of the version already comes back as it is.
pub fn to(target: &Gvk, object: &Value) -> Option<Value> {
    let source = object.gvk();
    if source == *target {
        return Some(object.clone());
    }
    let mut converted = object.clone();
    let part = |gvk: &Gvk| format!("{}/{}", gvk.api_version(), gvk.kind);
    match (part(&source).as_str(), part(target).as_str()) {
        ("v1/Event", "events.k8s.io/v1/Event") => rename(&mut converted, false),
        ("events.k8s.io/v1/Event", "v1/Event") => rename(&mut converted, true),
        ("autoscaling/v2/HorizontalPodAutoscaler", "autoscaling/v1/HorizontalPodAutoscaler") => {
            to_v1(&mut converted)
        }
        ("autoscaling/v1/HorizontalPodAutoscaler", "autoscaling/v2/HorizontalPodAutoscaler") => {
            to_v2(&mut converted)
        }
        _ => return None,
    }
    let map = converted.as_object_mut()?;
    map.insert("apiVersion".into(), target.api_version().into());
    let view = table().schema(target)?;
    canonical::encode(view, &mut converted);
    Some(converted)
}

/// Field names of an event in the core group and in its own.
const EVENT: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

fn rename(event: &mut Value, to_core: bool) {
    let Some(map) = event.as_object_mut() else { return };
    for (core, own) in EVENT {
        let (from, to) = if to_core { (own, core) } else { (core, own) };
        if let Some(value) = map.remove(from) {
            map.insert(to.into(), value);
        }
    }
}

/// Takes a field out of `spec` or `status`.
fn take(object: &mut Value, part: &str, field: &str) -> Option<Value> {
    object.get_mut(part)?.as_object_mut()?.remove(field).filter(|value| !value.is_null())
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

fn annotate(object: &mut Value, key: &str, value: &Value) {
    object.set_annotation(key, &value.to_string());
}

fn to_v1(object: &mut Value) {
    let mut cpu = None;
    let mut others = Vec::new();
    for metric in list(take(object, "spec", "metrics")) {
        let utilization = path::i64_at(&metric, &["resource", "target", "averageUtilization"]);
        let is_cpu = path::str_at(&metric, &["type"]) == "Resource"
            && path::str_at(&metric, &["resource", "name"]) == "cpu";
        match utilization.filter(|_| is_cpu && cpu.is_none()) {
            Some(percent) => cpu = Some(percent),
            None => others.push(old_metric(&metric, "target")),
        }
    }
    if let Some(percent) = cpu {
        path::set(object, &["spec", "targetCPUUtilizationPercentage"], percent.into());
    }
    if !others.is_empty() {
        annotate(object, METRICS, &Value::Array(others));
    }
    if let Some(behavior) = take(object, "spec", "behavior") {
        annotate(object, BEHAVIOR, &behavior);
    }
    let mut others = Vec::new();
    for metric in list(take(object, "status", "currentMetrics")) {
        let is_cpu = path::str_at(&metric, &["type"]) == "Resource"
            && path::str_at(&metric, &["resource", "name"]) == "cpu";
        match path::i64_at(&metric, &["resource", "current", "averageUtilization"]).filter(|_| is_cpu) {
            Some(percent) => {
                path::set(object, &["status", "currentCPUUtilizationPercentage"], percent.into());
            }
            None => others.push(old_metric(&metric, "current")),
        }
    }
    if !others.is_empty() {
        annotate(object, CURRENT, &Value::Array(others));
    }
    if let Some(conditions) = take(object, "status", "conditions") {
        annotate(object, CONDITIONS, &conditions);
    }
}

fn to_v2(object: &mut Value) {
    let mut metrics = Vec::new();
    if let Some(percent) = take(object, "spec", "targetCPUUtilizationPercentage") {
        let target = json!({"type": "Utilization", "averageUtilization": percent});
        metrics.push(json!({"type": "Resource", "resource": {"name": "cpu", "target": target}}));
    }
    let mut kept = |key: &str| -> Option<Value> {
        let text = object.annotation(key)?.to_owned();
        object.remove_annotation(key);
        serde_json::from_str(&text).ok()
    };
    let (others, behavior) = (list(kept(METRICS)), kept(BEHAVIOR));
    let (current, conditions) = (list(kept(CURRENT)), kept(CONDITIONS));
    metrics.extend(others.iter().map(|metric| new_metric(metric, "target")));
    if !metrics.is_empty() {
        path::set(object, &["spec", "metrics"], metrics.into());
    }
    if let Some(behavior) = behavior {
        path::set(object, &["spec", "behavior"], behavior);
    }
    let mut metrics = Vec::new();
    if let Some(percent) = take(object, "status", "currentCPUUtilizationPercentage") {
        metrics.push(json!({"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}}));
    }
    metrics.extend(current.iter().map(|metric| new_metric(metric, "current")));
    if !metrics.is_empty() {
        path::set(object, &["status", "currentMetrics"], metrics.into());
    }
    if let Some(conditions) = conditions {
        path::set(object, &["status", "conditions"], conditions);
    }
}

const SOURCES: [&str; 5] = ["resource", "containerResource", "pods", "object", "external"];

/// v2's `{metric: {name, selector}, target: {…}}` as the flat form that v1 keeps in annotations.
fn old_metric(metric: &Value, side: &str) -> Value {
    let mut out = Map::new();
    out.insert("type".into(), look(metric, &["type"]).clone());
    for source in SOURCES {
        let Some(from) = metric.get(source).filter(|s| !s.is_null()) else { continue };
        let mut to = Map::new();
        let mut set = |name: &str, value: &Value| {
            if !value.is_null() {
                to.insert(name.into(), value.clone());
            }
        };
        for name in ["name", "container"] {
            set(name, look(from, &[name]));
        }
        set("metricName", look(from, &["metric", "name"]));
        set(
            if source == "external" { "metricSelector" } else { "selector" },
            look(from, &["metric", "selector"]),
        );
        set("target", look(from, &["describedObject"]));
        set(&format!("{side}AverageUtilization"), look(from, &[side, "averageUtilization"]));
        let average =
            if source == "object" { "averageValue".to_owned() } else { format!("{side}AverageValue") };
        set(&average, look(from, &[side, "averageValue"]));
        set(&format!("{side}Value"), look(from, &[side, "value"]));
        out.insert(source.into(), to.into());
    }
    out.into()
}

/// The reverse of [`old_metric`].
fn new_metric(metric: &Value, side: &str) -> Value {
    let mut out = Map::new();
    out.insert("type".into(), look(metric, &["type"]).clone());
    for source in SOURCES {
        let Some(from) = metric.get(source).filter(|s| !s.is_null()) else { continue };
        let (mut to, mut aim, mut named) = (Map::new(), Map::new(), Map::new());
        let set = |map: &mut Map<String, Value>, name: &str, value: &Value| {
            if !value.is_null() {
                map.insert(name.into(), value.clone());
            }
        };
        for name in ["name", "container"] {
            set(&mut to, name, look(from, &[name]));
        }
        set(&mut to, "describedObject", look(from, &["target"]));
        set(&mut named, "name", look(from, &["metricName"]));
        set(
            &mut named,
            "selector",
            look(from, &[if source == "external" { "metricSelector" } else { "selector" }]),
        );
        set(&mut aim, "averageUtilization", look(from, &[&format!("{side}AverageUtilization")]));
        let average =
            if source == "object" { "averageValue".to_owned() } else { format!("{side}AverageValue") };
        set(&mut aim, "averageValue", look(from, &[average.as_str()]));
        set(&mut aim, "value", look(from, &[&format!("{side}Value")]));
        if side == "target" {
            let kind = ["averageUtilization", "averageValue"].iter().find(|name| aim.contains_key(**name));
            let kind = match kind {
                Some(&"averageUtilization") => "Utilization",
                Some(_) => "AverageValue",
                None => "Value",
            };
            aim.insert("type".into(), kind.into());
        }
        if !named.is_empty() {
            to.insert("metric".into(), named.into());
        }
        to.insert(side.into(), aim.into());
        out.insert(source.into(), to.into());
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_there_and_back() {
        let core = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p"},
            "message": "m", "reason": "R", "count": 2, "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": null,
            "eventTime": null, "source": {"component": "c"}, "reportingComponent": "", "reportingInstance": "",
        });
        let target = Gvk::new("events.k8s.io", "v1", "Event");
        let event = to(&target, &core).unwrap();
        assert_eq!(
            (&event["note"], &event["regarding"]["name"], &event["deprecatedCount"]),
            (&json!("m"), &json!("p"), &json!(2))
        );
        assert_eq!(event.get("message"), None);
        assert_eq!(to(&core.gvk(), &event).unwrap(), core);
    }

    #[test]
    fn autoscalers_there_and_back() {
        let v2 = json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"},
            "spec": {
                "scaleTargetRef": {"kind": "Deployment", "name": "web"}, "minReplicas": 1, "maxReplicas": 5,
                "metrics": [
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
                    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
                    {"type": "Object", "object": {"describedObject": {"kind": "Ingress", "name": "i"}, "metric": {"name": "rps"},
                        "target": {"type": "Value", "value": "10k"}}},
                ],
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
            },
            "status": {"desiredReplicas": 2, "currentMetrics": null, "conditions": [
                {"type": "AbleToScale", "status": "True", "lastTransitionTime": null}]},
        });
        let v1 = to(&Gvk::new("autoscaling", "v1", "HorizontalPodAutoscaler"), &v2).unwrap();
        assert_eq!(v1["spec"]["targetCPUUtilizationPercentage"], 50);
        assert_eq!(v1["spec"].get("metrics"), None);
        assert!(v1.annotation(METRICS).unwrap().contains(r#""targetAverageValue":"1Gi""#));
        assert_eq!(to(&v2.gvk(), &v1).unwrap(), v2);
        assert_eq!(to(&Gvk::new("apps", "v1", "Deployment"), &v2), None);
    }
}
