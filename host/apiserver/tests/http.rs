//! Sessions over HTTP, as data: each file in `cases/http` is a list of requests to a
//! fresh server in memory, with what the answers must be.

#![allow(clippy::unwrap_used, reason = "a test's helpers fail by panicking")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use axum::body::Body;
use http::Request;
use serde_json::Value;
use tower::ServiceExt as _;
use windlass_apiserver::front::FrontOptions;
use windlass_apiserver::{Identity, Server, ServerOptions};
use windlass_store::Database;

async fn server() -> Server {
    let store = Database::memory(Default::default()).keyspace("test").unwrap();
    let mut options = ServerOptions::new("test", store);
    options.front = FrontOptions {
        tokens: BTreeMap::from([
            ("admin".to_owned(), Identity::new("admin", &["system:masters"])),
            ("ann".to_owned(), Identity::new("ann", &["team"])),
        ]),
        ..FrontOptions::default()
    };
    Server::start(options).await.unwrap()
}

/// One request and its answer. `save` keeps parts of the answer for later requests, as `${name}`.
async fn step(server: &Server, step: &Value, saved: &mut BTreeMap<String, String>) -> Result<(), String> {
    let text = |key: &str| step.get(key).and_then(Value::as_str);
    let fill = |text: &str| {
        saved.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
    };
    let mut request =
        Request::builder().method(text("method").unwrap_or("GET")).uri(fill(text("path").unwrap()));
    let token = text("token").unwrap_or("admin");
    if token != "none" {
        request = request.header("authorization", format!("Bearer {}", fill(token)));
    }
    for (name, value) in step.get("headers").and_then(Value::as_object).into_iter().flatten() {
        request = request.header(name, fill(value.as_str().unwrap()));
    }
    let body = match (step.get("body"), step.get("size").and_then(Value::as_u64)) {
        (Some(Value::String(text)), _) => fill(text),
        (Some(object), _) => fill(&object.to_string()),
        (None, Some(size)) => " ".repeat(usize::try_from(size).unwrap()),
        (None, None) => String::new(),
    };
    let response = server.router().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    // A watch is cut by its own timeout.
    let mut bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
    if parts.headers.get("content-encoding").is_some_and(|coding| coding == "gzip") {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
        bytes = plain;
    }
    let content = String::from_utf8_lossy(&bytes).into_owned();
    let shown = format!("{} {}", parts.status, content.chars().take(2000).collect::<String>());
    let code = step.get("code").and_then(Value::as_u64).unwrap_or(200);
    if u64::from(parts.status.as_u16()) != code {
        return Err(format!("expected {code}, got {shown}"));
    }
    for (name, value) in step.get("answers").and_then(Value::as_object).into_iter().flatten() {
        let got = parts.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default();
        let fits = match value.as_str() {
            Some("*") => !got.is_empty(),
            Some(expected) => got == fill(expected),
            None => got.is_empty(),
        };
        if !fits {
            return Err(format!("header {name} is {got:?}, expected {value}"));
        }
    }
    for part in step.get("holds").and_then(Value::as_array).into_iter().flatten() {
        if !content.contains(part.as_str().unwrap()) {
            return Err(format!("{part} is not in {shown}"));
        }
    }
    // The last line: a watch's last event.
    let json: Value = serde_json::from_str(&content)
        .or_else(|_| serde_json::from_str(content.lines().last().unwrap_or_default()))
        .unwrap_or_default();
    for (pointer, expected) in step.get("at").and_then(Value::as_object).into_iter().flatten() {
        let got = json.pointer(pointer).unwrap_or(&Value::Null);
        if got != expected {
            return Err(format!("{pointer} is {got}, expected {expected}, in {shown}"));
        }
    }
    for (name, pointer) in step.get("save").and_then(Value::as_object).into_iter().flatten() {
        let found = json
            .pointer(pointer.as_str().unwrap())
            .and_then(Value::as_str)
            .ok_or(format!("nothing at {pointer} in {shown}"))?;
        saved.insert(name.clone(), found.to_owned());
    }
    Ok(())
}

#[tokio::test]
async fn sessions_go_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/http");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let mut failures = Vec::new();
    for file in files {
        let steps: Vec<Value> = serde_saphyr::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let server = server().await;
        let mut saved = BTreeMap::from([("large".to_owned(), "text ".repeat(40_000))]);
        for (index, one) in steps.iter().enumerate() {
            if let Err(why) = step(&server, one, &mut saved).await {
                let name = file.file_name().unwrap().to_string_lossy().into_owned();
                failures.push(format!(
                    "{name} step {}: {} {}: {why}",
                    index + 1,
                    one["method"].as_str().unwrap_or("GET"),
                    one["path"]
                ));
            }
        }
        server.stop();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
