//! Requests about resources: looked up, decoded, handed to the core, and the
//! answer encoded in the form that was asked for.

use axum::body::Body;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Response};
use serde_json::Value;

use super::answer::{self, Form};
use super::decode::{self, Decoded};
use super::info::{Address, Verb, query_pairs, truthy};
use super::negotiate::{self, Encoding, Shape};
use super::{options, review, token};
use crate::error::ApiError;
use crate::handler::{self, Call, FieldValidation, Outcome, PatchType, Warnings};
use crate::identity::Identity;
use crate::intake;
use crate::registry::Resource;
use crate::server::Server;
use windlass_schema::columns::Include;

/// Warnings longer than this are cut: headers have limits.
const MAX_WARNING: usize = 4096;
/// Programs whose users read the answer themselves.
const READERS: [&str; 3] = ["curl/", "Wget/", "Mozilla/"];

/// A request about a resource.
pub(super) struct Incoming {
    pub(super) parts: http::request::Parts,
    pub(super) body: Body,
    pub(super) identity: Identity,
    pub(super) verb: Verb,
    pub(super) address: Address,
    pub(super) outside: bool,
}

/// Answers a request about a resource. Warnings go out with errors as well.
pub(super) async fn answer(server: &Server, incoming: Incoming) -> Result<Response<Body>, ApiError> {
    let warnings = Warnings::default();
    let mut response = match serve(server, incoming, &warnings).await {
        Ok(response) => response,
        Err(error) => answer::error(&error),
    };
    for text in warnings.list() {
        if let Some(header) = warning(&text) {
            response.headers_mut().append("warning", header);
        }
    }
    Ok(response)
}

async fn serve(server: &Server, incoming: Incoming, warnings: &Warnings) -> Result<Response<Body>, ApiError> {
    let Incoming { parts, body, identity, verb, address, outside } = incoming;
    let resource = server
        .registry()
        .get(&address.group, &address.version, &address.resource)
        .ok_or_else(ApiError::no_such_path)?;
    check_place(&resource, verb, &address)?;
    let options = options::parse(parts.uri.query(), verb)?;
    let form = form(&parts, verb == Verb::Watch, outside)?;
    if let Some(text) = &resource.deprecation {
        warnings.add(text.as_str());
    }
    let patch = match verb {
        Verb::Patch => Some(negotiate::patch(header(&parts.headers, &CONTENT_TYPE))?),
        _ => None,
    };
    let body = match verb {
        Verb::Get | Verb::List | Verb::Watch => None,
        _ => {
            let bytes = decode::read(body).await?;
            let decoded = decode_body(&parts.headers, &resource, verb, patch, &bytes)?;
            if let Some(decoded) = &decoded {
                check_repeated(&resource, verb, decoded, options.field_validation, warnings)?;
            }
            decoded.map(|decoded| decoded.value)
        }
    };
    if verb == Verb::Create && review::is_review(&resource) {
        // There is no object behind it whose columns could be shown.
        if form.shape != Shape::default() {
            return Err(ApiError::not_acceptable(&["application/json", "application/yaml"]));
        }
        let body = body.ok_or_else(|| ApiError::bad_request("a review needs a body"))?;
        let answered = review::answer(server, &resource, &address, identity, body).await?;
        return Ok(answer::document(201, &answered, Form { shape: Default::default(), ..form }));
    }
    if verb == Verb::Create && token::is_token_request(&address) {
        let body = body.ok_or_else(|| ApiError::bad_request("a TokenRequest needs a body"))?;
        let answered = token::issue(server, &address, body).await?;
        return Ok(answer::document(201, &answered, Form { shape: Default::default(), ..form }));
    }
    let call = Call {
        resource: resource.clone(),
        namespace: address.namespace,
        name: address.name,
        subresource: address.subresource,
        options,
        identity,
        user_agent: header(&parts.headers, &USER_AGENT).unwrap_or_default().to_owned(),
        body,
        patch,
        warnings: warnings.clone(),
    };
    let outcome = call_core(server, verb, call).await?;
    Ok(answer::outcome(&resource, outcome, form))
}

async fn call_core(server: &Server, verb: Verb, call: Call) -> Result<Outcome, ApiError> {
    match verb {
        Verb::Get => handler::get(server, call).await,
        Verb::List => handler::list(server, call).await,
        Verb::Watch => handler::watch(server, call).await,
        Verb::Create => handler::create(server, call).await,
        Verb::Update => handler::update(server, call).await,
        Verb::Patch => handler::patch(server, call).await,
        Verb::Delete => handler::delete(server, call).await,
        Verb::DeleteCollection => handler::delete_collection(server, call).await,
    }
}

