//! Plays one script to one server. What comes of it is a list of exchanges, one JSON value each.

use crate::oracle::client::{Answer, Given, Raw, Watch};
use crate::oracle::normal::Normal;
use crate::oracle::script::{Script, fill, fill_value};
use http::Method;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long an event may take, and a state that is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long nothing must come for a watch to be quiet.
const QUIET: Duration = Duration::from_millis(150);
/// How often a state is looked for.
const PAUSE: Duration = Duration::from_millis(50);

/// Short names of media types.
const TYPES: [(&str, &str); 11] = [
    ("json", "application/json"),
    ("yaml", "application/yaml"),
    ("text", "text/plain"),
    ("json-patch", "application/json-patch+json"),
    ("merge", "application/merge-patch+json"),
    ("strategic", "application/strategic-merge-patch+json"),
    ("apply", "application/apply-patch+yaml"),
    ("table", "application/json;as=Table;v=v1;g=meta.k8s.io"),
    ("partial", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"),
    ("partial-list", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"),
    ("discovery", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
];

/// Plays a script; its namespace is made before and deleted after.
pub(crate) async fn play(server: &Raw, script: &Script) -> Vec<Value> {
    let mut player = Player {
        server,
        variables: script.variables(),
        normal: Normal::default(),
        watches: BTreeMap::new(),
        exchanges: Vec::new(),
    };
    let namespace = player.variables["ns"].clone();
    player.make_namespace(&namespace).await;
    for (index, step) in script.steps.iter().enumerate() {
        player.step(index + 1, step).await;
    }
    let path = format!("/api/v1/namespaces/{namespace}");
    server.send(&Method::DELETE, &path, &[], Vec::new()).await;
    player.exchanges
}

struct Player<'a> {
    server: &'a Raw,
    variables: BTreeMap<String, String>,
    normal: Normal,
    watches: BTreeMap<String, Watch>,
    exchanges: Vec<Value>,
}

impl Player<'_> {
    async fn make_namespace(&self, name: &str) {
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        let made =
            self.server.send(&Method::POST, "/api/v1/namespaces", &headers, body.to_string().into()).await;
        assert_eq!(made.code, 201, "namespace {name}: {}", String::from_utf8_lossy(&made.body));
        for path in ["serviceaccounts/default", "configmaps/kube-root-ca.crt"] {
            let path = format!("/api/v1/namespaces/{name}/{path}");
            let begun = Instant::now();
            while self.server.send(&Method::GET, &path, &[], Vec::new()).await.code != 200 {
                assert!(begun.elapsed() < PATIENCE, "{path} did not come");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    async fn step(&mut self, number: usize, step: &Value) {
        let filled = fill_value(step, &self.variables);
        let shown = ["do", "watch", "events", "quiet", "ends"].iter().find_map(|key| step[key].as_str());
        let mut title = format!("{number} {}", shown.unwrap_or_else(|| panic!("what does {step} do?")));
        if let Some(text) = step["title"].as_str() {
            title = format!("{title} {text}");
        }
        if let Some(request) = filled["do"].as_str() {
            for time in 1..=filled["times"].as_u64().unwrap_or(1) {
                self.variables.insert("i".into(), time.to_string());
                let step = fill_value(&filled, &self.variables);
                self.request(&title, &fill(request, &self.variables), &step).await;
            }
        } else if let Some(path) = filled["watch"].as_str() {
            let name = filled["as"].as_str().unwrap_or("watch");
            match self.server.watch(path, &headers(&filled)).await {
                Ok(watch) => {
                    let headers = self.normal.headers(&watch.headers);
                    self.exchanges.push(json!({"step": title, "code": 200, "headers": headers}));
                    self.watches.insert(name.into(), watch);
                }
                Err(answer) => self.keep(&title, &filled, &answer),
            }
        } else if let Some(name) = filled["events"].as_str() {
            for count in 1..=filled["times"].as_u64().unwrap_or(1) {
                self.event(&format!("{title} {count}"), name, PATIENCE).await;
            }
        } else if let Some(name) = filled["quiet"].as_str() {
            self.event(&title, name, QUIET).await;
        } else if let Some(name) = filled["ends"].as_str() {
            self.event(&title, name, PATIENCE).await;
        }
    }

    async fn event(&mut self, title: &str, name: &str, patience: Duration) {
        let watch = self.watches.get_mut(name).unwrap_or_else(|| panic!("{title}: there is no watch {name}"));
        let given = match watch.next(patience).await {
            Given::Event(event) => self.normal.value(&event),
            Given::End => json!("the watch ended"),
            Given::Nothing => json!("nothing came"),
        };
        self.exchanges.push(json!({"step": title, "event": given}));
    }

    async fn request(&mut self, title: &str, request: &str, step: &Value) {
        let (method, path) = request.split_once(' ').unwrap_or_else(|| panic!("{title}: METHOD PATH"));
        let method: Method = method.parse().unwrap();
        let body = match (step["text"].as_str(), &step["body"]) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Value::Null) => Vec::new(),
            (None, body) => body.to_string().into_bytes(),
        };
        let begun = Instant::now();
        loop {
            let answer = self.server.send(&method, path, &headers(step), body.clone()).await;
            if reached(&step["until"], &answer) || begun.elapsed() > PATIENCE {
                self.keep(title, step, &answer);
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn keep(&mut self, title: &str, step: &Value, answer: &Answer) {
        let mut body = decoded(answer);
        for (name, path) in step["save"].as_object().into_iter().flatten() {
            let pointer = pointer(path.as_str().unwrap());
            let value = body.pointer(&pointer);
            let text = value.and_then(Value::as_str).map(str::to_owned);
            let text = text.or_else(|| value.map(Value::to_string)).unwrap_or_else(|| "ABSENT".into());
            self.variables.insert(name.clone(), text);
        }
        for path in step["drop"].as_array().into_iter().flatten() {
            remove(&mut body, path.as_str().unwrap());
        }
        if let Some(paths) = step["pick"].as_array() {
            let pick = |path: &Value| {
                let path = path.as_str().unwrap();
                (path.to_owned(), body.pointer(path).cloned().unwrap_or_else(|| json!("ABSENT")))
            };
            body = Value::Object(paths.iter().map(pick).collect::<Map<String, Value>>());
        }
        if let Some(key) = step["by"].as_str() {
            body = by_key(body, key);
        }
        let body = self.normal.value(&body);
        let headers = self.normal.headers(&answer.headers);
        self.exchanges.push(json!({"step": title, "code": answer.code, "headers": headers, "body": body}));
    }
}

fn headers(step: &Value) -> Vec<(String, String)> {
    let mut headers = BTreeMap::from([("user-agent".to_owned(), "oracle/1".to_owned())]);
    let media = |short: &str| {
        TYPES
            .iter()
            .find(|(name, _)| *name == short)
            .map_or_else(|| short.to_owned(), |(_, long)| (*long).into())
    };
    if !step["body"].is_null() || !step["text"].is_null() {
        headers.insert("content-type".into(), media(step["type"].as_str().unwrap_or("json")));
    }
    if let Some(accept) = step["accept"].as_str() {
        headers.insert("accept".into(), media(accept));
    }
    for (name, value) in step["headers"].as_object().into_iter().flatten() {
        headers.insert(name.clone(), value.as_str().unwrap().to_owned());
    }
    headers.into_iter().collect()
}

fn decoded(answer: &Answer) -> Value {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let kind = answer.headers.get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") {
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    } else if kind.starts_with("application/yaml") {
        serde_saphyr::from_str(&text).unwrap_or(Value::String(text))
    } else {
        Value::String(text)
    }
}

/// Whether what a step waits for is so: `{code: 200, metadata.name: x}`.
fn reached(until: &Value, answer: &Answer) -> bool {
    let Some(conditions) = until.as_object() else { return true };
    let body = decoded(answer);
    conditions.iter().all(|(path, expected)| {
        if path == "code" {
            *expected == json!(answer.code)
        } else {
            body.pointer(&pointer(path)).unwrap_or(&Value::Null) == expected
        }
    })
}

fn pointer(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("/{}", path.replace('.', "/")) }
}

fn remove(body: &mut Value, path: &str) {
    let pointer = pointer(path);
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    if let Some(Value::Object(map)) = body.pointer_mut(parent) {
        map.remove(last);
    }
}

/// Lists of named things as maps: their order says nothing.
fn by_key(value: Value, key: &str) -> Value {
    match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(|item| item[key].is_string()) => {
            let named = |item: Value| (item[key].as_str().unwrap().to_owned(), by_key(item, key));
            Value::Object(list.into_iter().map(named).collect())
        }
        Value::Array(list) => list.into_iter().map(|item| by_key(item, key)).collect(),
        Value::Object(map) => map.into_iter().map(|(name, value)| (name, by_key(value, key))).collect(),
        other => other,
    }
}
