//! Bodies: read within their limit and decoded to JSON values, noting fields
//! that are given twice.

use std::cell::RefCell;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::negotiate::Encoding;
use crate::error::ApiError;

/// A body may not be larger: what etcd takes doubled, as kube-apiserver has it.
pub const MAX_BODY: usize = 3 * 1024 * 1024;
/// Repeated fields beyond these are not reported.
const MAX_REPORTED: usize = 20;
/// Deeper documents are refused: they are walked recursively. kube-apiserver stops at the same depth.
const MAX_DEPTH: usize = 128;
/// Floats below this (2 to the 53rd) tell whole numbers apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads a body. One that comes in one piece is not copied.
pub async fn read(body: Body) -> Result<Bytes, ApiError> {
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ApiError::too_large(MAX_BODY)),
        Err(error) => Err(ApiError::bad_request(format!("cannot read the request's body: {error}"))),
    }
}

/// A decoded body.
#[derive(Debug, PartialEq)]
pub struct Decoded {
    /// The document.
    pub value: Value,
    /// Fields given more than once, as `duplicate field "spec.replicas"`; the last one counts.
    pub repeated: Vec<String>,
}

/// Decodes an object.
pub fn decode(bytes: &[u8], encoding: Encoding) -> Result<Decoded, ApiError> {
    match encoding {
        Encoding::Json => json(bytes),
        Encoding::Yaml => yaml(bytes),
        Encoding::Protobuf => protobuf(bytes),
    }
}

/// Decodes the body of an apply: YAML, of which JSON is a part.
pub fn decode_apply(bytes: &[u8]) -> Result<Decoded, ApiError> {
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
        && let Ok(decoded) = json(bytes)
    {
        return Ok(decoded);
    }
    yaml(bytes)
}

fn json(bytes: &[u8]) -> Result<Decoded, ApiError> {
    let notes = Notes::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Node::root(&notes)
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| ApiError::bad_request(format!("the request's body is not valid JSON: {error}")))?;
    Ok(Decoded { value, repeated: notes.0.into_inner() })
}

fn yaml(bytes: &[u8]) -> Result<Decoded, ApiError> {
    let bad = |error: &dyn std::fmt::Display| {
        ApiError::bad_request(format!("error converting YAML to JSON: {error}"))
    };
    let text = std::str::from_utf8(bytes).map_err(|error| bad(&error))?;
    let notes = Notes::default();
    let options = serde_saphyr::options! {
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::PassThrough,
        with_snippet: false,
    };
    let value = serde_saphyr::with_deserializer_from_str_with_options(text, options, |reader| {
        Node::root(&notes).deserialize(reader)
    })
    .map_err(|error| bad(&error))?;
    let mut repeated = notes.0.into_inner();
    // Who writes YAML looks for lines.
    if !repeated.is_empty() {
        let told = repeated_lines(text);
        if !told.is_empty() {
            repeated = vec![format!("yaml: unmarshal errors:\n{}", told.join("\n"))];
        }
    }
    Ok(Decoded { value, repeated })
}

/// Keys of block mappings that stand twice in the same mapping, with the line of the second.
fn repeated_lines(text: &str) -> Vec<String> {
    let mut seen: Vec<(usize, &str)> = Vec::new();
    let mut told = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let item = line.trim_start().starts_with("- ");
        let content = line.trim_start().trim_start_matches("- ");
        let indent = line.len() - content.len();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        // A line further left ends mappings; a new list item begins one.
        seen.retain(|(at, _)| *at < indent || (*at == indent && !item));
        let Some((key, _)) = content.split_once(':') else { continue };
        if seen.contains(&(indent, key)) && told.len() < MAX_REPORTED {
            told.push(format!("  line {}: key {key:?} already set in map", number + 1));
        }
        seen.push((indent, key));
    }
    told
}

fn protobuf(bytes: &[u8]) -> Result<Decoded, ApiError> {
    let (_, value) = windlass_schema::proto::decode(bytes)
        .map_err(|error| ApiError::bad_request(format!("cannot decode the protobuf body: {error}")))?;
    Ok(Decoded { value, repeated: Vec::new() })
}

#[derive(Default)]
struct Notes(RefCell<Vec<String>>);

