//! Informers against a scripted server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may stop at the first surprise"
)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_runtime::informer::Change;
use windlass_runtime::{Informers, ObjectKey, Scope, client};

/// A status code and the pieces of a body.
type Scripted = (u16, mpsc::UnboundedReceiver<Bytes>);

/// Answers requests in order; keeps what was asked.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Scripted>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

/// The other end of an answer's body.
struct Answer(mpsc::UnboundedSender<Bytes>);

impl Script {
    fn answer(&self, status: u16) -> Answer {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.answers.lock().unwrap().push_back((status, receiver));
        Answer(sender)
    }

    fn informers(&self) -> Informers {
        let router = Router::new().fallback(serve).with_state(self.clone());
        Informers::new(client::in_process(router, "default"))
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Answer {
    fn send(&self, type_: &str, object: Value) {
        let mut line = json!({ "type": type_, "object": object }).to_string();
        line.push('\n');
        // In pieces, as a network may cut it.
        let (a, b) = line.split_at(line.len() / 2);
        self.0.send(Bytes::from(a.to_owned())).unwrap();
        self.0.send(Bytes::from(b.to_owned())).unwrap();
    }

    fn list_end(&self, version: u32) {
        let annotations = json!({ "k8s.io/initial-events-end": "true" });
        self.send(
            "BOOKMARK",
            json!({ "metadata": { "resourceVersion": version.to_string(), "annotations": annotations } }),
        );
    }
}

async fn serve(State(script): State<Script>, request: Request) -> Response {
    script.asked.lock().unwrap().push(request.uri().to_string());
    let next = script.answers.lock().unwrap().pop_front();
    let Some((status, receiver)) = next else {
        // Nothing scripted: an answer that never comes to an end.
        return Response::new(Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>()));
    };
    let frames = futures::stream::unfold(receiver, async |mut receiver| {
        let frame = receiver.recv().await?;
        Some((Ok::<_, std::io::Error>(frame), receiver))
    });
    Response::builder().status(status).body(Body::from_stream(frames)).unwrap()
}

fn pod(name: &str, version: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "shop", "uid": name, "resourceVersion": version.to_string(),
            "labels": { "app": name }, "managedFields": [{}],
        },
    })
}

fn pods() -> Gvr {
    Gvr::new("", "v1", "pods")
}

fn show(change: &Change) -> String {
    let version =
        |object: &Option<Arc<Value>>| object.as_ref().map_or("-".into(), |o| o.resource_version().to_owned());
    format!(
        "{} {}>{}{}",
        change.key,
        version(&change.old),
        version(&change.new),
        if change.initial { " initial" } else { "" }
    )
}

async fn next(changes: &mut mpsc::UnboundedReceiver<Change>) -> String {
    let change = tokio::time::timeout(Duration::from_secs(5), changes.recv())
        .await
        .expect("no change in 5 s")
        .unwrap();
    show(&change)
}

#[tokio::test]
async fn streams_a_list_then_changes() {
    let script = Script::default();
    let answer = script.answer(200);
    let informers = script.informers();
    let handle = informers.watch(Scope::new(pods()).labels("karmada.io/managed=true"));
    handle.add_index("app", |o| o.label("app").map(str::to_owned).into_iter().collect());
    let mut changes = handle.subscribe();
    answer.send("ADDED", pod("a", 1));
    answer.send("ADDED", pod("b", 2));
    assert!(!handle.is_synced());
    answer.list_end(2);
    handle.synced().await;
    assert_eq!(handle.len(), 2);
    assert_eq!(next(&mut changes).await, "shop/a ->1 initial");
    assert_eq!(next(&mut changes).await, "shop/b ->2 initial");
    let a = handle.get("shop", "a").unwrap();
    assert!(a["metadata"].get("managedFields").is_none());

    answer.send("MODIFIED", pod("a", 3));
    answer.send("DELETED", pod("b", 4));
    assert_eq!(next(&mut changes).await, "shop/a 1>3");
    assert_eq!(next(&mut changes).await, "shop/b 2>-");
    assert_eq!(handle.list_in("shop").len(), 1);
    assert_eq!(handle.by_index("app", "a").len(), 1);
    assert!(handle.by_index("app", "b").is_empty());

    let mut late = handle.subscribe();
    assert_eq!(next(&mut late).await, "shop/a ->3 initial");
    let asked = script.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("/api/v1/pods?watch=true"), "{asked:?}");
    for part in [
        "sendInitialEvents=true",
        "resourceVersionMatch=NotOlderThan",
        "allowWatchBookmarks=true",
        "labelSelector=karmada.io%2Fmanaged%3Dtrue",
    ] {
        assert!(asked[0].contains(part), "{part} in {asked:?}");
    }
}

