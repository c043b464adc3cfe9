//! What differs between any two runs (uids, revisions, times, generated names, addresses), replaced by what it stands
//! for: equal values stay equal within a script.

use http::HeaderMap;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

static UID: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap());
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").unwrap());
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b").unwrap());
static REVISION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(current: |record \(|precondition \(|resource version: )\d+").unwrap());
static VOLUME: LazyLock<Regex> = LazyLock::new(|| Regex::new("kube-api-access-[a-z0-9]{5}").unwrap());
static PEM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(?s)-----BEGIN CERTIFICATE-----.*-----END CERTIFICATE-----").unwrap());
static AGE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\d+[smhd](\d+[smhd])?$").unwrap());

/// Headers that are compared as they are.
const HEADERS: [&str; 6] =
    ["content-type", "retry-after", "cache-control", "allow", "accept-patch", "content-encoding"];
/// Headers whose presence is compared.
const PRESENT: [&str; 4] =
    ["audit-id", "etag", "x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"];

/// What has been seen in one script on one server.
#[derive(Default)]
pub(crate) struct Normal {
    uids: BTreeMap<String, String>,
    revisions: BTreeMap<String, Vec<String>>,
    names: BTreeMap<String, String>,
}

impl Normal {
    /// The headers that clients read.
    pub(crate) fn headers(&mut self, headers: &HeaderMap) -> Value {
        let mut kept = Map::new();
        for name in HEADERS {
            if let Some(value) = headers.get(name) {
                kept.insert(name.into(), json!(value.to_str().unwrap()));
            }
        }
        for name in PRESENT {
            if headers.contains_key(name) {
                kept.insert(name.into(), json!("*"));
            }
        }
        let warnings: Vec<String> = headers
            .get_all("warning")
            .iter()
            .map(|value| self.text(&String::from_utf8_lossy(value.as_bytes())))
            .collect();
        if !warnings.is_empty() {
            kept.insert("warning".into(), json!(warnings));
        }
        Value::Object(kept)
    }

    /// A body, or a part of one.
    pub(crate) fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(map) => self.map(map),
            Value::Array(list) => list.iter().map(|item| self.value(item)).collect(),
            Value::String(text) => Value::String(self.text(text)),
            other => other.clone(),
        }
    }

    fn map(&mut self, map: &Map<String, Value>) -> Value {
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, base) = (text("name"), text("generateName"));
        if !base.is_empty() && name.starts_with(base) && name != base {
            self.names.insert(name.to_owned(), format!("{base}*"));
        }
        let uid = text("uid").to_owned();
        let own = map.contains_key("creationTimestamp");
        if own && !uid.is_empty() {
            self.uids.insert(uid.clone(), format!("UID of {name}"));
        }
        let mut kept = Map::new();
        for (key, value) in map {
            let new = match (key.as_str(), value) {
                // Its own: how many were made before differs with what was refused.
                ("uid", Value::String(_)) if own => json!("UID"),
                ("resourceVersion", Value::String(version)) => json!(self.revision(&uid, version)),
                ("continue", Value::String(token)) if !token.is_empty() => json!("TOKEN"),
                ("nodePort" | "healthCheckNodePort", Value::Number(_)) => json!("PORT"),
                ("token", Value::String(token)) if token.contains('.') => json!("JWT"),
                ("storageVersionHash", Value::String(_)) => json!("*"),
                // Sorted by times of whole seconds, and so by chance.
                ("managedFields", Value::Array(entries)) => {
                    let mut entries: Vec<Value> = entries.iter().map(|entry| self.value(entry)).collect();
                    entries.sort_by_key(|entry| {
                        ["operation", "manager", "subresource"].map(|key| entry[key].to_string())
                    });
                    json!(entries)
                }
                ("cells", Value::Array(cells)) => cells.iter().map(|cell| self.cell(cell)).collect(),
                (_, value) => self.value(value),
            };
            kept.insert(self.text(key), new);
        }
        Value::Object(kept)
    }

    fn cell(&mut self, cell: &Value) -> Value {
        match cell.as_str() {
            Some(text) if AGE.is_match(text) => json!("AGE"),
            _ => self.value(cell),
        }
    }

    /// The object's first revision, its second one, and so on; of lists, that there is one.
    fn revision(&mut self, uid: &str, version: &str) -> String {
        if version.is_empty() || uid.is_empty() {
            return if version.is_empty() { String::new() } else { "REVISION".into() };
        }
        let seen = self.revisions.entry(uid.to_owned()).or_default();
        let at = seen.iter().position(|one| one == version).unwrap_or_else(|| {
            seen.push(version.to_owned());
            seen.len() - 1
        });
        format!("REVISION-{}", at + 1)
    }

    /// A text, or a message with such values in it.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, shown) in &self.names {
            text = text.replace(name, shown);
        }
        let text = UID.replace_all(&text, |found: &regex::Captures<'_>| {
            self.uids.get(&found[0]).cloned().unwrap_or_else(|| "UID".into())
        });
        let text = TIME.replace_all(
            &text,
            |found: &regex::Captures<'_>| {
                if found.get(1).is_some() { "MICROTIME" } else { "TIME" }
            },
        );
        let text = ADDRESS.replace_all(&text, "CLUSTER-IP");
        let text = PEM.replace_all(&text, "CERTIFICATES");
        let text = VOLUME.replace_all(&text, "kube-api-access-*");
        REVISION.replace_all(&text, "${1}N").into_owned()
    }
}
