//! From the store to a reader: as bytes where a version is stored as it is shown,
//! converted and defaulted where it is not.

use crate::convert;
use crate::item::{Item, set_revision};
use crate::registry::Resource;
use serde_json::Value;
use std::sync::Arc;
use windlass_schema::structural;
use windlass_store::Entry;

/// An entry as a version of its resource shows it.
pub(crate) fn present(resource: &Resource, entry: &Entry) -> Item {
    present_at(resource, entry, entry.revision())
}

/// The same with another revision.
pub(crate) fn present_at(resource: &Resource, entry: &Entry, revision: u64) -> Item {
    if !resource.read_through {
        return Item::stored_at(entry.clone(), revision);
    }
    let mut value = show(resource, entry.json_uncached().as_ref().clone());
    set_revision(&mut value, revision);
    Item::value_of(value)
}

/// The live object in the version of a resource, without resourceVersion.
pub(crate) fn live(resource: &Resource, entry: &Entry) -> Arc<Value> {
    let stored = entry.json_uncached();
    if resource.read_through { Arc::new(show(resource, stored.as_ref().clone())) } else { stored }
}

fn show(resource: &Resource, mut value: Value) -> Value {
    convert::to_version(&mut value, &resource.api_version, resource.builtin);
    if !resource.builtin {
        structural::prune(resource.schema.view(), &mut value);
        structural::default(resource.schema.view(), &mut value);
    }
    value
}

/// An object of a version as it is stored.
pub(crate) fn storable(resource: &Resource, mut object: Value) -> Value {
    if resource.api_version != resource.storage_api_version {
        convert::to_version(&mut object, &resource.storage_api_version, resource.builtin);
    }
    object
}
