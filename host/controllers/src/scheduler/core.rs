//! What decides: the table of clusters and the plugins, kept together since plugins hold copies of the table.

use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::meta::Meta;
use windlass_runtime::Change;
use windlass_schedule::decide::{self, Trigger};
use windlass_schedule::pass::{self, Plan, Surroundings};
use windlass_schedule::plugin::{Assumed, Profile};
use windlass_schedule::records::ClusterFacts;
use windlass_schedule::{ClusterTable, Options, Peers};

/// The plugins that a scheduler runs with.
pub type SchedulerPlugins = Profile;

/// Table and plugins.
pub(super) struct Core {
    table: ClusterTable,
    profile: Profile,
}

/// What a change of a cluster means for bindings.
pub(super) struct Effect {
    versions: Vec<ClusterFacts>,
    apis: bool,
    capacity: bool,
    other: bool,
}

impl Effect {
    /// Anything that a decision rests on has changed.
    pub(super) fn matters(&self) -> bool {
        self.apis || self.capacity || self.other
    }

    /// Bindings that have their place may be decided otherwise now.
    pub(super) fn moves(&self) -> bool {
        self.apis || self.other
    }

    /// This one may.
    pub(super) fn concerns(&self, binding: &Arc<Value>) -> bool {
        let facts: Vec<&ClusterFacts> = self.versions.iter().collect();
        decide::concerns(binding, &facts)
    }
}

impl Core {
    pub(super) fn new(profile: Profile) -> Self {
        Self { table: ClusterTable::new(), profile }
    }

    /// Takes a change of a cluster into the table.
    pub(super) fn on_cluster(&mut self, change: &Change) -> Effect {
        let versions: Vec<ClusterFacts> = [&change.old, &change.new]
            .into_iter()
            .flatten()
            .map(|cluster| ClusterFacts::from_value(cluster))
            .collect();
        match &change.new {
            Some(cluster) => drop(self.table.upsert(cluster)),
            None => drop(self.table.remove(&change.key.name)),
        }
        let part = |object: &Option<Arc<Value>>, pointer: &str| {
            object.as_ref().and_then(|o| o.pointer(pointer)).cloned()
        };
        let differs = |pointer: &str| part(&change.old, pointer) != part(&change.new, pointer);
        let apis = differs("/status/apiEnablements");
        let capacity = differs("/status/resourceSummary");
        let deleting = |object: &Option<Arc<Value>>| object.as_ref().map(|o| o.is_deleting());
        let other =
            differs("/metadata/labels") || differs("/spec") || deleting(&change.old) != deleting(&change.new);
        Effect { versions, apis, capacity, other }
    }

    /// Whether the binding is to be scheduled now.
    pub(super) fn trigger(&self, binding: &Value) -> Trigger {
        decide::trigger(binding, &self.table, false)
    }

    /// Schedules it.
    pub(super) fn plan(&mut self, binding: &Value, empty_workload_propagation: bool) -> Plan {
        let around = Surroundings {
            table: &self.table,
            peers: &Peers::default(),
            assumed: &Assumed::new(),
            options: Options { empty_workload_propagation, explain: true, ..Options::default() },
        };
        pass::plan(binding, &around, &mut self.profile)
    }

    /// A plan in names instead of ids.
    pub(super) fn explain(&self, plan: &Plan) -> Value {
        let passes: Vec<Value> = plan
            .passes
            .iter()
            .map(|(group, outcome)| json!({"affinityName": group, "outcome": outcome.explain(&self.table)}))
            .collect();
        json!({"result": plan.verdict.result(), "passes": passes})
    }
}
