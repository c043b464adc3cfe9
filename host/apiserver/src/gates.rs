//! Doors that close: writers of new objects pass through the door of their namespace or
//! CRD, and whoever removes that for good closes the door first, so that nothing slips
//! in between the last look and the removal.

use std::sync::Arc;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use windlass_object::hash::fnv1a32;

/// Doors are shared by names that hash alike: a bounded number for any number of namespaces.
const DOORS: usize = 64;

/// The doors of one server. Namespaces and CRDs have doors of their own: a writer that held
/// two of one kind could wait for itself.
#[derive(Debug)]
pub(crate) struct Gates {
    pub(crate) namespaces: Doors,
    pub(crate) definitions: Doors,
}

/// Doors of one kind.
#[derive(Debug)]
pub(crate) struct Doors(Vec<Arc<RwLock<()>>>);

impl Gates {
    pub(crate) fn new() -> Self {
        Self { namespaces: Doors::new(), definitions: Doors::new() }
    }
}

impl Doors {
    fn new() -> Self {
        Self((0..DOORS).map(|_| Arc::default()).collect())
    }

    fn door(&self, name: &str) -> Arc<RwLock<()>> {
        self.0.get(fnv1a32(name) as usize % DOORS).cloned().unwrap_or_default()
    }

    /// Passes; the door stays open while the guard lives.
    pub(crate) async fn pass(&self, name: &str) -> OwnedRwLockReadGuard<()> {
        self.door(name).read_owned().await
    }

    /// Closes the door while the guard lives.
    pub(crate) async fn close(&self, name: &str) -> OwnedRwLockWriteGuard<()> {
        self.door(name).write_owned().await
    }
}
