//! `allOf`, `anyOf`, `oneOf` and `not`: value validations below a structural schema,
//! walked as JSON, since they describe no structure of their own.

use super::rules::{check, has_type, read, wrong_type};
use super::{MAX_DEPTH, push_index, push_key};
use crate::field_error::FieldError;
use serde_json::{Map, Value};

/// Holds a value against the combinators found in `schema`.
pub(super) fn combinators(
    schema: &Map<String, Value>,
    path: &mut String,
    value: &Value,
    depth: usize,
    errors: &mut Vec<FieldError>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let branches = |key: &str| schema.get(key).and_then(Value::as_array).filter(|list| !list.is_empty());
    if let Some(list) = branches("anyOf") {
        let results = each(list, path, value, depth);
        if results.iter().all(|found| !found.is_empty()) {
            errors.push(composite(path, "must validate at least one schema (anyOf)"));
            errors.extend(results.into_iter().min_by_key(Vec::len).unwrap_or_default());
        }
    }
    if let Some(list) = branches("oneOf") {
        let results = each(list, path, value, depth);
        match results.iter().filter(|found| found.is_empty()).count() {
            1 => {}
            0 => {
                errors
                    .push(composite(path, "must validate one and only one schema (oneOf). Found none valid"));
                errors.extend(results.into_iter().min_by_key(Vec::len).unwrap_or_default());
            }
            n => {
                let detail =
                    format!("must validate one and only one schema (oneOf). Found {n} valid alternatives");
                errors.push(composite(path, &detail));
            }
        }
    }
    if let Some(list) = branches("allOf") {
        let results = each(list, path, value, depth);
        let valid = results.iter().filter(|found| found.is_empty()).count();
        if valid != list.len() {
            let more = if valid == 0 { ". None validated" } else { "" };
            errors.push(composite(path, &format!("must validate all the schemas (allOf){more}")));
        }
        errors.extend(results.into_iter().flatten());
    }
    if let Some(Value::Object(not)) = schema.get("not") {
        let mut found = Vec::new();
        nested(not, path, value, depth + 1, &mut found);
        if found.is_empty() {
            errors.push(composite(path, "must not validate the schema (not)"));
        }
    }
}

fn each(list: &[Value], path: &mut String, value: &Value, depth: usize) -> Vec<Vec<FieldError>> {
    list.iter()
        .map(|branch| {
            let mut found = Vec::new();
            if let Value::Object(schema) = branch {
                nested(schema, path, value, depth + 1, &mut found);
            }
            found
        })
        .collect()
}

fn composite(path: &str, detail: &str) -> FieldError {
    FieldError::invalid(path, "", format!("{path:?} {detail}"))
}

/// One branch, with all that it says of the value and of what is below it.
fn nested(
    schema: &Map<String, Value>,
    path: &mut String,
    value: &Value,
    depth: usize,
    errors: &mut Vec<FieldError>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let kind = schema.get("type").and_then(Value::as_str);
    if let Some(kind) = kind
        && !has_type(value, kind)
        && !(value.is_null() && schema.get("nullable") == Some(&Value::Bool(true)))
    {
        errors.push(wrong_type(path, kind, value));
        return;
    }
    check(&read(schema), kind == Some("integer"), path, value, errors);
    match value {
        Value::Object(map) => {
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = name.as_str().filter(|name| !map.contains_key(*name)) {
                    let before = push_key(path, name);
                    errors.push(FieldError::required(path.as_str(), ""));
                    path.truncate(before);
                }
            }
            let properties = schema.get("properties").and_then(Value::as_object);
            let others = schema.get("additionalProperties").and_then(Value::as_object);
            for (key, item) in map {
                let below = properties.and_then(|p| p.get(key)).and_then(Value::as_object).or(others);
                if let Some(below) = below {
                    let before = push_key(path, key);
                    nested(below, path, item, depth + 1, errors);
                    path.truncate(before);
                }
            }
        }
        Value::Array(items) => {
            if let Some(below) = schema.get("items").and_then(Value::as_object) {
                for (index, item) in items.iter().enumerate() {
                    let before = push_index(path, index);
                    nested(below, path, item, depth + 1, errors);
                    path.truncate(before);
                }
            }
        }
        _ => {}
    }
    combinators(schema, path, value, depth, errors);
}
