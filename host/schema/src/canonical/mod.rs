//! Built-in objects as Go leaves them after decoding, defaulting and encoding: types checked, unknown fields and
//! nulls gone, empty `omitempty` fields gone, zero values present where Go writes them, quantities and times in
//! their one form. Storing anything else makes diffs, generations and no-op writes drift.

mod shrink;
#[cfg(test)]
mod tests;

use crate::arena::{Absent, Kind, View};
use crate::builtin::{Leaf, table};
use crate::default;
use serde_json::{Map, Value};
use windlass_object::{Gvk, Meta};

/// What happens to fields that the kind doesn't have (`fieldValidation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// They vanish (`Ignore`).
    Drop,
    /// They vanish, and the answer warns (`Warn`).
    #[default]
    Warn,
    /// The request is refused (`Strict`).
    Error,
}

/// Why an object isn't of its kind: a bad request, not an invalid object.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CanonicalError {
    /// Fields that the kind doesn't have, as `unknown field "spec.foo"`.
    #[error("strict decoding error: {}", .0.join(", "))]
    Unknown(Vec<String>),
    /// A value of another type or form, in the words of Go's decoder.
    #[error("{0}")]
    Type(String),
}

impl CanonicalError {
    /// The whole message of the bad request.
    pub fn message(&self, gvk: &Gvk) -> String {
        format!("{} in version {:?} cannot be handled as a {}: {self}", gvk.kind, gvk.version, gvk.kind)
    }
}

/// Brings an object (or a part of one) to the form in which Go would encode it, defaults included; `view` must be of
/// the built-in table. Gives the warnings, which are empty unless `unknown` asks for them.
pub fn canonicalize(
    view: View<'_>,
    object: &mut Value,
    unknown: Unknown,
) -> Result<Vec<String>, CanonicalError> {
    let warnings = decode(view, object, unknown)?;
    declared(view, object);
    let gvk = object.gvk();
    default::apply(&gvk, object);
    encode(view, object);
    Ok(warnings)
}

/// The first third of [`canonicalize`]: checks and normalises what is there, adds nothing.
pub fn decode(view: View<'_>, object: &mut Value, unknown: Unknown) -> Result<Vec<String>, CanonicalError> {
    let found = shrink::shrink(view, object)?;
    match unknown {
        Unknown::Drop => Ok(Vec::new()),
        Unknown::Warn => Ok(found),
        Unknown::Error if found.is_empty() => Ok(found),
        Unknown::Error => Err(CanonicalError::Unknown(found)),
    }
}

/// The last third: adds the zero values that Go writes and drops the empty values that it doesn't.
pub fn encode(view: View<'_>, value: &mut Value) {
    match value {
        Value::Object(map) if !view.node().fields.is_empty() => {
            for (name, field) in &view.node().fields {
                let child = view.at(field.node);
                match map.get_mut(name) {
                    Some(Value::Null) | None => match field.absent {
                        Absent::Leave => {
                            map.remove(name);
                        }
                        Absent::Null => {
                            map.insert(name.clone(), Value::Null);
                        }
                        Absent::Zero => {
                            map.insert(name.clone(), zero(child));
                        }
                    },
                    Some(value) => {
                        encode(child, value);
                        if field.omit_empty && is_empty(value) {
                            map.remove(name);
                        }
                    }
                }
            }
        }
        Value::Object(map) => {
            if let Some(values) = view.node().values {
                map.values_mut().for_each(|value| encode(view.at(values), value));
            } else if schema_or(view) {
                encode_schema(value);
            }
        }
        Value::Array(list) => match view.items() {
            Some(items) => list.iter_mut().for_each(|value| encode(items, value)),
            None if schema_or(view) => list.iter_mut().for_each(encode_schema),
            None => {}
        },
        _ => {}
    }
}

fn schema_or(view: View<'_>) -> bool {
    matches!(table().leaf(view), Some(Leaf::SchemaOrBool | Leaf::SchemaOrArray | Leaf::SchemaOrStrings))
}

fn encode_schema(value: &mut Value) {
    if let Some(view) = json_schema() {
        encode(view, value);
    }
}

/// The definition of a CRD's schema, which refers to itself through types of their own.
fn json_schema() -> Option<View<'static>> {
    table().named("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")
}

/// What Go writes for a value of this type that was never set.
pub(crate) fn zero(view: View<'_>) -> Value {
    match table().leaf(view) {
        Some(Leaf::Quantity | Leaf::Duration) => {
            return if matches!(view.node().kind, Kind::Quantity) { "0".into() } else { "0s".into() };
        }
        Some(Leaf::IntOrString) => return 0.into(),
        Some(Leaf::Bytes) => return "".into(),
        Some(_) => return Value::Null,
        None => {}
    }
    let node = view.node();
    match node.kind {
        Kind::String => "".into(),
        Kind::Integer | Kind::Number | Kind::IntOrString => 0.into(),
        Kind::Boolean => false.into(),
        Kind::Quantity => "0".into(),
        Kind::Object if node.values.is_none() => {
            let mut value = Value::Object(Map::new());
            encode(view, &mut value);
            value
        }
        Kind::Object | Kind::Array | Kind::Any => Value::Null,
    }
}

/// What `omitempty` calls empty.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Number(n) => n.as_f64() == Some(0.0),
        Value::String(s) => s.is_empty(),
        Value::Array(a) => a.is_empty(),
        Value::Object(o) => o.is_empty(),
    }
}

/// Defaults that the types themselves declare.
fn declared(view: View<'_>, value: &mut Value) {
    match value {
        Value::Object(map) if !view.node().fields.is_empty() => {
            for (name, field) in &view.node().fields {
                match (map.get_mut(name), &field.default) {
                    (Some(value), _) => declared(view.at(field.node), value),
                    (None, Some(default)) => {
                        map.insert(name.clone(), default.clone());
                    }
                    (None, None) => {}
                }
            }
        }
        Value::Object(map) => {
            if let Some(values) = view.node().values {
                map.values_mut().for_each(|value| declared(view.at(values), value));
            }
        }
        Value::Array(list) => {
            if let Some(items) = view.items() {
                list.iter_mut().for_each(|value| declared(items, value));
            }
        }
        _ => {}
    }
}
