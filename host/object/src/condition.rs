//! Conditions: entries of a list with one entry per type, whose transition time moves only when the status does.

use serde_json::{Map, Value};

use crate::time;

/// What a controller wants a condition to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// `type`.
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// A CamelCase word for programs.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
    /// The generation that this was found for.
    pub observed_generation: Option<i64>,
}

impl Condition {
    /// A condition without an observed generation.
    pub fn new(
        type_: impl Into<String>,
        status: impl Into<String>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            type_: type_.into(),
            status: status.into(),
            reason: reason.into(),
            message: message.into(),
            observed_generation: None,
        }
    }

    /// The same with the generation that it was found for.
    pub fn observed(mut self, generation: i64) -> Self {
        self.observed_generation = Some(generation);
        self
    }
}

/// Adds or updates the entry of that type; tells whether the list changed. The transition time stays while the status is equal.
pub fn set(conditions: &mut Vec<Value>, condition: Condition) -> bool {
    set_at(conditions, condition, &time::now())
}

/// [`set`] with a given time, for planning on a fixed clock.
pub fn set_at(conditions: &mut Vec<Value>, condition: Condition, now: &str) -> bool {
    let Some(entry) = conditions.iter_mut().find(|entry| is_type(entry, &condition.type_)) else {
        let mut entry = Map::new();
        fill(&mut entry, &condition);
        entry.insert("type".into(), condition.type_.into());
        entry.insert("lastTransitionTime".into(), now.into());
        conditions.push(Value::Object(entry));
        return true;
    };
    let Value::Object(entry) = entry else { return false };
    let before = entry.clone();
    let same_status = entry.get("status").and_then(Value::as_str) == Some(&condition.status);
    fill(entry, &condition);
    if !same_status || entry.get("lastTransitionTime").is_none_or(Value::is_null) {
        entry.insert("lastTransitionTime".into(), now.into());
    }
    *entry != before
}

/// Removes the entry of that type; tells whether the list changed.
pub fn remove(conditions: &mut Vec<Value>, type_: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|entry| !is_type(entry, type_));
    conditions.len() != before
}

/// The entry of that type.
pub fn find<'a>(conditions: &'a [Value], type_: &str) -> Option<&'a Value> {
    conditions.iter().find(|entry| is_type(entry, type_))
}

/// Whether the entry of that type has status `True`.
pub fn is_true(conditions: &[Value], type_: &str) -> bool {
    status(conditions, type_) == Some("True")
}

/// The status of the entry of that type.
pub fn status<'a>(conditions: &'a [Value], type_: &str) -> Option<&'a str> {
    find(conditions, type_)?.get("status")?.as_str()
}

/// `status.conditions` of an object, empty if absent.
pub fn of(object: &Value) -> &[Value] {
    object.pointer("/status/conditions").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_type(entry: &Value, type_: &str) -> bool {
    entry.get("type").and_then(Value::as_str) == Some(type_)
}

fn fill(entry: &mut Map<String, Value>, condition: &Condition) {
    entry.insert("status".into(), condition.status.as_str().into());
    entry.insert("reason".into(), condition.reason.as_str().into());
    entry.insert("message".into(), condition.message.as_str().into());
    if let Some(generation) = condition.observed_generation {
        entry.insert("observedGeneration".into(), generation.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn transition_time_moves_with_status_only() {
        let mut list = Vec::new();
        assert!(set_at(&mut list, Condition::new("Ready", "False", "Starting", "wait").observed(1), "t1"));
        assert!(!set_at(&mut list, Condition::new("Ready", "False", "Starting", "wait").observed(1), "t2"));
        assert!(set_at(
            &mut list,
            Condition::new("Ready", "False", "Starting", "wait more").observed(2),
            "t3"
        ));
        assert_eq!(list[0]["lastTransitionTime"], "t1");
        assert!(set_at(&mut list, Condition::new("Ready", "True", "Up", ""), "t4"));
        assert_eq!(
            list,
            [
                json!({"type": "Ready", "status": "True", "reason": "Up", "message": "", "observedGeneration": 2, "lastTransitionTime": "t4"})
            ]
        );
        assert!(is_true(&list, "Ready") && !is_true(&list, "Other"));
        assert!(set(&mut list, Condition::new("Other", "Unknown", "X", "")));
        assert!(remove(&mut list, "Ready") && !remove(&mut list, "Ready"));
        assert_eq!(of(&json!({"status": {"conditions": list}})).len(), 1);
    }
}
