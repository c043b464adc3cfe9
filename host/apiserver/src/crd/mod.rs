//! CustomResourceDefinitions: objects like others, and what they make of the table of
//! served kinds. The table changes before the writer of a CRD is answered.

mod check;
mod names;
mod serve;

pub(crate) use check::check;
pub(crate) use names::{mark_terminating, prepare};

use crate::registry::Resource;
use crate::server::Server;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use windlass_object::meta::Meta as _;
use windlass_object::{condition, path};

/// Where CRDs are kept.
pub(crate) const PREFIX: &str = "/apiextensions.k8s.io/customresourcedefinitions/";
/// Keeps a CRD until its objects are gone.
pub(crate) const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What is served of each CRD, to see what changed; also the lock that orders changes of the table.
#[derive(Debug, Default)]
pub(crate) struct Sync(Mutex<BTreeMap<String, Served>>);

#[derive(Clone, Debug, PartialEq)]
struct Served {
    incarnation: String,
    terminating: bool,
    prefix: String,
}

/// Whether a resource is that of CRDs.
pub(crate) fn is_crd(resource: &Resource) -> bool {
    resource.builtin && resource.kind == "CustomResourceDefinition"
}

/// Serves all CRDs that the store holds.
pub(crate) fn load(server: &Server) {
    let snapshot = server.store().snapshot();
    let mut served = server.crds().0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = Vec::new();
    for (key, entry) in snapshot.range(PREFIX, None) {
        let crd = entry.json_uncached();
        let Some((facts, resources)) = resources(&crd) else { continue };
        served.insert(key.strip_prefix(PREFIX).unwrap_or_default().to_owned(), facts);
        all.extend(resources);
    }
    if !all.is_empty() {
        server.registry().replace(|_| false, all);
    }
}

/// Brings the table in line with what the store holds of one CRD.
pub(crate) fn sync(server: &Server, name: &str) {
    let mut served = server.crds().0.lock().unwrap_or_else(PoisonError::into_inner);
    let snapshot = server.store().snapshot();
    let crd = snapshot.get(&format!("{PREFIX}{name}")).map(|entry| entry.json_uncached());
    let before = served.get(name).cloned();
    let now = crd.as_deref().and_then(resources);
    if before.as_ref() == now.as_ref().map(|(facts, _)| facts) {
        return;
    }
    let old_prefix = before.map(|facts| facts.prefix);
    let (facts, resources) = now.map_or((None, Vec::new()), |(facts, resources)| (Some(facts), resources));
    let replaced = |resource: &Resource| {
        !resource.builtin
            && (Some(&resource.prefix) == old_prefix.as_ref()
                || facts.as_ref().is_some_and(|facts| facts.prefix == resource.prefix))
    };
    server.registry().replace(replaced, resources);
    match facts {
        Some(facts) => served.insert(name.to_owned(), facts),
        None => served.remove(name),
    };
}

/// What a CRD serves; nothing before it is established.
fn resources(crd: &Value) -> Option<(Served, Vec<Arc<Resource>>)> {
    let conditions = path::list_at(crd, &["status", "conditions"]);
    if !condition::is_true(conditions, "Established") {
        return None;
    }
    let resources: Vec<Arc<Resource>> = serve::resources(crd).into_iter().map(Arc::new).collect();
    let first = resources.first()?;
    let facts = Served {
        incarnation: first.incarnation.clone(),
        terminating: crd.is_deleting(),
        prefix: first.prefix.clone(),
    };
    Some((facts, resources))
}

/// Whether a CRD was refused its names.
pub(crate) fn waits_for_names(crd: &Value) -> bool {
    condition::status(path::list_at(crd, &["status", "conditions"]), "NamesAccepted") == Some("False")
}

/// The prefix under which a CRD's objects are kept.
pub(crate) fn objects_of(crd: &Value) -> String {
    crate::builtin::prefix(
        path::str_at(crd, &["spec", "group"]),
        path::str_at(crd, &["status", "acceptedNames", "plural"]),
    )
}
