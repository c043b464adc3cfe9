//! A Cluster's status from what its member told: pure.

use super::collect::{Facts, Health};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_api::conditions as words;
use windlass_object::condition::{self, Condition};
use windlass_object::meta::Meta;
use windlass_object::path::{list_at, str_at};
use windlass_object::quantity::{Format, Quantity};

/// What was seen.
pub(super) struct Observed<'a> {
    /// How the member answers.
    pub(super) health: &'a Health,
    /// Whether that counts already.
    pub(super) settled: bool,
    /// What it told, if it was asked.
    pub(super) facts: Option<&'a Facts>,
    /// RFC 3339.
    pub(super) now: String,
}

/// The status of the condition `Ready`.
pub(super) fn ready(cluster: &Value) -> Option<String> {
    condition::status(condition::of(cluster), words::READY).map(str::to_owned)
}

/// Whether a change of a node or definition without a new generation calls for a reading.
pub(super) fn matters(old: Option<&Value>, new: Option<&Value>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return true };
    let told = |object: &Value| {
        let states: Vec<(String, String)> = condition::of(object)
            .iter()
            .map(|entry| (str_at(entry, &["type"]).to_owned(), str_at(entry, &["status"]).to_owned()))
            .collect();
        (states, object.pointer("/status/allocatable").cloned())
    };
    told(old) != told(new)
}

/// A JSON Patch of the status; nothing if it says so already.
pub(super) fn patch(cluster: &Value, observed: &Observed<'_>) -> Option<Value> {
    let before = cluster.get("status").cloned().unwrap_or_else(|| json!({}));
    let mut status = before.as_object().cloned().unwrap_or_default();
    let mut conditions = condition::of(cluster).to_vec();
    if observed.settled {
        condition::set_at(
            &mut conditions,
            ready_condition(observed.health, cluster.generation()),
            &observed.now,
        );
    }
    if let Some(facts) = observed.facts {
        condition::set_at(&mut conditions, complete(facts), &observed.now);
        // What could not be read now is as it was told last; the condition says that it may be old.
        if !facts.version.is_empty() {
            status.insert("kubernetesVersion".into(), json!(facts.version));
        }
        if !facts.apis.is_empty() {
            status.insert("apiEnablements".into(), json!(facts.apis));
        }
        if let Some(nodes) = &facts.nodes {
            status.insert("nodeSummary".into(), node_summary(nodes));
            status.insert("resourceSummary".into(), resources(cluster, nodes, &facts.pods));
        }
    }
    status.insert("conditions".into(), Value::Array(conditions));
    let status = Value::Object(status);
    (status != before).then(|| {
        json!([
            {"op": "test", "path": "/metadata/uid", "value": cluster.uid()},
            {"op": "add", "path": "/status", "value": status},
        ])
    })
}

fn ready_condition(health: &Health, generation: i64) -> Condition {
    let (status, reason, message) = match health {
        Health::Healthy => (
            "True",
            words::REASON_CLUSTER_READY,
            "cluster is healthy and ready to accept workloads".to_owned(),
        ),
        Health::NotReady => (
            "False",
            words::REASON_CLUSTER_NOT_READY,
            "cluster is reachable but health endpoint responded without ok".to_owned(),
        ),
        Health::Offline => {
            ("False", words::REASON_CLUSTER_NOT_REACHABLE, "cluster is not reachable".to_owned())
        }
        Health::Unusable(why) => (
            "False",
            words::REASON_STATUS_COLLECTION_FAILED,
            format!("failed to create a ClusterClient: {why}"),
        ),
    };
    Condition::new(words::READY, status, reason, message).observed(generation)
}

fn complete(facts: &Facts) -> Condition {
    let kind = words::COMPLETE_API_ENABLEMENTS;
    if facts.apis.is_empty() {
        let message =
            format!("collected empty APIEnablements from the cluster: {}", facts.missing.join("; "));
        Condition::new(kind, "False", words::REASON_EMPTY, message)
    } else if facts.missing.is_empty() {
        Condition::new(
            kind,
            "True",
            words::REASON_COMPLETE,
            "collected complete APIEnablements from the cluster",
        )
    } else {
        let message = format!(
            "might collect partial APIEnablements({}) from the cluster: {}",
            facts.apis.len(),
            facts.missing.join("; ")
        );
        Condition::new(kind, "False", words::REASON_PARTIAL, message)
    }
}

fn node_summary(nodes: &[Arc<Value>]) -> Value {
    let ready = nodes.iter().filter(|node| condition::is_true(condition::of(node), "Ready")).count();
    json!({"totalNum": nodes.len(), "readyNum": ready})
}

type Amounts = BTreeMap<String, Quantity>;

fn add(sum: &mut Amounts, name: &str, amount: Quantity) {
    let total = match sum.get(name) {
        Some(held) => *held + amount,
        None => amount,
    };
    sum.insert(name.to_owned(), total);
}

fn amounts(value: Option<&Value>) -> Amounts {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(name, amount)| Some((name.clone(), Quantity::from_json(amount).ok()?))).collect()
}

/// What a pod asks for, as the scheduler of a cluster counts it.
fn request(pod: &Value) -> Amounts {
    let mut sum = Amounts::new();
    for container in list_at(pod, &["spec", "containers"]) {
        for (name, amount) in amounts(container.pointer("/resources/requests")) {
            add(&mut sum, &name, amount);
        }
    }
    for container in list_at(pod, &["spec", "initContainers"]) {
        for (name, amount) in amounts(container.pointer("/resources/requests")) {
            let more = sum.get(&name).is_none_or(|held| *held < amount);
            if more {
                sum.insert(name, amount);
            }
        }
    }
    for (name, amount) in amounts(pod.pointer("/spec/overhead")) {
        add(&mut sum, &name, amount);
    }
    add(&mut sum, "pods", Quantity::new(1, Format::DecimalSi));
    sum
}

