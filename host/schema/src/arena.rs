//! The one form in which every schema is kept: built-in kinds (generated table) and
//! CRD versions alike. Nodes live in an arena and refer to each other by number, so
//! that recursive types cost nothing and a cursor ([`View`]) is two words.
//!
//! Defaulting, validation, pruning, strategic merge, apply, OpenAPI and protobuf
//! decoding all walk [`View`]s; none of them knows where the schema came from.

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A node of an [`Arena`].
pub type NodeId = u32;

/// What a node holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Kind {
    /// Anything: no constraint on the value.
    #[default]
    Any,
    /// A struct (`fields`), a map (`values`), or both absent: free-form.
    Object,
    /// A list of `items`.
    Array,
    /// Text. Formats: `byte`, `date-time`, `micro-time`, and what CRDs name.
    String,
    /// 32 or 64 bit, as `format` says.
    Integer,
    /// A float.
    Number,
    /// true or false.
    Boolean,
    /// `x-kubernetes-int-or-string`.
    IntOrString,
    /// A resource quantity: text or number, compared by value.
    Quantity,
}

/// How apply and strategic merge treat a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ListType {
    /// Replaced as a whole.
    #[default]
    Atomic,
    /// Scalars, each an element of its own.
    Set,
    /// Objects found by these keys.
    Map(Vec<String>),
}

/// What a strategic merge patch does with a field (the `patchStrategy` tag).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    /// Lists are merged, not replaced.
    pub merge: bool,
    /// Fields absent from the patch are cleared (`retainKeys`).
    pub retain_keys: bool,
}

/// What Go writes for a field that has no value. Built-in kinds only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// Nothing.
    #[default]
    Leave,
    /// `null`: pointers, lists and maps without `omitempty`.
    Null,
    /// The zero value of its type: `""`, `0`, `false`, a struct's own zero values.
    Zero,
}

/// A struct's field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// The schema of its value.
    pub node: NodeId,
    /// Must be present.
    pub required: bool,
    /// Go's `omitempty`: an empty value is left out of the canonical form. Built-in kinds only.
    pub omit_empty: bool,
    /// What the canonical form holds where the field has no value. Built-in kinds only.
    pub absent: Absent,
    /// Applied when the field is absent.
    pub default: Option<Value>,
    /// How strategic merge treats it.
    pub patch: PatchStrategy,
    /// The key by which strategic merge finds list elements.
    pub merge_key: Option<String>,
    /// The field's number in protobuf; 0 if it has none.
    pub tag: u32,
    /// For people, shown by `kubectl explain`.
    pub description: Option<Arc<str>>,
}

/// One schema node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// What it holds.
    pub kind: Kind,
    /// The definition's name, if it is one (`io.k8s.api.apps.v1.Deployment`).
    pub name: Option<Arc<str>>,
    /// Struct fields by JSON name.
    pub fields: BTreeMap<String, Field>,
    /// Schema of a map's values.
    pub values: Option<NodeId>,
    /// Schema of list elements.
    pub items: Option<NodeId>,
    /// Lists only.
    pub list_type: ListType,
    /// `x-kubernetes-map-type: atomic`: the object is replaced as a whole.
    pub atomic: bool,
    /// `null` is a value of its own (CRDs).
    pub nullable: bool,
    /// Unknown fields are kept (CRDs).
    pub preserve_unknown: bool,
    /// Carries apiVersion, kind and metadata of its own (CRDs).
    pub embedded: bool,
    /// The default of this node where it is not a field (list items, map values, the root).
    pub default: Option<Value>,
    /// Bounds, patterns, enums and formats.
    pub rules: Option<Box<Rules>>,
    /// For people.
    pub description: Option<Arc<str>>,
}

