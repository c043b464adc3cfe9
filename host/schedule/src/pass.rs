//! A whole scheduling of one binding: one pass, or one for each affinity group until one succeeds, and everything to write
//! and to tell afterwards.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use windlass_api::conditions::{
    REASON_NO_CLUSTER_FIT, REASON_QUOTA_EXCEEDED, REASON_SCHEDULER_ERROR, REASON_SUCCESS,
    REASON_UNSCHEDULABLE, SCHEDULED,
};
use windlass_api::events::{SCHEDULE_BINDING_FAILED, SCHEDULE_BINDING_SUCCEED};
use windlass_api::labels::{ANNOTATION_AFFINITY_NAME, ANNOTATION_APPLIED_PLACEMENT};
use windlass_object::Meta;
use windlass_object::condition::{self, Condition};
use windlass_object::patch::escape_token;
use windlass_object::path::{get, i64_at, str_at};

use crate::binding::Peers;
use crate::decide::observed_affinity;
use crate::outcome::{Failure, Outcome};
use crate::pipeline::{Input, Options, schedule};
use crate::plugin::{Assumed, Profile};
use crate::request::{Request, Target};
use crate::table::ClusterTable;

/// What was said when a binding was scheduled.
const SCHEDULED_MESSAGE: &str = "Binding has been scheduled successfully.";

/// What came of a scheduling, in the words of the condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Placed.
    Success,
    /// Not enough room.
    Unschedulable(String),
    /// No cluster fits.
    NoClusterFit(String),
    /// The result was refused for a quota; comes from writing it.
    QuotaExceeded(String),
    /// Anything else.
    SchedulerError(String),
}

/// When a binding is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// When something of it, or of a cluster that it may use, changes.
    No,
    /// Also when a cluster that it may use gets more room, and after a long while.
    Unschedulable,
    /// After a pause that grows with each attempt.
    Backoff,
}

impl Verdict {
    /// The condition `Scheduled`.
    pub fn condition(&self, generation: i64) -> Condition {
        let (status, reason, message) = match self {
            Self::Success => ("True", REASON_SUCCESS, SCHEDULED_MESSAGE),
            Self::Unschedulable(text) => ("False", REASON_UNSCHEDULABLE, text.as_str()),
            Self::NoClusterFit(text) => ("False", REASON_NO_CLUSTER_FIT, text.as_str()),
            Self::QuotaExceeded(text) => ("False", REASON_QUOTA_EXCEEDED, text.as_str()),
            Self::SchedulerError(text) => ("False", REASON_SCHEDULER_ERROR, text.as_str()),
        };
        Condition::new(SCHEDULED, status, reason, message).observed(generation)
    }

    /// When to try again.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Success | Self::NoClusterFit(_) => Retry::No,
            Self::Unschedulable(_) => Retry::Unschedulable,
            Self::QuotaExceeded(_) | Self::SchedulerError(_) => Retry::Backoff,
        }
    }

    /// The word for metrics. That no cluster fits is an answer, not an error.
    pub fn result(&self) -> &'static str {
        match self {
            Self::Success | Self::NoClusterFit(_) => "scheduled",
            _ => "error",
        }
    }
}

impl From<&Failure> for Verdict {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::NoClusterFit(text) => Self::NoClusterFit(text.clone()),
            Failure::Unschedulable(text) => Self::Unschedulable(text.clone()),
            Failure::Error(text) => Self::SchedulerError(text.clone()),
        }
    }
}

/// An event to be recorded on the binding and on its template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// `Warning` instead of `Normal`.
    pub warning: bool,
    /// `ScheduleBindingSucceed` or `ScheduleBindingFailed`.
    pub reason: &'static str,
    /// The text.
    pub message: String,
}

/// What to write and to tell after a scheduling: first the result, then the status.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// JSON Patch of the binding, guarded by its generation; nothing if the result is there already.
    pub result: Option<Value>,
    /// What came of it.
    pub verdict: Verdict,
    /// The affinity group in force from now on; nothing if it stays.
    pub affinity_name: Option<String>,
    /// To be recorded, in order. If writing the result fails the last one is not true.
    pub events: Vec<Event>,
    /// The clusters, if there are any.
    pub targets: Vec<Target>,
    /// Every pass that ran, with the affinity group in force.
    pub passes: Vec<(String, Outcome)>,
}

