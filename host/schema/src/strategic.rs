//! Strategic merge patch: a merge patch that knows lists. Elements are found by the
//! merge keys of the schema, and directives in the patch (`$patch`, `$retainKeys`,
//! `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) say what merging alone cannot.
//!
//! For built-in kinds only: other schemas name no merge keys, and the API server
//! refuses such patches for them.

mod list;
mod order;

use crate::arena::{Field, View};
use serde_json::{Map, Value};

/// What to do with the object (or list) that the directive stands in.
const PATCH: &str = "$patch";
/// The fields that are to stay.
const RETAIN: &str = "$retainKeys";
/// The order of a list's elements.
const ORDER: &str = "$setElementOrder/";
/// Scalars to take out of a list.
const DELETE: &str = "$deleteFromPrimitiveList/";

/// Why a patch cannot be applied. All are the client's fault (400, or 422 by Kubernetes' choice).
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum StrategicError {
    /// `$patch` holds something unknown.
    #[error("unknown patch type: {directive} found in {found}: expected replace, merge or delete")]
    Directive {
        /// What `$patch` holds.
        directive: String,
        /// Where it stands.
        found: String,
    },
    /// A list element lacks its key.
    #[error("map: {element} does not contain declared merge key: {key}")]
    NoMergeKey {
        /// The element.
        element: String,
        /// The key it lacks.
        key: String,
    },
    /// A list of objects is to be merged, and the schema names no key.
    #[error("cannot merge lists without merge key for {0}")]
    Keyless(String),
    /// A directive's value or name has another form than it must have.
    #[error("invalid patch format of {0}")]
    Format(&'static str),
    /// The patch lists elements in another order than `$setElementOrder` has.
    #[error("the order in patch list {patch} doesn't match $setElementOrder list {order}")]
    Order {
        /// The elements of the patch.
        patch: String,
        /// The order asked for.
        order: String,
    },
    /// A list or object stands where the other is expected.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What is expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
}

/// Merges a strategic merge patch into an object.
pub fn merge(view: View<'_>, base: &Value, patch: &Value) -> Result<Value, StrategicError> {
    let Value::Object(patch) = patch else {
        return Err(StrategicError::Type { expected: "an object", found: patch.to_string() });
    };
    let base = match base {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    objects(Some(view), base, patch).map(Value::Object)
}

/// What the schema says of a field.
fn lookup<'a>(view: Option<View<'a>>, key: &str) -> (Option<&'a Field>, Option<View<'a>>) {
    match view.and_then(|v| v.field(key)) {
        Some((field, below)) => (Some(field), Some(below)),
        None => (None, view.and_then(|v| v.child(key))),
    }
}

fn objects(
    view: Option<View<'_>>,
    mut base: Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<Map<String, Value>, StrategicError> {
    match patch.get(PATCH) {
        None => {}
        Some(Value::String(directive)) if directive == "replace" => {
            return Ok(patch
                .iter()
                .filter(|(key, _)| *key != PATCH)
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect());
        }
        Some(Value::String(directive)) if directive == "delete" => return Ok(Map::new()),
        Some(Value::String(directive)) if directive == "merge" => {}
        Some(other) => return Err(bad_directive(other, patch)),
    }
    retain(&mut base, patch)?;
    let mut done = Vec::new();
    for (key, wanted) in patch {
        let Some(name) = key.strip_prefix(ORDER) else {
            if key.starts_with(ORDER.trim_end_matches('/')) {
                return Err(StrategicError::Format("$setElementOrder list"));
            }
            continue;
        };
        done.push(name);
        let (field, below) = lookup(view, name);
        order::ordered(field, below, &mut base, patch.get(name), name, wanted)?;
    }
    for (key, value) in patch {
        if key == PATCH || key == RETAIN || key.starts_with(ORDER) || done.contains(&key.as_str()) {
            continue;
        }
        if let Some(name) = key.strip_prefix(DELETE) {
            if let Some(Value::Array(items)) = base.get_mut(name) {
                let Value::Array(gone) = value else {
                    return Err(StrategicError::Type { expected: "a list", found: value.to_string() });
                };
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if key.starts_with(DELETE.trim_end_matches('/')) {
            return Err(StrategicError::Format("$deleteFromPrimitiveList"));
        }
        if value.is_null() {
            base.remove(key);
            continue;
        }
        let (field, below) = lookup(view, key);
        let merged = match (base.remove(key), value) {
            (Some(Value::Object(was)), Value::Object(patch)) => {
                Some(Value::Object(objects(below, was, patch)?))
            }
            (Some(Value::Array(was)), Value::Array(patch)) => {
                Some(Value::Array(list::lists(field, below, was, patch)?))
            }
            _ => plain(value),
        };
        if let Some(merged) = merged {
            base.insert(key.clone(), merged);
        }
    }
    Ok(base)
}

/// `$retainKeys`: fields that it does not name go; the patch sets none beside them.
fn retain(base: &mut Map<String, Value>, patch: &Map<String, Value>) -> Result<(), StrategicError> {
    let Some(directive) = patch.get(RETAIN) else { return Ok(()) };
    let Value::Array(kept) = directive else { return Err(StrategicError::Format("$retainKeys")) };
    let named = |key: &str| kept.iter().any(|k| k == key);
    let extra = |(key, value): (&String, &Value)| {
        !value.is_null()
            && key != RETAIN
            && key != PATCH
            && !key.starts_with(DELETE)
            && !key.starts_with(ORDER)
            && !named(key)
    };
    if patch.iter().any(extra) {
        return Err(StrategicError::Format("$retainKeys: it must name every field that the patch sets"));
    }
    base.retain(|key, _| named(key));
    Ok(())
}

/// A part of the patch that has no counterpart: itself, without nulls and directives.
/// None if it was a directive altogether.
fn plain(value: &Value) -> Option<Value> {
    match value {
        Value::Object(map) => {
            if map.contains_key(PATCH) {
                return match map.get(PATCH) {
                    // Replacing (or merging with) nothing leaves what is to be set.
                    Some(Value::String(s)) if s == "replace" || s == "merge" => {
                        let rest = map.iter().filter(|(key, _)| *key != PATCH);
                        Some(Value::Object(cleaned(rest)))
                    }
                    _ => None,
                };
            }
            Some(Value::Object(cleaned(map.iter())))
        }
        Value::Array(items) => Some(Value::Array(items.iter().filter_map(plain).collect())),
        scalar => Some(scalar.clone()),
    }
}

fn cleaned<'a>(entries: impl Iterator<Item = (&'a String, &'a Value)>) -> Map<String, Value> {
    entries
        .filter(|(key, value)| {
            !value.is_null() && *key != RETAIN && !key.starts_with(ORDER) && !key.starts_with(DELETE)
        })
        .filter_map(|(key, value)| Some((key.clone(), plain(value)?)))
        .collect()
}

fn bad_directive(directive: &Value, found: &Map<String, Value>) -> StrategicError {
    StrategicError::Directive {
        directive: directive.to_string(),
        found: Value::Object(found.clone()).to_string(),
    }
}
