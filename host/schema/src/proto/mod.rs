//! Protobuf request bodies of built-in kinds, as kubectl and client-go send them, to JSON: an envelope
//! (`k8s\0` and `runtime.Unknown`) around one message, which a single walker reads by the table of types.

mod leaf;
mod wire;

use crate::arena::{Kind, NodeId, View};
use crate::builtin::{BuiltinTable, Leaf, Slot, table};
use serde_json::{Map, Value};
use windlass_object::Gvk;

use wire::{Fields, Wire};

/// What every such body begins with.
pub const MAGIC: &[u8] = b"k8s\0";

/// Larger bodies are refused: above the 3 MiB that kube-apiserver accepts of a request.
pub const MAX_BYTES: usize = 4 << 20;

/// Messages may be nested this deep. A CRD's schema uses three levels for each of its own; the deepest
/// structural schemas in use stay below 30. Protects the stack.
pub const MAX_DEPTH: usize = 128;

/// Fields and list elements one body may hold in all: two bytes can name an empty element that costs 100 times
/// that as JSON. Three quarters of a million is far above what 3 MiB of real objects hold.
pub const MAX_ELEMENTS: usize = 750_000;

/// Why a body can't be read.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ProtoError {
    /// It doesn't begin with the magic bytes.
    #[error("the body is not in Kubernetes' protobuf form: it doesn't begin with k8s\\0")]
    NoMagic,
    /// It is larger than [`MAX_BYTES`].
    #[error("the body has {0} bytes, more than {MAX_BYTES}")]
    TooLarge(usize),
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("the body nests messages deeper than {MAX_DEPTH}")]
    TooDeep,
    /// More than [`MAX_ELEMENTS`] fields.
    #[error("the body holds more than {MAX_ELEMENTS} fields")]
    TooMany,
    /// It ends within a field.
    #[error("the body ends within a field")]
    Truncated,
    /// A field has another wire type than its type asks for, or none that exists.
    #[error("malformed protobuf at field {0:?}")]
    Malformed(String),
    /// The kind is not built in.
    #[error("no protobuf form is known for {0}: send JSON")]
    UnknownKind(Gvk),
    /// An encoding other than the plain one.
    #[error("content encoding {0:?} is not supported")]
    Encoding(String),
    /// Embedded JSON that can't be read.
    #[error("field {field:?} holds malformed JSON: {reason}")]
    Json {
        /// The field.
        field: String,
        /// What the parser said.
        reason: String,
    },
}

/// Reads a body to its kind and its JSON form, `apiVersion` and `kind` included. What protobuf can't tell from absent
/// is as the sender wrote it (`""`, `0`): canonicalise afterwards.
pub fn decode(bytes: &[u8]) -> Result<(Gvk, Value), ProtoError> {
    Walker { table: table(), left: MAX_ELEMENTS }.envelope(bytes, 0)
}

