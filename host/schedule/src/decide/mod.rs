//! Whether a binding is scheduled now: which bindings a scheduler handles, what calls for a pass, and whom a change of a
//! cluster concerns.

mod placement;

use serde_json::Value;
use windlass_api::labels::{
    ANNOTATION_AFFINITY_NAME, DEFAULT_SCHEDULER, LABEL_BINDING_MANAGED_BY, LABEL_CLUSTER_POLICY_ID,
    LABEL_POLICY_ID,
};
use windlass_object::Meta;
use windlass_object::path::{bool_at, get, i64_at, list_at, str_at};

use crate::records::ClusterFacts;
use crate::request::Request;
use crate::table::ClusterTable;

pub use placement::placement_changed;

/// What calls for a pass, or doesn't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// It is being deleted: nothing to do.
    Deleting,
    /// It has no placement; someone made it wrongly. Tried again.
    NoPlacement,
    /// The placement isn't the one that was applied.
    PlacementChanged,
    /// Other replicas are asked for than were placed.
    ReplicasChanged,
    /// A user asked for it.
    RescheduleRequested,
    /// Bindings of this sort are always looked at again: what is not a workload, and what is duplicated.
    Always,
    /// One of its clusters is being deleted.
    TargetTerminating,
    /// All is as it should be. The generation to note as observed, if it isn't.
    Skip(Option<i64>),
}

impl Trigger {
    /// Its word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deleting => "Deleting",
            Self::NoPlacement => "NoPlacement",
            Self::PlacementChanged => "PlacementChanged",
            Self::ReplicasChanged => "ReplicasChanged",
            Self::RescheduleRequested => "RescheduleRequested",
            Self::Always => "Always",
            Self::TargetTerminating => "TargetTerminating",
            Self::Skip(_) => "Skip",
        }
    }

    /// Whether a pass is to run.
    pub fn schedules(self) -> bool {
        !matches!(self, Self::Deleting | Self::NoPlacement | Self::Skip(_))
    }

    /// The word for metrics.
    pub fn schedule_type(self) -> &'static str {
        match self {
            Self::ReplicasChanged => "ScaleSchedule",
            _ => "ReconcileSchedule",
        }
    }
}

/// The name of the scheduler that a binding asks for.
pub fn scheduler_of(binding: &Value) -> &str {
    match str_at(binding, &["spec", "schedulerName"]) {
        "" => DEFAULT_SCHEDULER,
        name => name,
    }
}

/// Whether a scheduler of this name handles a binding.
pub fn is_handled(binding: &Value, scheduler_name: &str) -> bool {
    scheduler_of(binding) == scheduler_name
        && !bool_at(binding, &["spec", "suspension", "scheduling"])
        && [LABEL_POLICY_ID, LABEL_CLUSTER_POLICY_ID, LABEL_BINDING_MANAGED_BY]
            .iter()
            .any(|key| binding.label(key).is_some_and(|value| !value.is_empty()))
}

/// The affinity group in force, empty if there was none yet. It is in an annotation that is written together with the
/// clusters; the status, which follows, is believed where there is no annotation.
pub fn observed_affinity(binding: &Value) -> &str {
    binding
        .annotation(ANNOTATION_AFFINITY_NAME)
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| str_at(binding, &["status", "schedulerObservingAffinityName"]))
}

/// Status and reason of the condition `Scheduled`.
pub fn scheduled_condition(binding: &Value) -> Option<(&str, &str)> {
    let conditions = list_at(binding, &["status", "conditions"]);
    let found =
        conditions.iter().find(|one| str_at(one, &["type"]) == windlass_api::conditions::SCHEDULED)?;
    Some((str_at(found, &["status"]), str_at(found, &["reason"])))
}

/// What calls for a pass. `components` is gate `MultiplePodTemplatesScheduling`.
pub fn trigger(binding: &Value, table: &ClusterTable, components: bool) -> Trigger {
    trigger_of(binding, &Request::from_binding(binding), table, components)
}

/// The same for a binding that was read already.
pub fn trigger_of(binding: &Value, request: &Request, table: &ClusterTable, components: bool) -> Trigger {
    if binding.is_deleting() {
        return Trigger::Deleting;
    }
    let Some(placement) = get(binding, &["spec", "placement"]).filter(|value| !value.is_null()) else {
        return Trigger::NoPlacement;
    };
    if placement_changed(binding, placement) {
        return Trigger::PlacementChanged;
    }
    if replicas_changed(request, components) {
        return Trigger::ReplicasChanged;
    }
    if request.fresh {
        return Trigger::RescheduleRequested;
    }
    let strategy = request.placement.as_ref().and_then(|placement| placement.strategy.as_ref());
    if !request.is_workload() || strategy.is_none_or(|strategy| strategy.is_duplicated()) {
        return Trigger::Always;
    }
    let terminating =
        |name: &str| table.id(name).and_then(|id| table.get(id)).is_some_and(|cluster| cluster.deleting);
    if request.targets.iter().any(|target| terminating(&target.name)) {
        return Trigger::TargetTerminating;
    }
    let observed = i64_at(binding, &["status", "schedulerObservedGeneration"]).unwrap_or(0);
    Trigger::Skip((observed != binding.generation()).then(|| binding.generation()))
}

/// Whether other replicas are asked for than were placed.
fn replicas_changed(request: &Request, components: bool) -> bool {
    let Some(strategy) = request.placement.as_ref().and_then(|placement| placement.strategy.as_ref()) else {
        return false;
    };
    if components && !request.components.is_empty() && request.targets.is_empty() {
        return true;
    }
    match strategy.scheduling_type.as_str() {
        "Duplicated" => request.targets.iter().any(|target| target.replicas != request.replicas),
        "Divided" => {
            let placed: i64 = request.targets.iter().map(|target| i64::from(target.replicas)).sum();
            placed != i64::from(request.replicas)
        }
        _ => false,
    }
}

/// The plain rule, against which the index of `needs` is tested: whether a change of a cluster, as it was or as it is, concerns a binding: its affinity is absent or matches, overflow
/// affinities included. A binding that found no cluster is concerned by every change.
pub fn concerns(binding: &Value, versions: &[&ClusterFacts]) -> bool {
    let request = Request::from_binding(binding);
    let Some(placement) = &request.placement else { return false };
    if found_nothing(binding) {
        return true;
    }
    let matches =
        |affinity: &crate::records::ClusterAffinity| versions.iter().any(|facts| affinity.matches(facts));
    if let Some(affinity) = &placement.affinity {
        return matches(affinity);
    }
    if placement.terms.is_empty()
        || i64_at(binding, &["status", "schedulerObservedGeneration"]) != Some(binding.generation())
    {
        return true;
    }
    request
        .term(&request.observed_affinity)
        .is_none_or(|term| matches(&term.affinity) || term.overflow.iter().flatten().any(|one| matches(one)))
}

/// Whether the last pass found no cluster at all.
fn found_nothing(binding: &Value) -> bool {
    scheduled_condition(binding)
        .is_some_and(|(_, reason)| reason == windlass_api::conditions::REASON_NO_CLUSTER_FIT)
}
