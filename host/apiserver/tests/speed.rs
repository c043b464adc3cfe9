//! Figures, not truths: `cargo test --release -p windlass-apiserver --test speed -- --ignored --nocapture`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test should stop where it fails"
)]
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use axum::body::Body;
use futures::{StreamExt as _, stream};
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tower::ServiceExt as _;
use windlass_apiserver::{Identity, Server, ServerOptions};
use windlass_store::{Database, Options};

async fn send(server: &Server, method: &str, path: &str, body: Value) -> (u16, bytes::Bytes) {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let request = request.header("user-agent", "bench/1").body(body).unwrap();
    let response = server.service(Identity::system()).oneshot(request).await.unwrap();
    let code = response.status().as_u16();
    (code, response.into_body().collect().await.unwrap().to_bytes())
}

async fn many(server: &Server, count: usize, object: impl Fn(usize) -> Value) -> Duration {
    let start = Instant::now();
    stream::iter(0..count)
        .map(|index| {
            let object = object(index);
            async move {
                let (code, body) =
                    send(server, "POST", "/api/v1/namespaces/default/configmaps", object).await;
                assert_eq!(code, 201, "{}", String::from_utf8_lossy(&body));
            }
        })
        .buffer_unordered(16)
        .collect::<Vec<()>>()
        .await;
    start.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn speed() {
    const COUNT: usize = 10_000;
    let database = Database::memory(Options::default());
    let started = Instant::now();
    let server =
        Server::start(ServerOptions::new("speed", database.keyspace("speed").unwrap())).await.unwrap();
    println!("start: {:?}", started.elapsed());
    let payload = "x".repeat(900);
    let plain = |index: usize| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("c{index}")}, "data": {"payload": payload}});
    let took = many(&server, COUNT, plain).await;
    println!("create: {:.0} per s", COUNT as f64 / took.as_secs_f64());
    let start = Instant::now();
    let (_, body) = send(&server, "GET", "/api/v1/configmaps", Value::Null).await;
    println!("list of {COUNT}: {:?}, {} bytes", start.elapsed(), body.len());
    let start = Instant::now();
    for index in 0..1000 {
        send(&server, "GET", &format!("/api/v1/namespaces/default/configmaps/c{index}"), Value::Null).await;
    }
    println!("get: {:?}", start.elapsed() / 1000);
    let owner =
        send(&server, "POST", "/api/v1/namespaces/default/secrets", json!({"metadata": {"name": "o"}}))
            .await
            .1;
    let owner: Value = serde_json::from_slice(&owner).unwrap();
    let uid = owner["metadata"]["uid"].as_str().unwrap().to_owned();
    let owned = |index: usize| json!({"metadata": {"name": format!("d{index}"), "ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "o", "uid": uid}]}});
    let took = many(&server, COUNT, owned).await;
    println!("create with owner: {:.0} per s", COUNT as f64 / took.as_secs_f64());
    let start = Instant::now();
    send(&server, "DELETE", "/api/v1/namespaces/default/secrets/o", Value::Null).await;
    while server.store().snapshot().range("/core/configmaps/default/d", None).next().is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    println!("collect {COUNT} dependents: {:?}", start.elapsed());
}
