//! What a cluster has left, worked out once when the Cluster object changes instead of once for each binding.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_object::Quantity;

use crate::amount::{Amount, Amounts, quantities};
use crate::records::{elements, present, text};

/// What the resource summary and the resource models say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Capacity {
    /// Absent if the cluster has no resource summary.
    pub summary: Option<Summary>,
    /// The histogram of nodes, if one is reported.
    pub models: Option<Models>,
}

/// Allocatable minus allocated minus allocating.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Pods that still find a place; may be negative.
    pub pods: i64,
    /// Free amounts of the resources that the cluster lists as allocatable.
    pub free: Amounts,
}

/// Nodes by grade.
#[derive(Debug, Clone, PartialEq)]
pub enum Models {
    /// Grades in ascending order.
    Grades(Vec<Grade>),
    /// A histogram that can't be used, with the reason.
    Unusable(String),
}

/// One grade of nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grade {
    /// How many nodes.
    pub count: i64,
    /// What each of them has at least.
    pub node: Amounts,
}

impl Capacity {
    /// From a Cluster object.
    pub fn from_cluster(cluster: &Value) -> Self {
        let Some(summary) = cluster.get("status").and_then(|status| present(status, "resourceSummary"))
        else {
            return Self::default();
        };
        Self { summary: Some(Summary::from_value(summary)), models: models(cluster, summary) }
    }
}

impl Summary {
    fn from_value(summary: &Value) -> Self {
        let mut free = quantities(summary.get("allocatable"));
        let mut pods = free.get("pods").copied().unwrap_or_default();
        for field in ["allocated", "allocating"] {
            for (name, used) in quantities(summary.get(field)) {
                if name == "pods" {
                    pods -= used;
                }
                if let Some(free) = free.get_mut(&name) {
                    *free -= used;
                }
            }
        }
        let free = free.into_iter().map(|(name, free)| (name, Amount::from(free))).collect();
        Self { pods: pods.value(), free }
    }
}

fn models(cluster: &Value, summary: &Value) -> Option<Models> {
    let counts: BTreeMap<u64, i64> = elements(summary.get("allocatableModelings"))
        .map(|entry| {
            let number = |key: &str| entry.get(key).and_then(Value::as_i64).unwrap_or(0);
            (number("grade").unsigned_abs(), number("count"))
        })
        .collect();
    if counts.is_empty() {
        return None;
    }
    let models = cluster.get("spec").and_then(|spec| spec.get("resourceModels"));
    let grades: BTreeMap<u64, Amounts> = elements(models)
        .map(|model| {
            let node = elements(model.get("ranges"))
                .filter_map(|range| {
                    Some((text(range, "name"), Quantity::from_json(range.get("min")?).ok()?.into()))
                })
                .collect();
            (model.get("grade").and_then(Value::as_u64).unwrap_or(0), node)
        })
        .collect();
    if grades.is_empty() {
        return Some(Models::Unusable("the cluster has no resource models".to_owned()));
    }
    if counts.values().any(|count| *count < 0) {
        return Some(Models::Unusable("a resource model counts fewer than no nodes".to_owned()));
    }
    Some(Models::Grades(
        grades
            .into_iter()
            .filter_map(|(grade, node)| Some(Grade { count: *counts.get(&grade)?, node }))
            .collect(),
    ))
}
