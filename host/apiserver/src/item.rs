//! An object on its way out. What the store holds is sent as it lies there, with the
//! resourceVersion spliced in; it is parsed only if somebody asks for the value.

use bytes::Bytes;
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};
use windlass_object::handover::Handed;
use windlass_object::slim;
use windlass_store::Entry;

/// What follows the type of an object in its stored bytes; the resourceVersion goes behind it.
const METADATA: &[u8] = b"\"metadata\":{";

/// The stored form starts with apiVersion, kind and metadata, so `METADATA` is found within these bytes.
const HEAD: usize = 512;

/// An object with its resourceVersion. Cheap to clone; encodings are made once.
#[derive(Clone, Debug)]
pub struct Item(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: Source,
    encoded: OnceLock<Bytes>,
    value: OnceLock<Arc<Value>>,
}

#[derive(Debug)]
enum Source {
    Stored { entry: Entry, revision: u64 },
    Value,
}

impl Item {
    /// An object as stored: JSON made by [`encode`], without resourceVersion.
    pub fn stored(entry: Entry) -> Self {
        let revision = entry.revision();
        Self::stored_at(entry, revision)
    }

    /// The same, with another revision: how watchers see an object that left their selection.
    pub fn stored_at(entry: Entry, revision: u64) -> Self {
        Self::from(Source::Stored { entry, revision }, OnceLock::new())
    }

    /// Any object, complete.
    pub fn value_of(value: Value) -> Self {
        Self::from(Source::Value, OnceLock::from(Arc::new(value)))
    }

    fn from(source: Source, value: OnceLock<Arc<Value>>) -> Self {
        Self(Arc::new(Inner { source, encoded: OnceLock::new(), value }))
    }

    /// The object's JSON, complete.
    pub fn encoded(&self) -> Bytes {
        let make = || {
            let mut out = Vec::new();
            self.append(&mut out);
            Bytes::from(out)
        };
        self.0.encoded.get_or_init(make).clone()
    }

    /// Appends the object's JSON.
    pub fn append(&self, out: &mut Vec<u8>) {
        if let Some(encoded) = self.0.encoded.get() {
            out.extend_from_slice(encoded);
            return;
        }
        if let Source::Stored { entry, revision } = &self.0.source
            && splice(entry.bytes(), *revision, out)
        {
            return;
        }
        // Writing a Value to memory cannot fail.
        let _ = serde_json::to_writer(out, self.value().as_ref());
    }

    /// Appends the object's JSON as it stands in a list of a built-in kind: without apiVersion and kind.
    pub fn append_bare(&self, out: &mut Vec<u8>) {
        if let Source::Stored { entry, revision } = &self.0.source
            && splice_bare(entry.bytes(), *revision, out)
        {
            return;
        }
        let mut value = self.value().as_ref().clone();
        if let Some(map) = value.as_object_mut() {
            map.remove("apiVersion");
            map.remove("kind");
        }
        // Writing a Value to memory cannot fail.
        let _ = serde_json::to_writer(out, &value);
    }

    /// The object, complete; parsed on first use.
    pub fn value(&self) -> Arc<Value> {
        let make = || {
            let mut value = Value::Null;
            if let Source::Stored { entry, revision } = &self.0.source {
                value = entry.json_uncached().as_ref().clone();
                set_revision(&mut value, *revision);
            }
            Arc::new(value)
        };
        self.0.value.get_or_init(make).clone()
    }
}

impl Handed for Item {
    fn whole(&self) -> Arc<Value> {
        self.value()
    }

    fn slim(&self) -> Value {
        let (entry, revision) = match &self.0.source {
            Source::Stored { entry, revision } => (entry, *revision),
            Source::Value => return slim::copy(&self.value()),
        };
        let mut value = match entry.json_in_use() {
            Some(parsed) => slim::copy(&parsed),
            None => slim::parse(entry.bytes()).unwrap_or_default(),
        };
        set_revision(&mut value, revision);
        value
    }

    fn rests(&self) -> bool {
        matches!(self.0.source, Source::Stored { .. })
    }
}

/// Puts the resourceVersion into an object.
pub fn set_revision(value: &mut Value, revision: u64) {
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".into(), Value::String(revision.to_string()));
    }
}

/// The stored form of an object: apiVersion, kind and metadata first, no resourceVersion.
pub fn encode(object: &Value) -> Bytes {
    let mut out = Vec::with_capacity(1024);
    let empty = Map::new();
    let map = object.as_object().unwrap_or(&empty);
    out.push(b'{');
    for key in ["apiVersion", "kind", "metadata"] {
        let Some(value) = map.get(key) else { continue };
        match value {
            Value::Object(metadata) if key == "metadata" => {
                pair_name(&mut out, key);
                out.push(b'{');
                for (name, value) in metadata.iter().filter(|(name, _)| *name != "resourceVersion") {
                    pair(&mut out, name, value);
                }
                out.push(b'}');
            }
            value => pair(&mut out, key, value),
        }
    }
    for (key, value) in map {
        if !matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
            pair(&mut out, key, value);
        }
    }
    out.push(b'}');
    Bytes::from(out)
}

fn pair_name(out: &mut Vec<u8>, key: &str) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    // Writing text and Values to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, key);
    out.push(b':');
}

fn pair(out: &mut Vec<u8>, key: &str, value: &Value) {
    pair_name(out, key);
    let _ = serde_json::to_writer(&mut *out, value);
}

/// Copies stored bytes with the resourceVersion put in; false if they are not in stored form.
fn splice(bytes: &[u8], revision: u64, out: &mut Vec<u8>) -> bool {
    let Some((before, after)) = parts(bytes) else { return false };
    out.reserve(bytes.len() + 48);
    out.extend_from_slice(before);
    finish(after, revision, out);
    true
}

/// The same without apiVersion and kind, which stand before the metadata.
fn splice_bare(bytes: &[u8], revision: u64, out: &mut Vec<u8>) -> bool {
    let Some((_, after)) = parts(bytes) else { return false };
    out.reserve(bytes.len() + 16);
    out.push(b'{');
    out.extend_from_slice(METADATA);
    finish(after, revision, out);
    true
}

/// Stored bytes up to the first field of the metadata, and from there on.
fn parts(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let head = bytes.get(..HEAD.min(bytes.len())).unwrap_or_default();
    let at = head.windows(METADATA.len()).position(|w| w == METADATA)?;
    Some(bytes.split_at(at + METADATA.len()))
}

fn finish(after: &[u8], revision: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"resourceVersion\":\"");
    out.extend_from_slice(revision.to_string().as_bytes());
    out.push(b'"');
    if after.first() != Some(&b'}') {
        out.push(b',');
    }
    out.extend_from_slice(after);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stored_form_takes_its_revision() {
        let object = json!({"data": {"metadata": "x"}, "kind": "ConfigMap", "apiVersion": "v1",
            "metadata": {"name": "a", "resourceVersion": "7"}});
        let item = Item::stored(Entry::new(9, 9, encode(&object)));
        let text = String::from_utf8(item.encoded().to_vec()).unwrap();
        assert!(
            text.starts_with(
                r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"resourceVersion":"9","name":"a"}"#
            ),
            "{text}"
        );
        assert_eq!(item.value()["metadata"]["resourceVersion"], "9");
        assert_eq!(item.slim(), *item.value());
        let bare = Item::stored(Entry::new(1, 1, encode(&json!({"metadata": {}}))));
        assert_eq!(bare.encoded(), &br#"{"metadata":{"resourceVersion":"1"}}"#[..]);
    }
}
