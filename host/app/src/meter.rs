//! Counts what controllers ask of the control plane's API server: each write by verb and resource, and
//! whether it was refused. Shown among the metrics, and read by the benches.

use axum::body::Body;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tower::Service;

/// A write: verb, resource with subresource, and whether it was refused.
pub(crate) type Kind = (&'static str, String, bool);

/// The counts. Clones are handles to the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<Mutex<BTreeMap<Kind, u64>>>);

impl Meter {
    /// All counts.
    pub(crate) fn read(&self) -> BTreeMap<Kind, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, kind: Kind) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default() += 1;
    }

    /// A service whose writes are counted.
    pub(crate) fn over<S>(&self, inner: S) -> Metered<S> {
        Metered { inner, meter: self.clone() }
    }
}

/// A service whose writes are counted.
#[derive(Clone)]
pub(crate) struct Metered<S> {
    inner: S,
    meter: Meter,
}

impl<S> Service<Request<Body>> for Metered<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let verb = match *request.method() {
            Method::POST => Some("create"),
            Method::PUT => Some("update"),
            Method::PATCH => Some("patch"),
            Method::DELETE => Some("delete"),
            _ => None,
        };
        let kind = verb.map(|verb| (verb, resource(request.uri().path())));
        let (answer, meter) = (self.inner.call(request), self.meter.clone());
        Box::pin(async move {
            let answer = answer.await;
            if let Some((verb, resource)) = kind {
                let refused = answer.as_ref().map_or(true, |response| response.status().as_u16() >= 400);
                meter.count((verb, resource, refused));
            }
            answer
        })
    }
}

/// `resourcebindings/status` of a request's path.
fn resource(path: &str) -> String {
    let mut parts =
        path.split('/').filter(|part| !part.is_empty()).skip_while(|part| *part != "api" && *part != "apis");
    let skipped = match parts.next() {
        Some("apis") => 2,
        _ => 1,
    };
    let mut parts: Vec<&str> = parts.skip(skipped).collect();
    if parts.first() == Some(&"namespaces") && parts.len() > 2 {
        parts.drain(..2);
    }
    match parts.as_slice() {
        [resource, _, sub, ..] => format!("{resource}/{sub}"),
        [resource, ..] => (*resource).to_owned(),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_resources() {
        for (path, expected) in [
            ("/api/v1/namespaces/shop/configmaps/a", "configmaps"),
            ("/api/v1/namespaces/shop", "namespaces"),
            (
                "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/a/status",
                "resourcebindings/status",
            ),
            ("/apis/cluster.karmada.io/v1alpha1/clusters/m1", "clusters"),
            ("/version", ""),
        ] {
            assert_eq!(resource(path), expected, "{path}");
        }
    }
}
