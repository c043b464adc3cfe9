//! The built-in kinds: their types as one [`Arena`], and how each is served. The data
//! (`data/*.txt`) is generated and checked in; it is read on first use, in about a millisecond.

mod kinds;
mod read;

use crate::arena::{Arena, NodeId, View};
use std::collections::HashMap;
use std::sync::OnceLock;
use windlass_object::{Gvk, Gvr};

pub use kinds::{BuiltinKind, Subresource};

/// Every definition by name, beside the few facts that [`Arena`] has no place for.
#[derive(Debug, Default)]
pub struct BuiltinTable {
    arena: Arena,
    kinds: Vec<BuiltinKind>,
    by_gvk: HashMap<Gvk, usize>,
    by_gvr: HashMap<Gvr, usize>,
    types: HashMap<Gvk, NodeId>,
    kinds_of: HashMap<NodeId, Gvk>,
    protobuf: HashMap<NodeId, Message>,
    leaves: HashMap<NodeId, Leaf>,
}

/// A struct as protobuf numbers its fields.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// Sorted by number.
    pub(crate) fields: Vec<(u32, Slot)>,
}

/// What stands behind a field number.
#[derive(Debug)]
pub(crate) enum Slot {
    /// A field with a JSON name.
    Named(Box<str>, NodeId),
    /// A struct whose fields JSON shows one level up.
    Inline(NodeId),
}

/// Types with a form of their own in JSON and in protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// A resource quantity.
    Quantity,
    /// A number or text.
    IntOrString,
    /// A time of whole seconds.
    Time,
    /// A time with microseconds.
    MicroTime,
    /// Text such as `1h30m`.
    Duration,
    /// Bytes, base64 in JSON.
    Bytes,
    /// Any JSON, carried as bytes (`FieldsV1`, `RawExtension`, `JSON`).
    Raw,
    /// A JSON schema or a boolean.
    SchemaOrBool,
    /// A JSON schema or a list of them.
    SchemaOrArray,
    /// A JSON schema or a list of text.
    SchemaOrStrings,
    /// A list of text that is a message of its own in protobuf.
    WrappedList,
}

/// The table, read on first use.
pub fn table() -> &'static BuiltinTable {
    static TABLE: OnceLock<BuiltinTable> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = read::types(include_str!("../../data/builtin.txt"));
        table.serve(kinds::parse(include_str!("../../data/kinds.txt")));
        table
    })
}

impl BuiltinTable {
    /// All definitions.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The kinds that are served, in the order of discovery.
    pub fn kinds(&self) -> &[BuiltinKind] {
        &self.kinds
    }

    /// How a kind is served.
    pub fn kind(&self, gvk: &Gvk) -> Option<&BuiltinKind> {
        self.kinds.get(*self.by_gvk.get(gvk)?)
    }

    /// How a resource is served.
    pub fn resource(&self, gvr: &Gvr) -> Option<&BuiltinKind> {
        self.kinds.get(*self.by_gvr.get(gvr)?)
    }

    /// The schema of a kind, also of those that are never served by themselves:
    /// lists, `autoscaling/v1 Scale`, `policy/v1 Eviction`, `v1 DeleteOptions` of any group.
    pub fn schema(&self, gvk: &Gvk) -> Option<View<'_>> {
        if let Some(id) = self.types.get(gvk) {
            return Some(self.arena.view(*id));
        }
        // Options and Status live in one package and are registered in every group.
        self.arena.named(&format!("{META}{}", gvk.kind))
    }

    /// The schema by its definition's name (`io.k8s.api.core.v1.Pod`).
    pub fn named(&self, name: &str) -> Option<View<'_>> {
        self.arena.named(name)
    }

    /// The group-versions that are served, in the order of discovery.
    pub fn group_versions(&self) -> Vec<(&str, &str)> {
        let mut found: Vec<(&str, &str)> = Vec::new();
        for kind in &self.kinds {
            let pair = (kind.group.as_str(), kind.version.as_str());
            if !found.contains(&pair) {
                found.push(pair);
            }
        }
        found
    }

    /// The kind as which a definition is registered.
    pub fn registered(&self, view: View<'_>) -> Option<&Gvk> {
        self.kinds_of.get(&view.id)
    }

    /// What a node is, if it has a form of its own.
    pub fn leaf(&self, view: View<'_>) -> Option<Leaf> {
        self.leaves.get(&view.id).copied()
    }

    pub(crate) fn message(&self, id: NodeId) -> Option<&Message> {
        self.protobuf.get(&id)
    }

    fn serve(&mut self, mut kinds: Vec<BuiltinKind>) {
        kinds.retain_mut(|kind| {
            let Some(id) = self.types.get(&kind.gvk()) else { return false };
            kind.definition = *id;
            true
        });
        for (index, kind) in kinds.iter().enumerate() {
            self.by_gvk.insert(kind.gvk(), index);
            self.by_gvr.insert(kind.gvr(), index);
        }
        self.kinds = kinds;
    }
}

/// Where the definitions that all groups share are kept.
pub const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{Absent, Kind, ListType};

    #[test]
    fn every_served_kind_has_a_definition() {
        let expected = include_str!("../../data/kinds.txt").lines().filter(|l| !l.starts_with('#')).count();
        assert_eq!(table().kinds().len(), expected);
        for kind in table().kinds() {
            let view = table().schema(&kind.gvk()).unwrap();
            assert!(view.field("metadata").is_some(), "{} has no metadata", kind.gvk());
            for sub in &kind.subresources {
                let gvk = Gvk::new(&sub.group, &sub.version, &sub.kind);
                assert!(table().schema(&gvk).is_some(), "{}/{}: no {gvk}", kind.resource, sub.name);
            }
            let storage = Gvk::new(&kind.storage_group, &kind.storage_version, &kind.kind);
            assert!(table().kind(&storage).is_some(), "{} is stored as an unknown kind", kind.gvk());
        }
    }

    #[test]
    fn a_container_is_as_upstream_has_it() {
        let container = table().named("io.k8s.api.core.v1.Container").unwrap();
        let (ports, view) = container.field("ports").unwrap();
        assert_eq!(view.node().list_type, ListType::Map(vec!["containerPort".into(), "protocol".into()]));
        assert_eq!(
            (ports.merge_key.as_deref(), ports.patch.merge, ports.tag),
            (Some("containerPort"), true, 6)
        );
        let (resources, _) = container.field("resources").unwrap();
        assert_eq!((resources.absent, resources.omit_empty), (Absent::Zero, false));
        let (name, view) = container.field("name").unwrap();
        assert!(name.required && view.node().kind == Kind::String);
        let (protocol, _) = view.at(ports.node).items().unwrap().field("protocol").unwrap();
        assert_eq!(protocol.default, Some("TCP".into()));
        let limits =
            table().named("io.k8s.api.core.v1.ResourceRequirements").unwrap().child("limits").unwrap();
        assert_eq!(limits.child("cpu").unwrap().node().kind, Kind::Quantity);
    }

    #[test]
    fn inlined_structs_are_flat_in_json_and_nested_in_protobuf() {
        let volume = table().named("io.k8s.api.core.v1.Volume").unwrap();
        assert!(volume.field("configMap").is_some_and(|(f, _)| f.tag == 0));
        assert!(matches!(table().message(volume.id).unwrap().fields[1], (2, Slot::Inline(_))));
        let source = table().named("io.k8s.api.core.v1.ConfigMapVolumeSource").unwrap();
        assert!(source.field("name").is_some() && source.field("items").is_some());
    }
}
