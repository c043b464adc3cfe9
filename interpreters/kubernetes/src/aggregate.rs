//! One status out of many: what the members say of their copies, brought together
//! in the template's status.

mod ingress;
mod job;
mod phase;
mod workload;

use crate::json::{Result, get, set, status, text};
use windlass_sdk::{Map, Value, json};

/// What one cluster says.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The cluster's name.
    pub(crate) cluster: String,
    /// The status that [`crate::status::interpret`] carried up; `None` if it isn't known.
    pub(crate) status: Option<Value>,
}

/// Brings the template's status up to the items.
pub(crate) fn aggregate(kind: &str, template: &mut Value, items: &[Item]) -> Result<()> {
    for item in items {
        if let Some(status) = &item.status
            && !status.is_object()
        {
            return Err(format!("status of cluster {}: expected an object", item.cluster));
        }
    }
    let fresh = match kind {
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" => {
            workload::aggregate(kind, template, items)?
        }
        "Service" if text(template, &["spec", "type"])? != "LoadBalancer" => None,
        "Service" => Some(ingress::aggregate(items, true)?),
        "Ingress" => Some(ingress::aggregate(items, false)?),
        "Job" => job::aggregate(template, items)?,
        "CronJob" => Some(cron_job(template, items)?),
        "Pod" if items.is_empty() => None,
        "Pod" => Some(phase::pod(items)?),
        "PersistentVolume" => Some(phase::volume(items)?),
        "PersistentVolumeClaim" => Some(phase::claim(items)?),
        "PodDisruptionBudget" => Some(budget(items)?),
        "HorizontalPodAutoscaler" => {
            let mut sums = workload::sums(items, &["currentReplicas", "desiredReplicas"])?;
            sums.insert("currentMetrics".into(), Value::Null);
            sums.entry("desiredReplicas").or_insert(json!(0));
            Some(Value::Object(sums))
        }
        other => return Err(format!("kind {other} has no rule for aggregation")),
    };
    if let Some(fresh) = fresh
        && (kind == "PodDisruptionBudget" || filled(&fresh) != get(template, &["status"])?.and_then(filled))
    {
        set(template, &["status"], fresh);
    }
    Ok(())
}

/// What a value says, without fields that are zero, false or empty: to Go's types those say nothing, and a status that
/// differs in nothing else is left as it is.
fn filled(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Bool(true) => Some(Value::Bool(true)),
        Value::Bool(false) => None,
        Value::Number(number) => (number.as_f64() != Some(0.0)).then(|| value.clone()),
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Array(items) => (!items.is_empty())
            .then(|| Value::Array(items.iter().map(|item| filled(item).unwrap_or_default()).collect())),
        Value::Object(map) => {
            let map: Map<String, Value> =
                map.iter().filter_map(|(key, value)| Some((key.clone(), filled(value)?))).collect();
            (!map.is_empty()).then_some(Value::Object(map))
        }
    }
}

fn known(items: &[Item]) -> impl Iterator<Item = (&str, &Value)> {
    items.iter().filter_map(|item| Some((item.cluster.as_str(), item.status.as_ref()?)))
}

fn cron_job(template: &Value, items: &[Item]) -> Result<Value> {
    let mut active = Vec::new();
    for (_, status) in known(items) {
        active.extend(crate::json::list(status, &["active"])?.iter().cloned());
    }
    let mut result = status(template)?.cloned().unwrap_or_default();
    put(&mut result, "active", (!active.is_empty()).then_some(Value::Array(active)));
    for field in ["lastScheduleTime", "lastSuccessfulTime"] {
        put(&mut result, field, extreme(items, field, true)?.map(Value::String));
    }
    Ok(Value::Object(result))
}

fn put(map: &mut Map<String, Value>, field: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            map.insert(field.into(), value);
        }
        None => {
            map.remove(field);
        }
    }
}

/// The latest or earliest time that members give in a field. Kubernetes writes times in
/// UTC with whole seconds, so their texts sort as they do.
fn extreme(items: &[Item], field: &str, latest: bool) -> Result<Option<String>> {
    let mut found: Option<String> = None;
    for (_, status) in known(items) {
        let time = text(status, &[field])?;
        let better = match &found {
            None => !time.is_empty(),
            Some(held) => !time.is_empty() && (time > held.as_str()) == latest,
        };
        if better {
            found = Some(time.to_owned());
        }
    }
    Ok(found)
}

fn budget(items: &[Item]) -> Result<Value> {
    let fields = ["currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed"];
    let mut result = workload::sums(items, &fields)?;
    for field in fields {
        result.entry(field).or_insert(json!(0));
    }
    let mut disrupted = Map::new();
    for (cluster, status) in known(items) {
        for (pod, time) in crate::json::object(status, &["disruptedPods"])?.into_iter().flatten() {
            disrupted.insert(format!("{cluster}/{pod}"), time.clone());
        }
    }
    if !disrupted.is_empty() {
        result.insert("disruptedPods".into(), Value::Object(disrupted));
    }
    Ok(Value::Object(result))
}

/// Whether a status has a condition of this type that is `True`.
fn has_true(status: &Value, kind: &str) -> Result<bool> {
    for condition in crate::json::list(status, &["conditions"])? {
        if text(condition, &["type"])? == kind && text(condition, &["status"])? == "True" {
            return Ok(true);
        }
    }
    Ok(false)
}

fn field_is_set(status: &Value, field: &str) -> Result<bool> {
    Ok(get(status, &[field])?.is_some())
}