impl Plan {
    /// Merge patch of the binding's status; nothing if it says so already. `generation` is the one that was decided about,
    /// or that the own write of the result made; `binding` may be newer. After a failed write pass another `verdict`.
    pub fn status(&self, binding: &Value, verdict: &Verdict, generation: i64, now: &str) -> Option<Value> {
        let mut changes = Map::new();
        conditions(&mut changes, binding, verdict, generation, now);
        if *verdict == Verdict::Success {
            observed(&mut changes, binding, generation);
            let before = str_at(binding, &["status", "schedulerObservingAffinityName"]);
            if let Some(name) = self.affinity_name.as_deref().filter(|name| *name != before) {
                changes.insert("schedulerObservingAffinityName".to_owned(), name.into());
            }
            // A pass that found all as it was is no news, unless someone asked for it.
            if self.result.is_some()
                || !changes.is_empty()
                || Request::from_binding(binding).fresh
                || str_at(binding, &["status", "lastScheduledTime"]).is_empty()
            {
                changes.insert("lastScheduledTime".to_owned(), now.into());
            }
        }
        (!changes.is_empty()).then(|| json!({ "status": changes }))
    }
}

/// Merge patch of the status of a binding that is as it should be without a pass: the generation is noted, and whatever an
/// earlier write of the status would have said.
pub fn settled_status(binding: &Value, generation: i64, now: &str) -> Option<Value> {
    let mut changes = Map::new();
    conditions(&mut changes, binding, &Verdict::Success, generation, now);
    observed(&mut changes, binding, generation);
    let (name, before) =
        (observed_affinity(binding), str_at(binding, &["status", "schedulerObservingAffinityName"]));
    if name != before {
        changes.insert("schedulerObservingAffinityName".to_owned(), name.into());
    }
    if str_at(binding, &["status", "lastScheduledTime"]).is_empty() {
        changes.insert("lastScheduledTime".to_owned(), now.into());
    }
    (!changes.is_empty()).then(|| json!({ "status": changes }))
}

fn conditions(
    changes: &mut Map<String, Value>,
    binding: &Value,
    verdict: &Verdict,
    generation: i64,
    now: &str,
) {
    let mut conditions = condition::of(binding).to_vec();
    if condition::set_at(&mut conditions, verdict.condition(generation), now) {
        changes.insert("conditions".to_owned(), conditions.into());
    }
}

fn observed(changes: &mut Map<String, Value>, binding: &Value, generation: i64) {
    if i64_at(binding, &["status", "schedulerObservedGeneration"]) != Some(generation) {
        changes.insert("schedulerObservedGeneration".to_owned(), generation.into());
    }
}

/// What a scheduling works on beside the binding.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The clusters.
    pub table: &'a ClusterTable,
    /// Where the binding's affinity groups are.
    pub peers: &'a Peers,
    /// Placed a moment ago and not reported yet.
    pub assumed: &'a Assumed,
    /// Flags and gates.
    pub options: Options,
}

/// Schedules a binding that [`crate::decide::trigger`] says is to be scheduled.
pub fn plan(binding: &Value, around: &Surroundings<'_>, profile: &mut Profile) -> Plan {
    let request = Request::from_binding(binding);
    let terms = request.placement.as_ref().map(|placement| placement.terms.as_slice()).unwrap_or_default();
    let has_groups =
        request.placement.as_ref().is_some_and(|placement| placement.affinity.is_none()) && !terms.is_empty();
    let names: Vec<&str> = if has_groups {
        let observed = terms.iter().position(|term| term.name == request.observed_affinity);
        let start = if request.fresh { 0 } else { observed.unwrap_or(0) };
        terms.iter().skip(start).map(|term| term.name.as_str()).collect()
    } else {
        vec![request.observed_affinity.as_str()]
    };
    let mut plan = Plan {
        result: None,
        verdict: Verdict::Success,
        affinity_name: None,
        events: Vec::new(),
        targets: Vec::new(),
        passes: Vec::new(),
    };
    let mut first_failure = None;
    for name in names {
        let outcome = run(&request, name, around, profile);
        let result = outcome.result.clone();
        plan.passes.push((name.to_owned(), outcome));
        match result {
            Ok(targets) => {
                first_failure = None;
                plan.targets = targets;
                plan.affinity_name = has_groups.then(|| name.to_owned());
                break;
            }
            Err(failure) => {
                if has_groups {
                    let index = terms.iter().position(|term| term.name == name).unwrap_or(0);
                    plan.events.push(failed(group_failure(&request, index, &failure)));
                }
                first_failure.get_or_insert(failure);
            }
        }
    }
    match first_failure {
        None => plan.events.push(succeeded(&request, &plan.targets)),
        Some(failure) => {
            plan.verdict = Verdict::from(&failure);
            // With groups each failure was told already; that nothing runs any more is news.
            if !has_groups || matches!(failure, Failure::NoClusterFit(_)) {
                plan.events.push(failed(failure.to_string()));
            }
        }
    }
    if matches!(plan.verdict, Verdict::Success | Verdict::NoClusterFit(_)) {
        plan.result = result_patch(binding, &plan.targets, plan.affinity_name.as_deref());
    }
    plan
}

