//! The table of clusters: dense, reused ids, and for each group of fields the generation in which it last changed, so that a
//! plugin is told of a change only if it reads what changed. Cloning shares the records; a pass works on a snapshot.

use std::collections::HashMap;
use std::ops::{BitOr, BitOrAssign};
use std::sync::Arc;

use serde_json::Value;

use crate::capacity::Capacity;
use crate::records::{ApiEnablement, ClusterFacts, ClusterId, Taint, elements, list, present, text};

/// A set of groups of cluster fields. The first four are those of the plugin interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct ClusterFields(u8);

impl ClusterFields {
    /// `metadata.labels`.
    pub const LABELS: Self = Self(1);
    /// `spec.provider`, `spec.region`, `spec.zones`.
    pub const LOCATION: Self = Self(1 << 1);
    /// `spec.taints`.
    pub const TAINTS: Self = Self(1 << 2);
    /// `status.apiEnablements`.
    pub const APIS: Self = Self(1 << 3);
    /// Resource summary and models; the host's estimator reads it.
    pub const CAPACITY: Self = Self(1 << 4);
    /// Whether the cluster is being deleted; the host reads it.
    pub const LIFECYCLE: Self = Self(1 << 5);
    /// No group: only ids and names.
    pub const NONE: Self = Self(0);
    /// Everything that a filter or score can be given.
    pub const PLUGIN: Self = Self(0b1111);
    /// Every group.
    pub const ALL: Self = Self(0b11_1111);

    const COUNT: usize = 6;

    /// Whether all groups of `other` are in this set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no group is in this set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn indices(self) -> impl Iterator<Item = usize> {
        (0..Self::COUNT).filter(move |index| self.0 >> index & 1 == 1)
    }
}

impl BitOr for ClusterFields {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for ClusterFields {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

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

    fn difference(&self, other: &Self) -> ClusterFields {
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

#[derive(Debug, Clone, Default)]
struct Slot {
    cluster: Option<Arc<Cluster>>,
    /// When the occupant came or went: a change for everyone.
    occupied_at: u64,
    changed_at: [u64; ClusterFields::COUNT],
}

impl Slot {
    fn changed_since(&self, generation: u64, fields: ClusterFields) -> bool {
        self.occupied_at > generation
            || fields
                .indices()
                .any(|index| self.changed_at.get(index).is_some_and(|changed| *changed > generation))
    }
}

/// All clusters, by dense id.
#[derive(Debug, Clone, Default)]
pub struct ClusterTable {
    generation: u64,
    slots: Vec<Slot>,
    free: Vec<ClusterId>,
    by_name: HashMap<String, ClusterId>,
    /// When ids and names last changed.
    members_at: u64,
    changed_at: [u64; ClusterFields::COUNT],
}

/// What a plugin's copy of the table lacks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delta {
    /// The generation that the copy has afterwards.
    pub generation: u64,
    /// Clusters to put in, each in place of the one of its id.
    pub upserts: Vec<ClusterId>,
    /// Ids that no longer stand for a cluster.
    pub removes: Vec<ClusterId>,
}

impl ClusterTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts in a Cluster object; tells which groups of fields changed, `ALL` for a new cluster.
    pub fn upsert(&mut self, cluster: &Value) -> ClusterFields {
        self.upsert_cluster(Cluster::from_value(cluster))
    }

    /// Puts in a cluster; tells which groups of fields changed, `ALL` for a new cluster.
    pub fn upsert_cluster(&mut self, cluster: Cluster) -> ClusterFields {
        let Some(id) = self.by_name.get(cluster.name()).copied() else {
            self.insert(cluster);
            return ClusterFields::ALL;
        };
        let Some(slot) = self.slots.get_mut(id as usize) else {
            return ClusterFields::NONE;
        };
        let changed = slot.cluster.as_ref().map_or(ClusterFields::ALL, |old| old.difference(&cluster));
        if !changed.is_empty() {
            self.generation += 1;
            slot.cluster = Some(Arc::new(cluster));
            for index in changed.indices() {
                for changed_at in [&mut slot.changed_at, &mut self.changed_at] {
                    if let Some(at) = changed_at.get_mut(index) {
                        *at = self.generation;
                    }
                }
            }
        }
        changed
    }

