//! `policy.karmada.io/v1alpha1`: override policies, what differs from cluster to cluster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::kind::{is_default, kind, string_enum};
use crate::placement::ClusterAffinity;
use crate::policy::ResourceSelector;
use crate::schema;

kind! {
    /// Changes manifests of its namespace, cluster by cluster.
    OverridePolicy: "policy.karmada.io", "v1alpha1", "overridepolicies", Namespace, OverrideSpec
}

kind! {
    /// Changes manifests of any namespace, and cluster-scoped ones, cluster by cluster.
    ClusterOverridePolicy: "policy.karmada.io", "v1alpha1", "clusteroverridepolicies", Cluster, OverrideSpec
}

/// Which manifests change, where and how.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct OverrideSpec {
    /// Templates that are meant; absent means every one in scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_selectors: Option<Vec<ResourceSelector>>,
    /// Rules, applied in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub override_rules: Option<Vec<RuleWithCluster>>,
    /// Deprecated: use `overrideRules`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_cluster: Option<ClusterAffinity>,
    /// Deprecated: use `overrideRules`.
    #[serde(skip_serializing_if = "is_default")]
    pub overriders: Overriders,
}

/// Changes for some clusters.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct RuleWithCluster {
    /// Which clusters; absent means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_cluster: Option<ClusterAffinity>,
    /// What changes.
    #[schemars(extend("x-required" = true))]
    pub overriders: Overriders,
}

/// What changes; applied in the order image, command, args, labels, annotations, field, plaintext.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Overriders {
    /// JSON Patch operations on the manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plaintext: Vec<PlaintextOverrider>,
    /// Parts of image references.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub image_overrider: Vec<ImageOverrider>,
    /// Commands of containers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command_overrider: Vec<CommandArgsOverrider>,
    /// Arguments of containers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args_overrider: Vec<CommandArgsOverrider>,
    /// Labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels_overrider: Vec<LabelAnnotationOverrider>,
    /// Annotations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotations_overrider: Vec<LabelAnnotationOverrider>,
    /// Operations inside JSON or YAML documents that a field holds as text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub field_overrider: Vec<FieldOverrider>,
}

impl Overriders {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

string_enum! {
    /// What an overrider does at its place.
    pub enum OverriderOperator {
        /// Adds.
        Add = "add",
        /// Removes.
        Remove = "remove",
        /// Replaces.
        Replace = "replace",
    }
}

string_enum! {
    /// A part of an image reference.
    pub enum ImageComponent {
        /// The registry's host.
        Registry = "Registry",
        /// The path within the registry.
        Repository = "Repository",
        /// Tag or digest.
        Tag = "Tag",
    }
}

/// A JSON Patch operation.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct PlaintextOverrider {
    /// JSON pointer into the manifest.
    #[schemars(extend("x-required" = true))]
    pub path: String,
    /// Operation.
    #[schemars(extend("x-required" = true))]
    pub operator: OverriderOperator,
    /// Value.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "crate::kind::some_value")]
    #[schemars(schema_with = "schema::any_json")]
    pub value: Option<Value>,
}

/// Changes a part of image references.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ImageOverrider {
    /// The one image field that is meant; absent means those of the pod template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicate: Option<ImagePredicate>,
    /// Which part.
    #[schemars(extend("x-required" = true))]
    pub component: ImageComponent,
    /// Operation.
    #[schemars(extend("x-required" = true))]
    pub operator: OverriderOperator,
    /// Value; ignored for remove.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
}

/// An image field.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ImagePredicate {
    /// JSON pointer to it.
    #[schemars(extend("x-required" = true))]
    pub path: String,
}

/// Changes the command or the arguments of a container.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct CommandArgsOverrider {
    /// The container.
    #[schemars(extend("x-required" = true))]
    pub container_name: String,
    /// Operation.
    #[schemars(extend("x-required" = true), extend("enum" = ["add", "remove"]))]
    pub operator: OverriderOperator,
    /// Words to add or remove.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub value: Vec<String>,
}

/// Changes labels or annotations.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelAnnotationOverrider {
    /// Operation.
    #[schemars(extend("x-required" = true))]
    pub operator: OverriderOperator,
    /// Keys and values.
    #[schemars(extend("x-required" = true))]
    pub value: BTreeMap<String, String>,
}

/// Changes a JSON or YAML document that a field holds as text.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct FieldOverrider {
    /// JSON pointer to the field.
    #[schemars(extend("x-required" = true))]
    pub field_path: String,
    /// Operations on a JSON document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub json: Vec<DocumentOperation>,
    /// Operations on a YAML document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub yaml: Vec<DocumentOperation>,
}

/// An operation inside an embedded document.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DocumentOperation {
    /// JSON pointer within the document.
    #[schemars(extend("x-required" = true))]
    pub sub_path: String,
    /// Operation.
    #[schemars(extend("x-required" = true))]
    pub operator: OverriderOperator,
    /// Value; needed for add and replace, forbidden for remove.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "crate::kind::some_value")]
    #[schemars(schema_with = "schema::any_json")]
    pub value: Option<Value>,
}
