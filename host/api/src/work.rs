//! `work.karmada.io/v1alpha1`: the Work kind, what one member is to hold.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kind::{is_default, kind, string_enum};
use crate::schema;

kind! {
    /// Manifests for one member; lives in the member's execution namespace.
    Work: "work.karmada.io", "v1alpha1", "works", Namespace, WorkSpec, WorkStatus
}

string_enum! {
    /// Health of an object in a member.
    pub enum ResourceHealth {
        /// Not known, or not known yet.
        Unknown = "Unknown",
        /// Works.
        Healthy = "Healthy",
        /// Doesn't work.
        Unhealthy = "Unhealthy",
    }
}

/// What a member is to hold.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkSpec {
    /// The manifests.
    #[serde(skip_serializing_if = "is_default")]
    pub workload: WorkloadTemplate,
    /// Doesn't apply the manifests; status is collected still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend_dispatching: Option<bool>,
    /// Leaves member objects when this Work goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_resources_on_deletion: Option<bool>,
}

/// Manifests.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadTemplate {
    /// Objects to apply, kept as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::raw_objects")]
    pub manifests: Vec<Value>,
}

/// What was seen in the member.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkStatus {
    /// Conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// Status of each manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub manifest_statuses: Vec<ManifestStatus>,
}

/// Status of one manifest.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ManifestStatus {
    /// Which manifest.
    #[schemars(extend("x-required" = true))]
    pub identifier: ResourceIdentifier,
    /// What of the object's status is worth carrying.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::raw_object")]
    pub status: Option<Value>,
    /// Health of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<ResourceHealth>,
}

/// A manifest by its place and name.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceIdentifier {
    /// Index in `spec.workload.manifests`.
    #[schemars(schema_with = "schema::int")]
    #[schemars(extend("x-required" = true))]
    pub ordinal: i64,
    /// Group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Version.
    #[schemars(extend("x-required" = true))]
    pub version: String,
    /// Kind.
    #[schemars(extend("x-required" = true))]
    pub kind: String,
    /// Plural name of the resource.
    #[schemars(extend("x-required" = true))]
    pub resource: String,
    /// Namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    #[schemars(extend("x-required" = true))]
    pub name: String,
}
