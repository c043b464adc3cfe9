//! What differs between two objects, found in one walk that allocates only where
//! something does.

use super::element::{Element, order};
use super::set::FieldSet;
use super::types::Type;
use crate::arena::{Absent, Kind, ListType};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use windlass_object::Quantity;

/// The difference between two objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Fields added or modified.
    pub changed: FieldSet,
    /// Fields removed.
    pub removed: FieldSet,
}

impl Delta {
    /// Nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty()
    }

    fn modified() -> Self {
        Delta { changed: FieldSet::leaf(), removed: FieldSet::default() }
    }

    fn push(&mut self, element: impl Fn() -> Element, delta: Delta) {
        if !delta.changed.is_empty() {
            self.changed.push(element(), delta.changed);
        }
        if !delta.removed.is_empty() {
            self.removed.push(element(), delta.removed);
        }
    }
}

/// An object without any field: what a new object is compared with.
pub(super) static NOTHING: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));

static NO_FIELDS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// Compares two values of one type.
pub(super) fn compare(ty: Type<'_>, old: &Value, new: &Value) -> Delta {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) if granular(ty, a, b) => maps(ty, a, b),
        (Value::Null, Value::Object(b)) if granular(ty, &NO_FIELDS, b) => maps(ty, &NO_FIELDS, b),
        (Value::Object(a), Value::Null) if granular(ty, a, &NO_FIELDS) => maps(ty, a, &NO_FIELDS),
        (Value::Array(a), Value::Array(b))
            if *ty.list() != ListType::Atomic && !(a.is_empty() && b.is_empty()) =>
        {
            lists(ty, a, b).unwrap_or_else(|| leaf(ty, old, new))
        }
        (Value::Null, Value::Array(b)) if *ty.list() != ListType::Atomic && !b.is_empty() => {
            lists(ty, &[], b).unwrap_or_else(|| leaf(ty, old, new))
        }
        (Value::Array(a), Value::Null) if *ty.list() != ListType::Atomic && !a.is_empty() => {
            lists(ty, a, &[]).unwrap_or_else(|| leaf(ty, old, new))
        }
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_))
            if std::mem::discriminant(old) != std::mem::discriminant(new) =>
        {
            // Another type altogether: the field changed, with all below it.
            let mut delta = Delta { changed: whole(ty, new), removed: whole(ty, old) };
            delta.changed.member = true;
            delta.removed.member = false;
            delta
        }
        _ => leaf(ty, old, new),
    }
}

fn granular(ty: Type<'_>, a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    (!a.is_empty() || !b.is_empty()) && !ty.atomic_map()
}

fn leaf(ty: Type<'_>, old: &Value, new: &Value) -> Delta {
    let equal = old == new
        || match (old, new) {
            (Value::Number(_), Value::Number(_)) => order(old, new).is_eq(),
            // An applier may write 1000m where 1 is stored.
            (Value::Number(_) | Value::String(_), Value::Number(_) | Value::String(_)) => {
                ty.node().is_some_and(|node| node.kind == Kind::Quantity)
                    && matches!((Quantity::from_json(old), Quantity::from_json(new)), (Ok(a), Ok(b)) if a == b)
            }
            _ => false,
        };
    if equal { Delta::default() } else { Delta::modified() }
}

fn maps(ty: Type<'_>, old: &Map<String, Value>, new: &Map<String, Value>) -> Delta {
    let mut delta = Delta::default();
    let (mut left, mut right) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return delta,
        };
        let was = if order.is_le() { left.next() } else { None };
        let is = if order.is_ge() { right.next() } else { None };
        let Some((key, _)) = was.or(is) else { return delta };
        if ty.skips(key) {
            continue;
        }
        let below = match (was, is) {
            // Most of an object stays as it is, and plain equality needs no schema.
            (Some((_, a)), Some((_, b))) if a == b => continue,
            (Some((_, a)), Some((_, b))) => compare(ty.child(key).ty, a, b),
            (None, Some((_, b))) => {
                let child = ty.child(key);
                match child.absent {
                    Absent::Leave => added(child.ty, b),
                    Absent::Null => compare(child.ty, &Value::Null, b),
                    Absent::Zero => since_zero(child.ty, b),
                }
            }
            (Some((_, a)), None) => {
                let child = ty.child(key);
                let removed = whole(child.ty, a);
                let member = !(child.absent == Absent::Zero && a.is_object());
                Delta { changed: FieldSet::default(), removed: FieldSet { member, ..removed } }
            }
            (None, None) => continue,
        };
        delta.push(|| Element::Field(key.clone()), below);
    }
}

