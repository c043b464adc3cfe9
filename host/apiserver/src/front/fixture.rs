//! A small registry for tests of documents.

use std::sync::Arc;

use crate::registry::{ArenaRef, Columns, Registry, Resource, Schema, Subresource};
use crate::strategy::Facts;
use windlass_schema::arena::{Arena, Node};

fn text(list: &[&str]) -> Vec<String> {
    list.iter().map(|one| (*one).to_owned()).collect()
}

/// A resource as a CRD would give it.
pub(crate) fn resource(group: &str, version: &str, plural: &str, kind: &str, builtin: bool) -> Resource {
    let mut arena = Arena::default();
    let root = arena.add(Node::default());
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Resource {
        group: group.into(),
        version: version.into(),
        resource: plural.into(),
        kind: kind.into(),
        list_kind: format!("{kind}List"),
        singular: kind.to_lowercase(),
        short_names: text(&["x"]),
        categories: text(&["all"]),
        namespaced: true,
        verbs: text(&["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]),
        subresources: vec![
            Subresource {
                name: "scale".into(),
                group: "autoscaling".into(),
                version: "v1".into(),
                kind: "Scale".into(),
                verbs: text(&["get", "patch", "update"]),
            },
            Subresource {
                name: "status".into(),
                group: String::new(),
                version: String::new(),
                kind: String::new(),
                verbs: text(&["get", "patch", "update"]),
            },
        ],
        schema: Schema { arena: ArenaRef::Shared(Arc::new(arena)), root },
        builtin,
        prefix: format!("/{group}/{plural}/"),
        storage_api_version: api_version.clone(),
        api_version,
        columns: Columns::BuiltIn,
        scale: None,
        selectable: Vec::new(),
        deprecation: None,
        crd_uid: String::new(),
        storage_hash: "abc=".into(),
        read_through: false,
        terminating: false,
        incarnation: String::new(),
        facts: Facts::default(),
    }
}

/// Pods, deployments and one custom resource in two versions.
pub(crate) fn registry() -> Registry {
    Registry::new([
        resource("", "v1", "pods", "Pod", true),
        resource("apps", "v1", "deployments", "Deployment", true),
        resource("example.io", "v1beta1", "things", "Thing", false),
        resource("example.io", "v1", "things", "Thing", false),
    ])
}
