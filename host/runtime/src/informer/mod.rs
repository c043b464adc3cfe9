//! Informers: a live copy of a resource's objects, decoded once and shared by all who watch it.
//!
//! One manager per client. Handles of the same scope share one watch, which ends when the last of them is dropped.
//! Objects come without `metadata.managedFields`, which nobody here reads and which is half of their size.

mod feed;
mod frames;
mod handle;
mod held;
mod key;
mod store;
mod watch;

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use kube::Client;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use windlass_object::gvk::Gvr;

pub use handle::Handle;
pub use key::ObjectKey;
pub use store::Change;

use handle::Shared;

/// What an informer watches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The resource.
    pub gvr: Gvr,
    /// The namespace; empty for all, and for cluster-scoped resources.
    pub namespace: String,
    /// A label selector; empty for all.
    pub labels: String,
    /// What of each object is kept; None for all of it.
    pub projection: Option<Projection>,
}

/// Keeps just a part of each object, for kinds whose objects are many. Projections of one name are the same.
#[derive(Clone, Copy, Debug)]
pub struct Projection {
    /// Its name.
    pub name: &'static str,
    /// Takes away what isn't needed; name, namespace, uid and resourceVersion must stay.
    pub keep: fn(&mut Value),
}

impl PartialEq for Projection {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Projection {}

impl Hash for Projection {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Scope {
    /// All objects of a resource.
    pub fn new(gvr: Gvr) -> Self {
        Self { gvr, namespace: String::new(), labels: String::new(), projection: None }
    }

    /// Only those of a namespace.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Only this part of each.
    pub fn project(mut self, projection: Projection) -> Self {
        self.projection = Some(projection);
        self
    }

    /// Only those that a label selector matches.
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = selector.into();
        self
    }
}

impl From<Gvr> for Scope {
    fn from(gvr: Gvr) -> Self {
        Self::new(gvr)
    }
}

impl From<&Gvr> for Scope {
    fn from(gvr: &Gvr) -> Self {
        Self::new(gvr.clone())
    }
}

/// The informers of one API server.
#[derive(Clone)]
pub struct Informers {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    running: Mutex<HashMap<Scope, Weak<Shared>>>,
}

impl Informers {
    /// A manager without informers.
    pub fn new(client: Client) -> Self {
        Self { inner: Arc::new(Inner { client, running: Mutex::default() }) }
    }

    /// The client that the informers watch through.
    pub fn client(&self) -> &Client {
        &self.inner.client
    }

    /// A handle on the informer of a scope, which is started if it doesn't run yet. Needs a tokio runtime.
    pub fn watch(&self, scope: impl Into<Scope>) -> Handle {
        let scope = scope.into();
        let mut running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = running.get(&scope).and_then(Weak::upgrade) {
            return Handle::new(shared);
        }
        running.retain(|_, weak| weak.strong_count() > 0);
        let stop = CancellationToken::new();
        let shared = Arc::new(Shared::new(scope.clone(), stop.clone()));
        running.insert(scope.clone(), Arc::downgrade(&shared));
        tokio::spawn(watch::run(self.inner.client.clone(), scope, shared.store(), stop));
        Handle::new(shared)
    }

    /// Scopes that are being watched, for diagnostics.
    pub fn running(&self) -> Vec<Scope> {
        let running = self.inner.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().filter(|(_, weak)| weak.strong_count() > 0).map(|(scope, _)| scope.clone()).collect()
    }
}
