//! Events, the admin port and shutdown.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may stop at the first surprise"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Json, State};
use axum::http::{Method, Uri};
use serde_json::{Value, json};
use windlass_runtime::admin::{self, Readiness};
use windlass_runtime::events::{Recorder, Reference};
use windlass_runtime::metrics::{Metrics, QueueMetrics};
use windlass_runtime::{Queue, Shutdown, client};

type Log = Arc<Mutex<Vec<(String, Value)>>>;

async fn keep(State(log): State<Log>, method: Method, uri: Uri, Json(body): Json<Value>) -> Json<Value> {
    log.lock().unwrap().push((format!("{method} {}", uri.path()), body.clone()));
    Json(body)
}

#[tokio::test(start_paused = true)]
async fn events_are_counted_and_not_repeated() {
    let log = Log::default();
    let router = Router::new().fallback(keep).with_state(log.clone());
    let shutdown = Shutdown::new();
    let recorder = Recorder::new(client::in_process(router, "default"), "test", &shutdown);
    let object = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web", "namespace": "shop", "uid": "u" } });
    for _ in 0..3 {
        recorder.warning(&object, "SyncFailed", "no route");
    }
    recorder.normal(&object, "SyncSucceed", "fine");
    recorder.normal(
        Reference { kind: "Cluster".into(), name: "m1".into(), ..Reference::default() },
        "Joined",
        "hello",
    );
    recorder.normal(&json!({}), "Lost", "no object");
    tokio::time::sleep(Duration::from_secs(301)).await;
    recorder.warning(&object, "SyncFailed", "no route");
    tokio::time::sleep(Duration::from_secs(1)).await;

    let log = log.lock().unwrap().clone();
    let calls: Vec<_> = log
        .iter()
        .map(|(call, body)| (call.as_str(), body["reason"].as_str(), body["count"].as_i64()))
        .collect();
    assert_eq!(
        calls[..3],
        [
            ("POST /api/v1/namespaces/shop/events", Some("SyncFailed"), Some(1)),
            ("POST /api/v1/namespaces/shop/events", Some("SyncSucceed"), Some(1)),
            ("POST /api/v1/namespaces/default/events", Some("Joined"), Some(1)),
        ]
    );
    assert_eq!(calls.len(), 4);
    assert!(calls[3].0.starts_with("PATCH /api/v1/namespaces/shop/events/web."));
    assert_eq!(calls[3].2, Some(4));
    assert_eq!(
        log[0].1["involvedObject"],
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop", "uid": "u" })
    );
    drop(log);
    assert!(shutdown.drain(Duration::from_secs(5)).await);
}

#[tokio::test]
async fn admin_port() {
    let (metrics, readiness, shutdown) = (Metrics::new(), Readiness::new(), Shutdown::new());
    let gate = readiness.gate("works");
    let queue: Queue<&str> = Queue::new("binding").with_metrics(&QueueMetrics::new(&metrics));
    queue.add("a");
    let address = admin::serve("127.0.0.1:0".parse().unwrap(), metrics, readiness, &shutdown).await.unwrap();
    assert_eq!(get(address, "/healthz").await.0, 200);
    assert_eq!(get(address, "/readyz").await, (503, "waiting for works".into()));
    gate.open();
    assert_eq!(get(address, "/readyz").await.0, 200);
    let (_, text) = get(address, "/metrics").await;
    assert!(text.contains(r#"workqueue_depth{name="binding"} 1"#), "{text}");
    assert!(shutdown.drain(Duration::from_secs(5)).await);
}

async fn get(address: std::net::SocketAddr, path: &str) -> (u16, String) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}
