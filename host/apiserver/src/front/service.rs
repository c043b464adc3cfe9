//! A server as a tower service, for clients in this process and for listeners.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};

use super::{Origin, handle};
use crate::identity::Identity;
use crate::server::Server;
use crate::tls::Endpoint;

/// Answers requests of one caller in this process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Service {
    server: Server,
    origin: Origin,
}

impl<B> tower::Service<Request<B>> for Service
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self { server, origin } = self.clone();
        Box::pin(async move { Ok(handle(&server, request.map(Body::new), origin).await) })
    }
}

impl Server {
    /// A service for a client in this process, whose every request is `identity`'s.
    pub fn service(&self, identity: Identity) -> Service {
        Service { server: self.clone(), origin: Origin::Inside(identity) }
    }

    /// The same as an axum router, for composing with other routes; callers sign
    /// in by token, or by an [`Identity`] among the request's extensions.
    pub fn router(&self) -> axum::Router {
        let server = self.clone();
        axum::Router::new().fallback(move |request: Request<Body>| {
            let server = server.clone();
            async move { server.call(request).await }
        })
    }
}

impl Endpoint for Server {
    fn call(&self, mut request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
        let server = self.clone();
        let certificate = request.extensions_mut().remove::<Identity>();
        Box::pin(async move { handle(&server, request, Origin::Outside(certificate)).await })
    }
}
