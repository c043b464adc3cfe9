//! What garbage collection does with one object, by what the store holds at that moment.

use crate::delete::{self, Deletion, FOREGROUND, ORPHAN, Propagation};
use crate::error::ApiError;
use crate::observer::Shared;
use crate::registry::Resource;
use crate::server::Server;
use crate::system;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::gvk::split_api_version;
use windlass_object::meta::Meta as _;
use windlass_object::time;
use windlass_store::Snapshot;

/// What has become of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is there.
    Solid,
    /// It is there and waits for its dependents to go.
    Waiting,
    /// It is gone, or was never where the reference says.
    Absent,
    /// Nobody can say: its kind is not served here, or the reference cannot hold.
    Unknown,
}

struct Found {
    resource: Arc<Resource>,
    namespace: String,
    name: String,
    object: Arc<Value>,
}

fn find(server: &Server, snapshot: &Snapshot, key: &str) -> Option<Found> {
    let entry = snapshot.get(key)?;
    let (resource, namespace, name) = server.registry().snapshot().of_key(key)?;
    let (namespace, name) = (namespace.to_owned(), name.to_owned());
    Some(Found { resource, namespace, name, object: entry.json_uncached() })
}

/// Deletes an object whose owners are all gone; of several, takes the references to those that are.
pub(crate) async fn collect(server: &Server, shared: &Shared, key: &str) -> Result<(), ApiError> {
    let snapshot = server.store().snapshot();
    let Some(found) = find(server, &snapshot, key) else { return Ok(()) };
    let Found { resource, namespace, name, object } = found;
    let foreground = object.finalizers().contains(&FOREGROUND);
    if object.owner_references().is_empty() || (object.is_deleting() && !foreground) {
        return Ok(());
    }
    let mut kept = 0;
    let mut absent: Vec<String> = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    let mut misplaced = false;
    for owner in object.owner_references() {
        let uid = owner.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (state, wrong) = look(server, shared, &snapshot, &resource, &namespace, owner);
        misplaced |= wrong;
        match state {
            State::Solid | State::Unknown => kept += 1,
            State::Waiting => waiting.push(uid),
            State::Absent => absent.push(uid),
        }
    }
    if misplaced {
        report(server, &resource, &namespace, &name, &object).await;
    }
    if kept > 0 {
        absent.extend(waiting);
        if absent.is_empty() {
            return Ok(());
        }
        return disown(server, &resource, &namespace, &name, &absent).await;
    }
    let has_dependents = !shared.graph().dependents(object.uid()).is_empty();
    let propagation = if !waiting.is_empty() && has_dependents {
        Propagation::Foreground
    } else if object.finalizers().contains(&ORPHAN) {
        Propagation::Orphan
    } else if foreground {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    let deletion = Deletion {
        uid: Some(object.uid().to_owned()),
        propagation: Some(propagation),
        ..Deletion::default()
    };
    let call = system::call(&resource, &namespace, &name);
    match delete::delete_object(server, &call, &deletion).await {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.reason, "NotFound" | "Conflict" | "Forbidden") => Ok(()),
        Err(error) => Err(error),
    }
}

/// The state of an owner, and whether the reference to it is one that cannot hold.
fn look(
    server: &Server,
    shared: &Shared,
    snapshot: &Snapshot,
    dependent: &Resource,
    namespace: &str,
    owner: &Value,
) -> (State, bool) {
    let text = |key: &str| owner.get(key).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = split_api_version(text("apiVersion"));
    let table = server.registry().snapshot();
    let Some(resource) = table.of_owner(group, version, text("kind")) else { return (State::Unknown, false) };
    if resource.namespaced && !dependent.namespaced {
        return (State::Unknown, true);
    }
    let there = snapshot.get(&resource.key(namespace, text("name")));
    if there.is_some_and(|entry| entry.json().uid() == text("uid")) {
        let waits = shared.graph().waits(text("uid"));
        return (if waits { State::Waiting } else { State::Solid }, false);
    }
    (
        State::Absent,
        resource.namespaced && elsewhere(snapshot, resource, namespace, text("name"), text("uid")),
    )
}

