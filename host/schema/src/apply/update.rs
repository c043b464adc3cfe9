//! Keeping `managedFields` on writes that are no applies: create, update, patch, and
//! every status. This runs on every write of the server.

use super::compare::{NOTHING, compare};
use super::entries::{self, cap, is_reset, sort, with_fields};
use super::set::FieldSet;
use super::types::Type;
use super::{Manager, Operation, wire};
use crate::arena::View;
use serde_json::{Map, Value};

/// Sets `metadata.managedFields` of `new`, which replaces `live` (none on create).
/// `new` must be as it will be stored, resets and defaults done. Without a view the
/// schema is deduced.
///
/// Client-sent managedFields are taken if they can be read (through the object itself,
/// not through a sub-resource); `[]` and `[{}]` forget them.
pub fn update<'a>(
    view: impl Into<Option<View<'a>>>,
    live: Option<&Value>,
    new: &mut Value,
    manager: &Manager,
) {
    let ty = Type::root(view.into(), manager.reset);
    let given = take(new);
    let mut entries = starting_point(live, given, manager);
    let create = live.is_none_or(|live| windlass_object::Meta::uid(live).is_empty());
    if entries.is_empty() && !create {
        // Not tracked so far: it begins with the first apply.
        return;
    }
    let delta = compare(ty, live.unwrap_or(&NOTHING), new);
    if !delta.is_empty() {
        for touched in [&delta.changed, &delta.removed] {
            if !touched.is_empty() {
                disown(&mut entries, touched);
            }
        }
        if !delta.changed.is_empty() {
            own(&mut entries, &delta.changed, manager);
        }
        cap(&mut entries);
        sort(&mut entries);
    }
    put(new, entries);
}

/// The entries to start from.
fn starting_point(live: Option<&Value>, given: Option<Value>, manager: &Manager) -> Vec<Value> {
    let kept = live.and_then(|live| live.get("metadata")?.get("managedFields"));
    let from_live = || match kept {
        Some(Value::Array(entries)) => entries.clone(),
        _ => Vec::new(),
    };
    let given = match given {
        // Left as they are, as nearly always: taken over without a copy.
        Some(Value::Array(entries)) if kept.and_then(Value::as_array) == Some(&entries) => return entries,
        given => given,
    };
    let Some(given) = given.filter(|_| manager.subresource.is_empty()) else { return from_live() };
    if is_reset(&given) {
        return Vec::new();
    }
    match entries::decode(&given) {
        Ok(decoded) if !decoded.is_empty() => {
            let mut entries: Vec<Value> = decoded.iter().map(entries::Entry::to_value).collect();
            sort(&mut entries);
            entries
        }
        _ => from_live(),
    }
}

/// Takes fields from all managers; those left with none go.
fn disown(entries: &mut Vec<Value>, touched: &FieldSet) {
    entries.retain_mut(|entry| match entry.get_mut("fieldsV1") {
        Some(Value::Object(fields)) => {
            wire::remove(fields, touched);
            !fields.is_empty()
        }
        _ => false,
    });
}

/// Gives fields to the manager.
fn own(entries: &mut Vec<Value>, fields: &FieldSet, manager: &Manager) {
    let is = |entry: &Value, key: &str, wanted: &str| entries::text(entry, key) == wanted;
    let mine = entries.iter_mut().find(|entry| {
        is(entry, "manager", manager.name())
            && is(entry, "operation", "Update")
            && is(entry, "apiVersion", &manager.api_version)
            && is(entry, "subresource", &manager.subresource)
    });
    let time = manager.time();
    match mine {
        Some(Value::Object(entry)) => {
            entry.insert("time".to_owned(), Value::String(time));
            if let Some(Value::Object(owned)) = entry.get_mut("fieldsV1") {
                wire::insert(owned, fields);
            }
        }
        _ => {
            let head = entries::head(
                manager.name(),
                Operation::Update,
                &manager.api_version,
                &manager.subresource,
                Some(&time),
            );
            entries.push(with_fields(head, fields.to_fields()));
        }
    }
}

/// Takes managedFields out of an object; null counts as absent.
pub(super) fn take(object: &mut Value) -> Option<Value> {
    object.get_mut("metadata")?.as_object_mut()?.remove("managedFields").filter(|value| !value.is_null())
}

/// Puts managedFields into an object, if there are any.
pub(super) fn put(object: &mut Value, entries: Vec<Value>) {
    let Value::Object(map) = object else { return };
    if entries.is_empty() {
        return;
    }
    if let Value::Object(metadata) = map.entry("metadata").or_insert_with(|| Value::Object(Map::new())) {
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
}
