//! Everything between the socket and the core: what a request is about, who asks
//! and whether they may, in what form it comes and goes. One entry for every path.

pub mod answer;
pub mod decode;
pub mod discovery;
pub mod info;
pub mod inside;
pub mod negotiate;
pub mod openapi;
pub mod options;
pub mod shape;

mod documents;
#[cfg(test)]
mod fixture;
mod resources;
mod review;
mod service;
mod token;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use futures::FutureExt as _;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::sync::Semaphore;

use self::info::{RequestInfo, Target, Verb};
use crate::auth::authorize::is_anonymous;
use crate::auth::impersonate;
use crate::auth::tokens::Tokens;
use crate::auth::{Attributes, Authenticated, Authorizer, Decision, ResourceAttributes, TokenIssuer};
use crate::error::{self, ApiError};
use crate::identity::Identity;
use crate::server::Server;

pub use service::Service;

/// How many requests from outside, watches apart, may run at once: as many as
/// kube-apiserver's two limits together. More are told to come back.
const MAX_IN_FLIGHT: usize = 600;
/// What they are told to wait, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;
/// Clients pause by themselves unless they see that the server manages its load: any name will do.
const FLOW_SCHEMA: HeaderValue = HeaderValue::from_static("00000000-0000-4000-8000-000000000001");
/// See [`FLOW_SCHEMA`].
const PRIORITY_LEVEL: HeaderValue = HeaderValue::from_static("00000000-0000-4000-8000-000000000002");

/// Choices about the outside of a server.
#[derive(Clone, Default)]
pub struct FrontOptions {
    /// Says who may do what; by default whoever has signed in may do everything.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// Fixed bearer tokens.
    pub tokens: BTreeMap<String, Identity>,
    /// Issuer of service-account tokens; by default a key that is forgotten with the process.
    pub issuer: Option<Arc<dyn TokenIssuer>>,
}

/// What a server's front keeps between requests.
pub struct Front {
    authorizer: Arc<dyn Authorizer>,
    tokens: Tokens,
    discovery: discovery::Cache,
    openapi: openapi::Cache,
    in_flight: Semaphore,
}

impl Front {
    /// A front with these choices.
    pub fn new(options: FrontOptions) -> Self {
        Self {
            authorizer: options.authorizer.unwrap_or_else(|| Arc::new(Authenticated)),
            tokens: Tokens::new(&options.tokens, options.issuer),
            discovery: discovery::Cache::default(),
            openapi: openapi::Cache::default(),
            in_flight: Semaphore::new(MAX_IN_FLIGHT),
        }
    }

    /// The issuer of this server's service-account tokens.
    pub fn issuer(&self) -> Result<Arc<dyn TokenIssuer>, ApiError> {
        self.tokens.issuer()
    }
}

impl std::fmt::Debug for Front {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Front").finish_non_exhaustive()
    }
}

/// Where a request comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// From a part of this process, trusted to be who it says.
    Inside(Identity),
    /// From a socket; with a verified client certificate's identity, if it had one.
    Outside(Option<Identity>),
}

/// Answers one request, whatever happens.
pub async fn handle(server: &Server, request: Request<Body>, origin: Origin) -> Response<Body> {
    let outside = matches!(origin, Origin::Outside(_));
    let audit = outside.then(|| audit_id(request.headers()));
    let mut response = match AssertUnwindSafe(route(server, request, origin)).catch_unwind().await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => answer::error(&error),
        Err(_) => {
            tracing::error!(server = server.name(), "a request handler panicked");
            answer::error(&ApiError::internal("the server failed at this request; its log says more"))
        }
    };
    let headers = response.headers_mut();
    if let Some(audit) = audit {
        headers.insert("audit-id", audit);
        headers.entry("cache-control").or_insert(HeaderValue::from_static("no-cache, private"));
    }
    headers.insert("x-kubernetes-pf-flowschema-uid", FLOW_SCHEMA);
    headers.insert("x-kubernetes-pf-prioritylevel-uid", PRIORITY_LEVEL);
    response
}

