//! `work.karmada.io/v1alpha2`: bindings, a template's way to its clusters.

use k8s_openapi::api::core::v1::{NodeSelector, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::kind::{is_default, is_false, kind};
use crate::placement::{ConflictResolution, FailoverBehavior, Placement, PurgeMode, SuspendClusters};
use crate::quantity::ResourceList;
use crate::schema;
use crate::work::ResourceHealth;

kind! {
    /// Binds a namespaced template to clusters.
    ResourceBinding: "work.karmada.io", "v1alpha2", "resourcebindings", Namespace, ResourceBindingSpec, ResourceBindingStatus
}

kind! {
    /// Binds a cluster-scoped template to clusters.
    ClusterResourceBinding: "work.karmada.io", "v1alpha2", "clusterresourcebindings", Cluster, ResourceBindingSpec, ResourceBindingStatus
}

/// A template, where it goes and how.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceBindingSpec {
    /// The template.
    #[schemars(extend("x-required" = true))]
    pub resource: ObjectReference,
    /// Propagates referenced objects along.
    #[serde(skip_serializing_if = "is_false")]
    pub propagate_deps: bool,
    /// What one replica needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_requirements: Option<ReplicaRequirements>,
    /// Replicas that the template asks for.
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: i32,
    /// Parts of a workload with several pod templates; stands for the two fields above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Component>,
    /// The scheduler's result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<TargetCluster>,
    /// Clusters being drained.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub graceful_eviction_tasks: Vec<GracefulEvictionTask>,
    /// Bindings that depend on this one, with their results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_by: Vec<BindingSnapshot>,
    /// Which scheduler handles this binding.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scheduler_name: String,
    /// The policy's placement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// What to do when the workload or its cluster fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failover: Option<FailoverBehavior>,
    /// What to do with an object that is in the member already and not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "Abort"))]
    pub conflict_resolution: Option<ConflictResolution>,
    /// When a full reschedule was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub reschedule_triggered_at: Option<Time>,
    /// Stops dispatching or scheduling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<BindingSuspension>,
    /// Keeps member objects when the binding goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_resources_on_deletion: Option<bool>,
    /// Priority in the scheduler's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_priority: Option<BindingPriority>,
    /// Groups of workloads to stay with or away from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_affinity_groups: Option<WorkloadAffinityGroups>,
}

/// A template by name.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// Group and version.
    #[schemars(extend("x-required" = true))]
    pub api_version: String,
    /// Kind.
    #[schemars(extend("x-required" = true))]
    pub kind: String,
    /// Namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    #[schemars(extend("x-required" = true))]
    pub name: String,
    /// UID.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Version that was seen.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
}

/// What one replica needs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaRequirements {
    /// Which nodes suit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_claim: Option<NodeClaim>,
    /// Resources.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resource_request: ResourceList,
    /// Namespace, for quotas.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Priority class.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub priority_class_name: String,
}

/// What one replica of a component needs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ComponentReplicaRequirements {
    /// Which nodes suit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_claim: Option<NodeClaim>,
    /// Resources.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resource_request: ResourceList,
    /// Priority class.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub priority_class_name: String,
}

/// Which nodes suit a replica.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeClaim {
    /// Required node affinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::node_selector")]
    pub hard_node_affinity: Option<NodeSelector>,
    /// Labels of the nodes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Tolerations of the nodes' taints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::tolerations")]
    pub tolerations: Vec<Toleration>,
}

/// A part of a workload with several pod templates.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Component {
    /// Name of the part, unique.
    #[schemars(extend("x-required" = true), extend("maxLength" = 32))]
    pub name: String,
    /// Replicas of the part.
    #[schemars(extend("x-required" = true))]
    pub replicas: i32,
    /// What one replica needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_requirements: Option<ComponentReplicaRequirements>,
}

/// A chosen cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetCluster {
    /// The cluster.
    #[schemars(extend("x-required" = true))]
    pub name: String,
    /// Replicas for it.
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: i32,
    /// Replicas by component.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<TargetComponent>,
}

/// Replicas of a component for a cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetComponent {
    /// The component.
    #[schemars(extend("x-required" = true))]
    pub name: String,
    /// Replicas of it.
    #[schemars(extend("x-required" = true))]
    pub replicas: i32,
}

