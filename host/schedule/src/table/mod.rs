//! The table of clusters: dense, reused ids, and for each group of fields the generation in which it last changed, so that a
//! plugin is told of a change only if it reads what changed. Cloning shares the records; a pass works on a snapshot.

mod cluster;
mod fields;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::bitmap::Bitmap;
use crate::records::ClusterId;

pub use cluster::Cluster;
pub use fields::ClusterFields;

/// Changes that are kept one by one. Who lags behind by more looks at every cluster, which costs as much as this many
/// changes in a fleet of thousands.
const RECENT_CHANGES: usize = 256;

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
    /// Ids that stand for a cluster.
    occupied: Bitmap,
    /// Those whose cluster isn't being deleted.
    usable: Bitmap,
    /// Whose change made each of the last generations.
    recent: VecDeque<ClusterId>,
    /// Each cluster's place in the order of names; made when it is asked for.
    ranks: OnceLock<Arc<[u32]>>,
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
            self.usable.set(id as usize, !cluster.deleting);
            slot.cluster = Some(Arc::new(cluster));
            for index in changed.indices() {
                for changed_at in [&mut slot.changed_at, &mut self.changed_at] {
                    if let Some(at) = changed_at.get_mut(index) {
                        *at = self.generation;
                    }
                }
            }
            self.note(id);
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
        self.member_changed(id, false, false);
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
        self.member_changed(id, true, !cluster.deleting);
        if let Some(slot) = self.slots.get_mut(id as usize) {
            slot.cluster = Some(Arc::new(cluster));
            slot.occupied_at = self.generation;
        }
    }

    fn member_changed(&mut self, id: ClusterId, occupied: bool, usable: bool) {
        for (bits, value) in [(&mut self.occupied, occupied), (&mut self.usable, usable)] {
            bits.grow(self.slots.len());
            bits.set(id as usize, value);
        }
        self.ranks = OnceLock::new();
        self.note(id);
    }

    /// Keeps whose change made this generation.
    fn note(&mut self, id: ClusterId) {
        if self.recent.len() == RECENT_CHANGES {
            self.recent.pop_front();
        }
        self.recent.push_back(id);
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
        for id in self.changed(since, fields) {
            match self.get(id) {
                Some(_) => delta.upserts.push(id),
                None => delta.removes.push(id),
            }
        }
        delta
    }

    /// Ids for which something of `fields`, or the cluster itself, changed after generation `since`; ascending.
    pub fn changed(&self, since: u64, fields: ClusterFields) -> Vec<ClusterId> {
        if self.generation_of(fields) <= since {
            return Vec::new();
        }
        let changed = |id: &ClusterId| {
            self.slots.get(*id as usize).is_some_and(|slot| slot.changed_since(since, fields))
        };
        let lag = usize::try_from(self.generation.saturating_sub(since)).unwrap_or(usize::MAX);
        let Some(first) = self.recent.len().checked_sub(lag) else {
            return (0..).take(self.slots.len()).filter(changed).collect();
        };
        let mut ids: Vec<ClusterId> = self.recent.range(first..).copied().filter(changed).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Ids that stand for a cluster.
    pub fn occupied(&self) -> &Bitmap {
        &self.occupied
    }

    /// Ids of clusters that may take something: those that aren't being deleted.
    pub fn usable(&self) -> &Bitmap {
        &self.usable
    }

    /// Each cluster's place in the order of names, by id; ids that stand for no cluster come last.
    pub fn ranks(&self) -> &Arc<[u32]> {
        self.ranks.get_or_init(|| {
            let mut ids: Vec<ClusterId> = self.occupied.ones().collect();
            ids.sort_by_key(|id| self.name(*id));
            let mut ranks = vec![u32::MAX; self.slots.len()];
            for (rank, id) in (0..).zip(ids) {
                if let Some(place) = ranks.get_mut(id as usize) {
                    *place = rank;
                }
            }
            ranks.into()
        })
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

    #[test]
    fn who_lags_far_behind_is_told_the_same() {
        let mut table = ClusterTable::new();
        for name in ["c", "a", "b"] {
            table.upsert(&cluster(name, "x", "1"));
        }
        assert_eq!(**table.ranks(), [2, 0, 1]);
        let known = table.generation();
        table.upsert(&cluster("a", "y", "1"));
        for pods in 0..RECENT_CHANGES {
            let near = table.changed(known, ClusterFields::LABELS);
            assert_eq!(near, [1], "{pods} changes later");
            table.upsert(&cluster("b", "x", &format!("{}", pods + 2)));
        }
        assert_eq!(table.changed(known, ClusterFields::LABELS), [1]);
        assert_eq!(table.changed(known, ClusterFields::LABELS | ClusterFields::CAPACITY), [1, 2]);
        table.remove("c");
        assert_eq!(table.changed(known, ClusterFields::NONE), [0]);
        assert_eq!((table.usable().count(), table.occupied().count()), (2, 2));
        assert_eq!(**table.ranks(), [u32::MAX, 0, 1]);
    }
}
