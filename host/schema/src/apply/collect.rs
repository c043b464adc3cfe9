//! The fields that an applied object claims, and whether it can be applied at all.

use super::element::Element;
use super::set::FieldSet;
use super::types::Type;
use crate::arena::{Kind, ListType};
use serde_json::Value;
use std::collections::BTreeMap;

/// Leaves and list elements of a value. `member` of the result says whether the value
/// itself is a leaf.
pub(super) fn collect(ty: Type<'_>, value: &Value) -> FieldSet {
    match value {
        Value::Object(map) if !ty.atomic_map() => {
            let mut set = FieldSet { member: map.is_empty(), below: Vec::new() };
            for (key, item) in map {
                if ty.skips(key) {
                    continue;
                }
                let child = ty.child(key);
                let mut below = collect(child.ty, item);
                below.member |= !child.declared;
                set.push(Element::Field(key.clone()), below);
            }
            set
        }
        Value::Array(items) if *ty.list() != ListType::Atomic => {
            let Some(names) = ty.elements(items) else { return FieldSet::leaf() };
            let mut below: BTreeMap<Element, Option<&Value>> = BTreeMap::new();
            for (name, item) in names.into_iter().zip(items) {
                below.entry(name).and_modify(|twice| *twice = None).or_insert(Some(item));
            }
            let mut set = FieldSet::default();
            for (name, item) in below {
                let mut part = item.map(|item| collect(ty.item(), item)).unwrap_or_default();
                part.member = true;
                set.push(name, part);
            }
            set
        }
        _ => FieldSet::leaf(),
    }
}

/// Adds the structs' fields on the way to each path, so that they can be removed with
/// what they hold.
pub(super) fn with_fields(ty: Type<'_>, set: &FieldSet) -> FieldSet {
    let mut result = FieldSet { member: set.member, below: Vec::with_capacity(set.below.len()) };
    for (element, below) in &set.below {
        let (child, declared) = match element {
            Element::Field(key) => {
                let child = ty.child(key);
                (child.ty, child.declared)
            }
            _ => (ty.item(), false),
        };
        let mut part = with_fields(child, below);
        part.member |= declared;
        result.push(element.clone(), part);
    }
    result
}

/// What became atomic since a set was written is owned as a whole.
pub(super) fn reconcile(ty: Type<'_>, set: &mut FieldSet) {
    let Some(node) = ty.node() else { return };
    let atomic = node.atomic || (node.kind == Kind::Array && *ty.list() == ListType::Atomic);
    if atomic && !set.below.is_empty() {
        *set = FieldSet::leaf();
        return;
    }
    for (element, below) in &mut set.below {
        match element {
            Element::Field(key) => reconcile(ty.child(key).ty, below),
            _ => reconcile(ty.item(), below),
        }
    }
}

/// Everything that keeps an object from being applied.
pub(super) fn faults(ty: Type<'_>, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    walk(ty, value, &mut String::new(), &mut faults);
    faults
}

fn walk(ty: Type<'_>, value: &Value, path: &mut String, faults: &mut Vec<String>) {
    if let Some(expected) = mismatch(ty, value) {
        faults.push(format!("{path}: expected {expected}, got {}", brief(value)));
        return;
    }
    let before = path.len();
    match value {
        Value::Object(map) => {
            for (key, item) in map {
                let child = ty.child(key);
                path.push('.');
                path.push_str(key);
                if child.known {
                    walk(child.ty, item, path, faults);
                } else {
                    faults.push(format!("{path}: field not declared in schema"));
                }
                path.truncate(before);
            }
        }
        Value::Array(items) => list(ty, items, path, faults),
        _ => {}
    }
}

fn list(ty: Type<'_>, items: &[Value], path: &mut String, faults: &mut Vec<String>) {
    let before = path.len();
    let atomic = *ty.list() == ListType::Atomic;
    let mut seen: Vec<Element> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match ty.element(item) {
            Some(name) => {
                path.push_str(&name.to_string());
                if let Err(at) = seen.binary_search(&name) {
                    seen.insert(at, name);
                } else {
                    let name = path.get(before..).unwrap_or_default().to_owned();
                    faults.push(format!(
                        "{}: duplicate entries for key {name}",
                        path.get(..before).unwrap_or_default()
                    ));
                }
            }
            None if atomic => path.push_str(&format!("[{index}]")),
            None => {
                let what = match ty.list() {
                    ListType::Map(keys) if item.is_object() => {
                        format!(
                            "associative list with keys has an element that omits all key fields {keys:?} (and doesn't have default values for any key fields)"
                        )
                    }
                    ListType::Map(_) => "associative list with keys may not have non-map elements".to_owned(),
                    _ => "associative list without keys has an element that is not a scalar".to_owned(),
                };
                faults.push(format!("{path}: element {index}: {what}"));
                continue;
            }
        }
        walk(ty.item(), item, path, faults);
        path.truncate(before);
    }
}

fn mismatch(ty: Type<'_>, value: &Value) -> Option<&'static str> {
    let node = ty.node()?;
    let fits = match (&node.kind, value) {
        (_, Value::Null) | (Kind::Any, _) => true,
        (Kind::Object, v) => v.is_object(),
        (Kind::Array, v) => v.is_array(),
        (Kind::String, v) => v.is_string(),
        (Kind::Integer | Kind::Number, v) => v.is_number(),
        (Kind::Boolean, v) => v.is_boolean(),
        (Kind::IntOrString | Kind::Quantity, v) => !v.is_object() && !v.is_array(),
    };
    (!fits).then_some(match node.kind {
        Kind::Object => "map",
        Kind::Array => "list",
        Kind::String => "string",
        Kind::Integer | Kind::Number => "numeric (int or float)",
        Kind::Boolean => "boolean",
        Kind::IntOrString | Kind::Quantity | Kind::Any => "any scalar",
    })
}

/// A value for an error message: the type of containers, scalars as they are.
fn brief(value: &Value) -> String {
    match value {
        Value::Object(_) => "map".to_owned(),
        Value::Array(_) => "list".to_owned(),
        Value::String(_) => "string".to_owned(),
        other => other.to_string(),
    }
}
