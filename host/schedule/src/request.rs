//! All that a pass reads of one binding, taken out of the object once. What plugins are shown is behind `Arc`s, so that it
//! can be shown, and remembered as a question, without being copied.

use std::sync::Arc;

use serde_json::Value;

use crate::amount::{Amounts, amounts};
use crate::records::{
    ClusterAffinity, ObjectReference, SpreadConstraint, Toleration, elements, list, present, text,
};

/// A binding as the scheduler sees it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// `metadata.namespace` of the binding; empty for a ClusterResourceBinding.
    pub namespace: String,
    /// `metadata.name` of the binding.
    pub name: String,
    /// `spec.resource`.
    pub resource: Arc<ObjectReference>,
    /// `spec.replicas`.
    pub replicas: i32,
    /// `spec.replicaRequirements`.
    pub requirements: Option<Requirements>,
    /// `spec.components`.
    pub components: Vec<Component>,
    /// `spec.clusters`: where it is now.
    pub targets: Vec<Target>,
    /// `spec.gracefulEvictionTasks[].fromCluster`.
    pub evictions: Vec<String>,
    /// `spec.placement`.
    pub placement: Option<Placement>,
    /// A reschedule was asked for after the last scheduling.
    pub fresh: bool,
    /// `status.schedulerObservingAffinityName`.
    pub observed_affinity: String,
    /// `spec.workloadAffinityGroups.affinityGroup`.
    pub affinity_group: String,
    /// `spec.workloadAffinityGroups.antiAffinityGroup`.
    pub anti_affinity_group: String,
}

/// One entry of `spec.clusters`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// Cluster name.
    pub name: String,
    /// Replicas there.
    pub replicas: i32,
    /// Replicas by component, where a whole set was placed.
    pub components: Vec<(String, i32)>,
}

/// What one replica needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Requirements {
    /// `resourceRequest`.
    pub request: Amounts,
    /// The object as it is, for estimators that know nodes.
    pub raw: Value,
}

/// One component of a workload.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Component {
    /// Name.
    pub name: String,
    /// Replicas in a set.
    pub replicas: i32,
    /// What one replica needs.
    pub requirements: Option<Requirements>,
}

/// `spec.placement`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Placement {
    /// `clusterAffinity`.
    pub affinity: Option<Arc<ClusterAffinity>>,
    /// `clusterAffinities`: alternatives, one of them in force at a time.
    pub terms: Vec<AffinityTerm>,
    /// `clusterTolerations`.
    pub tolerations: Arc<[Toleration]>,
    /// `spreadConstraints`.
    pub spread: Arc<[SpreadConstraint]>,
    /// `replicaScheduling`; absent means that each cluster gets all replicas.
    pub strategy: Option<Strategy>,
}

/// One of `clusterAffinities`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AffinityTerm {
    /// `affinityName`.
    pub name: String,
    /// The inline affinity.
    pub affinity: Arc<ClusterAffinity>,
    /// `overflowAffinities`, if the list is there at all.
    pub overflow: Option<Vec<Arc<ClusterAffinity>>>,
}

/// `replicaScheduling`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Strategy {
    /// `replicaSchedulingType`.
    pub scheduling_type: String,
    /// `replicaDivisionPreference`.
    pub preference: String,
    /// `weightPreference`.
    pub weights: Option<WeightPreference>,
}

/// `weightPreference`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WeightPreference {
    /// `staticWeightList`.
    pub fixed: Vec<(Arc<ClusterAffinity>, i64)>,
    /// `dynamicWeight`.
    pub dynamic: String,
}

impl Request {
    /// From a ResourceBinding or ClusterResourceBinding.
    pub fn from_binding(binding: &Value) -> Self {
        let null = Value::Null;
        let metadata = binding.get("metadata").unwrap_or(&null);
        let mut request =
            Self::from_parts(binding.get("spec").unwrap_or(&null), binding.get("status").unwrap_or(&null));
        request.namespace = text(metadata, "namespace");
        request.name = text(metadata, "name");
        request.observed_affinity = crate::decide::observed_affinity(binding).to_owned();
        request
    }

