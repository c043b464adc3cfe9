//! `cluster.karmada.io/v1alpha1`: the Cluster kind, a member as the control plane knows it.

use k8s_openapi::api::core::v1::Taint;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::kind::{is_default, is_false, kind, string_enum};
use crate::quantity::{Quantity, ResourceList};
use crate::{conditions, schema};

kind! {
    /// A member cluster.
    Cluster: "cluster.karmada.io", "v1alpha1", "clusters", Cluster, ClusterSpec, ClusterStatus
}

string_enum! {
    /// Who applies manifests in a member.
    pub enum SyncMode {
        /// The control plane does.
        Push = "Push",
        /// An agent in the member does.
        Pull = "Pull",
    }
}

/// What is wanted of a member cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterSpec {
    /// Stable identity of the cluster: its ClusterProperty, or the UID of its kube-system namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(extend("maxLength" = 128000))]
    pub id: String,
    /// Who applies manifests: the control plane (Push) or an agent in the member (Pull).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-required" = true))]
    pub sync_mode: Option<SyncMode>,
    /// Address of the member's API server.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_endpoint: String,
    /// Secret with the keys `token` and `caBundle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<LocalSecretReference>,
    /// Secret with the key `token` of the impersonating account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impersonator_secret_ref: Option<LocalSecretReference>,
    /// Skip the check of the member's serving certificate.
    #[serde(rename = "insecureSkipTLSVerification")]
    #[serde(skip_serializing_if = "is_false")]
    pub insecure_skip_tls_verification: bool,
    /// Proxy to reach the member through.
    #[serde(rename = "proxyURL")]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub proxy_url: String,
    /// Headers for the proxy's CONNECT request; several values are separated by commas.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub proxy_header: BTreeMap<String, String>,
    /// Cloud provider.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// Region.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub region: String,
    /// Zone; deprecated, moved into `zones` on write.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub zone: String,
    /// Zones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<String>,
    /// Taints of the cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::taints")]
    pub taints: Vec<Taint>,
    /// Buckets of the histogram of node sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_models: Vec<ResourceModel>,
}

/// A Secret by namespace and name.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalSecretReference {
    /// Namespace of the Secret.
    #[schemars(extend("x-required" = true))]
    pub namespace: String,
    /// Name of the Secret.
    #[schemars(extend("x-required" = true))]
    pub name: String,
}

/// One bucket of node sizes.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceModel {
    /// Index of the bucket, unique.
    #[schemars(extend("x-required" = true))]
    pub grade: u32,
    /// Ranges of resources; every model names the same resources in the same order.
    #[schemars(extend("x-required" = true))]
    pub ranges: Vec<ResourceModelRange>,
}

/// A half-open range `[min, max)` of one resource.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceModelRange {
    /// Name of the resource: cpu, memory, storage, ephemeral-storage, …
    #[schemars(extend("x-required" = true))]
    pub name: String,
    /// Lower bound, included.
    #[schemars(extend("x-required" = true))]
    pub min: Quantity,
    /// Upper bound, excluded.
    #[schemars(extend("x-required" = true))]
    pub max: Quantity,
}

/// What is known of a member cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterStatus {
    /// Version of the member.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kubernetes_version: String,
    /// APIs found in the member.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_enablements: Vec<ApiEnablement>,
    /// Conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// Counts of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_summary: Option<NodeSummary>,
    /// Sums of resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_summary: Option<ResourceSummary>,
    /// Actions that Remedy objects ask for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedy_actions: Vec<String>,
}

/// The resources of one group and version in a member.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ApiEnablement {
    /// Group and version, as in `apps/v1`.
    #[schemars(extend("x-required" = true))]
    pub group_version: String,
    /// Resources of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ApiResource>,
}

/// One resource of a member.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ApiResource {
    /// Plural name.
    #[schemars(extend("x-required" = true))]
    pub name: String,
    /// Kind.
    #[schemars(extend("x-required" = true))]
    pub kind: String,
}

/// Counts of nodes.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSummary {
    /// All nodes.
    #[serde(skip_serializing_if = "is_default")]
    pub total_num: i32,
    /// Ready nodes.
    #[serde(skip_serializing_if = "is_default")]
    pub ready_num: i32,
}

/// Sums of resources over a member's nodes.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSummary {
    /// Sum of what nodes can give.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocatable: ResourceList,
    /// Requested by pods that aren't bound yet.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocating: ResourceList,
    /// Requested by bound pods.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocated: ResourceList,
    /// Histogram of nodes over `spec.resourceModels`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allocatable_modelings: Vec<AllocatableModeling>,
}

/// Count of nodes in one bucket.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct AllocatableModeling {
    /// Index of the bucket.
    #[schemars(extend("x-required" = true))]
    pub grade: u32,
    /// Nodes in it.
    #[schemars(schema_with = "schema::int")]
    #[schemars(extend("x-required" = true))]
    pub count: i64,
}

/// Whether a member serves a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enablement {
    /// It does.
    Enabled,
    /// The list of its APIs is complete and the kind is not among them.
    Disabled,
    /// The list isn't known to be complete.
    Unknown,
}

impl Cluster {
    /// Whether the member serves `kind` in `group_version` (`apps/v1`).
    pub fn enablement(&self, group_version: &str, kind: &str) -> Enablement {
        let Some(status) = &self.status else { return Enablement::Unknown };
        let listed = status
            .api_enablements
            .iter()
            .any(|a| a.group_version == group_version && a.resources.iter().any(|r| r.kind == kind));
        if listed {
            return Enablement::Enabled;
        }
        match conditions::is_true(&status.conditions, conditions::COMPLETE_API_ENABLEMENTS) {
            true => Enablement::Disabled,
            false => Enablement::Unknown,
        }
    }

    /// Whether condition `Ready` is true.
    pub fn is_ready(&self) -> bool {
        self.status.as_ref().is_some_and(|s| conditions::is_true(&s.conditions, conditions::READY))
    }
}
