//! The task that keeps a live copy live: a streamed first list, then changes, resumed from the last version seen;
//! a new list when that version is compacted; a pause between failures.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass_object::meta::Meta;
use windlass_object::path;

use super::Scope;
use super::feed::Feed;
use super::store::{Arrived, Store};
use crate::objects::{base, collection, escape};

/// Seconds after which we ask the server to end a watch: what broke silently is noticed then at the latest.
const WATCH_SECONDS: u64 = 290;
/// How long after that we end it ourselves.
const GRACE: Duration = Duration::from_secs(30);
/// First and longest pause between failed attempts.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A watch that ends sooner is followed by a pause, whatever its end: no server is asked in a tight loop.
const BRIEF: Duration = Duration::from_secs(1);
/// Objects per page where the server can't stream the first list.
const PAGE: u32 = 500;
/// Marks the bookmark that ends a streamed list.
const LIST_END: &str = "k8s.io/initial-events-end";

/// Why a watch ended.
enum End {
    /// The server ended it, as it may at any time.
    Closed,
    /// The version that we asked for is compacted: list anew.
    Expired,
    /// The server doesn't stream lists: list by pages.
    NoStreaming,
    /// Something failed.
    Failed(String),
}

/// Where a copy stands.
struct Position {
    /// Version to resume from; None means that a list is needed.
    version: Option<String>,
    /// Whether the server can stream the list.
    streams: bool,
}