/// Value validations of OpenAPI v3, as structural schemas allow them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// `int32`, `int64`, `date-time`, `byte`, …
    pub format: Option<String>,
    /// Allowed values.
    pub enumeration: Vec<Value>,
    /// A regular expression for strings.
    pub pattern: Option<String>,
    /// Bounds of numbers; the flags say whether the bound itself is excluded.
    pub minimum: Option<f64>,
    /// See `minimum`.
    pub maximum: Option<f64>,
    /// `minimum` itself is refused.
    pub exclusive_minimum: bool,
    /// `maximum` itself is refused.
    pub exclusive_maximum: bool,
    /// Numbers must be a multiple of this.
    pub multiple_of: Option<f64>,
    /// Bounds of text lengths, in characters.
    pub min_length: Option<u64>,
    /// See `min_length`.
    pub max_length: Option<u64>,
    /// Bounds of list lengths.
    pub min_items: Option<u64>,
    /// See `min_items`.
    pub max_items: Option<u64>,
    /// Elements must differ.
    pub unique_items: bool,
    /// Bounds of the number of map entries.
    pub min_properties: Option<u64>,
    /// See `min_properties`.
    pub max_properties: Option<u64>,
    /// `allOf`, `anyOf`, `oneOf`, `not`: value validations only, as JSON.
    pub combinators: Option<Value>,
    /// `x-kubernetes-validations`, kept for documents and for the CEL issue.
    pub cel: Option<Value>,
}

/// A set of nodes that refer to each other.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    nodes: Vec<Node>,
    by_name: BTreeMap<Arc<str>, NodeId>,
}

impl Arena {
    /// Adds a node and gives its number; a named node is found again by [`Arena::named`].
    pub fn add(&mut self, node: Node) -> NodeId {
        let id = self.nodes.len() as NodeId;
        if let Some(name) = &node.name {
            self.by_name.insert(name.clone(), id);
        }
        self.nodes.push(node);
        id
    }

    /// Replaces a node made earlier, so that recursive types can be closed.
    pub fn set(&mut self, id: NodeId, node: Node) {
        if let Some(name) = &node.name {
            self.by_name.insert(name.clone(), id);
        }
        if let Some(slot) = self.nodes.get_mut(id as usize) {
            *slot = node;
        }
    }

    /// A cursor on the definition of this name.
    pub fn named(&self, name: &str) -> Option<View<'_>> {
        self.by_name.get(name).map(|id| self.view(*id))
    }

    /// A cursor on a node. A number from another arena gives an `Any` node.
    pub fn view(&self, id: NodeId) -> View<'_> {
        View { arena: self, id }
    }

    /// All named definitions.
    pub fn definitions(&self) -> impl Iterator<Item = (&Arc<str>, View<'_>)> {
        self.by_name.iter().map(|(name, id)| (name, self.view(*id)))
    }
}

static ANY: Node = Node {
    kind: Kind::Any,
    name: None,
    fields: BTreeMap::new(),
    values: None,
    items: None,
    list_type: ListType::Atomic,
    atomic: false,
    nullable: false,
    preserve_unknown: true,
    embedded: false,
    default: None,
    rules: None,
    description: None,
};

/// A cursor on one node of an arena.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    arena: &'a Arena,
    /// The node's number.
    pub id: NodeId,
}

impl<'a> View<'a> {
    /// The node itself.
    pub fn node(self) -> &'a Node {
        self.arena.nodes.get(self.id as usize).unwrap_or(&ANY)
    }

    /// A cursor on another node of the same arena.
    pub fn at(self, id: NodeId) -> View<'a> {
        View { arena: self.arena, id }
    }

    /// A struct's field and its schema.
    pub fn field(self, name: &str) -> Option<(&'a Field, View<'a>)> {
        let field = self.node().fields.get(name)?;
        Some((field, self.at(field.node)))
    }

    /// Schema of the value under a key: the field's, else the map's values.
    pub fn child(self, key: &str) -> Option<View<'a>> {
        match self.field(key) {
            Some((_, view)) => Some(view),
            None => self.node().values.map(|id| self.at(id)),
        }
    }

    /// Schema of list elements.
    pub fn items(self) -> Option<View<'a>> {
        self.node().items.map(|id| self.at(id))
    }
}
