//! `policy.karmada.io/v1alpha1`: propagation policies.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kind::{is_default, is_false, kind, string_enum};
use crate::placement::{ConflictResolution, FailoverBehavior, Placement, Suspension};
use crate::schema;

kind! {
    /// Tells where templates of its namespace go.
    PropagationPolicy: "policy.karmada.io", "v1alpha1", "propagationpolicies", Namespace, PropagationSpec
}

kind! {
    /// Tells where templates of any namespace, and cluster-scoped ones, go.
    ClusterPropagationPolicy: "policy.karmada.io", "v1alpha1", "clusterpropagationpolicies", Cluster, PropagationSpec
}

/// Which templates a policy means.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSelector {
    /// Group and version of the templates.
    #[schemars(extend("x-required" = true))]
    pub api_version: String,
    /// Kind of the templates.
    #[schemars(extend("x-required" = true))]
    pub kind: String,
    /// Namespace of the templates; empty in a cluster-scoped policy means any.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name of the template; empty means all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Labels of the templates; ignored when `name` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::label_selector")]
    pub label_selector: Option<LabelSelector>,
}

string_enum! {
    /// Whether a policy takes templates from others.
    pub enum PreemptionBehavior {
        /// It may, from policies of lower priority.
        Always = "Always",
        /// It doesn't.
        Never = "Never",
    }
}

string_enum! {
    /// When a change of the policy takes effect.
    pub enum ActivationPreference {
        /// Only when the template itself changes.
        Lazy = "Lazy",
    }
}

string_enum! {
    /// Where a priority class is looked up.
    pub enum PriorityClassSource {
        /// A PriorityClass of scheduling.k8s.io/v1.
        KubePriorityClass = "KubePriorityClass",
    }
}

/// Where templates go and how.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PropagationSpec {
    /// Templates that the policy may claim.
    #[schemars(extend("x-required" = true), extend("minItems" = 1))]
    pub resource_selectors: Vec<ResourceSelector>,
    /// Deprecated, without effect; use `propagateDeps`.
    #[serde(skip_serializing_if = "is_false")]
    pub association: bool,
    /// Propagates referenced objects along.
    #[serde(skip_serializing_if = "is_false")]
    pub propagate_deps: bool,
    /// Where to.
    #[serde(skip_serializing_if = "is_default")]
    pub placement: Placement,
    /// The higher one wins when several policies match.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = 0))]
    pub priority: Option<i32>,
    /// Whether to take templates from policies of lower priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "Never"))]
    pub preemption: Option<PreemptionBehavior>,
    /// Override policies that must exist first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependent_overrides: Vec<String>,
    /// Which scheduler handles the bindings; can't be changed.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-default" = "default-scheduler"))]
    pub scheduler_name: String,
    /// What to do when a workload or its cluster fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failover: Option<FailoverBehavior>,
    /// What to do with an object that is in the member already and not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "Abort"))]
    pub conflict_resolution: Option<ConflictResolution>,
    /// When a change of this policy takes effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_preference: Option<ActivationPreference>,
    /// Stops dispatching.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
    /// Keeps member objects when the template is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_resources_on_deletion: Option<bool>,
    /// Priority of the bindings in the scheduler's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_priority: Option<SchedulePriority>,
}

/// A priority by class.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulePriority {
    /// Where the class is looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-required" = true))]
    pub priority_class_source: Option<PriorityClassSource>,
    /// Name of the class.
    #[schemars(extend("x-required" = true))]
    pub priority_class_name: String,
}
