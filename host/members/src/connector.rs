//! Keeps one connection per member, as long as its Cluster and Secret stay as they are.

use crate::network;
use kube::Client;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_api::Cluster;
use windlass_object::gvk::Gvr;
use windlass_runtime::{Informers, Objects};

/// Why a member can't be reached by what its Cluster object says. Each is for the Cluster's conditions.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// `spec.apiEndpoint` is empty.
    #[error("cluster {cluster}: spec.apiEndpoint is empty: set the address of its API server")]
    NoEndpoint {
        /// The cluster.
        cluster: String,
    },
    /// `spec.secretRef` is absent.
    #[error("cluster {cluster}: spec.secretRef is missing: a Secret with `token` and `caBundle` is needed")]
    NoSecretRef {
        /// The cluster.
        cluster: String,
    },
    /// The Secret can't be read, or lacks something.
    #[error("cluster {cluster}: secret {secret}: {message}")]
    Secret {
        /// The cluster.
        cluster: String,
        /// `namespace/name`.
        secret: String,
        /// What is wrong with it.
        message: String,
    },
    /// No client can be made of it.
    #[error("cluster {cluster}: {message}")]
    Client {
        /// The cluster.
        cluster: String,
        /// What is wrong.
        message: String,
    },
}

/// A member and how it is reached.
pub struct Member {
    name: String,
    client: Client,
    informers: Informers,
}

impl Member {
    fn new(name: &str, client: Client) -> Arc<Self> {
        let informers = Informers::new(client.clone());
        Arc::new(Self { name: name.to_owned(), client, informers })
    }

    /// The Cluster's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A client of its API server.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its informers; shared by all controllers.
    pub fn informers(&self) -> &Informers {
        &self.informers
    }

    /// Objects of one of its resources.
    pub fn objects(&self, gvr: &Gvr) -> Objects {
        Objects::new(self.client.clone(), gvr)
    }
}

/// What a connection was made of: if it changes, a new one is made.
#[derive(Clone, PartialEq, Eq)]
struct Fingerprint {
    spec: String,
    secret: String,
}

/// All connections of a control plane. Clones are handles to the same.
#[derive(Clone)]
pub struct Connector {
    shared: Arc<Shared>,
}

struct Shared {
    secrets: Objects,
    local: Mutex<HashMap<String, Client>>,
    open: Mutex<HashMap<String, (Fingerprint, Arc<Member>)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connector {
    /// A connector that reads Secrets through the control plane's client.
    pub fn new(control: &Client) -> Self {
        let secrets = Gvr { group: String::new(), version: "v1".into(), resource: "secrets".into() };
        let shared = Shared {
            secrets: Objects::new(control.clone(), &secrets),
            local: Mutex::default(),
            open: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Reaches the member at this endpoint through a client in this process instead of the network.
    pub fn register(&self, endpoint: &str, client: Client) {
        lock(&self.shared.local).insert(endpoint.to_owned(), client);
    }

    /// The open connection to a member, if there is one.
    pub fn get(&self, cluster: &str) -> Option<Arc<Member>> {
        lock(&self.shared.open).get(cluster).map(|(_, member)| member.clone())
    }

    /// Closes a connection; its informers end with the last that uses them.
    pub fn forget(&self, cluster: &str) {
        lock(&self.shared.open).remove(cluster);
    }

    /// The connection to a member, made anew if its Cluster or Secret changed.
    ///
    /// # Errors
    /// When the Cluster or its Secret doesn't say how to reach it. That nobody answers shows on use.
    pub async fn connect(&self, cluster: &Cluster) -> Result<Arc<Member>, ConnectError> {
        let name = cluster.name();
        let spec = &cluster.spec;
        if spec.api_endpoint.is_empty() {
            return Err(ConnectError::NoEndpoint { cluster: name.to_owned() });
        }
        let local = lock(&self.shared.local).get(&spec.api_endpoint).cloned();
        let secret = match &local {
            Some(_) => Value::Null,
            None => self.secret(cluster).await?,
        };
        let fingerprint = Fingerprint {
            spec: serde_json::to_string(&(&spec.api_endpoint, &spec.secret_ref, &spec.proxy_url))
                .unwrap_or_default(),
            secret: secret.get("data").map(Value::to_string).unwrap_or_default(),
        };
        if let Some((held, member)) = lock(&self.shared.open).get(name)
            && *held == fingerprint
        {
            return Ok(member.clone());
        }
        let client = match local {
            Some(client) => client,
            None => network::client(cluster, &secret).await?,
        };
        let member = Member::new(name, client);
        lock(&self.shared.open).insert(name.to_owned(), (fingerprint, member.clone()));
        tracing::info!(cluster = name, endpoint = spec.api_endpoint, "connected");
        Ok(member)
    }

    async fn secret(&self, cluster: &Cluster) -> Result<Value, ConnectError> {
        let name = cluster.name().to_owned();
        let Some(reference) = &cluster.spec.secret_ref else {
            return Err(ConnectError::NoSecretRef { cluster: name });
        };
        let secret = format!("{}/{}", reference.namespace, reference.name);
        match self.shared.secrets.get(&reference.namespace, &reference.name).await {
            Ok(Some(object)) => Ok(object),
            Ok(None) => {
                Err(ConnectError::Secret { cluster: name, secret, message: "it does not exist".into() })
            }
            Err(error) => Err(ConnectError::Secret { cluster: name, secret, message: error.to_string() }),
        }
    }
}
