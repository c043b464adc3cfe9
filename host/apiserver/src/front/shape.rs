//! Objects in the shape that the client asked for: whole, as rows of a Table,
//! or type and metadata only.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use windlass_object::Gvk;
use windlass_schema::builtin;
use windlass_schema::columns::{self, Include};

use super::negotiate::Shape;
use crate::handler::{EventType, List, WatchEvent};
use crate::item::Item;
use crate::registry::{Columns, Resource};

/// The columns of a resource's Tables: made once for each answer or stream.
pub fn columns_of(resource: &Resource) -> Cow<'static, columns::Columns> {
    match &resource.columns {
        Columns::BuiltIn => {
            let gvk = Gvk::new(&resource.group, &resource.version, &resource.kind);
            match builtin::table().kind(&gvk) {
                Some(kind) => Cow::Borrowed(columns::Columns::builtin(kind)),
                None => Cow::Owned(columns::Columns::default()),
            }
        }
        Columns::Custom(own) => {
            Cow::Owned(columns::Columns::of_crd(&json!({"additionalPrinterColumns": own.as_ref()})))
        }
    }
}

/// One object in another shape; `None`: it stays what it is.
pub fn object(resource: &Resource, item: &Item, shape: Shape, include: Include) -> Option<Value> {
    if shape == Shape::Whole {
        return None;
    }
    let value = item.value();
    if is_status(&value) {
        return None;
    }
    match shape {
        Shape::Whole => None,
        Shape::Metadata(version) => Some(metadata_of(&value, version)),
        Shape::Table(version) => {
            // A subresource may have a kind of its own, of which only name and age are known.
            let own = value.get("kind").and_then(Value::as_str) == Some(&resource.kind);
            let columns = if own { columns_of(resource) } else { Cow::Owned(columns::Columns::default()) };
            let metadata = json!({"resourceVersion": revision(&value)});
            Some(table(&columns, metadata, std::slice::from_ref(item), version, include, true))
        }
    }
}

/// A list in another shape; `None`: it stays what it is.
pub fn list(list: &List, shape: Shape, include: Include) -> Option<Value> {
    match shape {
        Shape::Whole => None,
        Shape::Table(version) => {
            let columns = columns_of(&list.resource);
            Some(table(&columns, list_metadata(list), &list.items, version, include, true))
        }
        Shape::Metadata(version) => Some(json!({
            "kind": "PartialObjectMetadataList",
            "apiVersion": format!("meta.k8s.io/{version}"),
            "metadata": list_metadata(list),
            "items": list.items.iter().map(|item| metadata_of(&item.value(), version)).collect::<Vec<_>>(),
        })),
    }
}

/// Turns the events of one watch into another shape.
pub struct Events {
    columns: Option<Cow<'static, columns::Columns>>,
    shape: Shape,
    include: Include,
    started: bool,
}

impl Events {
    /// For a watch of this resource.
    pub fn new(resource: &Resource, shape: Shape, include: Include) -> Self {
        let columns = matches!(shape, Shape::Table(_)).then(|| columns_of(resource));
        Self { columns, shape, include, started: false }
    }

    /// An event's object in another shape; `None`: it stays what it is. Only a
    /// stream's first Table carries column definitions.
    pub fn object(&mut self, event: &WatchEvent) -> Option<Value> {
        if event.kind == EventType::Error {
            return None;
        }
        match (self.shape, &self.columns) {
            (Shape::Metadata(version), _) => Some(metadata_of(&event.object.value(), version)),
            (Shape::Table(version), Some(columns)) => {
                let metadata = json!({"resourceVersion": revision(&event.object.value())});
                let first = !std::mem::replace(&mut self.started, true);
                let items = std::slice::from_ref(&event.object);
                Some(table(columns, metadata, items, version, self.include, first))
            }
            _ => None,
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
    columns: &columns::Columns,
    metadata: Value,
    items: &[Item],
    version: &str,
    include: Include,
    definitions: bool,
) -> Value {
    let values: Vec<_> = items.iter().map(Item::value).collect();
    let objects = values.iter().map(AsRef::as_ref);
    let mut table = columns.table(metadata, objects, include, definitions, Timestamp::now());
    if let Some(table) = table.as_object_mut() {
        table.insert("apiVersion".into(), format!("meta.k8s.io/{version}").into());
    }
    table
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
