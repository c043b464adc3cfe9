//! `metadata.managedFields`: reading, checking, ordering.

use super::set::FieldSet;
use super::{ANCIENT_CHANGES, MAX_UPDATE_MANAGERS, Manager, Operation, wire};
use crate::field_error::FieldError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The longest name of a manager. Kubernetes' own number.
const MAX_NAME: usize = 128;

/// One manager's entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) manager: String,
    pub(super) operation: Operation,
    pub(super) api_version: String,
    pub(super) subresource: String,
    pub(super) time: Option<String>,
    pub(super) fields: FieldSet,
}

impl Entry {
    /// Whether this is the entry of `manager` when it works by `operation`. Appliers have
    /// one entry whatever their version.
    pub(super) fn is_of(&self, manager: &Manager, operation: Operation) -> bool {
        self.manager == manager.name()
            && self.operation == operation
            && self.subresource == manager.subresource
            && (operation == Operation::Apply || self.api_version == manager.api_version)
    }

    pub(super) fn to_value(&self) -> Value {
        let time = self.time.as_deref();
        let head = head(&self.manager, self.operation, &self.api_version, &self.subresource, time);
        with_fields(head, self.fields.to_fields())
    }
}

/// An entry without its fields.
pub(super) fn head(
    manager: &str,
    operation: Operation,
    api_version: &str,
    subresource: &str,
    time: Option<&str>,
) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |key: &str, value: &str| {
        map.insert(key.to_owned(), Value::String(value.to_owned()));
    };
    put("apiVersion", api_version);
    put("fieldsType", "FieldsV1");
    if !manager.is_empty() {
        put("manager", manager);
    }
    put("operation", operation.as_str());
    if !subresource.is_empty() {
        put("subresource", subresource);
    }
    if let Some(time) = time {
        put("time", time);
    }
    map
}

pub(super) fn with_fields(mut head: Map<String, Value>, fields: Value) -> Value {
    head.insert("fieldsV1".to_owned(), fields);
    Value::Object(head)
}

/// Whether a client asks for managedFields to be forgotten: an empty list, or one empty entry.
pub fn is_reset(managed_fields: &Value) -> bool {
    match managed_fields.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => only.as_object().is_some_and(|entry| entry.values().all(Value::is_null)),
        _ => false,
    }
}

/// What is wrong with managedFields as a client sent them. A write that carries faulty
/// ones is not refused for it by [`super::update`]: those of the live object stay.
/// Resets are fine.
pub fn check_managed_fields(path: &str, managed_fields: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if managed_fields.is_null() || is_reset(managed_fields) {
        return errors;
    }
    let Some(entries) = managed_fields.as_array() else {
        return vec![FieldError::invalid(path, managed_fields.clone(), "must be a list")];
    };
    for (index, entry) in entries.iter().enumerate() {
        let at = |field: &str| format!("{path}[{index}].{field}");
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        if !matches!(text("operation"), "Apply" | "Update") {
            let detail = "must be `Apply` or `Update`";
            errors.push(FieldError::invalid(at("operation"), text("operation"), detail));
        }
        if text("fieldsType") != "FieldsV1" {
            errors.push(FieldError::invalid(at("fieldsType"), text("fieldsType"), "must be `FieldsV1`"));
        }
        if text("apiVersion").is_empty() {
            errors.push(FieldError::required(at("apiVersion"), "must not be empty"));
        }
        if text("manager").len() > MAX_NAME {
            errors.push(FieldError::too_long(at("manager"), MAX_NAME as u64));
        }
        if text("manager").chars().any(char::is_control) {
            errors.push(FieldError::invalid(
                at("manager"),
                text("manager"),
                "should only contain printable characters",
            ));
        }
        if let Err(error) = entry.get("fieldsV1").map_or(Ok(FieldSet::default()), FieldSet::from_fields) {
            errors.push(FieldError::invalid(at("fieldsV1"), "", error.to_string()));
        }
    }
    errors
}

/// Reads managedFields. Of two entries of one manager the later wins.
pub(super) fn decode(managed_fields: &Value) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    let list = match managed_fields {
        Value::Null => return Ok(entries),
        Value::Array(list) => list,
        other => return Err(format!("must be a list, found {other}")),
    };
    for (index, value) in list.iter().enumerate() {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let operation = match text("operation").as_str() {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return Err(format!("operation of entry {index} must be `Apply` or `Update`")),
        };
        if text("apiVersion").is_empty() {
            return Err(format!("apiVersion of entry {index} must not be empty"));
        }
        if text("fieldsType") != "FieldsV1" {
            return Err(format!(
                "fieldsType of entry {index} must be FieldsV1, found {:?}",
                text("fieldsType")
            ));
        }
        let fields = match value.get("fieldsV1") {
            None | Some(Value::Null) => FieldSet::default(),
            Some(fields) => {
                FieldSet::from_fields(fields).map_err(|error| format!("entry {index}: {error}"))?
            }
        };
        let entry = Entry {
            manager: text("manager"),
            operation,
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: value.get("time").and_then(Value::as_str).map(str::to_owned),
            fields,
        };
        entries.retain(|other| {
            !(other.manager == entry.manager
                && other.operation == entry.operation
                && other.subresource == entry.subresource
                && (operation == Operation::Apply || other.api_version == entry.api_version))
        });
        entries.push(entry);
    }
    Ok(entries)
}

/// A text of an entry; empty if absent.
pub(super) fn text<'v>(entry: &'v Value, key: &str) -> &'v str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Kubernetes' order: by operation, time, manager, version, sub-resource.
pub(super) fn sort(entries: &mut [Value]) {
    let keys = ["operation", "time", "manager", "apiVersion", "subresource"];
    entries.sort_by(|a, b| keys.map(|key| text(a, key)).cmp(&keys.map(|key| text(b, key))));
}

/// Folds the oldest updates together until there are no more than [`MAX_UPDATE_MANAGERS`],
/// one `ancient-changes` for each version.
pub(super) fn cap(entries: &mut Vec<Value>) {
    let is_update = |entry: &Value| text(entry, "operation") == "Update";
    if entries.iter().filter(|entry| is_update(entry)).count() <= MAX_UPDATE_MANAGERS {
        return;
    }
    let (mut old, mut rest): (Vec<Value>, Vec<Value>) =
        std::mem::take(entries).into_iter().partition(is_update);
    let keys = ["time", "manager", "apiVersion"];
    old.sort_by(|a, b| keys.map(|key| text(a, key)).cmp(&keys.map(|key| text(b, key))));
    let mut left = old.len();
    let mut first: BTreeMap<String, Value> = BTreeMap::new();
    for entry in old {
        if left <= MAX_UPDATE_MANAGERS {
            rest.push(entry);
            continue;
        }
        match first.get_mut(text(&entry, "apiVersion")) {
            None => {
                first.insert(text(&entry, "apiVersion").to_owned(), entry);
            }
            Some(bucket) => {
                fold(bucket, &entry);
                left -= 1;
            }
        }
    }
    rest.extend(first.into_values());
    *entries = rest;
}

fn fold(bucket: &mut Value, entry: &Value) {
    let mut fields = bucket.get("fieldsV1").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Ok(more) = entry.get("fieldsV1").map_or(Ok(FieldSet::default()), FieldSet::from_fields) {
        wire::insert(&mut fields, &more);
    }
    let time = entry.get("time").and_then(Value::as_str);
    let head = head(ANCIENT_CHANGES, Operation::Update, text(entry, "apiVersion"), "", time);
    *bucket = with_fields(head, Value::Object(fields));
}
