//! OpenAPI v2: definitions of all kinds, in JSON, made from those of v3. The protobuf form describes none:
//! current clients ask for it in one case only, when kubectl validates a file of kind `List`, and pass over kinds
//! that it does not describe.

use axum::body::Body;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Response};
use serde_json::{Map, Value, json};

use super::{Cache, VERSION, tagged};
use crate::front::answer::{self, Form};
use crate::registry::Snapshot;

/// The protobuf form's media type as clients ask for it; the `@` was once a `.`.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];
const TITLE: &str = "Kubernetes";

pub(super) fn answer(
    cache: &Cache,
    snapshot: &Snapshot,
    parts: &http::request::Parts,
    form: Form,
) -> Response<Body> {
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let asked = accept.split(',').map(|clause| clause.split(';').next().unwrap_or_default().trim());
    for media in asked {
        if PROTOBUF.contains(&media) {
            let mut response = answer::respond(200, Body::from(protobuf()));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
            return response;
        }
        if media == "application/json" || media == "*/*" {
            break;
        }
    }
    let (bytes, hash) = cache.second(snapshot);
    tagged(parts, bytes, &hash, form)
}

/// The document in JSON.
pub(super) fn document(cache: &Cache, snapshot: &Snapshot) -> Bytes {
    let mut definitions = Map::new();
    for group in snapshot.groups() {
        for version in snapshot.versions(group) {
            let resources = snapshot.of_version(group, version).cloned().collect();
            let (bytes, _) = cache.get(group, version, resources);
            let mut third: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let schemas = third.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
            for (name, schema) in schemas.map(std::mem::take).into_iter().flatten() {
                definitions.entry(name).or_insert_with(|| root(schema));
            }
        }
    }
    let document = json!({
        "swagger": "2.0", "info": {"title": TITLE, "version": VERSION}, "paths": {}, "definitions": definitions,
    });
    Bytes::from(document.to_string())
}

/// A kind's schema. One that takes anything says no more than that: clients that validate by v2 would refuse the rest.
fn root(schema: Value) -> Value {
    let mut schema = lowered(schema);
    if let Some(map) = schema.as_object_mut()
        && map.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
    {
        map.retain(|key, _| matches!(key.as_str(), "type" | "x-kubernetes-group-version-kind"));
    }
    schema
}

/// A schema of v3 as v2 can say it: no alternatives, no defaults, no null.
fn lowered(schema: Value) -> Value {
    let Value::Object(mut map) = schema else { return schema };
    // A reference with a default stands in a list of one.
    if let Some([Value::Object(only)]) = map.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
        && let Some(reference) = only.get("$ref").cloned()
    {
        map.insert("$ref".into(), reference);
    }
    if let Some(Value::String(reference)) = map.get_mut("$ref") {
        *reference = reference.replace("#/components/schemas/", "#/definitions/");
    }
    if map.get("nullable") == Some(&Value::Bool(true)) {
        for key in ["type", "items", "properties"] {
            map.remove(key);
        }
    }
    if map.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true)) {
        for key in ["items", "properties"] {
            map.remove(key);
        }
    }
    for key in ["nullable", "default", "allOf", "anyOf", "oneOf", "not"] {
        map.remove(key);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(below) = map.get_mut(key) {
            *below = lowered(std::mem::take(below));
        }
    }
    for below in
        map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
    {
        *below = lowered(std::mem::take(below));
    }
    Value::Object(map)
}

/// The document as gnostic's `openapi.v2.Document`: swagger (1), info (2: title 1, version 2), paths (8).
fn protobuf() -> Vec<u8> {
    let mut info = Vec::new();
    field(&mut info, 1, TITLE.as_bytes());
    field(&mut info, 2, VERSION.as_bytes());
    let mut document = Vec::new();
    field(&mut document, 1, b"2.0");
    field(&mut document, 2, &info);
    field(&mut document, 8, b"");
    document
}

/// A field of bytes shorter than 128, which all of these are.
fn field(out: &mut Vec<u8>, number: u8, content: &[u8]) {
    out.push(number << 3 | 2);
    out.push(u8::try_from(content.len()).unwrap_or(0));
    out.extend_from_slice(content);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_lowered() {
        let third = json!({
            "type": "object", "properties": {
                "a": {"allOf": [{"$ref": "#/components/schemas/x.A"}], "default": {}, "description": "d"},
                "b": {"type": "string", "nullable": true, "default": "x"},
                "c": {"type": "array", "items": {"type": "string", "default": ""}, "oneOf": [{"minItems": 1}]},
            },
        });
        let second = json!({
            "type": "object", "properties": {
                "a": {"$ref": "#/definitions/x.A", "description": "d"}, "b": {},
                "c": {"type": "array", "items": {"type": "string"}},
            },
        });
        assert_eq!(lowered(third), second);
    }

    #[test]
    fn the_protobuf_form_is_framed() {
        let expected =
            [b"\x0a\x032.0\x12\x15\x0a\x0aKubernetes\x12".as_slice(), b"\x07v1.36.3\x42\x00"].concat();
        assert_eq!(protobuf(), expected);
    }
}
