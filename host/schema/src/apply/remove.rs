//! Taking fields out of an object.

use super::element::Element;
use super::set::FieldSet;
use super::types::Type;
use crate::arena::ListType;
use serde_json::Value;

/// The value without the fields of `set`. Containers that are empty then stay, unless they
/// belong to the set themselves: someone claims them.
pub(super) fn remove(ty: Type<'_>, value: &Value, set: &FieldSet) -> Option<Value> {
    if set.below.is_empty() {
        return Some(value.clone());
    }
    match value {
        Value::Object(map) if !ty.atomic_map() => {
            let mut left = serde_json::Map::new();
            for (key, item) in map {
                let kept = match set.get(&Element::Field(key.clone())) {
                    None => Some(item.clone()),
                    Some(below) if below.member => None,
                    Some(below) => remove(ty.child(key).ty, item, below),
                };
                if let Some(kept) = kept {
                    left.insert(key.clone(), kept);
                }
            }
            Some(Value::Object(left))
        }
        Value::Array(items) if *ty.list() != ListType::Atomic => {
            let Some(names) = ty.elements(items) else { return Some(value.clone()) };
            let left: Vec<Value> = names
                .iter()
                .zip(items)
                .filter_map(|(name, item)| match set.get(name) {
                    None => Some(item.clone()),
                    Some(below) if below.member => None,
                    Some(below) => remove(ty.item(), item, below),
                })
                .collect();
            Some(Value::Array(left))
        }
        Value::Object(_) | Value::Array(_) => None,
        scalar => Some(scalar.clone()),
    }
}