/// Whether a body is in this form.
pub fn is_protobuf(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// One reading of one body.
struct Walker {
    table: &'static BuiltinTable,
    /// How many more fields are allowed.
    left: usize,
}

impl Walker {
    fn envelope(&mut self, bytes: &[u8], depth: usize) -> Result<(Gvk, Value), ProtoError> {
        if bytes.len() > MAX_BYTES {
            return Err(ProtoError::TooLarge(bytes.len()));
        }
        let bytes = bytes.strip_prefix(MAGIC).ok_or(ProtoError::NoMagic)?;
        let (mut api_version, mut kind, mut raw, mut content_type) =
            (String::new(), String::new(), &[][..], String::new());
        for field in Fields::new(bytes) {
            match field? {
                (1, Wire::Bytes(type_meta)) => {
                    for field in Fields::new(type_meta) {
                        match field? {
                            (1, wire) => api_version = leaf::text(wire, "apiVersion")?,
                            (2, wire) => kind = leaf::text(wire, "kind")?,
                            _ => {}
                        }
                    }
                }
                (2, Wire::Bytes(bytes)) => raw = bytes,
                (3, wire) => {
                    let encoding = leaf::text(wire, "contentEncoding")?;
                    if !encoding.is_empty() {
                        return Err(ProtoError::Encoding(encoding));
                    }
                }
                (4, wire) => content_type = leaf::text(wire, "contentType")?,
                _ => {}
            }
        }
        let gvk = Gvk::from_api_version(&api_version, &kind);
        let mut value = if content_type.ends_with("json") {
            leaf::json(raw, "raw")?
        } else {
            let view = self.table.schema(&gvk).ok_or_else(|| ProtoError::UnknownKind(gvk.clone()))?;
            let mut map = Map::new();
            self.message(view, raw, &mut map, depth)?;
            Value::Object(map)
        };
        if let Some(map) = value.as_object_mut() {
            map.insert("apiVersion".into(), api_version.into());
            map.insert("kind".into(), kind.into());
        }
        Ok((gvk, value))
    }

    /// Reads a message's fields into a map.
    fn message(
        &mut self,
        view: View<'_>,
        bytes: &[u8],
        map: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), ProtoError> {
        if depth >= MAX_DEPTH {
            return Err(ProtoError::TooDeep);
        }
        let table = self.table;
        let Some(message) = table.message(view.id) else { return Ok(()) };
        for field in Fields::new(bytes) {
            let (number, wire) = field?;
            self.count()?;
            // Numbers of newer releases are skipped, as Go does.
            let Ok(index) = message.fields.binary_search_by_key(&number, |(n, _)| *n) else { continue };
            match message.fields.get(index) {
                Some((_, Slot::Inline(id))) => self.message(view.at(*id), wire.bytes("")?, map, depth + 1)?,
                Some((_, Slot::Named(name, id))) => self.field(view.at(*id), name, wire, map, depth)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Reads one occurrence of a field: lists and maps grow, structs are merged, the last scalar wins.
    fn field(
        &mut self,
        view: View<'_>,
        name: &str,
        wire: Wire<'_>,
        map: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), ProtoError> {
        let node = view.node();
        if self.table.leaf(view).is_none() {
            match node.kind {
                Kind::Array => {
                    let Some(items) = view.items() else { return Ok(()) };
                    let list = map.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                    let Value::Array(list) = list else { return Ok(()) };
                    return self.elements(items, name, wire, list, depth);
                }
                Kind::Object if node.values.is_some() => {
                    let entries = map.entry(name).or_insert_with(|| Value::Object(Map::new()));
                    let (Value::Object(entries), Some(values)) = (entries, node.values) else {
                        return Ok(());
                    };
                    return self.entry(view.at(values), name, wire, entries, depth);
                }
                Kind::Object => {
                    let inner = map.entry(name).or_insert_with(|| Value::Object(Map::new()));
                    let Value::Object(inner) = inner else { return Ok(()) };
                    return self.message(view, wire.bytes(name)?, inner, depth + 1);
                }
                _ => {}
            }
        }
        let value = self.value(view, name, wire, depth)?;
        map.insert(name.to_owned(), value);
        Ok(())
    }

    fn elements(
        &mut self,
        items: View<'_>,
        name: &str,
        wire: Wire<'_>,
        list: &mut Vec<Value>,
        depth: usize,
    ) -> Result<(), ProtoError> {
        if let (Kind::Integer | Kind::Boolean, Wire::Bytes(packed)) = (&items.node().kind, wire) {
            let mut rest = packed;
            while !rest.is_empty() {
                self.count()?;
                let number = wire::varint(&mut rest)?;
                list.push(leaf::scalar(items, Wire::Varint(number), name)?);
            }
            return Ok(());
        }
        let value = self.value(items, name, wire, depth)?;
        list.push(value);
        Ok(())
    }

    /// A map's entry is a message of key and value; either may be left out when it is zero.
    fn entry(
        &mut self,
        values: View<'_>,
        name: &str,
        wire: Wire<'_>,
        entries: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), ProtoError> {
        let (mut key, mut value) = (String::new(), None);
        for field in Fields::new(wire.bytes(name)?) {
            self.count()?;
            match field? {
                (1, wire) => key = leaf::text(wire, name)?,
                (2, wire) => value = Some(self.value(values, name, wire, depth)?),
                _ => {}
            }
        }
        let value = match value {
            Some(value) => value,
            None => crate::canonical::zero(values),
        };
        entries.insert(key, value);
        Ok(())
    }

    fn value(
        &mut self,
        view: View<'_>,
        name: &str,
        wire: Wire<'_>,
        depth: usize,
    ) -> Result<Value, ProtoError> {
        match self.table.leaf(view) {
            Some(Leaf::WrappedList) => {
                let mut list = Vec::new();
                for field in Fields::new(wire.bytes(name)?) {
                    self.count()?;
                    if let (1, wire) = field? {
                        list.push(Value::String(leaf::text(wire, name)?));
                    }
                }
                Ok(Value::Array(list))
            }
            Some(Leaf::Raw) => {
                let raw = leaf::raw(wire.bytes(name)?, name)?;
                match raw {
                    // A RawExtension may carry the same envelope once more.
                    [] => Ok(Value::Null),
                    bytes if is_protobuf(bytes) && depth + 1 < MAX_DEPTH => {
                        Ok(self.envelope(bytes, depth + 1)?.1)
                    }
                    bytes => leaf::json(bytes, name),
                }
            }
            Some(leaf @ (Leaf::SchemaOrBool | Leaf::SchemaOrArray | Leaf::SchemaOrStrings)) => {
                self.schema_or(leaf, name, wire, depth)
            }
            Some(other) => leaf::special(other, wire, name),
            None => match view.node().kind {
                Kind::Object | Kind::Array => {
                    let mut map = Map::new();
                    self.message(view, wire.bytes(name)?, &mut map, depth + 1)?;
                    Ok(Value::Object(map))
                }
                _ => leaf::scalar(view, wire, name),
            },
        }
    }

    /// The three types of a JSON schema that hold either a schema or something else. In `…OrBool` field 1 is the
    /// boolean and 2 the schema; in the others field 1 is the schema and 2 the list.
    fn schema_or(
        &mut self,
        leaf: Leaf,
        name: &str,
        wire: Wire<'_>,
        depth: usize,
    ) -> Result<Value, ProtoError> {
        let Some(schema) =
            self.table.named("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
        else {
            return Ok(Value::Null);
        };
        let (mut allows, mut list, mut single) = (false, Vec::new(), None);
        for field in Fields::new(wire.bytes(name)?) {
            self.count()?;
            let (number, wire) = field?;
            match (leaf, number) {
                (Leaf::SchemaOrBool, 1) => allows = wire.varint(name)? != 0,
                (Leaf::SchemaOrBool, 2) | (_, 1) => {
                    // A message that holds itself must count as deeper, or it could nest without end.
                    let mut map = Map::new();
                    self.message(schema, wire.bytes(name)?, &mut map, depth + 1)?;
                    single = Some(Value::Object(map));
                }
                (Leaf::SchemaOrStrings, 2) => list.push(Value::String(leaf::text(wire, name)?)),
                (_, 2) => list.push(self.value(schema, name, wire, depth)?),
                _ => {}
            }
        }
        Ok(match (single, leaf) {
            (Some(schema), _) => schema,
            (None, Leaf::SchemaOrBool) => Value::Bool(allows),
            (None, _) => Value::Array(list),
        })
    }

    fn count(&mut self) -> Result<(), ProtoError> {
        self.left = self.left.checked_sub(1).ok_or(ProtoError::TooMany)?;
        Ok(())
    }
}

/// Reads one message without an envelope.
#[doc(hidden)]
pub fn decode_message(node: NodeId, bytes: &[u8]) -> Result<Value, ProtoError> {
    let mut map = Map::new();
    let mut walker = Walker { table: table(), left: MAX_ELEMENTS };
    let view = walker.table.arena().view(node);
    walker.message(view, bytes, &mut map, 0)?;
    Ok(Value::Object(map))
}
