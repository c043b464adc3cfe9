//! Collects faults. Paths are written as they are shown; values are read leniently, since decoding checked their types.

use super::names;
use crate::field_error::FieldError;
use serde_json::{Map, Value};
use windlass_object::{Quantity, path};

/// The faults found so far.
#[derive(Debug, Default)]
pub(super) struct Check {
    errors: Vec<FieldError>,
}

impl Check {
    pub(super) fn finish(self) -> Vec<FieldError> {
        self.errors
    }

    /// How many there are so far.
    pub(super) fn count(&self) -> usize {
        self.errors.len()
    }

    pub(super) fn push(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    pub(super) fn required(&mut self, field: impl Into<String>, detail: &str) {
        self.push(FieldError::required(field, detail));
    }

    pub(super) fn invalid(
        &mut self,
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) {
        self.push(FieldError::invalid(field, value, detail));
    }

    pub(super) fn forbidden(&mut self, field: impl Into<String>, detail: &str) {
        self.push(FieldError::forbidden(field, detail));
    }

    /// Text must be there; gives it if it is.
    pub(super) fn text<'a>(&mut self, field: &str, value: &'a Value) -> Option<&'a str> {
        let text = value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.required(field, "");
        }
        text
    }

    /// Text, if it is there, must be one of these.
    pub(super) fn one_of(&mut self, field: &str, value: &Value, supported: &[&str]) {
        let text = value.as_str().unwrap_or_default();
        if !text.is_empty() && !supported.contains(&text) {
            self.push(FieldError::not_supported(field, text, supported));
        }
    }

    /// Text must be there and be one of these.
    pub(super) fn needed_one_of(&mut self, field: &str, value: &Value, supported: &[&str]) {
        if self.text(field, value).is_some() {
            self.one_of(field, value, supported);
        }
    }

    /// Text that follows a rule, if it is there.
    pub(super) fn follows(&mut self, field: &str, value: &Value, rule: fn(&str) -> Vec<String>) {
        if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
            for detail in rule(text) {
                self.invalid(field, text, detail);
            }
        }
    }

    /// A number, if it is there, must not be below zero.
    pub(super) fn not_negative(&mut self, field: &str, value: &Value) {
        if let Some(number) = value.as_i64().filter(|n| *n < 0) {
            self.invalid(field, number, NOT_NEGATIVE);
        }
    }

    /// A number, if it is there, must be above zero.
    pub(super) fn positive(&mut self, field: &str, value: &Value) {
        if let Some(number) = value.as_i64().filter(|n| *n <= 0) {
            self.invalid(field, number, "must be greater than 0");
        }
    }

    /// A port's number.
    pub(super) fn port(&mut self, field: &str, value: &Value) {
        if let Some(number) = value.as_i64().filter(|n| !PORTS.contains(n)) {
            self.invalid(field, number, "must be between 1 and 65535, inclusive");
        }
    }

    /// A port's number or name.
    pub(super) fn port_or_name(&mut self, field: &str, value: &Value) {
        self.port(field, value);
        if let Some(text) = value.as_str() {
            for detail in names::port_name(text) {
                self.invalid(field, text, detail);
            }
        }
    }

    /// A count or a percentage.
    pub(super) fn count_or_percent(&mut self, field: &str, value: &Value) {
        self.not_negative(field, value);
        if let Some(text) = value.as_str() {
            let digits = text.strip_suffix('%').unwrap_or_default();
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                self.invalid(field, text, "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
            }
        }
    }

    /// Labels as an object's own, a selector's or a template's.
    pub(super) fn labels(&mut self, field: &str, labels: &Value) {
        for (key, value) in entries(labels) {
            for detail in names::qualified(key) {
                self.invalid(
                    field,
                    key.as_str(),
                    detail.replacen("a qualified name must", "a valid label key must", 1),
                );
            }
            let value = value.as_str().unwrap_or_default();
            for detail in names::label_value(value) {
                self.invalid(field, value, detail);
            }
        }
    }

    /// A label selector.
    pub(super) fn selector(&mut self, field: &str, selector: &Value) {
        self.labels(&format!("{field}.matchLabels"), look(selector, &["matchLabels"]));
        for (index, term) in path::list_at(selector, &["matchExpressions"]).iter().enumerate() {
            let at = format!("{field}.matchExpressions[{index}]");
            let values = path::list_at(term, &["values"]);
            match path::str_at(term, &["operator"]) {
                "In" | "NotIn" if values.is_empty() => {
                    self.required(
                        format!("{at}.values"),
                        "must be specified when `operator` is 'In' or 'NotIn'",
                    );
                }
                "Exists" | "DoesNotExist" if !values.is_empty() => {
                    self.forbidden(
                        format!("{at}.values"),
                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                    );
                }
                "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
                other => self.invalid(format!("{at}.operator"), other, "not a valid selector operator"),
            }
            let key = path::str_at(term, &["key"]);
            for detail in names::qualified(key) {
                self.invalid(format!("{at}.key"), key, detail);
            }
        }
    }

    /// Quantities by resource name; none may be below zero.
    pub(super) fn quantities(&mut self, field: &str, list: &Value) {
        for (name, value) in entries(list) {
            if Quantity::from_json(value).is_ok_and(|q| q.sign() < 0) {
                self.invalid(format!("{field}[{name}]"), value.clone(), NOT_NEGATIVE);
            }
        }
    }

    /// A part of the object that may not change.
    pub(super) fn immutable(&mut self, field: &str, new: &Value, old: Option<&Value>, at: &[&str]) {
        let Some(old) = old else { return };
        let (new, old) =
            (path::get(new, at).unwrap_or(&Value::Null), path::get(old, at).unwrap_or(&Value::Null));
        if new != old {
            self.invalid(field, new.clone(), IMMUTABLE);
        }
    }
}

pub(super) const NOT_NEGATIVE: &str = "must be greater than or equal to 0";
pub(super) const IMMUTABLE: &str = "field is immutable";
const PORTS: std::ops::RangeInclusive<i64> = 1..=65_535;

/// Entries of a map; none if it is no map.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// What stands at a path of field names; null if nothing does.
pub(crate) fn look<'a>(value: &'a Value, fields: &[&str]) -> &'a Value {
    static NULL: Value = Value::Null;
    fields.iter().try_fold(value, |value, field| value.get(field)).unwrap_or(&NULL)
}

/// Whether a value is absent, or empty in Go's sense.
pub(super) fn missing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}
