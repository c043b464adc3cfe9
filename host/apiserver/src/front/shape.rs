//! Objects in the shape that the client asked for: whole, as rows of a Table,
//! or type and metadata only.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::negotiate::Shape;
use crate::handler::{EventType, List, WatchEvent};
use crate::item::Item;
use crate::registry::Resource;

/// What a Table row carries of its object (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Nothing.
    None,
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

impl Include {
    /// Reads the query parameter.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "None" => Some(Self::None),
            "" | "Metadata" => Some(Self::Metadata),
            "Object" => Some(Self::Object),
            _ => None,
        }
    }
}

/// One object in another shape; `None`: it stays what it is.
pub fn object(resource: &Resource, item: &Item, shape: Shape, include: Include) -> Option<Value> {
    let value = match shape {
        Shape::Whole => return None,
        Shape::Table(_) | Shape::Metadata(_) => item.value(),
    };
    if is_status(&value) {
        return None;
    }
    Some(match shape {
        Shape::Metadata(version) => metadata_of(&value, version),
        Shape::Table(version) => {
            let metadata = json!({"resourceVersion": revision(&value)});
            table(resource, std::slice::from_ref(item), version, include, metadata, true)
        }
        Shape::Whole => return None,
    })
}

/// A list in another shape; `None`: it stays what it is.
pub fn list(list: &List, shape: Shape, include: Include) -> Option<Value> {
    match shape {
        Shape::Whole => None,
        Shape::Table(version) => {
            Some(table(&list.resource, &list.items, version, include, list_metadata(list), true))
        }
        Shape::Metadata(version) => Some(json!({
            "kind": "PartialObjectMetadataList",
            "apiVersion": format!("meta.k8s.io/{version}"),
            "metadata": list_metadata(list),
            "items": list.items.iter().map(|item| metadata_of(&item.value(), version)).collect::<Vec<_>>(),
        })),
    }
}

/// The object of a watch event in another shape; `None`: it stays what it is.
/// Only a stream's first Table carries column definitions.
pub fn event(
    resource: &Resource,
    event: &WatchEvent,
    shape: Shape,
    include: Include,
    first: bool,
) -> Option<Value> {
    if event.kind == EventType::Error {
        return None;
    }
    match shape {
        Shape::Whole => None,
        Shape::Metadata(version) => Some(metadata_of(&event.object.value(), version)),
        Shape::Table(version) => {
            let metadata = json!({"resourceVersion": revision(&event.object.value())});
            Some(table(resource, std::slice::from_ref(&event.object), version, include, metadata, first))
        }
    }
}

/// The metadata of a list.
pub fn list_metadata(list: &List) -> Value {
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".into(), list.resource_version.to_string().into());
    if !list.continue_token.is_empty() {
        metadata.insert("continue".into(), list.continue_token.as_str().into());
    }
    if let Some(remaining) = list.remaining {
        metadata.insert("remainingItemCount".into(), remaining.into());
    }
    Value::Object(metadata)
}

fn table(
    resource: &Resource,
    items: &[Item],
    version: &str,
    include: Include,
    metadata: Value,
    headers: bool,
) -> Value {
    let columns = super::columns::of(resource);
    let rows: Vec<Value> = items
        .iter()
        .map(|item| {
            let value = item.value();
            let mut row = Map::new();
            row.insert("cells".into(), Value::Array(columns.cells(&value)));
            match include {
                Include::None => {}
                Include::Metadata => {
                    row.insert("object".into(), metadata_of(&value, version));
                }
                Include::Object => {
                    row.insert("object".into(), Value::clone(&value));
                }
            }
            Value::Object(row)
        })
        .collect();
    let definitions = if headers { columns.definitions() } else { Cow::Owned(Vec::new()) };
    json!({
        "kind": "Table",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": metadata,
        "columnDefinitions": definitions.into_owned(),
        "rows": rows,
    })
}

fn metadata_of(value: &Value, version: &str) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": value.get("metadata").cloned().unwrap_or_else(|| json!({})),
    })
}

fn revision(value: &Value) -> &str {
    value.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default()
}

fn is_status(value: &Value) -> bool {
    value.get("kind").and_then(Value::as_str) == Some("Status")
        && value.get("apiVersion").and_then(Value::as_str) == Some("v1")
}