    /// From the `spec` and `status` of a binding.
    pub fn from_parts(spec: &Value, status: &Value) -> Self {
        let null = Value::Null;
        let groups = spec.get("workloadAffinityGroups").unwrap_or(&null);
        Self {
            resource: ObjectReference::from_value(spec.get("resource").unwrap_or(&null)).into(),
            replicas: replicas(spec),
            requirements: present(spec, "replicaRequirements").map(Requirements::from_value),
            components: list(spec.get("components"), Component::from_value),
            targets: list(spec.get("clusters"), Target::from_value),
            evictions: list(spec.get("gracefulEvictionTasks"), |task| text(task, "fromCluster")),
            placement: present(spec, "placement").map(Placement::from_value),
            fresh: reschedule_requested(spec, status),
            observed_affinity: text(status, "schedulerObservingAffinityName"),
            affinity_group: text(groups, "affinityGroup"),
            anti_affinity_group: text(groups, "antiAffinityGroup"),
            ..Self::default()
        }
    }

    /// Whether the binding has replicas to place at all.
    pub fn is_workload(&self) -> bool {
        self.replicas > 0 || self.requirements.is_some() || !self.components.is_empty()
    }

    /// The affinity term of this name.
    pub fn term(&self, name: &str) -> Option<&AffinityTerm> {
        self.placement.as_ref()?.terms.iter().find(|term| term.name == name)
    }
}

/// Whether a reschedule was asked for after the last scheduling; both times must be there.
pub fn reschedule_requested(spec: &Value, status: &Value) -> bool {
    let time = |value: &Value, key: &str| {
        let text = value.get(key)?.as_str()?;
        windlass_object::time::parse(text).ok()
    };
    match (time(spec, "rescheduleTriggeredAt"), time(status, "lastScheduledTime")) {
        (Some(asked), Some(last)) => asked > last,
        _ => false,
    }
}

impl Target {
    /// From one entry of `spec.clusters`.
    pub fn from_value(value: &Value) -> Self {
        Self {
            name: text(value, "name"),
            replicas: replicas(value),
            components: list(value.get("components"), |component| {
                (text(component, "name"), replicas(component))
            }),
        }
    }

    /// As one entry of `spec.clusters`; numbers that are 0 are left out.
    pub fn to_value(&self) -> Value {
        let mut entry = serde_json::Map::new();
        entry.insert("name".to_owned(), self.name.clone().into());
        if self.replicas != 0 {
            entry.insert("replicas".to_owned(), self.replicas.into());
        }
        if !self.components.is_empty() {
            let components = self
                .components
                .iter()
                .map(|(name, replicas)| serde_json::json!({"name": name, "replicas": replicas}))
                .collect();
            entry.insert("components".to_owned(), Value::Array(components));
        }
        Value::Object(entry)
    }
}

impl Requirements {
    fn from_value(value: &Value) -> Self {
        Self { request: amounts(value.get("resourceRequest")), raw: value.clone() }
    }
}

impl Component {
    fn from_value(value: &Value) -> Self {
        Self {
            name: text(value, "name"),
            replicas: replicas(value),
            requirements: present(value, "replicaRequirements").map(Requirements::from_value),
        }
    }
}

impl Placement {
    /// From a `Placement` object.
    pub fn from_value(value: &Value) -> Self {
        Self {
            affinity: present(value, "clusterAffinity").map(affinity),
            terms: list(value.get("clusterAffinities"), |term| AffinityTerm {
                name: text(term, "affinityName"),
                affinity: affinity(term),
                overflow: present(term, "overflowAffinities").map(|overflow| list(Some(overflow), affinity)),
            }),
            tolerations: list(value.get("clusterTolerations"), Toleration::from_value).into(),
            spread: list(value.get("spreadConstraints"), SpreadConstraint::from_value).into(),
            strategy: present(value, "replicaScheduling").map(Strategy::from_value),
        }
    }
}

impl Strategy {
    fn from_value(value: &Value) -> Self {
        Self {
            scheduling_type: text(value, "replicaSchedulingType"),
            preference: text(value, "replicaDivisionPreference"),
            weights: present(value, "weightPreference").map(|weights| WeightPreference {
                fixed: elements(weights.get("staticWeightList"))
                    .map(|rule| {
                        let target = rule.get("targetCluster").unwrap_or(&Value::Null);
                        let weight = rule.get("weight").and_then(Value::as_i64).unwrap_or(0);
                        (affinity(target), weight)
                    })
                    .collect(),
                dynamic: text(weights, "dynamicWeight"),
            }),
        }
    }
}

fn affinity(value: &Value) -> Arc<ClusterAffinity> {
    ClusterAffinity::from_value(value).into()
}

/// `replicas` of an object; 0 if absent, bounded to 32 bits.
fn replicas(value: &Value) -> i32 {
    let count = value.get("replicas").and_then(Value::as_i64).unwrap_or(0);
    i32::try_from(count).unwrap_or(if count > 0 { i32::MAX } else { i32::MIN })
}
