//! Laying an applied object over the live one.

use super::element::Element;
use super::types::Type;
use crate::arena::ListType;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// `over` laid on `live`. Nothing is removed; elements of lists come in the order of
/// `over`, those that only `live` has stay where they were among them.
pub(super) fn merge(ty: Type<'_>, live: &Value, over: &Value) -> Value {
    match (live, over) {
        (Value::Object(a), Value::Object(b)) if !ty.atomic_map() => Value::Object(maps(ty, a, b)),
        (Value::Object(a), Value::Null) if !ty.atomic_map() && !a.is_empty() => live.clone(),
        (Value::Array(a), Value::Array(b)) if *ty.list() != ListType::Atomic => {
            lists(ty, a, b).map_or_else(|| over.clone(), Value::Array)
        }
        (Value::Array(a), Value::Null) if *ty.list() != ListType::Atomic && !a.is_empty() => live.clone(),
        _ => over.clone(),
    }
}

fn maps(ty: Type<'_>, live: &Map<String, Value>, over: &Map<String, Value>) -> Map<String, Value> {
    let mut result = live.clone();
    for (key, value) in over {
        if ty.resets(key) {
            continue;
        }
        let merged = match live.get(key) {
            Some(was) => merge(ty.child(key).ty, was, value),
            None => value.clone(),
        };
        result.insert(key.clone(), merged);
    }
    result
}

fn lists(ty: Type<'_>, live: &[Value], over: &[Value]) -> Option<Vec<Value>> {
    let live_names = ty.elements(live)?;
    let over_names = ty.elements(over)?;
    // Elements that the live list has twice merge with nothing: the applied one replaces both.
    let mut ours: BTreeMap<&Element, Option<&Value>> = BTreeMap::new();
    for (name, item) in live_names.iter().zip(live) {
        ours.entry(name).and_modify(|twice| *twice = None).or_insert(Some(item));
    }
    let theirs: BTreeMap<&Element, &Value> = over_names.iter().zip(over).collect();
    let mut result = Vec::with_capacity(live.len().max(over.len()));
    let mut taken: std::collections::BTreeSet<&Element> = std::collections::BTreeSet::new();
    let mut shared = over_names.iter().filter(|name| ours.contains_key(name)).peekable();
    let take = |name: &Element, item: &Value| match ours.get(name).copied().flatten() {
        Some(was) => merge(ty.item(), was, item),
        None => item.clone(),
    };
    let mut left = live_names.iter().zip(live).peekable();
    let mut right = over_names.iter().zip(over).peekable();
    loop {
        if let (Some((name, _)), Some((next, item))) = (left.peek(), right.peek()) {
            if name == next {
                result.push(take(name, item));
                taken.insert(name);
                left.next();
                right.next();
                shared.next();
                continue;
            }
            // Shared, but its turn is not yet, or was before.
            if theirs.contains_key(name) && shared.peek().is_some_and(|turn| turn != name) {
                left.next();
                continue;
            }
        }
        if let Some((name, item)) = left.peek() {
            if !theirs.contains_key(name) {
                result.push((*item).clone());
                left.next();
                continue;
            }
            if taken.contains(name) {
                left.next();
                continue;
            }
        }
        match right.next() {
            Some((name, item)) => {
                if taken.insert(name) {
                    result.push(take(name, item));
                }
                if shared.peek().is_some_and(|turn| *turn == name) {
                    shared.next();
                }
            }
            None if left.next().is_none() => return Some(result),
            None => {}
        }
    }
}
