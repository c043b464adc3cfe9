//! The last step of every write: bytes into the store, and what must follow at once.

use crate::crd;
use crate::error::ApiError;
use crate::item::encode;
use crate::limits::MAX_OBJECT;
use crate::present;
use crate::registry::Resource;
use crate::server::Server;
use serde_json::Value;
use std::sync::Arc;
use windlass_object::meta::Meta as _;
use windlass_store::{Action, Entry, Expect, Op, WriteError};

/// How a write ended, apart from faults.
pub(crate) enum Put {
    /// It is stored.
    Done(Entry),
    /// Somebody else was faster.
    Lost,
}

/// Stores an object of a version of its resource.
pub(crate) async fn put(
    server: &Server,
    resource: &Resource,
    key: String,
    expect: Expect,
    object: Value,
) -> Result<Put, ApiError> {
    let mut object = present::storable(resource, object);
    object.metadata_mut().remove("resourceVersion");
    let bytes = encode(&object);
    if bytes.len() > MAX_OBJECT {
        return Err(ApiError::too_large(MAX_OBJECT));
    }
    let op = Op::new(key.as_str(), expect, Action::Put(bytes)).parsed(Arc::new(object));
    match server.store().write(vec![op]).await {
        Ok(committed) => {
            let entry =
                committed.entry().cloned().ok_or_else(|| ApiError::internal("a write left no entry"))?;
            follow(server, resource, &key);
            Ok(Put::Done(entry))
        }
        Err(error) => lost(error).map(|()| Put::Lost),
    }
}

/// Removes an object. True if it is gone, false if somebody else was faster.
pub(crate) async fn remove(
    server: &Server,
    resource: &Resource,
    key: String,
    revision: u64,
    last: Option<Value>,
) -> Result<bool, ApiError> {
    let last = last.map(|object| encode(&present::storable(resource, object)));
    let op = Op::new(key.as_str(), Expect::Revision(revision), Action::Delete(last));
    match server.store().write(vec![op]).await {
        Ok(_) => {
            follow(server, resource, &key);
            Ok(true)
        }
        Err(error) => lost(error).map(|()| false),
    }
}

fn lost(error: WriteError) -> Result<(), ApiError> {
    match error {
        WriteError::Conflict { .. } => Ok(()),
        WriteError::Closed => Err(ApiError::unavailable("the server is stopping")),
        other => Err(ApiError::internal(other)),
    }
}

/// A changed CRD is served before its writer is answered.
fn follow(server: &Server, resource: &Resource, key: &str) {
    if crd::is_crd(resource)
        && let Some(name) = key.strip_prefix(resource.prefix.as_str())
    {
        crd::sync(server, name);
    }
}
