//! The clusters as the host last told them, by id.

use super::{Cluster, ClusterId, Error};

/// Ids are dense, so a plain list serves as map.
const LARGEST_ID: ClusterId = 1 << 20; // far more clusters than 64 MiB hold; a wild id must not make a huge list

/// A plugin's digests of the clusters, and the generation that they are of.
pub struct Table<C> {
    generation: u64,
    slots: Vec<Option<C>>,
}

impl<C> Default for Table<C> {
    fn default() -> Self {
        Self { generation: 0, slots: Vec::new() }
    }
}

impl<C: From<Cluster>> Table<C> {
    /// Takes in a change of the table; removals come first.
    ///
    /// # Errors
    /// When an id is beyond all reason.
    pub fn sync(
        &mut self,
        generation: u64,
        upserts: Vec<Cluster>,
        removes: &[ClusterId],
    ) -> Result<(), Error> {
        for id in removes {
            if let Some(slot) = self.slots.get_mut(*id as usize) {
                *slot = None;
            }
        }
        for cluster in upserts {
            if cluster.id > LARGEST_ID {
                return Err(Error::Internal(format!("cluster id {} is beyond {LARGEST_ID}", cluster.id)));
            }
            let index = cluster.id as usize;
            if index >= self.slots.len() {
                self.slots.resize_with(index + 1, || None);
            }
            if let Some(slot) = self.slots.get_mut(index) {
                *slot = Some(C::from(cluster));
            }
        }
        while matches!(self.slots.last(), Some(None)) {
            self.slots.pop();
        }
        self.generation = generation;
        Ok(())
    }

    /// The generation of the last sync; 0 before the first.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// One cluster.
    pub fn get(&self, id: ClusterId) -> Option<&C> {
        self.slots.get(id as usize)?.as_ref()
    }

    /// All slots in order of ids, empty ones too; there is none beyond the last cluster's.
    pub fn slots(&self) -> impl Iterator<Item = Option<&C>> {
        self.slots.iter().map(Option::as_ref)
    }

    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no cluster at all.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}
