//! Validation of an object against its structural schema.

use super::rules::{check, has_type, wrong_type};
use super::{MAX_DEPTH, combine, lists, push_index, push_key};
use crate::arena::{Kind, ListType, Node, View};
use crate::field_error::FieldError;
use serde_json::{Map, Value};

/// Everything wrong with the object. Parts equal to their counterpart in `old` are not
/// looked at, so that an object which was valid once (or predates a rule) can still be
/// changed elsewhere.
pub fn validate(view: View<'_>, value: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut walk = Walk { errors: Vec::new(), path: String::new() };
    walk.value(view, value, old, 0);
    walk.errors
}

struct Walk {
    errors: Vec<FieldError>,
    path: String,
}

impl Walk {
    fn value(&mut self, view: View<'_>, value: &Value, old: Option<&Value>, depth: usize) {
        if depth > 0 && old == Some(value) {
            return;
        }
        if depth > MAX_DEPTH {
            let detail = format!("nests deeper than {MAX_DEPTH} levels");
            self.errors.push(FieldError::invalid(self.path.as_str(), "", detail));
            return;
        }
        let node = view.node();
        if !self.has_kind(node, value) {
            return;
        }
        if let Some(rules) = &node.rules
            && !(value.is_null() && rules.enumeration.is_empty())
        {
            check(rules, node.kind == Kind::Integer, &self.path, value, &mut self.errors);
        } else if node.kind == Kind::Integer && value.is_u64() && !value.is_i64() {
            let detail = format!("Checked value must be of type integer with format int64 in {}", self.path);
            self.errors.push(FieldError::invalid(self.path.as_str(), value.clone(), detail));
        }
        match value {
            Value::Object(map) => self.object(view, map, old.and_then(Value::as_object), depth),
            Value::Array(items) => self.list(view, items, old.and_then(Value::as_array), depth),
            _ => {}
        }
        if !value.is_null()
            && let Some(Value::Object(schema)) =
                node.rules.as_ref().and_then(|rules| rules.combinators.as_ref())
        {
            self.undeclared_required(schema, value);
            combine::combinators(schema, &mut self.path, value, depth, &mut self.errors);
        }
    }

    fn has_kind(&mut self, node: &Node, value: &Value) -> bool {
        let expected = match node.kind {
            Kind::Any => return true,
            _ if value.is_null() && node.nullable => return true,
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::IntOrString | Kind::Quantity => {
                let whole = node.kind == Kind::IntOrString;
                if value.is_string() || has_type(value, if whole { "integer" } else { "number" }) {
                    return true;
                }
                self.errors.push(wrong_type(&self.path, "integer,string", value));
                return false;
            }
        };
        let fits = has_type(value, expected);
        if !fits {
            self.errors.push(wrong_type(&self.path, expected, value));
        }
        fits
    }

    fn object(
        &mut self,
        view: View<'_>,
        map: &Map<String, Value>,
        old: Option<&Map<String, Value>>,
        depth: usize,
    ) {
        let node = view.node();
        for (name, field) in &node.fields {
            if field.required && !map.contains_key(name) {
                self.required(name, "");
            }
        }
        if node.embedded && depth > 0 {
            self.embedded(map);
        }
        for (key, item) in map {
            if let Some(below) = view.child(key) {
                let before = push_key(&mut self.path, key);
                self.value(below, item, old.and_then(|map| map.get(key)), depth + 1);
                self.path.truncate(before);
            }
        }
    }

    fn list(&mut self, view: View<'_>, items: &[Value], old: Option<&Vec<Value>>, depth: usize) {
        let node = view.node();
        lists::unique(&node.list_type, &self.path, items, &mut self.errors);
        let Some(below) = view.items() else { return };
        for (index, item) in items.iter().enumerate() {
            let counterpart = match &node.list_type {
                ListType::Map(keys) => {
                    old.and_then(|old| old.iter().find(|o| keys.iter().all(|k| o.get(k) == item.get(k))))
                }
                ListType::Set => old.and_then(|old| old.iter().find(|o| *o == item)),
                ListType::Atomic => None,
            };
            let before = push_index(&mut self.path, index);
            self.value(below, item, counterpart, depth + 1);
            self.path.truncate(before);
        }
    }

    /// An embedded resource says what it is.
    fn embedded(&mut self, map: &Map<String, Value>) {
        for name in ["apiVersion", "kind"] {
            match map.get(name) {
                Some(Value::String(text)) if !text.is_empty() => {}
                None | Some(Value::Null | Value::String(_)) => self.required(name, "must not be empty"),
                Some(other) => {
                    let before = push_key(&mut self.path, name);
                    self.errors.push(FieldError::invalid(
                        self.path.as_str(),
                        other.clone(),
                        "must be a string",
                    ));
                    self.path.truncate(before);
                }
            }
        }
        if let Some(metadata) = map.get("metadata").filter(|m| !m.is_object()) {
            let before = push_key(&mut self.path, "metadata");
            self.errors.push(FieldError::invalid(self.path.as_str(), metadata.clone(), "must be an object"));
            self.path.truncate(before);
        }
    }

    /// Names that are required though no property declares them.
    fn undeclared_required(&mut self, schema: &Map<String, Value>, value: &Value) {
        let (Some(Value::Array(names)), Value::Object(map)) = (schema.get("required"), value) else { return };
        for name in names.iter().filter_map(Value::as_str) {
            if !map.contains_key(name) {
                self.required(name, "");
            }
        }
    }

    fn required(&mut self, name: &str, detail: &str) {
        let before = push_key(&mut self.path, name);
        self.errors.push(FieldError::required(self.path.as_str(), detail));
        self.path.truncate(before);
    }
}
