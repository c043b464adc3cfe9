//! The order of merged lists: what the patch names comes in the patch's order, what only
//! the server has keeps its own, and both are woven by where the server had them.

use super::list::{key_of, lists};
use super::{PATCH, StrategicError, plain};
use crate::arena::{Field, View};
use serde_json::{Map, Value};

/// `$setElementOrder/name`: merges the list of that name and brings it into the order.
pub(super) fn ordered(
    field: Option<&Field>,
    view: Option<View<'_>>,
    base: &mut Map<String, Value>,
    patch: Option<&Value>,
    name: &str,
    wanted: &Value,
) -> Result<(), StrategicError> {
    let Value::Array(wanted) = wanted else { return Err(StrategicError::Format("$setElementOrder list")) };
    let key = field.and_then(|field| field.merge_key.as_deref());
    let list = |value: Option<&Value>| match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.clone())),
        Some(other) => Err(StrategicError::Type { expected: "a list", found: other.to_string() }),
    };
    let was = list(base.get(name))?;
    let over = list(patch)?;
    if patch.is_some_and(Value::is_null) {
        base.remove(name);
        return Ok(());
    }
    if let Some(over) = &over {
        agree(over, wanted, key)?;
    }
    let merged = match (&was, &over) {
        (None, None) => return Ok(()),
        (Some(was), None) => was.clone(),
        (None, Some(over)) => over.iter().filter_map(plain).collect(),
        (Some(was), Some(over)) => lists(field, view, was.clone(), over)?,
    };
    let merged = arrange(merged, wanted, &was.unwrap_or_default(), key)?;
    base.insert(name.to_owned(), Value::Array(merged));
    Ok(())
}

/// The patch's elements must come in the wanted order, and be among it.
fn agree(patch: &[Value], wanted: &[Value], key: Option<&str>) -> Result<(), StrategicError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut rest = wanted.iter();
    for item in patch.iter().filter(|item| item.get(PATCH).is_none()) {
        let id = identity(item, key)?.clone();
        let mut found = false;
        for candidate in rest.by_ref() {
            if *identity(candidate, key)? == id {
                found = true;
                break;
            }
        }
        if !found {
            let text = |list: &[Value]| Value::Array(list.to_vec()).to_string();
            return Err(StrategicError::Order { patch: text(patch), order: text(wanted) });
        }
    }
    Ok(())
}

fn identity<'a>(item: &'a Value, key: Option<&str>) -> Result<&'a Value, StrategicError> {
    match key {
        Some(key) if item.is_object() => key_of(item, key),
        _ => Ok(item),
    }
}

/// Brings a merged list into order. Elements without their key are an error.
pub(super) fn arrange(
    merged: Vec<Value>,
    patch: &[Value],
    server: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, StrategicError> {
    let place = |list: &[Value], id: &Value| -> Option<usize> {
        list.iter().position(|item| identity(item, key).is_ok_and(|other| other == id))
    };
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for item in merged {
        let id = identity(&item, key)?.clone();
        let at_server = place(server, &id);
        match place(patch, &id) {
            Some(at) => named.push((at, at_server, item)),
            None => others.push((at_server, item)),
        }
    }
    named.sort_by_key(|(at, _, _)| *at);
    others.sort_by_key(|(at, _)| at.unwrap_or(usize::MAX));
    let mut result = Vec::with_capacity(named.len() + others.len());
    let mut left = named.into_iter().peekable();
    let mut right = others.into_iter().peekable();
    loop {
        let right_first = match (left.peek(), right.peek()) {
            (None, None) => return Ok(result),
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (Some((_, a, _)), Some((b, _))) => matches!((a, b), (Some(a), Some(b)) if b < a),
        };
        if right_first {
            result.extend(right.next().map(|(_, item)| item));
        } else {
            result.extend(left.next().map(|(_, _, item)| item));
        }
    }
}
