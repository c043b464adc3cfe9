//! How a member's loops read and write: straight from the store's snapshots, and through the API
//! server's verbs without HTTP between.

use crate::kinds::{Key, Kind};
use crate::plan::Write;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_apiserver::error::ApiError;
use windlass_apiserver::handler::{self, Call, Options, PatchType, Warnings};
use windlass_apiserver::identity::Identity;
use windlass_apiserver::registry::Resource;
use windlass_apiserver::server::Server;
use windlass_object::meta::Meta;
use windlass_store::Store;

/// The loops' field manager.
const AGENT: &str = "windlass-simulator";

/// A member's server and the store below it.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) server: Server,
    pub(crate) store: Arc<dyn Store>,
}

impl Access {
    fn resource(&self, kind: Kind) -> Result<Arc<Resource>, ApiError> {
        let registry = self.server.registry().snapshot();
        match registry.get(kind.group(), kind.version(), kind.resource()) {
            Some(resource) => Ok(resource.clone()),
            None => Err(ApiError::internal(format!("the server does not serve {}", kind.name()))),
        }
    }

    /// The prefix of a kind's keys in the store.
    pub(crate) fn prefix(&self, kind: Kind) -> String {
        self.resource(kind).map(|resource| resource.prefix.clone()).unwrap_or_default()
    }

    /// An object as it is now.
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Value>> {
        let resource = self.resource(key.kind).ok()?;
        let snapshot = self.store.snapshot();
        let entry = snapshot.get(&resource.key(&key.namespace, &key.name))?;
        Some(entry.json_uncached())
    }

    /// Whether there is such an object.
    pub(crate) fn has(&self, key: &Key) -> bool {
        self.resource(key.kind).is_ok_and(|resource| {
            self.store.snapshot().get(&resource.key(&key.namespace, &key.name)).is_some()
        })
    }

    /// Carries one write out. An object that is there already, or gone already, is no error: the next
    /// event will tell.
    pub(crate) async fn write(&self, write: Write) -> Result<(), ApiError> {
        let result = match write {
            Write::Create(kind, body) => {
                let call = self.call(&Key::new(kind, body.namespace(), ""), "", Some(body))?;
                handler::create(&self.server, call).await
            }
            Write::Merge(key, subresource, body) => {
                let mut call = self.call(&key, subresource, Some(body))?;
                call.patch = Some(PatchType::Merge);
                handler::patch(&self.server, call).await
            }
            Write::Delete(key) => {
                let body = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
                handler::delete(&self.server, self.call(&key, "", Some(body))?).await
            }
        };
        match result {
            Err(error) if matches!(error.code, 404 | 409) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Ok(()),
        }
    }

    /// Puts a pod on a node.
    pub(crate) async fn bind(&self, pod: &Key, node: &str) -> Result<(), ApiError> {
        let body = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod.name, "namespace": pod.namespace},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        });
        match handler::create(&self.server, self.call(pod, "binding", Some(body))?).await {
            Err(error) if !matches!(error.code, 404 | 409) => Err(error),
            _ => Ok(()),
        }
    }

    fn call(&self, key: &Key, subresource: &str, body: Option<Value>) -> Result<Call, ApiError> {
        Ok(Call {
            resource: self.resource(key.kind)?,
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            subresource: subresource.to_owned(),
            options: Options::default(),
            identity: Identity::system(),
            user_agent: AGENT.to_owned(),
            body,
            patch: None,
            warnings: Warnings::default(),
        })
    }
}
