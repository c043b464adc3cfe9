//! Merging of lists.

use super::order::arrange;
use super::{PATCH, StrategicError, bad_directive, objects, plain};
use crate::arena::{Field, View};
use serde_json::{Map, Value};

/// A list laid on another, as the field's strategy says.
pub(super) fn lists(
    field: Option<&Field>,
    view: Option<View<'_>>,
    base: Vec<Value>,
    patch: &[Value],
) -> Result<Vec<Value>, StrategicError> {
    let Some(field) = field.filter(|field| field.patch.merge) else {
        // Replaced as a whole.
        return Ok(patch.iter().filter_map(plain).collect());
    };
    let of_objects = patch.iter().chain(&base).any(Value::is_object);
    if !of_objects {
        return Ok(scalars(base, patch));
    }
    let Some(key) = field.merge_key.as_deref() else {
        return Err(StrategicError::Keyless(Value::Array(patch.to_vec()).to_string()));
    };
    let (mut merged, patch) = specials(key, base.clone(), patch)?;
    for item in &patch {
        let wanted = key_of(item, key)?.clone();
        let mut at = None;
        for (index, candidate) in merged.iter().enumerate() {
            if *key_of(candidate, key)? == wanted {
                at = Some(index);
                break;
            }
        }
        match at.and_then(|at| merged.get_mut(at)) {
            Some(slot) => {
                if let (Value::Object(was), Value::Object(over)) = (slot.take(), item) {
                    *slot = Value::Object(objects(view.and_then(View::items), was, over)?);
                }
            }
            None => merged.extend(plain(item)),
        }
    }
    arrange(merged, &patch, &base, Some(key))
}

fn scalars(base: Vec<Value>, patch: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::with_capacity(base.len() + patch.len());
    for item in base.iter().chain(patch) {
        if !merged.contains(item) {
            merged.push(item.clone());
        }
    }
    arrange(merged, patch, &base, None).unwrap_or(base)
}

/// Carries out the directives among the patch's elements: replacing of the list, deleting
/// of elements. Gives the list and the elements left to be merged.
fn specials(
    key: &str,
    mut base: Vec<Value>,
    patch: &[Value],
) -> Result<(Vec<Value>, Vec<Value>), StrategicError> {
    let mut rest = Vec::with_capacity(patch.len());
    let mut replace = false;
    for item in patch {
        let Value::Object(map) = item else {
            return Err(StrategicError::Type { expected: "an object", found: item.to_string() });
        };
        match map.get(PATCH) {
            None => rest.push(item.clone()),
            Some(Value::String(directive)) if directive == "delete" => {
                let gone = key_in(map, key)?;
                base.retain(|candidate| candidate.get(key) != Some(gone));
            }
            // It stands in an element of its own, and means the whole list.
            Some(Value::String(directive)) if directive == "replace" => {
                replace = true;
                if map.len() > 1 {
                    rest.extend(plain(item));
                }
            }
            Some(Value::String(directive)) if directive == "merge" => {
                let mut map = map.clone();
                map.remove(PATCH);
                rest.push(Value::Object(map));
            }
            Some(other) => return Err(bad_directive(other, map)),
        }
    }
    if replace {
        return Ok((rest.iter().filter_map(plain).collect(), Vec::new()));
    }
    Ok((base, rest))
}

/// An element's key.
pub(super) fn key_of<'a>(item: &'a Value, key: &str) -> Result<&'a Value, StrategicError> {
    match item {
        Value::Object(map) => key_in(map, key),
        other => Err(StrategicError::Type { expected: "an object", found: other.to_string() }),
    }
}

fn key_in<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a Value, StrategicError> {
    map.get(key).ok_or_else(|| StrategicError::NoMergeKey {
        element: Value::Object(map.clone()).to_string(),
        key: key.to_owned(),
    })
}