/// A cluster being drained.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct GracefulEvictionTask {
    /// The cluster.
    #[schemars(extend("x-required" = true))]
    pub from_cluster: String,
    /// What happens to the old copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purge_mode: Option<PurgeMode>,
    /// Replicas that were there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Why, in a word.
    #[schemars(extend("x-required" = true), extend("minLength" = 1), extend("maxLength" = 32), extend("pattern" = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"))]
    pub reason: String,
    /// Why, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("maxLength" = 1024))]
    pub message: String,
    /// Who asked for it.
    #[schemars(extend("x-required" = true))]
    pub producer: String,
    /// Longest wait before the old copy goes, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<i32>,
    /// Keeps the old copy until a human decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_deletion: Option<bool>,
    /// Labels for the new copy.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub preserved_label_state: BTreeMap<String, String>,
    /// When the task began.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub creation_timestamp: Option<Time>,
    /// Clusters before the failover.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters_before_failover: Vec<String>,
}

/// Another binding and its result.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct BindingSnapshot {
    /// Namespace of the binding; empty means a ClusterResourceBinding.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name of the binding.
    #[schemars(extend("x-required" = true))]
    pub name: String,
    /// Its clusters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<TargetCluster>,
}

/// Stops dispatching or scheduling.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct BindingSuspension {
    /// Stops dispatching to all clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching: Option<bool>,
    /// Stops dispatching to these clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatching_on_clusters: Option<SuspendClusters>,
    /// The scheduler leaves the binding alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<bool>,
}

/// Priority in the scheduler's queue.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct BindingPriority {
    /// Higher goes first.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("x-default" = 0))]
    pub priority: i32,
}

/// Groups of workloads to stay with or away from, each as `<labelKey>=<labelValue>`.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadAffinityGroups {
    /// Stay with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub affinity_group: String,
    /// Stay away from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub anti_affinity_group: String,
}

/// What came of a binding.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceBindingStatus {
    /// Generation that the scheduler worked from.
    #[serde(skip_serializing_if = "is_default")]
    pub scheduler_observed_generation: i64,
    /// Affinity term in use.
    #[serde(rename = "schedulerObservingAffinityName")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scheduler_observed_affinity_name: String,
    /// When it was last scheduled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::date_time")]
    pub last_scheduled_time: Option<Time>,
    /// Conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// Status by cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aggregated_status: Vec<AggregatedStatusItem>,
}

/// What one cluster says of the object.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct AggregatedStatusItem {
    /// The cluster.
    #[schemars(extend("x-required" = true))]
    pub cluster_name: String,
    /// The object's status there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::raw_object")]
    pub status: Option<Value>,
    /// Whether the manifest was applied.
    #[serde(skip_serializing_if = "is_false")]
    pub applied: bool,
    /// Why it was not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub applied_message: String,
    /// Health of the object there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<ResourceHealth>,
}

/// An object that another one needs; wire type, never stored by itself.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DependentObjectReference {
    /// Group and version.
    #[schemars(extend("x-required" = true))]
    pub api_version: String,
    /// Kind.
    #[schemars(extend("x-required" = true))]
    pub kind: String,
    /// Namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name; goes before the selector.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Labels of the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::label_selector")]
    pub label_selector: Option<LabelSelector>,
}

impl ResourceBindingSpec {
    /// Whether the template has replicas to place.
    pub fn is_workload(&self) -> bool {
        self.replicas > 0 || self.replica_requirements.is_some() || !self.components.is_empty()
    }

    /// Whether the scheduler is to leave the binding alone.
    pub fn scheduling_suspended(&self) -> bool {
        self.suspension.as_ref().is_some_and(|s| s.scheduling == Some(true))
    }

    /// Whether `cluster` is among the result.
    pub fn targets(&self, cluster: &str) -> bool {
        self.clusters.iter().any(|c| c.name == cluster)
    }

    /// Priority in the scheduler's queue.
    pub fn priority(&self) -> i32 {
        self.schedule_priority.as_ref().map_or(0, |p| p.priority)
    }

    /// Takes a cluster from the result and leaves `task` to drain it; false if the cluster wasn't there.
    /// A task that exists for the cluster already stays as it is.
    pub fn graceful_evict(&mut self, mut task: GracefulEvictionTask) -> bool {
        let Some(index) = self.clusters.iter().position(|c| c.name == task.from_cluster) else {
            return false;
        };
        let removed = self.clusters.remove(index);
        if !self.graceful_eviction_tasks.iter().any(|t| t.from_cluster == task.from_cluster) {
            task.replicas = (removed.replicas > 0).then_some(removed.replicas);
            self.graceful_eviction_tasks.push(task);
        }
        true
    }
}
