//! Decoding: every value is checked against its type and brought to its one form; what Go would not have kept is removed.

use super::{CanonicalError, is_empty, json_schema, zero};
use crate::arena::{Kind, View};
use crate::builtin::{Leaf, table};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value};
use windlass_object::{Quantity, time};

/// Unknown fields beyond this many are dropped without being told of, as upstream does.
const MAX_UNKNOWN: usize = 100;

/// Checks and normalises; gives `unknown field "…"` for each field that was dropped.
pub(super) fn shrink(view: View<'_>, value: &mut Value) -> Result<Vec<String>, CanonicalError> {
    let mut walk = Walk::default();
    walk.value(view, value)?;
    Ok(walk.unknown)
}

#[derive(Default)]
struct Walk {
    unknown: Vec<String>,
    /// Where we are, with indexes: `spec.containers[0].`.
    path: Vec<Step>,
}

enum Step {
    Field(String),
    Index(usize),
}

impl Walk {
    fn value(&mut self, view: View<'_>, value: &mut Value) -> Result<(), CanonicalError> {
        if let Some(leaf) = table().leaf(view) {
            return self.leaf(leaf, view, value);
        }
        let node = view.node();
        match (&node.kind, &mut *value) {
            (Kind::Object, Value::Object(_)) if node.values.is_some() => self.map(view, value),
            (Kind::Object, Value::Object(_)) => self.fields(view, value),
            (Kind::Array, Value::Array(list)) => {
                let Some(items) = view.items() else { return Ok(()) };
                for (index, item) in list.iter_mut().enumerate() {
                    if item.is_null() {
                        *item = zero(items);
                    }
                    self.at(Step::Index(index), |walk| walk.value(items, item))?;
                }
                Ok(())
            }
            (Kind::Any, _) | (Kind::String, Value::String(_)) | (Kind::Boolean, Value::Bool(_)) => Ok(()),
            (Kind::Integer, Value::Number(number)) => {
                let short = node.rules.as_ref().is_some_and(|r| r.format.as_deref() == Some("int32"));
                let fits = number.as_i64().is_some_and(|n| !short || i32::try_from(n).is_ok());
                if fits { Ok(()) } else { Err(self.mistyped(view, &format!("number {number}"))) }
            }
            (Kind::Number, Value::Number(number)) => {
                if let Some(whole) = whole(number) {
                    *value = Value::from(whole);
                }
                Ok(())
            }
            _ => Err(self.mistyped(view, describe(value))),
        }
    }

    fn fields(&mut self, view: View<'_>, value: &mut Value) -> Result<(), CanonicalError> {
        let Value::Object(map) = value else { return Ok(()) };
        let mut dropped = Vec::new();
        for (name, value) in map.iter_mut() {
            let Some((field, child)) = view.field(name) else {
                self.tell(name);
                dropped.push(name.clone());
                continue;
            };
            if value.is_null() {
                dropped.push(name.clone());
                continue;
            }
            self.at(Step::Field(name.clone()), |walk| walk.value(child, value))?;
            if value.is_null() || field.omit_empty && is_empty(value) {
                dropped.push(name.clone());
            }
        }
        for name in dropped {
            map.remove(&name);
        }
        Ok(())
    }

