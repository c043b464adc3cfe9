//! The built-in kinds as served resources, from the generated table.

use crate::registry::{ArenaRef, Columns, Resource, ScalePaths, Schema, Subresource};
use crate::strategy::{self, Facts};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use std::sync::{Arc, OnceLock};
use windlass_object::gvk::join_api_version;
use windlass_schema::builtin::{BuiltinKind, table};

/// All built-in resources; shared by all servers of the process.
pub fn resources() -> &'static [Arc<Resource>] {
    static RESOURCES: OnceLock<Vec<Arc<Resource>>> = OnceLock::new();
    RESOURCES.get_or_init(|| table().kinds().iter().map(|kind| Arc::new(resource(kind))).collect())
}

/// The prefix of a resource's keys in the store.
pub fn prefix(group: &str, resource: &str) -> String {
    let group = if group.is_empty() { "core" } else { group };
    format!("/{group}/{resource}/")
}

/// A short name of what is stored, for discovery's `storageVersionHash`.
pub fn storage_hash(group: &str, version: &str, kind: &str) -> String {
    let digest = Sha256::digest(format!("{group}/{version}/{kind}"));
    STANDARD.encode(digest.get(..8).unwrap_or_default())
}

fn resource(kind: &BuiltinKind) -> Resource {
    let api_version = kind.api_version();
    let storage_api_version = join_api_version(&kind.storage_group, &kind.storage_version);
    let stored = kind.allows("list") && kind.allows("create");
    Resource {
        group: kind.group.clone(),
        version: kind.version.clone(),
        resource: kind.resource.clone(),
        kind: kind.kind.clone(),
        list_kind: format!("{}List", kind.kind),
        singular: kind.singular.clone(),
        short_names: kind.short_names.clone(),
        categories: kind.categories.clone(),
        namespaced: kind.namespaced,
        verbs: kind.verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        subresources: kind
            .subresources
            .iter()
            .map(|sub| Subresource {
                name: sub.name.clone(),
                group: sub.group.clone(),
                version: sub.version.clone(),
                kind: sub.kind.clone(),
                verbs: sub.verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            })
            .collect(),
        schema: Schema { arena: ArenaRef::Static(table().arena()), root: kind.definition },
        builtin: true,
        prefix: prefix(&kind.storage_group, &kind.resource),
        read_through: api_version != storage_api_version,
        storage_api_version,
        api_version,
        columns: Columns::BuiltIn,
        scale: kind.subresource("scale").map(|_| scale_paths(&kind.kind)),
        selectable: strategy::selectable(&kind.group, &kind.kind),
        deprecation: deprecation(&kind.group, &kind.version, &kind.kind),
        crd_uid: String::new(),
        storage_hash: if stored {
            storage_hash(&kind.storage_group, &kind.storage_version, &kind.kind)
        } else {
            String::new()
        },
        terminating: false,
        incarnation: String::new(),
        facts: Facts::builtin(&kind.kind),
    }
}

fn scale_paths(kind: &str) -> ScalePaths {
    let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
    // Selectors of built-in kinds are objects in spec; only a replication controller's is a plain map.
    let selector =
        if kind == "ReplicationController" { "spec.selector" } else { "spec.selector.matchLabels" };
    ScalePaths {
        spec_replicas: path("spec.replicas"),
        status_replicas: path("status.replicas"),
        selector: Some(path(selector)),
    }
}

fn deprecation(group: &str, version: &str, kind: &str) -> Option<String> {
    match (group, version, kind) {
        ("", "v1", "Endpoints") => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".into())
        }
        ("", "v1", "ComponentStatus") => Some("v1 ComponentStatus is deprecated in v1.19+".into()),
        _ => None,
    }
}
