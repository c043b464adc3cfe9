//! Counts what controllers write, and what of it is refused.

use axum::body::Body;
use http::{Method, Request, Response};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::{Service, ServiceExt, service_fn};

/// Verb and resource of a write, and whether it was refused.
pub(crate) type Kind = (String, bool);

/// The counts. Clones are handles to the same.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<BTreeMap<Kind, usize>>>);

/// Answers as `server` does, and counts.
pub(crate) fn metered<S>(
    server: S,
    meter: &Meter,
) -> impl Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
+ Send
+ 'static
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    let meter = meter.clone();
    service_fn(move |request: Request<Body>| {
        let (server, meter) = (server.clone(), meter.clone());
        async move {
            let write = (*request.method() != Method::GET).then(|| name(&request));
            let answer = server.oneshot(request).await?;
            if let Some(write) = write {
                let refused = answer.status().is_client_error() || answer.status().is_server_error();
                *meter.0.lock().unwrap().entry((write, refused)).or_default() += 1;
            }
            Ok(answer)
        }
    })
}

/// `PATCH works/status`
fn name(request: &Request<Body>) -> String {
    let path = request.uri().path();
    let skip = if path.starts_with("/apis/") { 3 } else { 2 };
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).skip(skip).collect();
    if parts.len() > 2 && parts[0] == "namespaces" {
        parts.drain(..2);
    }
    if parts.len() > 1 {
        parts.remove(1);
    }
    format!("{} {}", request.method(), parts.join("/"))
}

impl Meter {
    /// What was counted so far. Clusters report how they are all the time, and are left out.
    pub(crate) fn read(&self) -> BTreeMap<Kind, usize> {
        let counts = self.0.lock().unwrap();
        counts
            .iter()
            .filter(|((name, _), _)| !name.ends_with(" clusters/status"))
            .map(|(kind, count)| (kind.clone(), *count))
            .collect()
    }
}

/// What came on top of `before`.
pub(crate) fn since(before: &BTreeMap<Kind, usize>, after: &BTreeMap<Kind, usize>) -> BTreeMap<Kind, usize> {
    let fresh = |(kind, count): (&Kind, &usize)| {
        (kind.clone(), count - before.get(kind).copied().unwrap_or_default())
    };
    after.iter().map(fresh).filter(|(_, count)| *count > 0).collect()
}
