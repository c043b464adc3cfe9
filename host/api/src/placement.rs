//! Where templates go: cluster affinity, placement, failover. Shared by policies and bindings.

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kind::{is_default, string_enum};
use crate::schema;

/// Which clusters are meant; every part that is present must hold.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterAffinity {
    /// Keeps clusters whose labels match.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::label_selector")]
    pub label_selector: Option<LabelSelector>,
    /// Keeps clusters whose fields match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_selector: Option<FieldSelector>,
    /// Keeps clusters with these names; empty means any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster_names: Vec<String>,
    /// Drops clusters with these names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
}

/// Requirements on the fields `provider`, `region` and `zone` of a cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct FieldSelector {
    /// Requirements; all must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::requirements")]
    pub match_expressions: Vec<NodeSelectorRequirement>,
}

/// Where a template goes and how its replicas are divided.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Placement {
    /// The one group of candidates; excludes `clusterAffinities`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_affinity: Option<ClusterAffinity>,
    /// Groups of candidates, tried in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster_affinities: Vec<ClusterAffinityTerm>,
    /// Tolerations of the clusters' taints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::tolerations")]
    pub cluster_tolerations: Vec<Toleration>,
    /// How clusters are spread over groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spread_constraints: Vec<SpreadConstraint>,
    /// Copies or divides replicas; absent means copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_scheduling: Option<ReplicaSchedulingStrategy>,
    /// Attraction to and repulsion from other workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_affinity: Option<WorkloadAffinity>,
}

impl Placement {
    /// The scheduling type; `Duplicated` where none is said.
    pub fn scheduling_type(&self) -> ReplicaSchedulingType {
        match &self.replica_scheduling {
            Some(strategy) => strategy.replica_scheduling_type.unwrap_or(ReplicaSchedulingType::Divided),
            None => ReplicaSchedulingType::Duplicated,
        }
    }
}

/// A named group of candidates.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterAffinityTerm {
    /// Name of the group, reported in the binding's status.
    #[schemars(extend("x-required" = true), extend("minLength" = 1), extend("maxLength" = 32))]
    pub affinity_name: String,
    /// The clusters of the group.
    #[serde(flatten)]
    pub affinity: ClusterAffinity,
    /// Groups added in order while the primary one lacks room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow_affinities: Option<Vec<OverflowAffinityTerm>>,
}

/// A group of candidates for what the primary group has no room for.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct OverflowAffinityTerm {
    /// Name of the group.
    #[schemars(extend("x-required" = true), extend("minLength" = 1), extend("maxLength" = 32))]
    pub affinity_name: String,
    /// The clusters of the group.
    #[serde(flatten)]
    pub affinity: ClusterAffinity,
}

string_enum! {
    /// A cluster field to spread by.
    pub enum SpreadField {
        /// Clusters themselves.
        Cluster = "cluster",
        /// `spec.region`.
        Region = "region",
        /// `spec.zones`.
        Zone = "zone",
        /// `spec.provider`.
        Provider = "provider",
    }
}

/// How many groups of clusters to use.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SpreadConstraint {
    /// Groups clusters by a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_by_field: Option<SpreadField>,
    /// Groups clusters by a label; excludes `spreadByField`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub spread_by_label: String,
    /// At most this many groups; 0 means any number.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(schema_with = "schema::int")]
    pub max_groups: i64,
    /// At least this many groups.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(schema_with = "schema::int")]
    pub min_groups: i64,
}

string_enum! {
    /// Copies or divides.
    pub enum ReplicaSchedulingType {
        /// Every cluster gets all replicas.
        Duplicated = "Duplicated",
        /// Clusters share the replicas.
        Divided = "Divided",
    }
}

string_enum! {
    /// How replicas are divided.
    pub enum ReplicaDivisionPreference {
        /// Into as few clusters as possible.
        Aggregated = "Aggregated",
        /// By weights.
        Weighted = "Weighted",
    }
}

