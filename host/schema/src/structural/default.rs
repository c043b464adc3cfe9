//! Defaulting of objects by their structural schema, on write and on read alike.

use super::MAX_DEPTH;
use crate::arena::View;
use serde_json::{Map, Value};

/// Sets what is absent and has a default. Before that, a null where none is allowed
/// counts as absent: it is replaced by the default, or dropped if there is none.
pub fn default(view: View<'_>, value: &mut Value) {
    if value.is_null()
        && !view.node().nullable
        && let Some(default) = &view.node().default
    {
        *value = default.clone();
    }
    walk(view, value, 0);
}

fn walk(view: View<'_>, value: &mut Value, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(map) => object(view, map, depth),
        Value::Array(items) => {
            let Some(below) = view.items() else { return };
            for item in items {
                if item.is_null()
                    && !below.node().nullable
                    && let Some(default) = &below.node().default
                {
                    *item = default.clone();
                }
                walk(below, item, depth + 1);
            }
        }
        _ => {}
    }
}

fn object(view: View<'_>, map: &mut Map<String, Value>, depth: usize) {
    let node = view.node();
    for (name, field) in &node.fields {
        let Some(default) = &field.default else { continue };
        let absent = match map.get(name) {
            None => true,
            Some(Value::Null) => !view.at(field.node).node().nullable,
            Some(_) => false,
        };
        if absent {
            map.insert(name.clone(), default.clone());
        }
    }
    map.retain(|key, item| {
        let Some(below) = view.child(key) else { return true };
        if item.is_null() && !below.node().nullable && !free(below) {
            match &below.node().default {
                Some(default) => *item = default.clone(),
                None => return false,
            }
        }
        walk(below, item, depth + 1);
        true
    });
}

/// Nothing is said of the value, so a null is as good as any other.
fn free(view: View<'_>) -> bool {
    let node = view.node();
    node.kind == crate::arena::Kind::Any
        && node.fields.is_empty()
        && node.values.is_none()
        && !node.preserve_unknown
}
