//! The schema of `metadata`, which every kind has whether its schema says so or not.

use crate::arena::{Arena, Field, Kind, ListType, Node, NodeId, View};
use std::sync::LazyLock;

static META: LazyLock<(Arena, NodeId)> = LazyLock::new(build);

/// ObjectMeta: labels and annotations by key, owners by uid, finalizers as a set.
pub(super) fn view() -> View<'static> {
    META.0.view(META.1)
}

/// Metadata that nobody owns.
pub(super) fn unowned(key: &str) -> bool {
    matches!(
        key,
        "name"
            | "namespace"
            | "creationTimestamp"
            | "selfLink"
            | "uid"
            | "clusterName"
            | "generation"
            | "managedFields"
            | "resourceVersion"
    )
}

fn build() -> (Arena, NodeId) {
    let mut arena = Arena::default();
    let text = arena.add(Node { kind: Kind::String, ..Node::default() });
    let flag = arena.add(Node { kind: Kind::Boolean, ..Node::default() });
    let number = arena.add(Node { kind: Kind::Integer, ..Node::default() });
    let texts = arena.add(Node { kind: Kind::Object, values: Some(text), ..Node::default() });
    let finalizers =
        arena.add(Node { kind: Kind::Array, items: Some(text), list_type: ListType::Set, ..Node::default() });
    let owner = arena.add(object(
        &[
            ("apiVersion", text),
            ("blockOwnerDeletion", flag),
            ("controller", flag),
            ("kind", text),
            ("name", text),
            ("uid", text),
        ],
        true,
    ));
    let owners = arena.add(Node {
        kind: Kind::Array,
        items: Some(owner),
        list_type: ListType::Map(vec!["uid".to_owned()]),
        ..Node::default()
    });
    let anything = arena.add(Node { kind: Kind::Any, preserve_unknown: true, ..Node::default() });
    let entries = arena.add(Node { kind: Kind::Array, items: Some(anything), ..Node::default() });
    let meta = arena.add(object(
        &[
            ("annotations", texts),
            ("clusterName", text),
            ("creationTimestamp", text),
            ("deletionGracePeriodSeconds", number),
            ("deletionTimestamp", text),
            ("finalizers", finalizers),
            ("generateName", text),
            ("generation", number),
            ("labels", texts),
            ("managedFields", entries),
            ("name", text),
            ("namespace", text),
            ("ownerReferences", owners),
            ("resourceVersion", text),
            ("selfLink", text),
            ("uid", text),
        ],
        false,
    ));
    (arena, meta)
}

fn object(fields: &[(&str, NodeId)], atomic: bool) -> Node {
    let fields = fields
        .iter()
        .map(|(name, node)| ((*name).to_owned(), Field { node: *node, omit_empty: true, ..Field::default() }))
        .collect();
    Node { kind: Kind::Object, fields, atomic, ..Node::default() }
}