    /// Takes out a cluster; tells whether it was there. Its id will be used again.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(id) = self.by_name.remove(name) else {
            return false;
        };
        self.generation += 1;
        self.members_at = self.generation;
        if let Some(slot) = self.slots.get_mut(id as usize) {
            slot.cluster = None;
            slot.occupied_at = self.generation;
        }
        self.free.push(id);
        true
    }

    fn insert(&mut self, cluster: Cluster) {
        self.generation += 1;
        self.members_at = self.generation;
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            ClusterId::try_from(self.slots.len() - 1).unwrap_or(ClusterId::MAX)
        });
        self.by_name.insert(cluster.name().to_owned(), id);
        if let Some(slot) = self.slots.get_mut(id as usize) {
            slot.cluster = Some(Arc::new(cluster));
            slot.occupied_at = self.generation;
        }
    }

    /// The generation of the whole table.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The last generation in which one of these groups, or the set of clusters, changed.
    pub fn generation_of(&self, fields: ClusterFields) -> u64 {
        fields
            .indices()
            .filter_map(|index| self.changed_at.get(index).copied())
            .fold(self.members_at, u64::max)
    }

    /// What to tell a plugin whose copy is of generation `since` (0: empty) and that reads `fields`.
    pub fn delta(&self, since: u64, fields: ClusterFields) -> Delta {
        let mut delta = Delta { generation: self.generation_of(fields), ..Delta::default() };
        if delta.generation <= since {
            delta.generation = since;
            return delta;
        }
        for (id, slot) in (0..).zip(&self.slots) {
            match &slot.cluster {
                Some(_) if slot.changed_since(since, fields) => delta.upserts.push(id),
                None if slot.occupied_at > since => delta.removes.push(id),
                _ => {}
            }
        }
        delta
    }

    /// The cluster of an id.
    pub fn get(&self, id: ClusterId) -> Option<&Arc<Cluster>> {
        self.slots.get(id as usize)?.cluster.as_ref()
    }

    /// The id of a name.
    pub fn id(&self, name: &str) -> Option<ClusterId> {
        self.by_name.get(name).copied()
    }

    /// The name of an id, for people; empty if there is no such cluster.
    pub fn name(&self, id: ClusterId) -> &str {
        self.get(id).map_or("", |cluster| cluster.name())
    }

    /// All clusters, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (ClusterId, &Arc<Cluster>)> {
        (0..).zip(&self.slots).filter_map(|(id, slot)| Some((id, slot.cluster.as_ref()?)))
    }

    /// One more than the largest id in use: the length of an answer about every cluster.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Number of clusters.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// No clusters at all.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cluster(name: &str, label: &str, pods: &str) -> Value {
        json!({"metadata": {"name": name, "labels": {"env": label}},
               "status": {"resourceSummary": {"allocatable": {"pods": pods}}}})
    }

    #[test]
    fn a_change_is_told_only_to_those_who_read_it() {
        let mut table = ClusterTable::new();
        assert_eq!(table.upsert(&cluster("a", "x", "10")), ClusterFields::ALL);
        table.upsert(&cluster("b", "x", "10"));
        let first = table.delta(0, ClusterFields::LABELS);
        assert_eq!(first.upserts, [0, 1]);
        assert_eq!(table.upsert(&cluster("a", "x", "11")), ClusterFields::CAPACITY);
        assert!(table.delta(first.generation, ClusterFields::LABELS).upserts.is_empty());
        assert_eq!(table.upsert(&cluster("a", "y", "11")), ClusterFields::LABELS);
        let second = table.delta(first.generation, ClusterFields::LABELS);
        assert_eq!(second.upserts, [0]);
        assert!(table.delta(first.generation, ClusterFields::TAINTS).upserts.is_empty());
        assert_eq!(table.upsert(&cluster("a", "y", "11")), ClusterFields::NONE);
    }

    #[test]
    fn ids_are_reused_and_removals_told() {
        let mut table = ClusterTable::new();
        table.upsert(&cluster("a", "x", "1"));
        table.upsert(&cluster("b", "x", "1"));
        let known = table.generation();
        assert!(table.remove("a") && !table.remove("a"));
        assert_eq!(table.delta(known, ClusterFields::NONE).removes, [0]);
        table.upsert(&cluster("c", "x", "1"));
        assert_eq!(table.id("c"), Some(0));
        let delta = table.delta(known, ClusterFields::NONE);
        assert_eq!((delta.upserts, delta.removes), (vec![0], vec![]));
        assert_eq!((table.len(), table.capacity()), (2, 2));
    }
}
