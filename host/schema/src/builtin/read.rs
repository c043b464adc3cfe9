//! Reads `data/builtin.txt`, one fact a line:
//!
//! - `K group/version Kind definition` registers a kind.
//! - `T definition [atomic]` begins a struct; the lines after it are its fields:
//! - `name number flags type [atomic] [strategy=…] [key=…] [default=json]`, where the flags are
//!   `o` omitempty, `n` null when absent, `z` zero value when absent, `r` required, `-` none of them;
//! - `^ number #definition` is a struct inlined in JSON and nested in protobuf under the number.
//!
//! Types: `s` text, `e[…]` one of these texts, `b` boolean, `i` `l` integers, `d` float, `y` bytes,
//! `q` quantity, `x` int-or-string, `t` time, `u` time with microseconds, `n` duration, `F` `R` `J` any JSON,
//! `A` `B` `P` a JSON schema or something else, `#` a definition, `[set]T`, `[map:key,…]T` and `[]T` lists,
//! `w[…]T` such a list wrapped in a message, `{}T` a map.

use super::{BuiltinTable, Leaf, META, Message, Slot};
use crate::arena::{Absent, Field, Kind, ListType, Node, NodeId, PatchStrategy, Rules};
use std::collections::{BTreeMap, HashMap};
use windlass_object::{Gvk, gvk::split_api_version};

