//! What scheduling reads of a Cluster object, and in which groups of fields two versions differ.

use serde_json::Value;

use super::ClusterFields;
use crate::capacity::Capacity;
use crate::records::{ApiEnablement, ClusterFacts, Taint, elements, list, present, text};

/// What scheduling reads of a Cluster object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cluster {
    /// Name, labels and location.
    pub facts: ClusterFacts,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// `status.apiEnablements`.
    pub apis: Vec<ApiEnablement>,
    /// `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// What the resource summary and models leave free.
    pub capacity: Capacity,
}

impl Cluster {
    /// From a Cluster object.
    pub fn from_value(cluster: &Value) -> Self {
        let null = Value::Null;
        let spec = cluster.get("spec").unwrap_or(&null);
        let status = cluster.get("status").unwrap_or(&null);
        Self {
            facts: ClusterFacts::from_value(cluster),
            taints: list(spec.get("taints"), Taint::from_value),
            apis: list(status.get("apiEnablements"), |entry| ApiEnablement {
                group_version: text(entry, "groupVersion"),
                kinds: elements(entry.get("resources")).map(|resource| text(resource, "kind")).collect(),
            }),
            deleting: cluster
                .get("metadata")
                .is_some_and(|metadata| present(metadata, "deletionTimestamp").is_some()),
            capacity: Capacity::from_cluster(cluster),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.facts.name
    }

    pub(crate) fn difference(&self, other: &Self) -> ClusterFields {
        let mut changed = ClusterFields::NONE;
        let mut note = |differs: bool, group: ClusterFields| {
            if differs {
                changed |= group;
            }
        };
        let (old, new) = (&self.facts, &other.facts);
        note(old.labels != new.labels, ClusterFields::LABELS);
        note(
            old.provider != new.provider || old.region != new.region || old.zones != new.zones,
            ClusterFields::LOCATION,
        );
        note(self.taints != other.taints, ClusterFields::TAINTS);
        note(self.apis != other.apis, ClusterFields::APIS);
        note(self.capacity != other.capacity, ClusterFields::CAPACITY);
        note(self.deleting != other.deleting, ClusterFields::LIFECYCLE);
        changed
    }
}
