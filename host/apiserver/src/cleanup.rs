//! Namespaces and CRDs on their way out: their content goes first, then the last
//! finalizer. Run again for every object that is gone, until none is left.

use crate::delete::{self, Deletion, Propagation};
use crate::error::ApiError;
use crate::kinds::NAMESPACE_FINALIZER;
use crate::limits::CLEANUP_CONCURRENCY;
use crate::registry::Resource;
use crate::server::Server;
use crate::{crd, system};
use futures::{StreamExt as _, stream};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_object::condition::{self, Condition};
use windlass_object::meta::Meta as _;
use windlass_object::path;
use windlass_store::Snapshot;

/// One object to be deleted.
struct Doomed {
    resource: Arc<Resource>,
    namespace: String,
    name: String,
}

fn doomed(snapshot: &Snapshot, resource: &Arc<Resource>, range: &str) -> Vec<Doomed> {
    let place = |key: &str| {
        let rest = key.strip_prefix(resource.prefix.as_str())?;
        let (namespace, name) = if resource.namespaced { rest.split_once('/')? } else { ("", rest) };
        Some(Doomed { resource: resource.clone(), namespace: namespace.to_owned(), name: name.to_owned() })
    };
    snapshot.range(range, None).filter_map(|(key, _)| place(key)).collect()
}

/// Deletes these objects, several at a time.
async fn sweep(server: &Server, objects: Vec<Doomed>) -> Result<(), ApiError> {
    let deletion = Deletion { propagation: Some(Propagation::Background), ..Deletion::default() };
    let deletion = &deletion;
    let mut outcomes = stream::iter(objects)
        .map(|object| async move {
            let call = system::call(&object.resource, &object.namespace, &object.name);
            delete::delete_object(server, &call, deletion).await
        })
        .buffer_unordered(CLEANUP_CONCURRENCY);
    let mut first = Ok(());
    while let Some(outcome) = outcomes.next().await {
        if let Err(error) = outcome
            && error.reason != "NotFound"
            && first.is_ok()
        {
            first = Err(error);
        }
    }
    first
}

fn content(server: &Server, snapshot: &Snapshot, namespace: &str) -> Vec<Doomed> {
    let stored = server.registry().snapshot().stored();
    let namespaced = stored.iter().filter(|resource| resource.namespaced);
    namespaced.flat_map(|resource| doomed(snapshot, resource, &resource.range(namespace))).collect()
}

fn is_pod(resource: &Resource) -> bool {
    resource.builtin && resource.group.is_empty() && resource.kind == "Pod"
}

/// A namespace on its way out.
pub(crate) async fn namespace(server: &Server, name: &str) -> Result<(), ApiError> {
    let namespaces = system::builtin(server, "", "v1", "namespaces")?;
    let key = namespaces.key("", name);
    let snapshot = server.store().snapshot();
    let Some(entry) = snapshot.get(&key) else { return Ok(()) };
    let object = entry.json_uncached();
    let ours = path::list_at(&object, &["spec", "finalizers"]).iter().any(|f| f == NAMESPACE_FINALIZER);
    if !object.is_deleting() || !ours {
        return Ok(());
    }
    // What runs goes before what it reads.
    let (pods, others): (Vec<_>, Vec<_>) =
        content(server, &snapshot, name).into_iter().partition(|object| is_pod(&object.resource));
    let mut swept = sweep(server, pods).await;
    let pods = system::builtin(server, "", "v1", "pods")?;
    if server.store().snapshot().range(&pods.range(name), None).next().is_none() {
        swept = swept.and(sweep(server, others).await);
    }
    let door = server.gates().namespaces.close(name).await;
    let snapshot = server.store().snapshot();
    let left = content(server, &snapshot, name);
    if left.is_empty() {
        let call = system::call_through(&namespaces, "", name, "finalize");
        let without = |object: &mut Value| {
            if let Some(Value::Array(list)) = path::get_mut(object, &["spec", "finalizers"]) {
                list.retain(|f| f != NAMESPACE_FINALIZER);
            }
        };
        let finalized = Box::pin(system::modify(server, &call, without)).await;
        drop(door);
        return finalized.map(|_| ());
    }
    drop(door);
    let conditions = conditions(&snapshot, &left);
    let call = system::call_through(&namespaces, "", name, "status");
    let told = system::modify(server, &call, |object| {
        let mut list = path::list_at(object, &["status", "conditions"]).to_vec();
        conditions.iter().for_each(|c| {
            condition::set(&mut list, c.clone());
        });
        path::set(object, &["status", "conditions"], Value::Array(list));
    });
    Box::pin(told).await?;
    swept
}

