//! A consumer's hold on an informer.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Scope;
use super::key::ObjectKey;
use super::store::{Change, Store};

/// A running informer; its watch ends when the last handle is dropped.
pub(super) struct Shared {
    scope: Scope,
    store: Arc<Store>,
    stop: CancellationToken,
}

impl Shared {
    pub(super) fn new(scope: Scope, stop: CancellationToken) -> Self {
        Self { scope, store: Arc::new(Store::new()), stop }
    }

    pub(super) fn store(&self) -> Arc<Store> {
        self.store.clone()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A live copy of a scope's objects. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// What is watched.
    pub fn scope(&self) -> &Scope {
        &self.shared.scope
    }

    /// One object; the namespace is empty for cluster-scoped ones.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.get_key(&ObjectKey::new(namespace, name))
    }

    /// One object by key.
    pub fn get_key(&self, key: &ObjectKey) -> Option<Arc<Value>> {
        self.shared.store.get(key)
    }

    /// All objects, by namespace and name.
    pub fn list(&self) -> Vec<Arc<Value>> {
        self.shared.store.list()
    }

    /// All objects of a namespace, by name.
    pub fn list_in(&self, namespace: &str) -> Vec<Arc<Value>> {
        self.shared.store.list_in(namespace)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.shared.store.len()
    }

    /// Whether there are no objects (or none yet).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an index: `function` says under which values an object is found. If an index of that name is there
    /// already, it stays.
    pub fn add_index(
        &self,
        name: &'static str,
        function: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static,
    ) {
        self.shared.store.add_index(name, Box::new(function));
    }

    /// The objects under a value of an index; none if there is no such index.
    pub fn by_index(&self, name: &str, value: &str) -> Vec<Arc<Value>> {
        self.shared.store.by_index(name, value)
    }

    /// Everything that is there (`initial`), then every change, without a gap. The channel is unbounded: read it.
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<Change> {
        self.shared.store.subscribe()
    }

    /// As `subscribe`, but calls `callback` in the informer's task: for putting keys into queues. It may read
    /// handles, and must neither wait nor subscribe. It stays until the informer ends.
    pub fn on_change(&self, callback: impl Fn(&Change) + Send + Sync + 'static) {
        self.shared.store.on_change(Box::new(callback));
    }

    /// Whether the first list is complete.
    pub fn is_synced(&self) -> bool {
        *self.shared.store.synced().borrow()
    }

    /// Waits until the first list is complete.
    pub async fn synced(&self) {
        // The sender lives in the store that we hold: no error can come.
        let _ = self.shared.store.synced().wait_for(|synced| *synced).await;
    }

    /// Why the watch doesn't run at the moment; None while it does.
    pub fn last_error(&self) -> Option<String> {
        self.shared.store.error()
    }
}