/// A struct as the file has it.
#[derive(Default)]
struct Section<'a> {
    id: NodeId,
    name: &'a str,
    atomic: bool,
    fields: Vec<(&'a str, Field)>,
    inline: Vec<(u32, &'a str)>,
}

#[derive(Default)]
struct Reader<'a> {
    table: BuiltinTable,
    structs: HashMap<&'a str, NodeId>,
    types: HashMap<(&'a str, bool), NodeId>,
}

/// Reads the file. Lines that it cannot read are left out; the tests and the generator's own check notice.
pub(super) fn types(text: &str) -> BuiltinTable {
    let mut reader = Reader::default();
    // Numbers first, so that types may refer to later ones.
    for name in text.lines().filter_map(|line| line.strip_prefix("T ")) {
        let name = name.split(' ').next().unwrap_or(name);
        let id = reader.table.arena.add(Node { name: Some(name.into()), ..Node::default() });
        reader.structs.insert(name, id);
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        match words.next() {
            Some("#") | None => {}
            Some("K") => reader.kind(words),
            Some("T") => {
                let name = words.next().unwrap_or_default();
                let id = reader.structs.get(name).copied().unwrap_or_default();
                sections.push(Section {
                    id,
                    name,
                    atomic: words.next() == Some("atomic"),
                    ..Section::default()
                });
            }
            Some("^") => {
                if let (Some(section), Some((number, name))) = (sections.last_mut(), inline(words)) {
                    section.inline.push((number, name));
                }
            }
            Some(name) => {
                if let (Some(section), Some(field)) = (sections.last_mut(), reader.field(words)) {
                    section.fields.push((name, field));
                }
            }
        }
    }
    reader.finish(&sections);
    reader.table
}

fn inline<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<(u32, &'a str)> {
    Some((words.next()?.parse().ok()?, words.next()?.strip_prefix('#')?))
}

impl<'a> Reader<'a> {
    fn kind(&mut self, mut words: impl Iterator<Item = &'a str>) {
        let (Some(api_version), Some(kind), Some(definition)) = (words.next(), words.next(), words.next())
        else {
            return;
        };
        let (group, version) = split_api_version(api_version);
        if let Some(id) = self.structs.get(definition) {
            let gvk = Gvk::new(group, version, kind);
            self.table.kinds_of.insert(*id, gvk.clone());
            self.table.types.insert(gvk, *id);
        }
    }

    fn field(&mut self, mut words: impl Iterator<Item = &'a str>) -> Option<Field> {
        let tag = words.next()?.parse().ok()?;
        let flags = words.next()?;
        let type_ = words.next()?;
        let mut field = Field {
            tag,
            required: flags.contains('r'),
            omit_empty: flags.contains('o'),
            absent: match flags {
                f if f.contains('n') => Absent::Null,
                f if f.contains('z') => Absent::Zero,
                _ => Absent::Leave,
            },
            ..Field::default()
        };
        let mut atomic = false;
        for word in words {
            match word.split_once('=') {
                None => atomic |= word == "atomic",
                Some(("strategy", value)) => {
                    field.patch = PatchStrategy {
                        merge: value.split(',').any(|s| s == "merge"),
                        retain_keys: value.split(',').any(|s| s == "retainKeys"),
                    };
                }
                Some(("key", value)) => field.merge_key = Some(value.into()),
                Some(("default", value)) => field.default = serde_json::from_str(value).ok(),
                Some(_) => {}
            }
        }
        field.node = self.type_(type_, atomic);
        Some(field)
    }

    /// The node of a type expression; equal expressions share one.
    fn type_(&mut self, text: &'a str, atomic: bool) -> NodeId {
        if let (Some(name), false) = (text.strip_prefix('#'), atomic) {
            return self.structs.get(name).copied().unwrap_or_default();
        }
        if let Some(id) = self.types.get(&(text, atomic)) {
            return *id;
        }
        let (mut node, leaf) = self.node(text);
        node.atomic |= atomic;
        let id = self.table.arena.add(node);
        if let Some(leaf) = leaf {
            self.table.leaves.insert(id, leaf);
        }
        self.types.insert((text, atomic), id);
        id
    }

    fn node(&mut self, text: &'a str) -> (Node, Option<Leaf>) {
        if let Some(rest) = text.strip_prefix("w[") {
            let (node, _) = self.list(rest);
            return (node, Some(Leaf::WrappedList));
        }
        if let Some(rest) = text.strip_prefix('[') {
            return self.list(rest);
        }
        if let Some(rest) = text.strip_prefix("{}") {
            let values = self.type_(rest, false);
            return (Node { kind: Kind::Object, values: Some(values), ..Node::default() }, None);
        }
        if let Some(list) = text.strip_prefix('e') {
            let enumeration = serde_json::from_str(list).unwrap_or_default();
            let rules = Some(Box::new(Rules { enumeration, ..Rules::default() }));
            return (Node { kind: Kind::String, rules, ..Node::default() }, None);
        }
        if let Some(name) = text.strip_prefix('#') {
            // An atomic use of a struct: a node of its own that shares nothing but the type's name.
            let id = self.structs.get(name).copied().unwrap_or_default();
            return (self.table.arena.view(id).node().clone(), None);
        }
        leaf(text)
    }

    fn list(&mut self, rest: &'a str) -> (Node, Option<Leaf>) {
        let (kind, items) = rest.split_once(']').unwrap_or(("", rest));
        let list_type = match kind.split_once(':') {
            Some((_, keys)) => ListType::Map(keys.split(',').map(str::to_owned).collect()),
            None if kind == "set" => ListType::Set,
            None => ListType::Atomic,
        };
        let items = Some(self.type_(items, false));
        (Node { kind: Kind::Array, items, list_type, ..Node::default() }, None)
    }

    fn finish(&mut self, sections: &[Section<'a>]) {
        let by_name: HashMap<&str, &Section<'_>> = sections.iter().map(|s| (s.name, s)).collect();
        for section in sections {
            let mut fields = BTreeMap::new();
            flatten(section, &by_name, true, &mut fields);
            let node = Node {
                kind: Kind::Object,
                name: Some(section.name.into()),
                fields,
                atomic: section.atomic,
                ..Node::default()
            };
            self.table.arena.set(section.id, node);
            let mut message = Message::default();
            for (name, field) in section.fields.iter().filter(|(_, field)| field.tag != 0) {
                message.fields.push((field.tag, Slot::Named((*name).into(), field.node)));
            }
            for (number, name) in &section.inline {
                if let Some(id) = self.structs.get(name) {
                    message.fields.push((*number, Slot::Inline(*id)));
                }
            }
            message.fields.sort_by_key(|(number, _)| *number);
            self.table.protobuf.insert(section.id, message);
        }
        // Structs used atomically were cloned before their fields were known.
        let clones: Vec<_> =
            self.types.iter().filter_map(|((t, a), id)| Some((t.strip_prefix('#')?, *a, *id))).collect();
        for (name, atomic, id) in clones {
            let Some(original) = self.structs.get(name).copied() else { continue };
            let node = Node { atomic, ..self.table.arena.view(original).node().clone() };
            self.table.arena.set(id, node);
            // The name must go on meaning the original.
            let node = self.table.arena.view(original).node().clone();
            self.table.arena.set(original, node);
            let fields = self
                .table
                .protobuf
                .get(&original)
                .map(|m| m.fields.iter().map(copy).collect())
                .unwrap_or_default();
            self.table.protobuf.insert(id, Message { fields });
        }
    }
}

fn copy((number, slot): &(u32, Slot)) -> (u32, Slot) {
    let slot = match slot {
        Slot::Named(name, id) => Slot::Named(name.clone(), *id),
        Slot::Inline(id) => Slot::Inline(*id),
    };
    (*number, slot)
}

/// All fields that JSON shows; those of inlined structs have no number here.
fn flatten<'a>(
    section: &Section<'a>,
    by_name: &HashMap<&str, &Section<'a>>,
    own: bool,
    fields: &mut BTreeMap<String, Field>,
) {
    for (name, field) in &section.fields {
        let tag = if own { field.tag } else { 0 };
        fields.insert((*name).to_owned(), Field { tag, ..field.clone() });
    }
    for (_, name) in &section.inline {
        if let Some(inner) = by_name.get(name) {
            flatten(inner, by_name, false, fields);
        }
    }
}

fn leaf(text: &str) -> (Node, Option<Leaf>) {
    let formatted = |kind: Kind, format: &str| {
        let rules = Some(Box::new(Rules { format: Some(format.into()), ..Rules::default() }));
        Node { kind, rules, ..Node::default() }
    };
    let named = |node: Node, name: &str| Node { name: Some(format!("{META}{name}").into()), ..node };
    let full = |node: Node, name: &str| Node { name: Some(name.into()), ..node };
    let any = || Node { preserve_unknown: true, ..Node::default() };
    match text {
        "s" => (Node { kind: Kind::String, ..Node::default() }, None),
        "b" => (Node { kind: Kind::Boolean, ..Node::default() }, None),
        "i" => (formatted(Kind::Integer, "int32"), None),
        "l" => (formatted(Kind::Integer, "int64"), None),
        "d" => (formatted(Kind::Number, "double"), None),
        "y" => (formatted(Kind::String, "byte"), Some(Leaf::Bytes)),
        "n" => (named(Node { kind: Kind::String, ..Node::default() }, "Duration"), Some(Leaf::Duration)),
        "t" => (named(formatted(Kind::String, "date-time"), "Time"), Some(Leaf::Time)),
        "u" => (named(formatted(Kind::String, "micro-time"), "MicroTime"), Some(Leaf::MicroTime)),
        "q" => (
            full(
                Node { kind: Kind::Quantity, ..Node::default() },
                "io.k8s.apimachinery.pkg.api.resource.Quantity",
            ),
            Some(Leaf::Quantity),
        ),
        "x" => {
            let node = Node {
                kind: Kind::IntOrString,
                rules: formatted(Kind::Any, "int-or-string").rules,
                ..Node::default()
            };
            (full(node, "io.k8s.apimachinery.pkg.util.intstr.IntOrString"), Some(Leaf::IntOrString))
        }
        "F" => (named(Node { kind: Kind::Object, ..any() }, "FieldsV1"), Some(Leaf::Raw)),
        "R" => (
            full(Node { kind: Kind::Object, ..any() }, "io.k8s.apimachinery.pkg.runtime.RawExtension"),
            Some(Leaf::Raw),
        ),
        "J" => (full(Node { atomic: true, ..any() }, &extension("JSON")), Some(Leaf::Raw)),
        "B" => (
            full(Node { atomic: true, ..any() }, &extension("JSONSchemaPropsOrBool")),
            Some(Leaf::SchemaOrBool),
        ),
        "A" => (
            full(Node { atomic: true, ..any() }, &extension("JSONSchemaPropsOrArray")),
            Some(Leaf::SchemaOrArray),
        ),
        "P" => {
            let node = full(Node { atomic: true, ..any() }, &extension("JSONSchemaPropsOrStringArray"));
            (node, Some(Leaf::SchemaOrStrings))
        }
        _ => (any(), None),
    }
}

fn extension(name: &str) -> String {
    format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_line_of_the_file_is_read() {
        let text = include_str!("../../data/builtin.txt");
        let mut reader = Reader::default();
        for line in text.lines().filter(|l| !l.starts_with(['#', 'K', 'T', '^'])) {
            let (name, rest) = line.split_once(' ').unwrap();
            let field = reader.field(rest.split(' ')).unwrap_or_else(|| panic!("{name}: {rest}"));
            if let Some(default) = rest.split(" default=").nth(1) {
                assert_eq!(field.default, Some(serde_json::from_str::<Value>(default).unwrap()), "{name}");
            }
        }
    }
}