fn added(ty: Type<'_>, value: &Value) -> Delta {
    Delta { changed: whole(ty, value), removed: FieldSet::default() }
}

/// A field that is there in Go's types before it is set, with an empty value.
fn since_zero(ty: Type<'_>, value: &Value) -> Delta {
    match value {
        Value::Null | Value::Bool(false) => Delta::default(),
        Value::String(s) if s.is_empty() => Delta::default(),
        Value::Number(n) if n.as_f64() == Some(0.0) => Delta::default(),
        Value::Array(items) if items.is_empty() => Delta::default(),
        Value::Object(map) if map.is_empty() => Delta::default(),
        Value::Object(map) if !ty.atomic_map() => maps(ty, &NO_FIELDS, map),
        Value::Array(items) if *ty.list() != ListType::Atomic => {
            lists(ty, &[], items).unwrap_or_else(Delta::modified)
        }
        _ => Delta::modified(),
    }
}

/// All that a value brings along when it appears (or takes along when it goes).
pub(super) fn whole(ty: Type<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSet::leaf();
    match value {
        Value::Object(map) if !ty.atomic_map() => {
            for (key, item) in map {
                if !ty.skips(key) {
                    set.push(Element::Field(key.clone()), whole(ty.child(key).ty, item));
                }
            }
        }
        Value::Array(items) if *ty.list() != ListType::Atomic => {
            let Some(names) = ty.elements(items) else { return set };
            let mut below: BTreeMap<Element, Option<&Value>> = BTreeMap::new();
            for (name, item) in names.into_iter().zip(items) {
                below.entry(name).and_modify(|twice| *twice = None).or_insert(Some(item));
            }
            for (name, item) in below {
                let part = item.map_or_else(FieldSet::leaf, |item| whole(ty.item(), item));
                set.push(name, part);
            }
        }
        _ => {}
    }
    set
}

/// Elements by name, whatever their order. None if an element has no name.
fn lists(ty: Type<'_>, old: &[Value], new: &[Value]) -> Option<Delta> {
    if old == new {
        return Some(Delta::default());
    }
    let mut by_name: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
    for (name, item) in ty.elements(old)?.into_iter().zip(old) {
        by_name.entry(name).or_default().0.push(item);
    }
    for (name, item) in ty.elements(new)?.into_iter().zip(new) {
        by_name.entry(name).or_default().1.push(item);
    }
    let mut delta = Delta::default();
    for (name, (was, is)) in by_name {
        let below = match (was.as_slice(), is.as_slice()) {
            ([a], [b]) => compare(ty.item(), a, b),
            ([], [b]) => added(ty.item(), b),
            ([a], []) => Delta { changed: FieldSet::default(), removed: whole(ty.item(), a) },
            // Names that occur twice are owned as one, without what is below.
            ([_, _, ..], [_, _, ..]) => {
                if was == is {
                    Delta::default()
                } else {
                    Delta::modified()
                }
            }
            ([_, _, ..], rest) => Delta {
                changed: rest.first().map(|b| whole(ty.item(), b)).unwrap_or_default(),
                removed: FieldSet::leaf(),
            },
            (rest, _) => {
                let mut removed = rest.first().map(|a| whole(ty.item(), a)).unwrap_or_default();
                removed.member = false;
                Delta { changed: FieldSet::leaf(), removed }
            }
        };
        delta.push(|| name.clone(), below);
    }
    Some(delta)
}
