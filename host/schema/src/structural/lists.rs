//! Uniqueness of elements in lists that are sets or maps.

use crate::arena::ListType;
use crate::field_error::FieldError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Reports each element that was there before: once, at its second appearance.
pub(super) fn unique(list_type: &ListType, path: &str, items: &[Value], errors: &mut Vec<FieldError>) {
    match list_type {
        ListType::Atomic => {}
        ListType::Set => {
            for (index, item) in repeated(items.iter().map(Value::to_string)).zip_items(items) {
                errors.push(FieldError::duplicate(format!("{path}[{index}]"), item.clone()));
            }
        }
        ListType::Map(keys) => {
            if let Some((index, item)) =
                items.iter().enumerate().find(|(_, i)| !i.is_object() && !i.is_null())
            {
                let detail = "must be an object for an array of list-type map";
                errors.push(FieldError::invalid(format!("{path}[{index}]"), item.clone(), detail));
                return;
            }
            if items.len() < 2 {
                return;
            }
            let identities: Vec<Value> = items.iter().map(|item| identity(keys, item)).collect();
            for (index, key) in repeated(identities.iter().map(Value::to_string)).zip_items(&identities) {
                errors.push(FieldError::duplicate(format!("{path}[{index}]"), key.clone()));
            }
        }
    }
}

fn identity(keys: &[String], item: &Value) -> Value {
    let present = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Object(present.collect::<Map<String, Value>>())
}

struct Repeated(Vec<usize>);

impl Repeated {
    fn zip_items(self, items: &[Value]) -> impl Iterator<Item = (usize, &Value)> {
        self.0.into_iter().filter_map(move |index| Some((index, items.get(index)?)))
    }
}

/// Positions at which something appears for the second time.
fn repeated(keys: impl Iterator<Item = String>) -> Repeated {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut second = Vec::new();
    for (index, key) in keys.enumerate() {
        let times = seen.entry(key).or_default();
        *times += 1;
        if *times == 2 {
            second.push(index);
        }
    }
    Repeated(second)
}
