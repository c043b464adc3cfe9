//! Which clusters a binding's Works are for, and how the completions of a Job are shared among them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_api::names::cluster_of;
use windlass_object::Meta;
use windlass_object::gvk::split_api_version;
use windlass_object::path::{get, i64_at, list_at, set, str_at};
use windlass_schedule::webster::{Party, dispense};

/// A cluster that gets a Work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Target {
    /// Cluster name.
    pub cluster: String,
    /// Replicas there.
    pub replicas: i64,
    /// Replicas by component, as the scheduler wrote them.
    pub components: Vec<Value>,
    /// Whether the cluster comes from another binding that depends on this one. Its replicas are that binding's.
    pub required_by: bool,
}

/// The clusters of a binding and of those that depend on it, each once.
pub fn targets(binding: &Value) -> Vec<Target> {
    let target = |entry: &Value, required_by| Target {
        cluster: str_at(entry, &["name"]).to_owned(),
        replicas: i64_at(entry, &["replicas"]).unwrap_or(0),
        components: list_at(entry, &["components"]).to_vec(),
        required_by,
    };
    let own = list_at(binding, &["spec", "clusters"]).iter().map(|entry| target(entry, false));
    let required = list_at(binding, &["spec", "requiredBy"])
        .iter()
        .flat_map(|snapshot| list_at(snapshot, &["clusters"]))
        .map(|entry| target(entry, true));
    let mut seen = BTreeSet::new();
    own.chain(required).filter(|target| seen.insert(target.cluster.clone())).collect()
}

/// The clusters that may have a Work: the targets, and those being drained slowly.
pub fn expected_clusters(binding: &Value) -> BTreeSet<String> {
    let draining = list_at(binding, &["spec", "gracefulEvictionTasks"])
        .iter()
        .filter(|task| str_at(task, &["purgeMode"]) != "Directly")
        .map(|task| str_at(task, &["fromCluster"]).to_owned());
    targets(binding).into_iter().map(|target| target.cluster).chain(draining).collect()
}

/// Works of the binding in clusters that may have none.
pub fn orphans<'a>(binding: &Value, works: &[&'a Value]) -> Vec<&'a Value> {
    let expected = expected_clusters(binding);
    works
        .iter()
        .copied()
        .filter(|work| cluster_of(work.namespace()).is_none_or(|cluster| !expected.contains(cluster)))
        .collect()
}

/// Clusters that must be rid of their Work before others get theirs.
pub fn direct_purges_pending(binding: &Value, works: &[&Value]) -> Vec<String> {
    let purging: BTreeSet<&str> = list_at(binding, &["spec", "gracefulEvictionTasks"])
        .iter()
        .filter(|task| str_at(task, &["purgeMode"]) == "Directly")
        .map(|task| str_at(task, &["fromCluster"]))
        .collect();
    let mut pending: Vec<String> = works
        .iter()
        .filter_map(|work| cluster_of(work.namespace()))
        .filter(|cluster| purging.contains(cluster))
        .map(str::to_owned)
        .collect();
    pending.sort();
    pending.dedup();
    pending
}

/// Whether the binding is of something with replicas.
pub fn is_workload(binding: &Value) -> bool {
    i64_at(binding, &["spec", "replicas"]).unwrap_or(0) > 0
        || get(binding, &["spec", "replicaRequirements"]).is_some_and(|value| !value.is_null())
        || !list_at(binding, &["spec", "components"]).is_empty()
}

/// How a Job's completions are shared, by cluster; nothing if they are left alone.
pub fn completions(binding: &Value, template: &Value, targets: &[Target]) -> Option<BTreeMap<String, i64>> {
    let is_job = template.kind() == "Job" && split_api_version(template.api_version()).0 == "batch";
    let strategy = get(binding, &["spec", "placement", "replicaScheduling"]).filter(|value| !value.is_null());
    let divided = strategy.is_some_and(|s| str_at(s, &["replicaSchedulingType"]) != "Duplicated");
    if !is_job || !divided || i64_at(binding, &["spec", "replicas"]).unwrap_or(0) <= 0 {
        return None;
    }
    let total = i64_at(template, &["spec", "completions"])?;
    let parties: Vec<Party> =
        targets.iter().map(|target| Party::new(target.cluster.as_str(), target.replicas)).collect();
    if parties.iter().all(|party| party.weight <= 0) {
        return None;
    }
    let shares = dispense(total, parties, template.uid());
    Some(shares.into_iter().map(|party| (party.name, party.seats)).collect())
}

/// Gives a cluster's copy of a Job its share. A Job without completions stays without.
pub fn set_completions(job: &mut Value, share: i64) {
    if get(job, &["spec", "completions"]).is_some() {
        set(job, &["spec", "completions"], share.into());
    }
}