fn run(request: &Request, name: &str, around: &Surroundings<'_>, profile: &mut Profile) -> Outcome {
    let input = Input {
        table: around.table,
        request,
        affinity_name: name,
        peers: around.peers,
        assumed: around.assumed,
        options: around.options,
    };
    schedule(&input, profile)
}

fn succeeded(request: &Request, targets: &[Target]) -> Event {
    let targets: Vec<String> =
        targets.iter().map(|target| format!("{}:{}", target.name, target.replicas)).collect();
    let colon = if request.namespace.is_empty() { "" } else { ":" };
    Event {
        warning: false,
        reason: SCHEDULE_BINDING_SUCCEED,
        message: format!("{SCHEDULED_MESSAGE} Result{colon} {{{}}}", targets.join(", ")),
    }
}

/// The event of a scheduling that failed.
pub fn failed(message: String) -> Event {
    Event { warning: true, reason: SCHEDULE_BINDING_FAILED, message }
}

fn group_failure(request: &Request, index: usize, failure: &Failure) -> String {
    let binding = if request.namespace.is_empty() {
        format!("ClusterResourceBinding({})", request.name)
    } else {
        format!("ResourceBinding({}/{})", request.namespace, request.name)
    };
    // "clusterAffiliates" is what clients know.
    format!("failed to schedule {binding} with clusterAffiliates index({index}): {failure}")
}

/// Whether two lists have the same entries; another order of clusters is no news.
fn same_entries(before: &[Value], after: &[Value]) -> bool {
    let by_name = |list: &[Value]| -> BTreeMap<String, Value> {
        list.iter().map(|entry| (str_at(entry, &["name"]).to_owned(), entry.clone())).collect()
    };
    before == after || before.len() == after.len() && by_name(before) == by_name(after)
}

/// The change that puts the result into the binding, if it isn't there: clusters, placement and group in one, so that they
/// never contradict each other. It rests on the generation: a spec that changed meanwhile is scheduled again instead of
/// overwritten; and on the UID, since an object of the same name may be at the same generation.
fn result_patch(binding: &Value, targets: &[Target], group: Option<&str>) -> Option<Value> {
    let mut operations = Vec::new();
    let placement = get(binding, &["spec", "placement"]).map(Value::to_string).unwrap_or_default();
    let notes = [(ANNOTATION_APPLIED_PLACEMENT, Some(placement.as_str())), (ANNOTATION_AFFINITY_NAME, group)];
    for (name, text) in notes {
        let Some(text) = text.filter(|text| binding.annotation(name) != Some(text)) else { continue };
        if operations.is_empty() && get(binding, &["metadata", "annotations"]).is_none() {
            operations.push(json!({"op": "add", "path": "/metadata/annotations", "value": {}}));
        }
        let path = format!("/metadata/annotations/{}", escape_token(name));
        operations.push(json!({"op": "add", "path": path, "value": text}));
    }
    let before = get(binding, &["spec", "clusters"]);
    let clusters: Vec<Value> = targets.iter().map(Target::to_value).collect();
    if clusters.is_empty() {
        if before.is_some() {
            operations.push(json!({"op": "remove", "path": "/spec/clusters"}));
        }
    } else if !before.and_then(Value::as_array).is_some_and(|before| same_entries(before, &clusters)) {
        operations.push(json!({"op": "add", "path": "/spec/clusters", "value": clusters}));
    }
    if operations.is_empty() {
        return None;
    }
    let mut patch =
        vec![json!({"op": "test", "path": "/metadata/generation", "value": binding.generation()})];
    if !binding.uid().is_empty() {
        patch.push(json!({"op": "test", "path": "/metadata/uid", "value": binding.uid()}));
    }
    patch.append(&mut operations);
    Some(patch.into())
}
