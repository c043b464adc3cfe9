//! What is known of each cluster, by id: bits, or values.

use super::book::Weighed;
use crate::bitmap::Bitmap;
use crate::records::ClusterId;
use crate::table::{ClusterFields, ClusterTable};

/// Which clusters are known, and of which generation of the table.
#[derive(Debug, Clone, Default)]
struct Known {
    at: u64,
    clusters: Bitmap,
}

impl Known {
    /// Forgets what changed since.
    fn refresh(&mut self, table: &ClusterTable, fields: ClusterFields) {
        if self.at == table.generation() {
            return;
        }
        if self.at > table.generation() {
            // Not the table that this followed.
            self.clusters = Bitmap::default();
        }
        if !self.clusters.is_empty() {
            for id in table.changed(self.at, fields) {
                self.clusters.set(id as usize, false);
            }
        }
        self.clusters.grow(table.capacity());
        self.at = table.generation();
    }
}

/// A yes or no for each cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    known: Known,
    set: Bitmap,
}

impl Marks {
    /// Forgets clusters that changed in `fields`.
    pub(crate) fn refresh(&mut self, table: &ClusterTable, fields: ClusterFields) {
        self.known.refresh(table, fields);
    }

    /// Of these the clusters that are not known.
    pub(crate) fn unknown(&self, asked: &Bitmap) -> Bitmap {
        asked.and_not(&self.known.clusters)
    }

    /// Takes in answers about `clusters`: those of them that are set in `answer`, by id.
    pub(crate) fn learn(&mut self, clusters: &Bitmap, answer: &Bitmap) {
        self.set = self.set.and_not(clusters);
        self.set.add(&answer.and(clusters));
        self.known.clusters.add(clusters);
    }

    /// Of these the ones that are marked.
    pub(crate) fn of(&self, asked: &Bitmap) -> Bitmap {
        asked.and(&self.set)
    }
}

impl Weighed for Marks {
    fn bytes(&self) -> usize {
        size_of_val(self.known.clusters.words()) + size_of_val(self.set.words())
    }
}

/// A value for each cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct Column<V> {
    known: Known,
    values: Vec<V>,
}

impl<V: Copy + Default> Column<V> {
    /// Forgets clusters that changed in `fields`.
    pub(crate) fn refresh(&mut self, table: &ClusterTable, fields: ClusterFields) {
        self.known.refresh(table, fields);
        self.values.resize(table.capacity(), V::default());
    }

    /// Of these the clusters that are not known.
    pub(crate) fn unknown(&self, asked: &Bitmap) -> Bitmap {
        asked.and_not(&self.known.clusters)
    }

    /// Takes in one cluster's value.
    pub(crate) fn learn(&mut self, id: ClusterId, value: V) {
        if let Some(place) = self.values.get_mut(id as usize) {
            *place = value;
            self.known.clusters.set(id as usize, true);
        }
    }

    /// The values, by id; those of unknown clusters mean nothing.
    pub(crate) fn values(&self) -> &[V] {
        &self.values
    }
}

impl<V> Weighed for Column<V> {
    fn bytes(&self) -> usize {
        size_of_val(self.known.clusters.words()) + size_of_val(self.values.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_changed_is_forgotten() {
        let mut table = ClusterTable::new();
        let cluster = |name: &str, label: &str, pods: i64| {
            json!({"metadata": {"name": name, "labels": {"l": label}},
                "status": {"resourceSummary": {"allocatable": {"pods": pods}}}})
        };
        for name in ["a", "b", "c"] {
            table.upsert(&cluster(name, "x", 1));
        }
        let mut marks = Marks::default();
        marks.refresh(&table, ClusterFields::LABELS);
        assert_eq!(marks.unknown(table.usable()).count(), 3);
        marks.learn(table.usable(), &[true, false, true].into_iter().collect());
        assert_eq!(marks.of(table.usable()).ones().collect::<Vec<_>>(), [0, 2]);

        table.upsert(&cluster("a", "x", 2));
        marks.refresh(&table, ClusterFields::LABELS);
        assert!(marks.unknown(table.usable()).is_clear());
        table.upsert(&cluster("c", "y", 1));
        table.remove("b");
        table.upsert(&cluster("d", "y", 1));
        table.upsert(&cluster("e", "y", 1));
        marks.refresh(&table, ClusterFields::LABELS);
        // Of `b`, whose number `d` has now, nothing is left.
        assert_eq!(marks.unknown(table.usable()).ones().collect::<Vec<_>>(), [1, 2, 3]);
        marks.learn(&marks.unknown(table.usable()), &Bitmap::new(4));
        assert_eq!(marks.of(table.usable()).ones().collect::<Vec<_>>(), [0]);
        assert!(marks.unknown(table.usable()).is_clear());

        let mut column: Column<u8> = Column::default();
        column.refresh(&table, ClusterFields::NONE);
        column.learn(3, 9);
        column.learn(4, 9);
        assert_eq!((column.values(), column.unknown(table.usable()).count()), ([0, 0, 0, 9].as_slice(), 3));
    }
}