/// Whether an owner lives in another namespace than its dependent: an error worth telling.
fn elsewhere(snapshot: &Snapshot, resource: &Resource, namespace: &str, name: &str, uid: &str) -> bool {
    snapshot.range("/core/namespaces/", None).any(|(key, _)| {
        let other = key.rsplit('/').next().unwrap_or_default();
        other != namespace
            && snapshot
                .get(&resource.key(other, name))
                .is_some_and(|entry| entry.json_uncached().uid() == uid)
    })
}

/// Takes the references to these owners off an object.
async fn disown(
    server: &Server,
    resource: &Arc<Resource>,
    namespace: &str,
    name: &str,
    owners: &[String],
) -> Result<(), ApiError> {
    let call = system::call(resource, namespace, name);
    system::modify(server, &call, |object| {
        let metadata = object.metadata_mut();
        if let Some(Value::Array(list)) = metadata.get_mut("ownerReferences") {
            list.retain(|o| {
                o.get("uid").and_then(Value::as_str).is_none_or(|uid| !owners.iter().any(|gone| gone == uid))
            });
            if list.is_empty() {
                metadata.remove("ownerReferences");
            }
        }
    })
    .await
    .map(|_| ())
}

async fn unfinalize(server: &Server, found: &Found, finalizer: &str) -> Result<(), ApiError> {
    let call = system::call(&found.resource, &found.namespace, &found.name);
    let uid = found.object.uid();
    system::modify(server, &call, |object| {
        if object.uid() == uid {
            object.remove_finalizer(finalizer);
        }
    })
    .await
    .map(|_| ())
}

/// An object that goes after its dependents: sends them away, and goes when none keeps it.
pub(crate) async fn foreground(server: &Server, shared: &Shared, key: &str) -> Result<(), ApiError> {
    let snapshot = server.store().snapshot();
    let Some(found) = find(server, &snapshot, key) else { return Ok(()) };
    if !found.object.is_deleting() || !found.object.finalizers().contains(&FOREGROUND) {
        return Ok(());
    }
    let blocking = shared.graph().blocking(found.object.uid());
    let there: Vec<_> = blocking.iter().filter(|key| snapshot.get(key).is_some()).collect();
    if there.is_empty() {
        return unfinalize(server, &found, FOREGROUND).await;
    }
    for key in there {
        collect(server, shared, key).await?;
    }
    Ok(())
}

/// An object that leaves its dependents: takes itself off them, then goes.
pub(crate) async fn orphan(server: &Server, shared: &Shared, key: &str) -> Result<(), ApiError> {
    let snapshot = server.store().snapshot();
    let Some(found) = find(server, &snapshot, key) else { return Ok(()) };
    if !found.object.is_deleting() || !found.object.finalizers().contains(&ORPHAN) {
        return Ok(());
    }
    let uid = found.object.uid().to_owned();
    let dependents = shared.graph().dependents(&uid);
    for key in dependents {
        let Some(dependent) = find(server, &snapshot, &key) else { continue };
        disown(
            server,
            &dependent.resource,
            &dependent.namespace,
            &dependent.name,
            std::slice::from_ref(&uid),
        )
        .await?;
    }
    unfinalize(server, &found, ORPHAN).await
}

/// Tells of an owner reference that crosses namespaces, where users look: an Event on the dependent.
async fn report(server: &Server, resource: &Arc<Resource>, namespace: &str, name: &str, object: &Value) {
    let message = "ownerRef names an object that is not in this object's namespace; owners must be in the same \
                   namespace or cluster-scoped";
    tracing::warn!(server = server.name(), resource = resource.qualified(), namespace, name, message);
    let Ok(events) = system::builtin(server, "", "v1", "events") else { return };
    let namespace = if namespace.is_empty() { "default" } else { namespace };
    let now = time::now();
    let event = json!({
        "metadata": {"generateName": format!("{name}.")},
        "involvedObject": {
            "apiVersion": resource.api_version, "kind": resource.kind,
            "namespace": object.namespace(), "name": name, "uid": object.uid(),
        },
        "reason": "OwnerRefInvalidNamespace", "message": message, "type": "Warning",
        "source": {"component": "garbage-collector-controller"},
        "firstTimestamp": now, "lastTimestamp": now, "count": 1,
    });
    if let Err(error) = Box::pin(system::create(server, &events, namespace, event)).await {
        tracing::debug!(%error, "no event of a misplaced owner");
    }
}
