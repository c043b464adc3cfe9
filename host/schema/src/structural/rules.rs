//! Value validations that concern one value and not what is below it. Messages are
//! Kubernetes' own.

use super::{formats, patterns};
use crate::arena::Rules;
use crate::field_error::FieldError;
use serde_json::{Map, Number, Value};

/// The name that a value's type has in schemas.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
    }
}

/// Whether a value has one of the named types. Whole floats are integers; integers are numbers.
pub(super) fn has_type(value: &Value, name: &str) -> bool {
    match (value, name) {
        (Value::Number(n), "integer") => !n.is_f64() || n.as_f64().is_some_and(|f| f.fract() == 0.0),
        (Value::Number(_), "number") => true,
        _ => type_name(value) == name,
    }
}

/// The error for a value of another type than `expected`.
pub(super) fn wrong_type(path: &str, expected: &str, value: &Value) -> FieldError {
    let found = type_name(value);
    FieldError::type_invalid(path, found, format!("{path} in body must be of type {expected}: {found:?}"))
}

/// Reads the value validations of a schema's JSON.
pub(super) fn read(schema: &Map<String, Value>) -> Rules {
    let text =
        |key: &str| schema.get(key).and_then(Value::as_str).filter(|s| !s.is_empty()).map(str::to_owned);
    let float = |key: &str| schema.get(key).and_then(Value::as_f64);
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let flag = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or(false);
    Rules {
        format: text("format"),
        enumeration: schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
        pattern: text("pattern"),
        minimum: float("minimum"),
        maximum: float("maximum"),
        exclusive_minimum: flag("exclusiveMinimum"),
        exclusive_maximum: flag("exclusiveMaximum"),
        multiple_of: float("multipleOf"),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        unique_items: flag("uniqueItems"),
        min_properties: count("minProperties"),
        max_properties: count("maxProperties"),
        combinators: None,
        cel: schema.get("x-kubernetes-validations").cloned(),
    }
}

/// Holds a value against all rules but the combinators.
pub(super) fn check(rules: &Rules, integer: bool, path: &str, value: &Value, errors: &mut Vec<FieldError>) {
    if !rules.enumeration.is_empty() && !rules.enumeration.iter().any(|allowed| same(allowed, value)) {
        let allowed = rules.enumeration.iter().map(|v| match v {
            Value::String(s) => s.clone(),
            other => other.to_string(),
        });
        errors.push(FieldError::not_supported(path, value.clone(), allowed));
    }
    match value {
        Value::String(s) => text(rules, path, s, errors),
        Value::Number(n) => number(rules, integer, path, n, errors),
        Value::Array(items) => list(rules, path, items, errors),
        Value::Object(map) => entries(rules, path, map.len() as u64, errors),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Equality that does not tell 1 from 1.0.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}

fn text(rules: &Rules, path: &str, s: &str, errors: &mut Vec<FieldError>) {
    if rules.max_length.is_some() || rules.min_length.is_some() {
        let length = s.chars().count() as u64;
        if let Some(max) = rules.max_length.filter(|max| length > *max) {
            errors.push(FieldError::too_long(path, max));
        }
        if let Some(min) = rules.min_length.filter(|min| length < *min) {
            errors.push(FieldError::invalid(
                path,
                s,
                format!("{path} in body should be at least {min} chars long"),
            ));
        }
    }
    if let Some(pattern) = rules.pattern.as_deref()
        && !patterns::matches(pattern, s)
    {
        errors.push(FieldError::invalid(path, s, format!("{path} in body should match '{pattern}'")));
    }
    if let Some(format) = rules.format.as_deref()
        && !formats::valid(format, s)
    {
        errors.push(FieldError::type_invalid(
            path,
            s,
            format!("{path} in body must be of type {format}: {s:?}"),
        ));
    }
}

fn number(rules: &Rules, integer: bool, path: &str, n: &Number, errors: &mut Vec<FieldError>) {
    let Some(value) = n.as_f64() else { return };
    let invalid = |detail: String| FieldError::invalid(path, Value::Number(n.clone()), detail);
    if integer {
        let fits = match rules.format.as_deref() {
            Some("int32") => value >= f64::from(i32::MIN) && value <= f64::from(i32::MAX),
            _ => n.is_i64() || n.is_f64(),
        };
        if !fits {
            let format = rules.format.as_deref().unwrap_or("int64");
            errors.push(invalid(format!(
                "Checked value must be of type integer with format {format} in {path}"
            )));
        }
    }
    if let Some(factor) = rules.multiple_of.filter(|f| *f > 0.0) {
        let quotient = value / factor;
        if (quotient - quotient.round()).abs() > f64::EPSILON * quotient.abs().max(1.0) {
            errors.push(invalid(format!("{path} in body should be a multiple of {factor}")));
        }
    }
    if let Some(max) = rules.maximum {
        if rules.exclusive_maximum && value >= max {
            errors.push(invalid(format!("{path} in body should be less than {max}")));
        } else if value > max {
            errors.push(invalid(format!("{path} in body should be less than or equal to {max}")));
        }
    }
    if let Some(min) = rules.minimum {
        if rules.exclusive_minimum && value <= min {
            errors.push(invalid(format!("{path} in body should be greater than {min}")));
        } else if value < min {
            errors.push(invalid(format!("{path} in body should be greater than or equal to {min}")));
        }
    }
}

fn list(rules: &Rules, path: &str, items: &[Value], errors: &mut Vec<FieldError>) {
    let count = items.len() as u64;
    if let Some(max) = rules.max_items.filter(|max| count > *max) {
        errors.push(FieldError::too_many(path, count, max));
    }
    if let Some(min) = rules.min_items.filter(|min| count < *min) {
        errors.push(FieldError::invalid(
            path,
            count,
            format!("{path} in body should have at least {min} items"),
        ));
    }
    if rules.unique_items {
        let mut seen: Vec<String> = items.iter().map(Value::to_string).collect();
        seen.sort_unstable();
        if seen.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            errors.push(FieldError::invalid(
                path,
                "",
                format!("{path} in body shouldn't contain duplicates"),
            ));
        }
    }
}

fn entries(rules: &Rules, path: &str, count: u64, errors: &mut Vec<FieldError>) {
    if let Some(max) = rules.max_properties.filter(|max| count > *max) {
        errors.push(FieldError::too_many(path, count, max));
    }
    if let Some(min) = rules.min_properties.filter(|min| count < *min) {
        errors.push(FieldError::invalid(
            path,
            count,
            format!("{path} in body should have at least {min} properties"),
        ));
    }
}