fn resources(cluster: &Value, nodes: &[Arc<Value>], pods: &[Arc<Value>]) -> Value {
    let mut allocatable = Amounts::new();
    for node in nodes {
        for (name, amount) in amounts(node.pointer("/status/allocatable")) {
            add(&mut allocatable, &name, amount);
        }
    }
    let (mut allocating, mut allocated) = (Amounts::new(), Amounts::new());
    let mut by_node: BTreeMap<&str, Amounts> = BTreeMap::new();
    for pod in pods {
        let node = str_at(pod, &["spec", "nodeName"]);
        let ended = matches!(str_at(pod, &["status", "phase"]), "Succeeded" | "Failed");
        if node.is_empty() {
            request(pod).into_iter().for_each(|(name, amount)| add(&mut allocating, &name, amount));
        } else if !ended {
            for (name, amount) in request(pod) {
                add(&mut allocated, &name, amount);
                add(by_node.entry(node).or_default(), &name, amount);
            }
        }
    }
    let mut summary = Map::new();
    for (field, sum) in
        [("allocatable", &allocatable), ("allocating", &allocating), ("allocated", &allocated)]
    {
        let entries: Map<String, Value> = sum
            .iter()
            .filter(|(_, amount)| !amount.is_zero())
            .map(|(name, amount)| (name.clone(), Value::String(amount.to_string())))
            .collect();
        if !entries.is_empty() {
            summary.insert(field.into(), Value::Object(entries));
        }
    }
    if let Some(modelings) = modelings(cluster, nodes, &by_node) {
        summary.insert("allocatableModelings".into(), modelings);
    }
    Value::Object(summary)
}

/// How many nodes there are of each grade of the Cluster's resource models.
fn modelings(cluster: &Value, nodes: &[Arc<Value>], used: &BTreeMap<&str, Amounts>) -> Option<Value> {
    let models = list_at(cluster, &["spec", "resourceModels"]);
    let first = models.first()?;
    let names: Vec<&str> = list_at(first, &["ranges"]).iter().map(|range| str_at(range, &["name"])).collect();
    let mins: Vec<Amounts> = models
        .iter()
        .map(|model| {
            let ranges = list_at(model, &["ranges"]).iter();
            ranges
                .filter_map(|range| {
                    Some((str_at(range, &["name"]).to_owned(), Quantity::from_json(range.get("min")?).ok()?))
                })
                .collect()
        })
        .collect();
    let mut counts = vec![0u64; models.len()];
    let zero = Quantity::new(0, Format::DecimalSi);
    for node in nodes {
        let mut free = amounts(node.pointer("/status/allocatable"));
        for (name, amount) in used.get(node.name()).into_iter().flatten() {
            if let Some(held) = free.get_mut(name) {
                *held -= *amount;
            }
        }
        if free.get("pods").is_some_and(|pods| pods.sign() <= 0) {
            // A full node ends the count in the reference; here it only doesn't count itself.
            continue;
        }
        let grade = names
            .iter()
            .map(|name| {
                let amount = free.get(*name).copied().unwrap_or(zero);
                mins.iter().rposition(|min| min.get(*name).is_some_and(|min| *min <= amount))
            })
            .min()
            .flatten();
        if let Some(count) = grade.and_then(|grade| counts.get_mut(grade)) {
            *count += 1;
        }
    }
    let grades =
        models.iter().zip(counts).map(|(model, count)| json!({"grade": model.get("grade"), "count": count}));
    Some(grades.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_add_up() {
        let node = Arc::new(
            json!({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}),
        );
        let pod = |node: &str, phase: &str| {
            Arc::new(json!({
                "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}]},
                "status": {"phase": phase},
            }))
        };
        let cluster = json!({"spec": {"resourceModels": [
            {"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": "2"}]},
            {"grade": 1, "ranges": [{"name": "cpu", "min": "2", "max": "9223372036854775807"}]},
        ]}});
        let pods = [pod("n", "Running"), pod("n", "Succeeded"), pod("", "Pending")];
        let summary = resources(&cluster, &[node], &pods);
        assert_eq!(summary["allocatable"]["memory"], "8Gi");
        assert_eq!(summary["allocated"], json!({"cpu": "500m", "memory": "1Gi", "pods": "1"}));
        assert_eq!(summary["allocating"]["pods"], "1");
        assert_eq!(
            summary["allocatableModelings"],
            json!([{"grade": 0, "count": 0}, {"grade": 1, "count": 1}])
        );
    }

    #[test]
    fn the_same_again_is_no_patch() {
        let mut cluster = json!({"metadata": {"uid": "u", "generation": 1}});
        let facts = Facts::default();
        let observed = Observed {
            health: &Health::Healthy,
            settled: true,
            facts: Some(&facts),
            now: "2026-01-01T00:00:00Z".into(),
        };
        let patch = patch(&cluster, &observed).unwrap();
        cluster["status"] = patch[1]["value"].clone();
        let later = Observed { now: "2027-01-01T00:00:00Z".into(), ..observed };
        assert_eq!(super::patch(&cluster, &later), None);
        cluster["status"]["apiEnablements"] = json!([{"groupVersion": "v1", "resources": []}]);
        assert_eq!(super::patch(&cluster, &later), None, "what can't be read is not forgotten");
    }
}
