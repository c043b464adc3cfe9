//! Plays the scripts of `tests/cases/*.yaml` to a server in this process: requests with
//! expected codes, parts of bodies, headers and watch events.
//!
//! A step is one of
//! - `do: METHOD PATH` with `body`, `headers`, and what is expected: `code`, `match` (a part of the
//!   body), `absent` (paths), `header`, `save` (variable: path); `until: true` tries for a while;
//! - `watch: PATH` with `as: name`, which opens a watch;
//! - `events: name` with `match`, the next events of a watch; `end: true` if it ends then;
//! - `quiet: name`: nothing comes.
//!
//! In expectations `*` stands for anything there, `~text` for text that contains it; `${name}` is a variable.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test should stop where it fails"
)]

use axum::body::Body;
use futures::StreamExt as _;
use http::Request;
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tower::ServiceExt as _;
use windlass_apiserver::{Identity, Profile, Server, ServerOptions};
use windlass_store::{Database, Options};

/// How long a step with `until` is tried, and how long an event is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long nothing must come for a watch to be quiet.
const QUIET: Duration = Duration::from_millis(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let only = std::env::var("CASE").unwrap_or_default();
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    let mut steps = 0;
    let mut failures = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().to_string();
        if !name.contains(&only) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let script: Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (played, failed) = play(&name, &script).await;
        steps += played;
        failures.extend(failed);
    }
    assert!(failures.is_empty(), "{} of {steps} steps failed:\n{}", failures.len(), failures.join("\n"));
    assert!(steps >= 80 || !only.is_empty(), "only {steps} steps");
}

struct Stage {
    server: Server,
    variables: BTreeMap<String, String>,
    watches: BTreeMap<String, Watching>,
}

struct Watching {
    body: axum::body::BodyDataStream,
    rest: Vec<u8>,
}

async fn play(name: &str, script: &Value) -> (usize, Vec<String>) {
    let database = Database::memory(Options::default());
    let store = database.keyspace(name).unwrap();
    let mut options = ServerOptions::new(name, store);
    if script["profile"] == "member" {
        options.profile = Profile::Member;
    }
    options.ca = Some("the bundle".into());
    let server = Server::start(options).await.unwrap();
    let mut stage = Stage { server, variables: BTreeMap::new(), watches: BTreeMap::new() };
    let mut failures = Vec::new();
    let steps = script["steps"].as_array().cloned().unwrap_or_default();
    for (index, step) in steps.iter().enumerate() {
        let step = substitute(step, &stage.variables);
        if let Err(text) = stage.step(&step).await {
            let title =
                ["do", "watch", "events", "quiet"].iter().find_map(|key| step[key].as_str()).unwrap_or("?");
            failures.push(format!("{name} step {} ({title}): {text}", index + 1));
            if step["do"].is_string() && failures.len() > 5 {
                break;
            }
        }
    }
    stage.server.stop();
    (steps.len(), failures)
}

