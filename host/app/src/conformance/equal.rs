//! What counts as equal: quantities by value, nothing for what Go's typed round trip adds or leaves out.

use serde_json::{Map, Value};
use windlass_object::quantity::Quantity;

/// Fields whose entries are quantities.
const AMOUNTS: [&str; 5] = ["requests", "limits", "resourceRequest", "overhead", "capacity"];

/// When a condition that is made here was made: "now" in the vectors.
const MADE_NOW: [&str; 3] = ["lastProbeTime", "lastTransitionTime", "lastUpdateTime"];

/// The value without nulls, empty maps and empty lists (`selector: null`, `strategy: {}`, `resources: {}` come and
/// go with Go's types), quantities in one form, and conditions that the operation makes without their times.
pub(super) fn normal(operation: &str, value: &Value) -> Value {
    let mut value = reduced(value, false).unwrap_or_default();
    if operation == "AggregateStatus" && value.get("kind").is_some_and(|kind| kind == "Job") {
        let conditions = value.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten().filter_map(Value::as_object_mut) {
            condition.retain(|field, _| !MADE_NOW.contains(&field.as_str()));
        }
    }
    value
}

fn reduced(value: &Value, amounts: bool) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(map) => {
            let map: Map<String, Value> = map
                .iter()
                .filter_map(|(key, value)| {
                    Some((key.clone(), reduced(value, amounts || AMOUNTS.contains(&key.as_str()))?))
                })
                .collect();
            (!map.is_empty()).then_some(Value::Object(map))
        }
        Value::Array(items) => {
            let items: Vec<Value> =
                items.iter().map(|item| reduced(item, amounts).unwrap_or_default()).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::String(_) | Value::Number(_) if amounts => Some(quantity(value)),
        other => Some(other.clone()),
    }
}

/// In thousandths, if it is a quantity.
fn quantity(value: &Value) -> Value {
    Quantity::from_json(value).map_or_else(|_| value.clone(), |amount| amount.milli_value().into())
}

/// A list in one order.
pub(super) fn sorted(value: Value) -> Value {
    match value {
        Value::Array(mut items) => {
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        other => other,
    }
}