/// Reads one value; knows its place by the chain of those around it.
#[derive(Clone, Copy)]
struct Node<'a> {
    notes: &'a Notes,
    parent: Option<&'a Node<'a>>,
    step: Step<'a>,
    depth: usize,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

impl<'a> Node<'a> {
    fn root(notes: &'a Notes) -> Self {
        Self { notes, parent: None, step: Step::Root, depth: 0 }
    }

    fn below<'b>(&'b self, step: Step<'b>) -> Node<'b> {
        Node { notes: self.notes, parent: Some(self), step, depth: self.depth + 1 }
    }

    fn path(&self) -> String {
        let mut path = self.parent.map(Node::path).unwrap_or_default();
        match self.step {
            Step::Root => {}
            Step::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
        path
    }

    fn note(&self) {
        let mut notes = self.notes.0.borrow_mut();
        if notes.len() < MAX_REPORTED {
            notes.push(format!("duplicate field {:?}", self.path()));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    /// Whole numbers lose their fraction, as they do on their way through Go: `1.0` is `1`.
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 && value.abs() < EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within range")]
            return Ok(Value::from(value as i64));
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        if self.depth > MAX_DEPTH {
            return Err(A::Error::custom("nested too deep"));
        }
        let mut list = Vec::new();
        while let Some(value) = access.next_element_seed(self.below(Step::Index(list.len())))? {
            list.push(value);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        if self.depth > MAX_DEPTH {
            return Err(A::Error::custom("nested too deep"));
        }
        let mut map = Map::new();
        while let Some(key) = access.next_key::<Key>()? {
            let value = access.next_value_seed(self.below(Step::Key(&key.0)))?;
            if map.contains_key(&key.0) {
                self.below(Step::Key(&key.0)).note();
            }
            map.insert(key.0, value);
        }
        Ok(Value::Object(map))
    }
}

/// A key: text, or what YAML takes for a number or a boolean.
struct Key(String);

impl<'de> serde::Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repeated_fields_are_noted() {
        let text =
            br#"{"a": 1, "b": [{"c": 1, "c": 2}], "a": 3, "n": null, "f": 1.5, "neg": -4, "whole": 2.0}"#;
        let decoded = decode(text, Encoding::Json).unwrap();
        assert_eq!(
            decoded.value,
            json!({"a": 3, "b": [{"c": 2}], "n": null, "f": 1.5, "neg": -4, "whole": 2})
        );
        assert_eq!(decoded.repeated, [r#"duplicate field "b[0].c""#, r#"duplicate field "a""#]);
    }

    #[test]
    fn yaml_becomes_json() {
        let text = b"a: 1\nb:\n- c: \"5\"\n  c: true\nd: x\ne: ~\nf: 1.5\n8080: port\n";
        let decoded = decode(text, Encoding::Yaml).unwrap();
        assert_eq!(
            decoded.value,
            json!({"a": 1, "b": [{"c": true}], "d": "x", "e": null, "f": 1.5, "8080": "port"})
        );
        assert_eq!(decoded.repeated, ["yaml: unmarshal errors:\n  line 4: key \"c\" already set in map"]);
        assert_eq!(decode_apply(b" {\"a\": [1]}").unwrap().value, json!({"a": [1]}));
        assert_eq!(decode_apply(b"{a: [1]}").unwrap().value, json!({"a": [1]}));
    }

    #[test]
    fn broken_bodies_are_refused() {
        let deep = "[".repeat(100_000);
        for (text, encoding) in [
            ("{", Encoding::Json),
            ("{} x", Encoding::Json),
            (deep.as_str(), Encoding::Json),
            ("a: [", Encoding::Yaml),
            (deep.as_str(), Encoding::Yaml),
        ] {
            assert_eq!(decode(text.as_bytes(), encoding).unwrap_err().code, 400, "{text:.10}");
        }
    }

    #[tokio::test]
    async fn large_bodies_are_refused() {
        assert_eq!(read(Body::from(vec![b' '; MAX_BODY])).await.unwrap().len(), MAX_BODY);
        assert_eq!(read(Body::from(vec![b' '; MAX_BODY + 1])).await.unwrap_err().code, 413);
    }
}
