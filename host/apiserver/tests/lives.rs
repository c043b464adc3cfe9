//! What scripts cannot say: many writers at once, restarts, admission functions, limits.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test should stop where it fails"
)]

use axum::body::Body;
use futures::future::join_all;
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tower::ServiceExt as _;
use windlass_apiserver::{Admission, Denied, Identity, Operation, Review, Server, ServerOptions};
use windlass_store::{Database, Options};

async fn send(server: &Server, method: &str, path: &str, kind: &str, body: Value) -> (u16, Value) {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    let request = request.header("user-agent", "tester/1").body(body).unwrap();
    let response = server.service(Identity::system()).oneshot(request).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap_or_default())
}

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn memory(hooks: Vec<Arc<dyn Admission>>) -> Server {
    let database = Database::memory(Options::default());
    let mut options = ServerOptions::new("test", database.keyspace("test").unwrap());
    options.admission = hooks;
    Server::start(options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_patches_of_one_object_all_arrive() {
    let server = memory(Vec::new()).await;
    send(&server, "POST", CONFIG_MAPS, JSON, json!({"metadata": {"name": "a"}})).await;
    let patches = (0..50).map(|index| {
        let server = server.clone();
        tokio::spawn(async move {
            let patch = json!({"data": {format!("k{index}"): "v"}});
            send(&server, "PATCH", &format!("{CONFIG_MAPS}/a"), MERGE, patch).await.0
        })
    });
    for code in join_all(patches).await {
        assert_eq!(code.unwrap(), 200);
    }
    let (_, object) = send(&server, "GET", &format!("{CONFIG_MAPS}/a"), JSON, Value::Null).await;
    assert_eq!(object["data"].as_object().unwrap().len(), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_creates_wins() {
    let server = memory(Vec::new()).await;
    let creates = (0..20).map(|_| {
        let server = server.clone();
        tokio::spawn(async move {
            send(&server, "POST", CONFIG_MAPS, JSON, json!({"metadata": {"name": "a"}})).await.0
        })
    });
    let codes: Vec<u16> = join_all(creates).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(codes.iter().filter(|code| **code == 201).count(), 1);
    assert_eq!(codes.iter().filter(|code| **code == 409).count(), 19);
}

/// Nothing is left behind in a namespace, however late it comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_goes_with_all_that_races_it() {
    let server = memory(Vec::new()).await;
    for round in 0..5 {
        let name = format!("n{round}");
        send(&server, "POST", "/api/v1/namespaces", JSON, json!({"metadata": {"name": name}})).await;
        let writers = (0..40).map(|index| {
            let (server, path) = (server.clone(), format!("/api/v1/namespaces/{name}/configmaps"));
            tokio::spawn(async move {
                send(&server, "POST", &path, JSON, json!({"metadata": {"name": format!("c{index}")}})).await.0
            })
        });
        let writers: Vec<_> = writers.collect();
        send(&server, "DELETE", &format!("/api/v1/namespaces/{name}"), JSON, Value::Null).await;
        for code in join_all(writers).await {
            assert!(matches!(code.unwrap(), 201 | 403 | 404));
        }
        let gone = async {
            while send(&server, "GET", &format!("/api/v1/namespaces/{name}"), JSON, Value::Null).await.0
                != 404
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap();
        let prefix = format!("/core/configmaps/{name}/");
        assert_eq!(server.store().snapshot().range(&prefix, None).count(), 0);
    }
}

fn crd() -> Value {
    json!({
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }}}],
        },
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_finds_everything_and_finishes_what_was_begun() {
    let folder = std::env::temp_dir().join(format!("windlass-apiserver-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("data.redb");
    let (owner, revision) = {
        let database = Database::open(&path, Options::default()).unwrap();
        let server =
            Server::start(ServerOptions::new("first", database.keyspace("k").unwrap())).await.unwrap();
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        assert_eq!(send(&server, "POST", crds, JSON, crd()).await.0, 201);
        let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 1}});
        assert_eq!(send(&server, "POST", "/apis/example.com/v1/things", JSON, thing).await.0, 201);
        let (_, object) = send(&server, "GET", "/apis/example.com/v1/things/t", JSON, Value::Null).await;
        let uid = object["metadata"]["uid"].as_str().unwrap().to_owned();
        // Stopped before it can clean up after its owner: the loops are gone when the owner goes.
        let owners = json!([{"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": uid}]);
        let child = json!({"metadata": {"name": "child", "ownerReferences": owners}});
        assert_eq!(send(&server, "POST", CONFIG_MAPS, JSON, child).await.0, 201);
        server.stop();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(send(&server, "DELETE", "/apis/example.com/v1/things/t", JSON, Value::Null).await.0, 200);
        (uid, server.store().revision())
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    let database = Database::open(&path, Options::default()).unwrap();
    let server = Server::start(ServerOptions::new("second", database.keyspace("k").unwrap())).await.unwrap();
    assert!(server.store().revision() >= revision);
    assert_eq!(send(&server, "GET", "/apis/example.com/v1/things", JSON, Value::Null).await.0, 200);
    let gone = async {
        while send(&server, "GET", &format!("{CONFIG_MAPS}/child"), JSON, Value::Null).await.0 != 404 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone)
        .await
        .unwrap_or_else(|_| panic!("the child of {owner} stays"));
    server.stop();
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}

struct Hook;

impl Admission for Hook {
    fn concerns(&self, group: &str, resource: &str) -> bool {
        group.is_empty() && resource == "configmaps"
    }

    fn admit(&self, review: &mut Review) -> Result<(), Denied> {
        if review.name == "bad" {
            return Err(Denied::new("no such thing here; use another name"));
        }
        if review.operation == Operation::Delete {
            assert!(review.old.is_some() && review.object.is_none());
            return Ok(());
        }
        review.warnings.push("seen".into());
        if let Some(object) = &mut review.object {
            object["data"]["by"] = json!(review.user.user);
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn admission_changes_and_refuses() {
    let server = memory(vec![Arc::new(Hook)]).await;
    let (code, object) =
        send(&server, "POST", CONFIG_MAPS, JSON, json!({"metadata": {"name": "a"}, "data": {"x": "y"}}))
            .await;
    assert_eq!((code, &object["data"]["by"]), (201, &json!(Identity::system().user)));
    let (code, status) = send(&server, "POST", CONFIG_MAPS, JSON, json!({"metadata": {"name": "bad"}})).await;
    assert_eq!(code, 403);
    assert_eq!(status["message"], "configmaps \"bad\" is forbidden: no such thing here; use another name");
    assert_eq!(send(&server, "DELETE", &format!("{CONFIG_MAPS}/a"), JSON, Value::Null).await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_hold() {
    let server = memory(Vec::new()).await;
    let big = "x".repeat(1024 * 1024 + 1);
    let (code, status) =
        send(&server, "POST", CONFIG_MAPS, JSON, json!({"metadata": {"name": "a"}, "data": {"x": big}}))
            .await;
    assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
    let annotation = "x".repeat(256 * 1024);
    let object = json!({"metadata": {"name": "a", "annotations": {"x": annotation}}});
    let (code, status) = send(&server, "POST", CONFIG_MAPS, JSON, object).await;
    assert_eq!(code, 422);
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("metadata.annotations: Too long: may not be more than 262144 bytes"),
        "{status}"
    );
    let (code, _) = send(
        &server,
        "POST",
        CONFIG_MAPS,
        JSON,
        json!({"metadata": {"name": "a"}, "data": {"x": "x".repeat(4 * 1024 * 1024)}}),
    )
    .await;
    assert_eq!(code, 413);
}