/// What a namespace tells while something remains in it.
fn conditions(snapshot: &Snapshot, left: &[Doomed]) -> Vec<Condition> {
    let mut resources: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<String, usize> = BTreeMap::new();
    for object in left {
        let kind = &object.resource;
        let group = if kind.group.is_empty() { String::new() } else { kind.group.clone() };
        *resources.entry(format!("{}.{group}", kind.resource)).or_default() += 1;
        if let Some(entry) = snapshot.get(&kind.key(&object.namespace, &object.name)) {
            for finalizer in entry.json_uncached().finalizers() {
                *finalizers.entry(finalizer.to_owned()).or_default() += 1;
            }
        }
    }
    let listed = |map: &BTreeMap<String, usize>, verb: &str| {
        let parts: Vec<String> =
            map.iter().map(|(name, n)| format!("{name} {verb} {n} resource instances")).collect();
        parts.join(", ")
    };
    let mut conditions = vec![
        Condition::new(
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        Condition::new(
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        Condition::new(
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        Condition::new(
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            format!("Some resources are remaining: {}", listed(&resources, "has")),
        ),
    ];
    let (status, reason, message) = if finalizers.is_empty() {
        ("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished".to_owned())
    } else {
        let text =
            format!("Some content in the namespace has finalizers remaining: {}", listed(&finalizers, "in"));
        ("True", "SomeFinalizersRemain", text)
    };
    conditions.push(Condition::new("NamespaceFinalizersRemaining", status, reason, message));
    conditions
}

/// A CRD on its way out.
pub(crate) async fn definition(server: &Server, name: &str) -> Result<(), ApiError> {
    let definitions = system::builtin(server, "apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
    let snapshot = server.store().snapshot();
    let Some(entry) = snapshot.get(&definitions.key("", name)) else { return Ok(()) };
    let object = entry.json_uncached();
    if !object.is_deleting() || !object.finalizers().contains(&crd::FINALIZER) {
        return Ok(());
    }
    let prefix = crd::objects_of(&object);
    let stored = server.registry().snapshot().stored();
    if let Some(resource) = stored.iter().find(|resource| !resource.builtin && resource.prefix == prefix) {
        sweep(server, doomed(&snapshot, resource, &prefix)).await?;
        let _door = server.gates().definitions.close(&prefix).await;
        if server.store().snapshot().range(&prefix, None).next().is_some() {
            // The rest has finalizers; this runs again when one of them goes.
            return Ok(());
        }
        return release(server, &definitions, name).await;
    }
    release(server, &definitions, name).await
}

async fn release(server: &Server, definitions: &Arc<Resource>, name: &str) -> Result<(), ApiError> {
    let call = system::call(definitions, "", name);
    let without = |object: &mut Value| {
        object.remove_finalizer(crd::FINALIZER);
    };
    Box::pin(system::modify(server, &call, without)).await.map(|_| ())
}

/// A CRD whose names may be free now: written again as it is, it gets its conditions anew.
pub(crate) async fn accept(server: &Server, name: &str) -> Result<(), ApiError> {
    let definitions = system::builtin(server, "apiextensions.k8s.io", "v1", "customresourcedefinitions")?;
    let call = system::call(&definitions, "", name);
    Box::pin(system::modify(server, &call, |_| {})).await.map(|_| ())
}