async fn route(server: &Server, request: Request<Body>, origin: Origin) -> Result<Response<Body>, ApiError> {
    let (parts, body) = request.into_parts();
    let identity = match origin {
        Origin::Inside(identity) => identity,
        Origin::Outside(certificate) => {
            // Held until the answer's head is there, so a watch that runs holds none.
            let Ok(_permit) = server.front().in_flight.try_acquire() else {
                let message = "too many requests at once, please try again";
                return Err(ApiError::too_many_requests(message, RETRY_AFTER_SECONDS));
            };
            let caller = authenticate(server, certificate, &parts.headers).await?;
            let identity =
                impersonate::effective(caller, &parts.headers, server.front().authorizer.as_ref())?;
            return dispatch(server, parts, body, identity, true).await;
        }
    };
    dispatch(server, parts, body, identity, false).await
}

async fn dispatch(
    server: &Server,
    parts: http::request::Parts,
    body: Body,
    identity: Identity,
    outside: bool,
) -> Result<Response<Body>, ApiError> {
    let Some(RequestInfo { verb, target }) = info::parse(&parts.method, parts.uri.path(), parts.uri.query())
    else {
        return Err(ApiError::new(
            405,
            "MethodNotAllowed",
            format!("the method {} is not known here", parts.method),
        ));
    };
    authorize(server, &identity, verb, &target, &parts)?;
    match target {
        Target::Document => documents::answer(server, &parts),
        Target::Resource(address) => {
            resources::answer(server, resources::Incoming { parts, body, identity, verb, address, outside })
                .await
        }
    }
}

/// Who asks, by certificate or token. A bad token is an error; none at all is anonymous.
async fn authenticate(
    server: &Server,
    certificate: Option<Identity>,
    headers: &HeaderMap,
) -> Result<Identity, ApiError> {
    if let Some(identity) = certificate {
        return Ok(identity);
    }
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some((scheme, token)) = header.split_once(' ') else { return Ok(Identity::anonymous()) };
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Ok(Identity::anonymous());
    }
    server.front().tokens.identify(server, token.trim()).await
}

fn authorize(
    server: &Server,
    identity: &Identity,
    verb: Verb,
    target: &Target,
    parts: &http::request::Parts,
) -> Result<(), ApiError> {
    if identity.is_master() {
        return Ok(());
    }
    let method = parts.method.as_str().to_ascii_lowercase();
    let (resource, path, verb) = match target {
        Target::Document => (None, parts.uri.path(), method.as_str()),
        Target::Resource(address) => {
            let resource = ResourceAttributes {
                group: &address.group,
                version: &address.version,
                resource: &address.resource,
                subresource: &address.subresource,
                namespace: &address.namespace,
                name: &address.name,
            };
            (Some(resource), "", verb.as_str())
        }
    };
    match server.front().authorizer.authorize(identity, &Attributes { verb, resource, path }) {
        Decision::Allow => Ok(()),
        Decision::Deny(_) if is_anonymous(identity) => Err(ApiError::unauthorized()),
        Decision::Deny(reason) => Err(forbidden(identity, verb, target, parts.uri.path(), &reason)),
    }
}

fn forbidden(identity: &Identity, verb: &str, target: &Target, path: &str, reason: &str) -> ApiError {
    let tail = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    let user = &identity.user;
    match target {
        Target::Document => {
            let message = format!("forbidden: User {user:?} cannot {verb} path {path:?}{tail}");
            ApiError::new(403, "Forbidden", message).about(error::Target::default())
        }
        Target::Resource(address) => {
            let mut resource = address.resource.clone();
            if !address.subresource.is_empty() {
                resource = format!("{resource}/{}", address.subresource);
            }
            let place = if address.namespace.is_empty() {
                "at the cluster scope".to_owned()
            } else {
                format!("in the namespace {:?}", address.namespace)
            };
            let detail = format!(
                "User {user:?} cannot {verb} resource {resource:?} in API group {:?} {place}{tail}",
                address.group
            );
            ApiError::forbidden(error::Target::new(&address.group, &address.resource, &address.name), &detail)
        }
    }
}

/// The client's own id of the request, or a new one.
fn audit_id(headers: &HeaderMap) -> HeaderValue {
    match headers.get("audit-id") {
        Some(given) if given.len() <= 64 => given.clone(),
        _ => HeaderValue::from_str(&uuid::Uuid::new_v4().to_string()).unwrap_or(FLOW_SCHEMA),
    }
}
