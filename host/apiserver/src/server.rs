//! One API server: its store, its table of kinds, its loops. Clones are handles.

use crate::admission::Admission;
use crate::front::{Front, FrontOptions};
use crate::gates::Gates;
use crate::registry::Registry;
use crate::{bootstrap, crd, expiry, observer};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use windlass_store::Store;

/// Which of the two kinds of cluster is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The control plane: no service account admission, no default service accounts.
    #[default]
    Control,
    /// A simulated member: default ServiceAccount and kube-root-ca.crt in each namespace.
    Member,
}

/// What a server is made of. Begin with [`ServerOptions::new`].
pub struct ServerOptions {
    /// Its name, for logs.
    pub name: String,
    /// Where its objects live.
    pub store: Arc<dyn Store>,
    /// Which kind of cluster it serves.
    pub profile: Profile,
    /// Functions that see every write before it happens.
    pub admission: Vec<Arc<dyn Admission>>,
    /// Choices about its outside.
    pub front: FrontOptions,
    /// The bundle of certificates (PEM) that its clients should trust: goes into
    /// `kube-root-ca.crt` and into token Secrets.
    pub ca: Option<String>,
    /// Where it can be reached: the address of `default/kubernetes`.
    pub advertise: Option<SocketAddr>,
}

impl ServerOptions {
    /// A control plane over this store, without hooks.
    pub fn new(name: impl Into<String>, store: Arc<dyn Store>) -> Self {
        Self {
            name: name.into(),
            store,
            profile: Profile::Control,
            admission: Vec::new(),
            front: FrontOptions::default(),
            ca: None,
            advertise: None,
        }
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An object that every server has could not be written.
    #[error("server {server}: cannot write {object}, which every cluster has")]
    Bootstrap {
        /// The server.
        server: String,
        /// The object.
        object: String,
        /// Why.
        #[source]
        source: Box<crate::error::ApiError>,
    },
}

/// A running API server. Clones are handles to the same one.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    profile: Profile,
    registry: Registry,
    front: Front,
    store: Arc<dyn Store>,
    admission: Vec<Arc<dyn Admission>>,
    gates: Gates,
    crds: crd::Sync,
    ca: Option<String>,
    stopping: CancellationToken,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Server").field("name", &self.inner.name).finish_non_exhaustive()
    }
}

impl Server {
    /// Starts a server: loads the CRDs that its store holds, writes what every cluster
    /// has, and starts its loops on the present tokio runtime.
    pub async fn start(options: ServerOptions) -> Result<Self, StartError> {
        let server = Self {
            inner: Arc::new(Inner {
                name: options.name,
                profile: options.profile,
                registry: Registry::builtin(),
                front: Front::new(options.front),
                store: options.store,
                admission: options.admission,
                gates: Gates::new(),
                crds: crd::Sync::default(),
                ca: options.ca,
                stopping: CancellationToken::new(),
            }),
        };
        crd::load(&server);
        bootstrap::run(&server, options.advertise).await?;
        observer::start(&server);
        expiry::start(&server);
        Ok(server)
    }

    /// Ends its loops and watches. The store is left as it is.
    pub fn stop(&self) {
        self.inner.stopping.cancel();
    }

    /// Cancelled when the server stops.
    pub fn stopping(&self) -> CancellationToken {
        self.inner.stopping.clone()
    }

    /// Its name, for logs.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Which kind of cluster it serves.
    pub fn profile(&self) -> Profile {
        self.inner.profile
    }

    /// What the front keeps between requests.
    pub(crate) fn front(&self) -> &Front {
        &self.inner.front
    }

    /// The table of served kinds.
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// Where its objects live.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// The certificates that its clients should trust (PEM).
    pub fn ca(&self) -> Option<&str> {
        self.inner.ca.as_deref()
    }

    pub(crate) fn admission(&self) -> &[Arc<dyn Admission>] {
        &self.inner.admission
    }

    pub(crate) fn gates(&self) -> &Gates {
        &self.inner.gates
    }

    pub(crate) fn crds(&self) -> &crd::Sync {
        &self.inner.crds
    }
}
