//! The kinds that Windlass serves, as Rust types, with the fixed vocabulary around them: labels, annotations,
//! finalizers, conditions, event reasons, generated names; and the CustomResourceDefinitions made from the types.
//!
//! Decoding is as lenient as Go's: absent fields become empty values, unknown ones are ignored. What must be there
//! is said by the schemas (`crd`) and by admission (`windlass-validate`), not by these types.
//! This crate does no IO and knows no client.

pub mod binding;
pub mod cluster;
pub mod conditions;
pub mod crd;
pub mod events;
mod kind;
pub mod labels;
pub mod names;
pub mod overrides;
pub mod placement;
mod plain;
pub mod policy;
pub mod quantity;
mod schema;
mod vocabulary;
pub mod work;

pub use binding::{
    AggregatedStatusItem, BindingSnapshot, ClusterResourceBinding, Component, ComponentReplicaRequirements,
    DependentObjectReference, GracefulEvictionTask, NodeClaim, ObjectReference, ReplicaRequirements,
    ResourceBinding, ResourceBindingSpec, ResourceBindingStatus, TargetCluster, TargetComponent,
};
pub use cluster::{Cluster, ClusterSpec, ClusterStatus, Enablement, SyncMode};
pub use crd::crds;
pub use overrides::{ClusterOverridePolicy, OverridePolicy, OverrideSpec, Overriders, RuleWithCluster};
pub use placement::{ClusterAffinity, ConflictResolution, Placement, PurgeMode};
pub use policy::{ClusterPropagationPolicy, PropagationPolicy, PropagationSpec, ResourceSelector};
pub use quantity::{Quantity, ResourceList};
pub use vocabulary::WordError;
pub use work::{ManifestStatus, ResourceHealth, ResourceIdentifier, Work, WorkSpec, WorkStatus};

// Types of Kubernetes that appear in ours.
pub use k8s_openapi::api::core::v1::{NodeSelector, NodeSelectorRequirement, Taint, Toleration};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta, Time};