/// Whether the resource is served at this address and has this verb there.
fn check_place(resource: &Resource, verb: Verb, address: &Address) -> Result<(), ApiError> {
    if !resource.namespaced && !address.namespace.is_empty() {
        return Err(ApiError::no_such_path());
    }
    let needs_namespace = !address.name.is_empty() || !matches!(verb, Verb::List | Verb::Watch);
    let whole_cluster = resource.namespaced && address.namespace.is_empty();
    let not_allowed = ApiError::no_such_method;
    if whole_cluster && needs_namespace {
        return Err(if address.name.is_empty() { not_allowed() } else { ApiError::no_such_path() });
    }
    if address.subresource.is_empty() {
        let one = matches!(verb, Verb::Update | Verb::Patch);
        let many = verb == Verb::Create;
        if !resource.allows(verb.as_str())
            || (one && address.name.is_empty())
            || (many && !address.name.is_empty())
        {
            return Err(not_allowed());
        }
        return Ok(());
    }
    let subresource = resource.subresource(&address.subresource).ok_or_else(ApiError::no_such_path)?;
    if subresource.verbs.iter().any(|own| own == verb.as_str()) { Ok(()) } else { Err(not_allowed()) }
}

fn form(parts: &http::request::Parts, watch: bool, outside: bool) -> Result<Form, ApiError> {
    let (format, shape) = negotiate::objects(header(&parts.headers, &ACCEPT), watch)?;
    let mut include = Include::default();
    let mut pretty = None;
    for (key, value) in query_pairs(parts.uri.query()) {
        match key.as_ref() {
            "includeObject" => include = Include::parse(&value),
            "pretty" => pretty = Some(truthy(&value)),
            _ => {}
        }
    }
    let agent = header(&parts.headers, &USER_AGENT).unwrap_or_default();
    let pretty = pretty.unwrap_or_else(|| READERS.iter().any(|reader| agent.starts_with(reader)));
    let gzip = outside && takes_gzip(&parts.headers);
    Ok(Form { format, shape, include, pretty, gzip, inside: !outside })
}

/// Whether the client takes gzip.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    header(headers, &ACCEPT_ENCODING)
        .is_some_and(|value| value.split(',').any(|one| one.split(';').next().map(str::trim) == Some("gzip")))
}

fn decode_body(
    headers: &HeaderMap,
    resource: &Resource,
    verb: Verb,
    patch: Option<PatchType>,
    bytes: &[u8],
) -> Result<Option<Decoded>, ApiError> {
    let content_type = header(headers, &CONTENT_TYPE);
    match patch {
        Some(PatchType::Apply) => return decode::decode_apply(bytes).map(Some),
        Some(_) => {
            let mut decoded = decode::decode(bytes, Encoding::Json)
                .map_err(|error| ApiError::bad_request(format!("error decoding patch: {error}")))?;
            // A JSON patch's own members say nothing about the object.
            if patch == Some(PatchType::Json) {
                decoded.repeated.clear();
            }
            return Ok(Some(decoded));
        }
        None => {}
    }
    let deleting = matches!(verb, Verb::Delete | Verb::DeleteCollection);
    if bytes.is_empty() && (deleting || verb == Verb::Create) {
        return Ok(None);
    }
    let encoding = negotiate::body(content_type)?;
    if encoding == Encoding::Protobuf && !resource.builtin && !deleting {
        return Err(ApiError::unsupported_media_type(&["application/json", "application/yaml"]));
    }
    let decoded = decode::decode(bytes, encoding)?;
    if !decoded.value.is_object() {
        return Err(ApiError::bad_request(
            "the request's body is no object: expected apiVersion, kind and so on",
        ));
    }
    Ok(Some(decoded))
}

/// Fields given twice: refused, warned of, or passed over, as the client wishes.
fn check_repeated(
    resource: &Resource,
    verb: Verb,
    decoded: &Decoded,
    validation: FieldValidation,
    warnings: &Warnings,
) -> Result<(), ApiError> {
    if decoded.repeated.is_empty() || matches!(verb, Verb::Delete | Verb::DeleteCollection) {
        return Ok(());
    }
    match validation {
        FieldValidation::Ignore => Ok(()),
        FieldValidation::Warn => {
            decoded.repeated.iter().for_each(|text| warnings.add(text.as_str()));
            Ok(())
        }
        FieldValidation::Strict => {
            let text = |key: &str| decoded.value.get(key).and_then(Value::as_str);
            let kind = text("kind").unwrap_or(&resource.kind);
            let repeated = decoded.repeated.join(", ");
            // Both kinds of fault are told of together.
            let trial = intake::normalize_as(resource, &mut decoded.value.clone(), validation, |_| {});
            if verb != Verb::Patch
                && let Err(mut unknown) = trial
                && unknown.message.contains("strict decoding error: ")
            {
                unknown.message.push_str(&format!(", {repeated}"));
                return Err(unknown);
            }
            Err(ApiError::bad_request(format!(
                "{kind} in version {:?} cannot be handled as a {kind}: strict decoding error: {repeated}",
                resource.version,
            )))
        }
    }
}

/// A `Warning` header. Characters that headers can't carry become spaces.
fn warning(text: &str) -> Option<HeaderValue> {
    let mut quoted = String::from("299 - \"");
    for letter in text.chars().take(MAX_WARNING) {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted.push(' '),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    HeaderValue::from_bytes(quoted.as_bytes()).ok()
}

fn header<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