/// Copies or divides replicas.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSchedulingStrategy {
    /// Copies or divides.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "Divided"))]
    pub replica_scheduling_type: Option<ReplicaSchedulingType>,
    /// How to divide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_division_preference: Option<ReplicaDivisionPreference>,
    /// Weights, if divided by weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_preference: Option<ClusterPreferences>,
}

string_enum! {
    /// What dynamic weights follow.
    pub enum DynamicWeightFactor {
        /// The room for replicas.
        AvailableReplicas = "AvailableReplicas",
    }
}

/// Weights of clusters.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterPreferences {
    /// Fixed weights.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub static_weight_list: Vec<StaticClusterWeight>,
    /// Weights by a factor; goes before the fixed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_weight: Option<DynamicWeightFactor>,
}

/// The weight of some clusters.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct StaticClusterWeight {
    /// Which clusters.
    #[schemars(extend("x-required" = true))]
    pub target_cluster: ClusterAffinity,
    /// Their weight.
    #[schemars(extend("x-required" = true), extend("minimum" = 1))]
    pub weight: i64,
}

/// Attraction to and repulsion from other workloads.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadAffinity {
    /// Stay with workloads of the same group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<WorkloadAffinityTerm>,
    /// Stay away from workloads of the same group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anti_affinity: Option<WorkloadAffinityTerm>,
}

/// A group of workloads.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadAffinityTerm {
    /// The template's label whose value names the group.
    #[schemars(extend("x-required" = true))]
    pub group_by_label_key: String,
}

/// What to do when a workload or its cluster fails.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct FailoverBehavior {
    /// Reacts to an unhealthy workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationFailover>,
    /// Reacts to a failed cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterFailover>,
}

string_enum! {
    /// What happens to the old copy of a workload that moves.
    pub enum PurgeMode {
        /// Removed at once. Older versions wrote `Immediately`.
        Directly = "Directly" | "Immediately",
        /// Removed when the new copy is healthy. Older versions wrote `Graciously`.
        Gracefully = "Gracefully" | "Graciously",
        /// Kept until a human decides.
        Never = "Never",
    }
}

/// Reaction to an unhealthy workload.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ApplicationFailover {
    /// When a workload counts as failed.
    #[schemars(extend("x-required" = true))]
    pub decision_conditions: DecisionConditions,
    /// What happens to the old copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "Gracefully"))]
    pub purge_mode: Option<PurgeMode>,
    /// Longest wait before the old copy goes, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<i32>,
    /// State that is carried over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_preservation: Option<StatePreservation>,
}

/// When a workload counts as failed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DecisionConditions {
    /// How long it may be unhealthy, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = 300))]
    pub toleration_seconds: Option<i32>,
}

/// Reaction to a failed cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterFailover {
    /// What happens to the old copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "Gracefully"), extend("enum" = ["Directly", "Gracefully"]))]
    pub purge_mode: Option<PurgeMode>,
    /// State that is carried over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_preservation: Option<StatePreservation>,
}

/// State that is carried over to the new copy.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct StatePreservation {
    /// What to carry.
    #[schemars(extend("x-required" = true))]
    pub rules: Vec<StatePreservationRule>,
}

/// One value to carry over.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct StatePreservationRule {
    /// Label of the new copy that gets the value.
    #[schemars(extend("x-required" = true))]
    pub alias_label_name: String,
    /// Where the value is, as a JSONPath from the object's status.
    #[schemars(extend("x-required" = true))]
    pub json_path: String,
}

/// Stops dispatching, everywhere or to some clusters.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Suspension {
    /// Stops dispatching to all clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching: Option<bool>,
    /// Stops dispatching to these clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching_on_clusters: Option<SuspendClusters>,
}

/// Clusters by name.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SuspendClusters {
    /// Names of clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster_names: Vec<String>,
}

string_enum! {
    /// What to do with an object that is in the member already and not ours.
    pub enum ConflictResolution {
        /// Leave it alone and report.
        Abort = "Abort",
        /// Take it over.
        Overwrite = "Overwrite",
    }
}
