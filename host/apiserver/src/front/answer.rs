//! Answers on their way out: encoded, compressed where it pays, with the headers
//! that clients look for.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, VARY};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;
use serde_json::Value;

use super::negotiate::{Format, Shape};
use super::shape;
use crate::error::ApiError;
use crate::handler::{EventStream, List, Outcome};
use crate::item::Item;
use crate::registry::Resource;
use windlass_object::handover;
use windlass_schema::columns::Include;

/// Smaller answers cost more to compress than to send.
const GZIP_FROM: usize = 128 * 1024;
/// How much is compressed at a time: about a millisecond's work.
const GZIP_PIECE: usize = 256 * 1024;

/// In what form an answer leaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Form {
    /// JSON or YAML.
    pub format: Format,
    /// Whole, Table or metadata.
    pub shape: Shape,
    /// What rows carry.
    pub include: Include,
    /// For people's eyes.
    pub pretty: bool,
    /// The client takes gzip.
    pub gzip: bool,
    /// The client is in this process and may take objects as they are.
    pub inside: bool,
}

/// Encodes what the core gave.
pub fn outcome(resource: &Resource, outcome: Outcome, form: Form) -> Response<Body> {
    match outcome {
        Outcome::Object { code, object } => {
            match shape::object(resource, &object, form.shape, form.include) {
                Some(value) => document(code, &value, form),
                None if plain(form) && form.inside => handed(code, object, form),
                None if plain(form) => bytes(code, object.encoded(), form),
                None => document(code, object.value().as_ref(), form),
            }
        }
        Outcome::List(list) => match shape::list(&list, form.shape, form.include) {
            Some(value) => document(200, &value, form),
            None => {
                let encoded = encode_list(&list);
                if plain(form) {
                    return bytes(200, encoded, form);
                }
                let value: Value = serde_json::from_slice(&encoded).unwrap_or_default();
                document(200, &value, form)
            }
        },
        Outcome::Watch(events) => watch(resource, events, form),
        Outcome::Status { code, status } => document(code, &status, form),
    }
}

/// Encodes a document.
pub fn document<T: Serialize>(code: u16, value: &T, form: Form) -> Response<Body> {
    let encoded = match form.format {
        Format::Json if form.pretty => {
            serde_json::to_vec_pretty(value).map_err(|error| error.to_string()).map(|mut text| {
                text.push(b'\n');
                text
            })
        }
        Format::Json => serde_json::to_vec(value).map_err(|error| error.to_string()),
        Format::Yaml => {
            serde_saphyr::to_string(value).map(String::into_bytes).map_err(|error| error.to_string())
        }
    };
    match encoded {
        Ok(encoded) => bytes(code, encoded.into(), form),
        Err(detail) => error(&ApiError::internal(format!("cannot encode the answer: {detail}"))),
    }
}

/// An error as a Status.
pub fn error(error: &ApiError) -> Response<Body> {
    let mut response = document(error.code, &error.status(), Form::default());
    if error.retry_after > 0 {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(error.retry_after));
    }
    response
}

/// A 404 with a sentence of its own.
pub fn not_found(message: &str) -> Response<Body> {
    error(&ApiError { message: message.to_owned(), ..ApiError::no_such_path() })
}

/// Plain text.
pub fn text(code: u16, content: String) -> Response<Body> {
    let mut response = respond(code, Body::from(content));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}

/// Encoded bytes, compressed if large and welcome.
pub fn bytes(code: u16, content: Bytes, form: Form) -> Response<Body> {
    let mut response = if form.gzip && content.len() >= GZIP_FROM {
        let mut response = respond(code, gzip(content));
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response.headers_mut().insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        response
    } else {
        respond(code, Body::from(content))
    };
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(form.format.content_type()));
    response
}

/// An empty or raw answer.
pub fn respond(code: u16, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

fn plain(form: Form) -> bool {
    form.format == Format::Json && !form.pretty
}

/// Compresses piece by piece as the client reads, so that a large answer neither
/// keeps a worker to itself nor is held twice.
fn gzip(content: Bytes) -> Body {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let pieces = futures::stream::unfold(Some((encoder, content)), |state| async move {
        let (mut encoder, mut rest) = state?;
        if rest.is_empty() {
            return Some((encoder.finish().map(Bytes::from), None));
        }
        let piece = rest.split_to(rest.len().min(GZIP_PIECE));
        let written = encoder.write_all(&piece).map(|()| Bytes::from(std::mem::take(encoder.get_mut())));
        let next = written.is_ok().then_some((encoder, rest));
        Some((written, next))
    });
    Body::from_stream(pieces.filter(|piece| {
        let wanted = !piece.as_ref().is_ok_and(Bytes::is_empty);
        std::future::ready(wanted)
    }))
}

/// A list as JSON: each object is copied once, from the store's bytes.
fn encode_list(list: &List) -> Bytes {
    let head = format!(
        "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{},\"items\":[",
        Value::from(list.resource.list_kind.as_str()),
        Value::from(list.resource.api_version.as_str()),
        shape::list_metadata(list)
    );
    let mut out = head.into_bytes();
    for (index, item) in list.items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        if list.resource.builtin {
            item.append_bare(&mut out);
        } else {
            item.append(&mut out);
        }
    }
    out.extend_from_slice(b"]}");
    Bytes::from(out)
}

/// One object for a client in this process: beside the bytes, which are made if somebody reads them.
fn handed(code: u16, object: Item, form: Form) -> Response<Body> {
    let item = object.clone();
    let piece = futures::stream::once(async move { Ok::<Bytes, Infallible>(item.encoded()) });
    let mut response = respond(code, Body::from_stream(piece));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(form.format.content_type()));
    response.extensions_mut().insert(handover::Object(Arc::new(object)));
    response
}

/// Events that belong to whoever asks for the first one.
#[derive(Clone)]
struct Shared(Arc<Mutex<Option<EventStream>>>);

impl Shared {
    /// All of them, for the first who takes them; nothing for others.
    fn stream(self) -> EventStream {
        let first =
            futures::future::lazy(move |_| self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        Box::pin(futures::stream::once(first).flat_map(futures::stream::iter).flatten())
    }
}

/// The events of a watch as a client in this process takes them.
struct Handover(EventStream);

impl handover::Source for Handover {
    fn poll_next(&mut self, context: &mut std::task::Context<'_>) -> Poll<Option<handover::Event>> {
        let event = std::task::ready!(self.0.as_mut().poll_next(context));
        Poll::Ready(
            event.map(|event| handover::Event { kind: event.kind.as_str(), object: Arc::new(event.object) }),
        )
    }
}

/// One line for each event, sent as it comes. Plain watchers of one event share its bytes.
fn watch(resource: &Resource, mut events: EventStream, form: Form) -> Response<Body> {
    let mut extension = None;
    if form.inside && form.shape == Shape::Whole {
        let shared = Shared(Arc::new(Mutex::new(Some(events))));
        extension = Some(handover::Events::new(Handover(shared.clone().stream())));
        events = shared.stream();
    }
    let mut shaped = shape::Events::new(resource, form.shape, form.include);
    let lines = events.map(move |event| {
        Ok::<Bytes, Infallible>(match shaped.object(&event) {
            None => event.frame(),
            Some(object) => {
                let mut line = serde_json::json!({"type": event.kind.as_str(), "object": object}).to_string();
                line.push('\n');
                Bytes::from(line)
            }
        })
    });
    let mut response = respond(200, Body::from_stream(lines));
    if let Some(events) = extension {
        response.extensions_mut().insert(events);
    }
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert("cache-control", HeaderValue::from_static("no-cache, private"));
    response
}