/// Keeps `store` live until `stop`.
pub(super) async fn run(client: Client, scope: Scope, store: Arc<Store>, stop: CancellationToken) {
    let mut position = Position { version: None, streams: true };
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        let end = tokio::select! {
            () = stop.cancelled() => return,
            end = attempt(&client, &scope, &store, &mut position, &mut pause) => end,
        };
        store.sweep();
        let brief = began.elapsed() < BRIEF;
        match end {
            End::Closed if !brief => continue,
            End::Closed => {}
            End::Expired => {
                position.version = None;
                if !brief {
                    continue;
                }
            }
            End::NoStreaming => {
                position.streams = false;
                continue;
            }
            End::Failed(error) => {
                tracing::debug!(resource = %scope.gvr, error, "watch failed");
                store.set_error(Some(error));
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn attempt(
    client: &Client,
    scope: &Scope,
    store: &Store,
    position: &mut Position,
    pause: &mut Duration,
) -> End {
    if position.version.is_none() && !position.streams {
        match list(client, scope).await {
            Ok((items, version)) => {
                store.replace(items);
                position.version = Some(version);
            }
            Err(error) => return End::Failed(error),
        }
    }
    let deadline = Duration::from_secs(WATCH_SECONDS) + GRACE;
    match tokio::time::timeout(deadline, stream(client, scope, store, position, pause)).await {
        Ok(end) => end,
        Err(_) => End::Closed,
    }
}

async fn stream(
    client: &Client,
    scope: &Scope,
    store: &Store,
    position: &mut Position,
    pause: &mut Duration,
) -> End {
    let mut query = format!("watch=true&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}");
    match &position.version {
        Some(version) => query.push_str(&format!("&resourceVersion={}", escape(version))),
        None => query.push_str("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
    }
    let response = match get(client, scope, &query).await {
        Ok(response) => response,
        Err(error) => return End::Failed(error),
    };
    match response.status() {
        StatusCode::OK => {}
        StatusCode::GONE => return End::Expired,
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY
            if position.version.is_none() && position.streams =>
        {
            return End::NoStreaming;
        }
        status => return End::Failed(refusal(status, response.into_body()).await),
    }
    let mut feed = Feed::of(response);
    // Objects of the streamed list, until its end is marked.
    let mut listed = position.version.is_none().then(Vec::new);
    loop {
        let mut event = match feed.next().await {
            Ok(Some(event)) => event,
            Ok(None) if listed.is_some() => {
                return End::Failed("the watch ended before its list was complete".into());
            }
            Ok(None) => return End::Closed,
            Err(error) => return End::Failed(error),
        };
        let version = event.object.resource_version().to_owned();
        match event.kind.as_str() {
            "ADDED" | "MODIFIED" => {
                project(&mut event.object, scope);
                // A part of an object is kept in bytes of our own, which are fewer.
                let handed = event.handed.filter(|handed| scope.projection.is_none() && handed.rests());
                let arrived = (Arc::new(event.object), handed);
                match &mut listed {
                    Some(listed) => listed.push(arrived),
                    None => store.put(arrived),
                }
            }
            "DELETED" => match &mut listed {
                Some(listed) => listed.retain(|(o, _)| o.uid() != event.object.uid()),
                None => store.remove(&event.object),
            },
            "BOOKMARK" => {
                if event.object.annotation(LIST_END) == Some("true")
                    && let Some(listed) = listed.take()
                {
                    store.replace(listed);
                }
            }
            "ERROR" => return error_event(&event.object),
            other => return End::Failed(format!("unknown type of watch event {other:?}")),
        }
        if listed.is_none() {
            *pause = FIRST_PAUSE;
            store.set_error(None);
            if !version.is_empty() {
                position.version = Some(version);
            }
        }
    }
}

/// Lists by pages, for servers that don't stream lists.
async fn list(client: &Client, scope: &Scope) -> Result<(Vec<Arrived>, String), String> {
    let mut items = Vec::new();
    let mut token = String::new();
    loop {
        let mut query = format!("limit={PAGE}");
        if !token.is_empty() {
            query.push_str(&format!("&continue={}", escape(&token)));
        }
        let response = get(client, scope, &query).await?;
        let (parts, body) = response.into_parts();
        if parts.status != StatusCode::OK {
            return Err(refusal(parts.status, body).await);
        }
        let bytes = body.collect_bytes().await.map_err(|error| format!("the list broke off: {error}"))?;
        let mut page: Value =
            serde_json::from_slice(&bytes).map_err(|error| format!("the list can't be read: {error}"))?;
        let kind = page.kind().trim_end_matches("List").to_owned();
        let api_version = page.api_version().to_owned();
        if let Some(Value::Array(page_items)) = page.get_mut("items").map(Value::take) {
            for mut item in page_items {
                // Items of built-in lists come without their type.
                if let Some(map) = item.as_object_mut() {
                    map.entry("apiVersion").or_insert_with(|| api_version.clone().into());
                    map.entry("kind").or_insert_with(|| kind.clone().into());
                }
                item.metadata_mut().remove("managedFields");
                project(&mut item, scope);
                items.push((Arc::new(item), None));
            }
        }
        token = path::str_at(&page, &["metadata", "continue"]).to_owned();
        if token.is_empty() {
            return Ok((items, page.resource_version().to_owned()));
        }
    }
}

async fn get(client: &Client, scope: &Scope, query: &str) -> Result<http::Response<Body>, String> {
    let mut uri = format!("{}?{query}", collection(&base(&scope.gvr), &scope.gvr.resource, &scope.namespace));
    if !scope.labels.is_empty() {
        uri.push_str("&labelSelector=");
        uri.push_str(&escape(&scope.labels));
    }
    let request = Request::get(uri).body(Body::empty()).map_err(|error| error.to_string())?;
    client.send(request).await.map_err(|error| error.to_string())
}

async fn refusal(status: StatusCode, body: Body) -> String {
    let bytes = body.collect_bytes().await.unwrap_or_default();
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    format!("{status}: {}", path::str_at(&answer, &["message"]))
}

fn error_event(status: &Value) -> End {
    match path::i64_at(status, &["code"]) {
        Some(410) => End::Expired,
        _ => End::Failed(path::str_at(status, &["message"]).to_owned()),
    }
}

/// Takes off what nobody reads of this scope.
fn project(object: &mut Value, scope: &Scope) {
    if let Some(projection) = scope.projection {
        (projection.keep)(object);
    }
}
