//! Deployment, ReplicaSet, DaemonSet and StatefulSet: sums, and whether all members are up to date.

use super::{Item, known};
use crate::json::{Result, int, status};
use windlass_sdk::{Map, Value, json};

fn fields(kind: &str) -> &'static [&'static str] {
    match kind {
        "Deployment" => {
            &["replicas", "readyReplicas", "updatedReplicas", "availableReplicas", "unavailableReplicas"]
        }
        "ReplicaSet" => &["replicas", "readyReplicas", "availableReplicas"],
        "DaemonSet" => &[
            "currentNumberScheduled",
            "desiredNumberScheduled",
            "numberAvailable",
            "numberMisscheduled",
            "numberReady",
            "updatedNumberScheduled",
            "numberUnavailable",
        ],
        _ => &["availableReplicas", "currentReplicas", "readyReplicas", "replicas", "updatedReplicas"],
    }
}

/// Fields that Go writes even when they are zero.
fn always(kind: &str) -> &'static [&'static str] {
    match kind {
        "ReplicaSet" => &["replicas"],
        "StatefulSet" => &["replicas", "availableReplicas"],
        "DaemonSet" => {
            &["currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"]
        }
        _ => &[],
    }
}

/// The new status, or `None` if nothing changed.
pub(super) fn aggregate(kind: &str, template: &Value, items: &[Item]) -> Result<Option<Value>> {
    let generation = int(template, &["metadata", "generation"])?.unwrap_or(0);
    let mut current = 0;
    for (_, member) in known(items) {
        let of = |field: &str| -> Result<i64> { Ok(int(member, &[field])?.unwrap_or(0)) };
        // The reference wants a StatefulSet's to reach the member's own generation, which it may never do.
        let wanted = if kind == "StatefulSet" { of("generation")?.min(generation) } else { generation };
        if of("observedGeneration")? >= of("generation")? && of("resourceTemplateGeneration")? >= wanted {
            current += 1;
        }
    }
    let old = status(template)?.cloned().unwrap_or_default();
    let held = int(template, &["status", "observedGeneration"])?.unwrap_or(0);
    let observed = if current == items.len() { generation } else { held };

    let mut fresh = old.clone();
    let sums = sums(items, fields(kind))?;
    for field in fields(kind) {
        match sums.get(*field) {
            Some(sum) => {
                fresh.insert((*field).into(), sum.clone());
            }
            None if always(kind).contains(field) => {
                fresh.insert((*field).into(), json!(0));
            }
            None => {
                fresh.remove(*field);
            }
        }
    }
    // Not summed up; Go leaves a zero of it out when it writes the rest.
    if kind == "ReplicaSet" && fresh.get("fullyLabeledReplicas") == Some(&json!(0)) {
        fresh.remove("fullyLabeledReplicas");
    }
    if observed == 0 {
        fresh.remove("observedGeneration");
    } else {
        fresh.insert("observedGeneration".into(), json!(observed));
    }
    Ok((fresh != old).then_some(Value::Object(fresh)))
}

/// Sums of integer fields over all items with a status; fields whose sum is zero are left out.
pub(super) fn sums(items: &[Item], fields: &[&str]) -> Result<Map<String, Value>> {
    let mut result = Map::new();
    for field in fields {
        let mut sum = 0i64;
        for (cluster, status) in known(items) {
            sum += int(status, &[field])
                .map_err(|error| format!("status of cluster {cluster}: {error}"))?
                .unwrap_or(0);
        }
        if sum != 0 {
            result.insert((*field).into(), json!(sum));
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stateful_set_is_up_to_date_when_all_members_are() {
        let template = json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 1}});
        // The member's own generation may be ahead of the template's: somebody has edited it there.
        for (generation, observed, of_template, expected) in
            [(2, 2, 2, 2), (5, 5, 2, 2), (5, 4, 2, 1), (2, 2, 1, 1), (1, 1, 1, 2)]
        {
            let status = json!({
                "generation": generation, "observedGeneration": observed,
                "resourceTemplateGeneration": of_template,
            });
            let items = [Item { cluster: "m1".into(), status: Some(status) }];
            let fresh = aggregate("StatefulSet", &template, &items).unwrap();
            let told = fresh.unwrap_or_else(|| template["status"].clone());
            assert_eq!(told["observedGeneration"], json!(expected), "{generation} {observed} {of_template}");
        }
    }
}
