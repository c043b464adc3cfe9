//! Why the schedulers decide as they do, for those who ask: worked out when it is asked, by the same plugins, on what is
//! known now.

use super::Scheduler;
use crate::context::compute;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_schedule::pass::Plan;

/// Explains decisions. Clones are handles to the same; the default explains nothing.
#[derive(Clone, Default)]
pub struct Decisions {
    scheduler: Option<Arc<Scheduler>>,
}

impl Decisions {
    pub(super) fn of(scheduler: Scheduler) -> Self {
        Self { scheduler: Some(Arc::new(scheduler)) }
    }

    /// The decision about a binding, `namespace/name` or `name`: every pass with refused clusters and why, scores, groups
    /// and the result. Nothing if there is no such binding, or none of the schedulers takes it.
    pub fn get(&self, binding: &str) -> Option<Value> {
        let scheduler = self.scheduler.as_ref()?;
        let object = scheduler.find(binding)?;
        compute(|| {
            scheduler.desk.with(|driver, now| {
                let plan = driver.explain(&object, now)?;
                Some(explanation(&plan, driver.table()))
            })
        })
    }
}

/// A plan in names instead of ids.
fn explanation(plan: &Plan, table: &windlass_schedule::ClusterTable) -> Value {
    let passes: Vec<Value> = plan
        .passes
        .iter()
        .map(|(group, outcome)| json!({"affinityName": group, "outcome": outcome.explain(table)}))
        .collect();
    json!({"result": plan.verdict.result(), "passes": passes})
}
