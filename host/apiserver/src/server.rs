//! One API server: its store, its table of kinds, its loops. Clones are handles.

use crate::registry::Registry;
use std::sync::Arc;

/// Which of the two kinds of cluster is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The control plane: no service account admission, no default service accounts.
    #[default]
    Control,
    /// A simulated member: default ServiceAccount and kube-root-ca.crt in each namespace.
    Member,
}

/// A running API server. Clones are handles to the same one.
#[derive(Clone, Debug)]
pub struct Server {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    profile: Profile,
    registry: Registry,
    front: crate::front::Front,
}

impl Server {
    /// Its name, for logs.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Which kind of cluster it serves.
    pub fn profile(&self) -> Profile {
        self.inner.profile
    }

    /// What the front keeps between requests.
    pub(crate) fn front(&self) -> &crate::front::Front {
        &self.inner.front
    }

    /// The table of served kinds.
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }
}