impl Stage {
    async fn step(&mut self, step: &Value) -> Result<(), String> {
        if let Some(request) = step["do"].as_str() {
            let start = Instant::now();
            loop {
                match self.request(request, step).await {
                    Err(_) if step["until"] == true && start.elapsed() < PATIENCE => {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    outcome => return outcome,
                }
            }
        }
        if let Some(path) = step["watch"].as_str() {
            let response = self.send("GET", path, step).await;
            if response.status() != 200 {
                return Err(format!("code {}", response.status()));
            }
            let name = step["as"].as_str().unwrap_or("watch").to_owned();
            let body = response.into_body().into_data_stream();
            self.watches.insert(name, Watching { body, rest: Vec::new() });
            return Ok(());
        }
        if let Some(name) = step["quiet"].as_str() {
            let watching = self.watches.get_mut(name).ok_or("no such watch")?;
            return match tokio::time::timeout(QUIET, watching.next()).await {
                Err(_) => Ok(()),
                Ok(event) => Err(format!("there came {event:?}")),
            };
        }
        let name = step["events"].as_str().ok_or("a step needs do, watch, events or quiet")?;
        let watching = self.watches.get_mut(name).ok_or("no such watch")?;
        for expected in step["match"].as_array().into_iter().flatten() {
            let event = tokio::time::timeout(PATIENCE, watching.next())
                .await
                .map_err(|_| format!("nothing came, expected {expected}"))?;
            let event = event.ok_or(format!("the watch ended, expected {expected}"))?;
            fits(expected, &event, "event").map_err(|text| format!("{text} in {event}"))?;
        }
        if step["end"] == true {
            let event = tokio::time::timeout(PATIENCE, watching.next())
                .await
                .map_err(|_| "it did not end".to_owned())?;
            if let Some(event) = event {
                return Err(format!("it did not end, but gave {event}"));
            }
        }
        Ok(())
    }

    async fn send(&self, method: &str, path: &str, step: &Value) -> http::Response<Body> {
        let mut builder = Request::builder().method(method).uri(path);
        let mut headers: Map<String, Value> = Map::new();
        headers.insert("user-agent".into(), json!("tester/1"));
        if !step["body"].is_null() {
            headers.insert("content-type".into(), json!("application/json"));
        }
        headers.extend(step["headers"].as_object().cloned().unwrap_or_default());
        for (key, value) in &headers {
            builder = builder.header(key, value.as_str().unwrap());
        }
        let body = match &step["body"] {
            Value::Null => Body::empty(),
            Value::String(text) => Body::from(text.clone()),
            body => Body::from(body.to_string()),
        };
        self.server.service(Identity::system()).oneshot(builder.body(body).unwrap()).await.unwrap()
    }

    async fn request(&mut self, request: &str, step: &Value) -> Result<(), String> {
        let (method, path) = request.split_once(' ').ok_or("expected METHOD PATH")?;
        let response = self.send(method, path, step).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body: Value =
            serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(String::from_utf8_lossy(&bytes)));
        let code = step["code"].as_u64().unwrap_or(200);
        if u64::from(parts.status.as_u16()) != code {
            return Err(format!("code {}, expected {code}: {body}", parts.status.as_u16()));
        }
        if !step["match"].is_null() {
            fits(&step["match"], &body, "body").map_err(|text| format!("{text} in {body}"))?;
        }
        for path in step["absent"].as_array().into_iter().flatten() {
            let path = path.as_str().unwrap();
            if let Some(value) = at(&body, path).filter(|v| !v.is_null()) {
                return Err(format!("{path} is there: {value}"));
            }
        }
        for (name, value) in step["header"].as_object().into_iter().flatten() {
            let all: Vec<&str> = parts.headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).collect();
            fits(value, &json!(all.join("; ")), name)?;
        }
        for (name, path) in step["save"].as_object().into_iter().flatten() {
            let value = at(&body, path.as_str().unwrap()).ok_or(format!("{path} is absent in {body}"))?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.variables.insert(name.clone(), text);
        }
        Ok(())
    }
}

impl Watching {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            self.rest.extend_from_slice(&self.body.next().await?.unwrap());
        }
    }
}

/// The value at a path such as `metadata.annotations.a\.b` or `items.0.metadata.name`.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.replace("\\.", "\u{1}").split('.').try_fold(value, |at, step| {
        let step = step.replace('\u{1}', ".");
        match at {
            Value::Array(list) => list.get(step.parse::<usize>().ok()?),
            other => other.get(&step),
        }
    })
}

/// Whether a value contains what is expected.
fn fits(expected: &Value, value: &Value, at: &str) -> Result<(), String> {
    match (expected, value) {
        (Value::String(any), value) if any == "*" && !value.is_null() => Ok(()),
        (Value::String(part), Value::String(text)) if part.starts_with('~') => {
            if text.contains(&part[1..]) {
                Ok(())
            } else {
                Err(format!("{at}: {text:?} lacks {:?}", &part[1..]))
            }
        }
        (Value::Object(expected), Value::Object(map)) => expected.iter().try_for_each(|(key, expected)| {
            fits(expected, map.get(key).unwrap_or(&Value::Null), &format!("{at}.{key}"))
        }),
        (Value::Array(expected), Value::Array(list)) => {
            if expected.len() != list.len() {
                return Err(format!("{at}: {} elements, expected {}", list.len(), expected.len()));
            }
            expected
                .iter()
                .zip(list)
                .enumerate()
                .try_for_each(|(i, (e, v))| fits(e, v, &format!("{at}[{i}]")))
        }
        (expected, value) if expected == value => Ok(()),
        (expected, value) => Err(format!("{at}: {value}, expected {expected}")),
    }
}

fn substitute(value: &Value, variables: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (name, value) in variables {
                text = text.replace(&format!("${{{name}}}"), value);
            }
            Value::String(text)
        }
        Value::Array(list) => list.iter().map(|value| substitute(value, variables)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), substitute(value, variables))).collect()
        }
        other => other.clone(),
    }
}
