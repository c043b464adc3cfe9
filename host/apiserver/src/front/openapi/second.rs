//! OpenAPI v2, which current clients ask for in one case only: kubectl validates a
//! file of kind `List` by it, passing over kinds that it does not describe. So this
//! document describes none, in JSON and in the protobuf form that kubectl wants.

use axum::body::Body;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Response};
use serde_json::json;

use super::VERSION;
use crate::front::answer::{self, Form};

/// The protobuf form's media type as clients ask for it; the `@` was once a `.`.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];
const TITLE: &str = "Kubernetes";

pub(super) fn answer(parts: &http::request::Parts, form: Form) -> Response<Body> {
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
    let document = json!({
        "swagger": "2.0", "info": {"title": TITLE, "version": VERSION}, "paths": {}, "definitions": {},
    });
    answer::document(200, &document, form)
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
    fn the_protobuf_form_is_framed() {
        let expected =
            [b"\x0a\x032.0\x12\x15\x0a\x0aKubernetes\x12".as_slice(), b"\x07v1.36.3\x42\x00"].concat();
        assert_eq!(protobuf(), expected);
    }
}
