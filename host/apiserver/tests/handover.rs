//! What a client in this process is handed is what the bytes say; from outside there are only the bytes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;
use windlass_apiserver::identity::Identity;
use windlass_apiserver::server::{Server, ServerOptions};
use windlass_object::handover::{Event, Events, Object, Source};
use windlass_object::slim;
use windlass_store::{Database, Options};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn server() -> Server {
    let store = Database::memory(Options::default()).keyspace("test").unwrap();
    Server::start(ServerOptions::new("test", store)).await.unwrap()
}

async fn inside(server: &Server, method: &str, path: &str, body: Value) -> Response<Body> {
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    server.service(Identity::system()).oneshot(request.body(Body::from(bytes)).unwrap()).await.unwrap()
}

async fn json_of(response: Response<Body>) -> Value {
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

async fn next(events: &mut Box<dyn Source>) -> Option<Event> {
    std::future::poll_fn(|context| events.poll_next(context)).await
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": "v", "metadata": "x"}})
}

#[tokio::test]
async fn an_object_in_hand_is_what_its_bytes_say() {
    let server = server().await;
    let patch = json!({"metadata": {"labels": {"a": "b"}}});
    let requests = [
        ("POST", MAPS.to_owned(), map("a")),
        ("PATCH", format!("{MAPS}/a"), patch.clone()),
        // Nothing differs: the object as it is.
        ("PATCH", format!("{MAPS}/a"), patch),
        ("GET", format!("{MAPS}/a"), Value::Null),
    ];
    for (method, path, body) in requests {
        let response = inside(&server, method, &path, body).await;
        let Object(held) = response.extensions().get::<Object>().cloned().expect("an object in hand");
        let bytes = json_of(response).await;
        assert_eq!(held.slim(), slim::copy(&bytes), "{method}");
        assert_eq!(*held.whole(), bytes, "{method}");
        assert!(bytes["metadata"]["managedFields"].is_array() && held.rests());
    }
    let refused = inside(&server, "GET", &format!("{MAPS}/b"), Value::Null).await;
    assert!(refused.status() == 404 && refused.extensions().get::<Object>().is_none());

    let request = Request::get(format!("{MAPS}/a")).body(Body::empty()).unwrap();
    let (mut parts, body) = request.into_parts();
    parts.extensions.insert(Identity::system());
    let outside = server.router().oneshot(Request::from_parts(parts, body)).await.unwrap();
    assert!(outside.status() == 200 && outside.extensions().get::<Object>().is_none());
}

#[tokio::test]
async fn events_go_to_whoever_takes_them() {
    let server = server().await;
    let path = format!("{MAPS}?watch=true&resourceVersion={}", server.store().revision());
    let taken = inside(&server, "GET", &path, Value::Null).await;
    let read = inside(&server, "GET", &path, Value::Null).await;
    let mut events = taken.extensions().get::<Events>().and_then(Events::take).expect("events in hand");
    inside(&server, "POST", MAPS, map("a")).await;
    inside(&server, "DELETE", &format!("{MAPS}/a"), Value::Null).await;

    let mut lines = read.into_body();
    for kind in ["ADDED", "DELETED"] {
        let event = next(&mut events).await.unwrap();
        let line = lines.frame().await.unwrap().unwrap().into_data().unwrap();
        let line: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!((event.kind, &line["type"]), (kind, &json!(kind)));
        assert_eq!(event.object.slim(), slim::copy(&line["object"]), "{kind}");
        assert_eq!(*event.object.whole(), line["object"], "{kind}");
    }
    assert!(taken.into_body().collect().await.unwrap().to_bytes().is_empty(), "they were taken");
    server.stop();
    assert!(next(&mut events).await.is_none(), "the watch ends with the server");
}
