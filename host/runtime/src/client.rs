//! A `kube::Client` over a service in this process: no socket, no TLS, no port.

use bytes::Bytes;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use tower::{BoxError, Service, ServiceExt};

/// A client of an API server in this process, given as its axum router or anything shaped like it.
///
/// The service decides who the caller is (our API server takes it from a request extension that its router sets).
/// Must be called within a tokio runtime.
pub fn in_process<S, B>(service: S, default_namespace: &str) -> Client
where
    S: Service<Request<axum::body::Body>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    Client::new(
        service.map_request(|request: Request<Body>| request.map(axum::body::Body::new)),
        default_namespace,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Json, Router, routing::get};
    use serde_json::{Value, json};

    #[tokio::test]
    async fn a_router_answers() {
        let router = Router::new()
            .route("/api/v1/namespaces/shop/pods/web", get(async || Json(json!({ "kind": "Pod" }))))
            .route(
                "/api/v1/namespaces/shop/pods",
                axum::routing::post(async |Json(pod): Json<Value>| Json(pod)),
            );
        let client = in_process(router, "default");
        let request = Request::get("/api/v1/namespaces/shop/pods/web").body(Vec::new()).unwrap();
        assert_eq!(client.request::<Value>(request).await.unwrap(), json!({ "kind": "Pod" }));
        let request = Request::post("/api/v1/namespaces/shop/pods")
            .header("content-type", "application/json")
            .body(br#"{"a":1}"#.to_vec())
            .unwrap();
        assert_eq!(client.request::<Value>(request).await.unwrap(), json!({ "a": 1 }));
    }
}
