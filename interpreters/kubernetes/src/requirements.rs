//! What one replica needs: its resources and where it may run.

use crate::json::{Result, get, list, object};
use crate::quantity::Amount;
use std::collections::BTreeMap;
use windlass_sdk::{Map, Value, json};

/// `ReplicaRequirements` of a pod template (a value with `spec`), or `None` if it asks for nothing.
pub(crate) fn of_template(template: &Value) -> Result<Option<Value>> {
    let request = requests(template)?;
    let claim = node_claim(template)?;
    let mut result = Map::new();
    if let Some(claim) = claim {
        result.insert("nodeClaim".into(), claim);
    }
    if !request.is_empty() {
        result.insert("resourceRequest".into(), Value::Object(request));
    }
    Ok(if result.is_empty() { None } else { Some(Value::Object(result)) })
}

type Amounts = BTreeMap<String, Amount>;

fn requests(template: &Value) -> Result<Map<String, Value>> {
    let mut total = Amounts::new();
    for container in list(template, &["spec", "containers"])? {
        for (name, amount) in container_requests(container)? {
            let sum = total.get(&name).copied().unwrap_or_default().plus(amount);
            total.insert(name, sum);
        }
    }
    for container in list(template, &["spec", "initContainers"])? {
        for (name, amount) in container_requests(container)? {
            let most = total.get(&name).copied().unwrap_or_default().max(amount);
            total.insert(name, most);
        }
    }
    for (name, amount) in amounts(object(template, &["spec", "overhead"])?)? {
        let sum = total.get(&name).copied().unwrap_or_default().plus(amount);
        total.insert(name, sum);
    }
    let mut result = Map::new();
    for (name, amount) in total {
        if !amount.is_positive() {
            continue;
        }
        let written = match name.as_str() {
            "cpu" => amount.decimal(),
            "memory" | "ephemeral-storage" => amount.binary(),
            "pods" => amount.decimal(),
            other if other.starts_with("hugepages-") => amount.binary(),
            other if is_scalar(other) => amount.decimal(),
            _ => continue,
        };
        result.insert(name, Value::String(written));
    }
    Ok(result)
}

/// A container's requests, a missing one taken from its limit, in the unit of accounting.
fn container_requests(container: &Value) -> Result<Amounts> {
    let mut result = amounts(object(container, &["resources", "limits"])?)?;
    result.extend(amounts(object(container, &["resources", "requests"])?)?);
    Ok(result)
}

fn amounts(map: Option<&Map<String, Value>>) -> Result<Amounts> {
    map.into_iter()
        .flatten()
        .map(|(name, value)| {
            let amount = Amount::read(value).map_err(|error| format!("{name}: {error}"))?;
            let rounded = if name == "cpu" { amount.up_to_milli() } else { amount.up_to_unit() };
            Ok((name.clone(), rounded))
        })
        .collect()
}

/// Extended, huge-page, native and volume resources; anything else is not accounted for.
fn is_scalar(name: &str) -> bool {
    let extended = name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests.");
    extended
        || name.starts_with("hugepages-")
        || name.contains("kubernetes.io/")
        || name.starts_with("attachable-volumes-")
}

fn node_claim(template: &Value) -> Result<Option<Value>> {
    let mut claim = Map::new();
    let affinity = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    if let Some(hard) = get(template, &affinity)? {
        claim.insert("hardNodeAffinity".into(), hard.clone());
    }
    if let Some(selector) = object(template, &["spec", "nodeSelector"])? {
        claim.insert("nodeSelector".into(), json!(selector));
    }
    let tolerations = list(template, &["spec", "tolerations"])?;
    if !tolerations.is_empty() {
        claim.insert("tolerations".into(), json!(tolerations));
    }
    Ok(if claim.is_empty() { None } else { Some(Value::Object(claim)) })
}