    fn map(&mut self, view: View<'_>, value: &mut Value) -> Result<(), CanonicalError> {
        let (Value::Object(map), Some(values)) = (value, view.node().values) else { return Ok(()) };
        let values = view.at(values);
        for (name, value) in map.iter_mut() {
            if value.is_null() {
                *value = zero(values);
            } else {
                self.at(Step::Field(name.clone()), |walk| walk.value(values, value))?;
            }
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: Leaf, view: View<'_>, value: &mut Value) -> Result<(), CanonicalError> {
        match (leaf, &*value) {
            (_, Value::Null) => Ok(()),
            (Leaf::Raw, _) => Ok(()),
            (Leaf::Quantity, Value::String(_) | Value::Number(_)) => {
                let quantity =
                    Quantity::from_json(value).map_err(|_| CanonicalError::Type(QUANTITY.into()))?;
                *value = quantity.to_string().into();
                Ok(())
            }
            (Leaf::IntOrString, Value::String(_)) => Ok(()),
            (Leaf::IntOrString, Value::Number(number)) => match number.as_i64().map(i32::try_from) {
                Some(Ok(_)) => Ok(()),
                _ => Err(CanonicalError::Type(format!(
                    "json: cannot unmarshal number {number} into Go value of type int32"
                ))),
            },
            (Leaf::Time | Leaf::MicroTime, Value::String(text)) => {
                let parsed = time::parse(text).map_err(|_| CanonicalError::Type(unparsed_time(text)))?;
                let micro = leaf == Leaf::MicroTime;
                *value = if micro { time::format_micro(parsed) } else { time::format(parsed) }.into();
                Ok(())
            }
            (Leaf::Bytes, Value::String(text)) => {
                let clean: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
                let bytes = STANDARD
                    .decode(&clean)
                    .map_err(|error| CanonicalError::Type(bad_base64(error, &clean)))?;
                *value = STANDARD.encode(bytes).into();
                Ok(())
            }
            (Leaf::Duration, Value::String(_)) => Ok(()),
            (Leaf::WrappedList, Value::Array(list)) if list.iter().all(Value::is_string) => Ok(()),
            (Leaf::SchemaOrBool, Value::Bool(_)) => Ok(()),
            (Leaf::SchemaOrStrings, Value::Array(_)) => Ok(()),
            (Leaf::SchemaOrBool | Leaf::SchemaOrArray | Leaf::SchemaOrStrings, Value::Object(_)) => {
                self.schema(value)
            }
            (Leaf::SchemaOrArray, Value::Array(_)) => {
                let Value::Array(list) = value else { return Ok(()) };
                list.iter_mut()
                    .enumerate()
                    .try_for_each(|(i, v)| self.at(Step::Index(i), |walk| walk.schema(v)))
            }
            _ => Err(self.mistyped(view, describe(value))),
        }
    }

    fn schema(&mut self, value: &mut Value) -> Result<(), CanonicalError> {
        match json_schema() {
            Some(view) => self.value(view, value),
            None => Ok(()),
        }
    }

    fn at<T>(&mut self, step: Step, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = inner(self);
        self.path.pop();
        result
    }

    fn tell(&mut self, name: &str) {
        if self.unknown.len() < MAX_UNKNOWN {
            let mut path = self.location(true);
            if !path.is_empty() {
                path.push('.');
            }
            self.unknown.push(format!("unknown field \"{path}{name}\""));
        }
    }

    fn location(&self, indexes: bool) -> String {
        let mut text = String::new();
        for step in &self.path {
            match step {
                Step::Field(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                Step::Index(index) if indexes => text.push_str(&format!("[{index}]")),
                Step::Index(_) => {}
            }
        }
        text
    }

    /// Go's words for a value of the wrong type. It names the struct as well, which adds nothing to the path.
    fn mistyped(&self, view: View<'_>, found: &str) -> CanonicalError {
        let path = self.location(false);
        let expected = go_type(view);
        CanonicalError::Type(if path.is_empty() {
            format!("json: cannot unmarshal {found} into Go value of type {expected}")
        } else {
            format!("json: cannot unmarshal {found} into Go struct field .{path} of type {expected}")
        })
    }
}

const QUANTITY: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

fn unparsed_time(text: &str) -> String {
    format!("parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {text:?} as \"2006\"")
}

fn bad_base64(error: base64::DecodeError, text: &str) -> String {
    let at = match error {
        base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
        _ => text.len(),
    };
    format!("illegal base64 data at input byte {at}")
}

fn whole(number: &Number) -> Option<i64> {
    /// Integers above this have no exact float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64()?;
    (number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The type's name in Go: `int32`, `v1.Container`, `[]string`, `map[string]string`.
fn go_type(view: View<'_>) -> String {
    let node = view.node();
    if let (Some(name), None) = (&node.name, node.values) {
        let mut parts = name.rsplit('.');
        let (last, package) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        return format!("{package}.{last}");
    }
    match node.kind {
        Kind::String => "string".into(),
        Kind::Boolean => "bool".into(),
        Kind::Number => "float64".into(),
        Kind::Integer => node.rules.as_ref().and_then(|r| r.format.clone()).unwrap_or_else(|| "int64".into()),
        Kind::Array => format!("[]{}", view.items().map(go_type).unwrap_or_default()),
        Kind::Object => match node.values {
            Some(values) => format!("map[string]{}", go_type(view.at(values))),
            None => "map[string]interface {}".into(),
        },
        _ => "interface {}".into(),
    }
}