#[tokio::test]
async fn resumes_and_relists_when_expired() {
    let script = Script::default();
    let (first, second, third) = (script.answer(200), script.answer(200), script.answer(200));
    let handle = script.informers().watch(pods());
    let mut changes = handle.subscribe();
    first.send("ADDED", pod("a", 1));
    first.send("ADDED", pod("b", 2));
    first.list_end(5);
    handle.synced().await;
    drop(first);
    second.send("ERROR", json!({ "kind": "Status", "code": 410, "message": "too old" }));
    third.send("ADDED", pod("a", 1));
    third.send("ADDED", pod("c", 9));
    third.list_end(9);
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(next(&mut changes).await);
    }
    assert_eq!(seen, ["shop/a ->1 initial", "shop/b ->2 initial", "shop/c ->9", "shop/b 2>-"]);
    let asked = script.asked();
    assert!(asked[1].contains("resourceVersion=5"), "{asked:?}");
    assert!(asked[2].contains("sendInitialEvents=true"), "{asked:?}");
}

#[tokio::test]
async fn lists_by_pages_where_streaming_is_refused() {
    let script = Script::default();
    let refused = script.answer(422);
    drop(refused);
    for (continue_, name) in [("next", "a"), ("", "b")] {
        let mut item = pod(name, 3);
        item.as_object_mut().unwrap().remove("kind");
        let page = json!({ "apiVersion": "v1", "kind": "PodList", "metadata": { "resourceVersion": "7", "continue": continue_ }, "items": [item] });
        script.answer(200).0.send(Bytes::from(page.to_string())).unwrap();
    }
    let watch = script.answer(200);
    let handle = script.informers().watch(pods());
    handle.synced().await;
    assert_eq!(handle.len(), 2);
    assert_eq!(handle.get("shop", "b").unwrap().kind(), "Pod");
    let mut changes = handle.subscribe();
    watch.send("MODIFIED", pod("b", 8));
    for wanted in ["shop/a ->3 initial", "shop/b ->3 initial", "shop/b 3>8"] {
        assert_eq!(next(&mut changes).await, wanted);
    }
    assert!(script.asked()[2].contains("continue=next"));
}

#[tokio::test]
async fn one_watch_for_all_handles_until_the_last_goes() {
    let script = Script::default();
    let answer = script.answer(200);
    answer.list_end(1);
    let informers = script.informers();
    let (one, two) = (informers.watch(pods()), informers.watch(pods()));
    one.synced().await;
    two.synced().await;
    assert_eq!(script.asked().len(), 1);
    drop(one);
    answer.send("ADDED", pod("a", 2));
    while two.get_key(&ObjectKey::new("shop", "a")).is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(informers.running().len(), 1);
    drop(two);
    assert!(informers.running().is_empty());
    answer.0.closed().await;
}

#[tokio::test]
async fn failures_are_told_and_retried() {
    let script = Script::default();
    let refused = script.answer(403);
    refused.0.send(Bytes::from(r#"{"message":"no right to list pods"}"#)).unwrap();
    drop(refused);
    let answer = script.answer(200);
    let handle = script.informers().watch(pods());
    while handle.last_error().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(handle.last_error().unwrap(), "403 Forbidden: no right to list pods");
    answer.list_end(1);
    handle.synced().await;
    assert_eq!(handle.last_error(), None);
}
