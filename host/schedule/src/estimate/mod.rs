//! How much a cluster can still take, by what its Cluster object says: the estimator that always runs.

mod simulator;

use std::collections::BTreeMap;

use crate::amount::Amount;
use crate::capacity::{Capacity, Grade, Models, Summary};
use crate::plugin::{Demand, Estimate, PluginError, Query};
use crate::records::ClusterId;
use crate::request::{Component, Requirements};
use crate::table::ClusterTable;
use simulator::Nodes;

/// The name of [`General`].
pub const GENERAL_ESTIMATOR: &str = "general-estimator";

/// Estimates by resource summary and, if allowed, by resource models.
#[derive(Debug, Clone, Copy)]
pub struct General {
    /// Gate `CustomizedClusterResourceModeling`.
    pub models: bool,
}

impl Estimate for General {
    fn name(&self) -> &str {
        GENERAL_ESTIMATOR
    }

    fn max_replicas(
        &mut self,
        table: &ClusterTable,
        query: &Query<'_>,
    ) -> Result<Vec<Option<i32>>, PluginError> {
        let answer = query.clusters.iter().map(|id| {
            table.get(*id)?;
            let assumed = query.assumed.get(id).map(Vec::as_slice).unwrap_or_default();
            Some(self.estimate(table, *id, query.demand, assumed))
        });
        Ok(answer.collect())
    }
}

impl General {
    /// How much of the demand fits into one cluster; nothing into one that there isn't.
    pub fn estimate(
        &self,
        table: &ClusterTable,
        id: ClusterId,
        demand: Demand<'_>,
        assumed: &[Vec<Component>],
    ) -> i32 {
        let Some(cluster) = table.get(id) else { return 0 };
        let count = match demand {
            Demand::Replicas(requirements) => self.replicas(&cluster.capacity, requirements, assumed),
            Demand::Sets(components) => self.sets(&cluster.capacity, components, assumed),
        };
        i32::try_from(count).unwrap_or(i32::MAX)
    }

    /// How many replicas fit.
    pub fn replicas(
        &self,
        capacity: &Capacity,
        requirements: Option<&Requirements>,
        assumed: &[Vec<Component>],
    ) -> i64 {
        let Some((summary, pods)) = free_pods(capacity, assumed) else { return 0 };
        let Some(requirements) = requirements else { return pods };
        if let Some(grades) = self.grades(capacity) {
            return pods.min(simulator::replicas(grades, &requirements.request, assumed));
        }
        let mut most = pods;
        for (name, wanted) in &requirements.request {
            if wanted.units <= 0 {
                continue;
            }
            let Some(free) = summary.free.get(name) else { return 0 };
            let taken = taken(assumed, name, |amount| amount.by_resource(name));
            let left = free.by_resource(name).saturating_sub(taken);
            if left <= 0 || free.units <= 0 {
                return 0;
            }
            most = most.min(left / wanted.by_resource(name).max(1));
        }
        most
    }

    /// How many complete sets of components fit.
    pub fn sets(&self, capacity: &Capacity, components: &[Component], assumed: &[Vec<Component>]) -> i64 {
        let Some((summary, pods)) = free_pods(capacity, assumed) else { return 0 };
        let pods_per_set: i64 = components.iter().map(|component| i64::from(component.replicas)).sum();
        if pods_per_set <= 0 {
            return pods;
        }
        let mut bound = pods / pods_per_set;
        for (name, demand) in demand_per_set(components) {
            if demand <= 0 {
                continue;
            }
            let free = summary.free.get(&name).map_or(0, |free| free.by_notation());
            let left = free.saturating_sub(taken(assumed, &name, Amount::by_notation));
            if left <= 0 {
                return 0;
            }
            bound = bound.min(left / demand);
        }
        match self.grades(capacity) {
            Some(grades) => bound.min(Nodes::new(grades, assumed).sets(components, bound)),
            None => bound,
        }
    }

    fn grades<'a>(&self, capacity: &'a Capacity) -> Option<&'a [Grade]> {
        match &capacity.models {
            Some(Models::Grades(grades)) if self.models => Some(grades),
            _ => None,
        }
    }
}

/// The summary and the pods that still find a place; nothing if there are none.
fn free_pods<'a>(capacity: &'a Capacity, assumed: &[Vec<Component>]) -> Option<(&'a Summary, i64)> {
    let summary = capacity.summary.as_ref()?;
    let assumed: i64 = assumed.iter().flatten().map(|component| i64::from(component.replicas.max(0))).sum();
    let pods = summary.pods.saturating_sub(assumed);
    (pods > 0).then_some((summary, pods))
}

/// What assumed workloads take of a resource.
fn taken(assumed: &[Vec<Component>], name: &str, count: impl Fn(Amount) -> i64) -> i64 {
    assumed
        .iter()
        .flatten()
        .filter(|component| component.replicas > 0)
        .filter_map(|component| {
            let amount = component.requirements.as_ref()?.request.get(name)?;
            Some(count(*amount).saturating_mul(i64::from(component.replicas)))
        })
        .sum()
}

fn demand_per_set(components: &[Component]) -> BTreeMap<String, i64> {
    let mut demand = BTreeMap::new();
    for component in components {
        for (name, amount) in component.requirements.iter().flat_map(|requirements| &requirements.request) {
            let sum: &mut i64 = demand.entry(name.clone()).or_default();
            *sum = sum.saturating_add(amount.by_notation().saturating_mul(i64::from(component.replicas)));
        }
    }
    demand
}

#[cfg(test)]
mod tests;
