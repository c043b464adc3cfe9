//! What `allOf`, `anyOf`, `oneOf` and `not` may hold: values are restricted in them,
//! structure is not described.

use super::super::{MAX_DEPTH, patterns};
use super::{text, unsupported};
use crate::field_error::FieldError;
use serde_json::{Map, Value, json};

/// Removes the two spellings of "integer or string", which the kind says already.
pub(super) fn drop_int_or_string(combinators: &mut Map<String, Value>) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    if combinators.get("anyOf") == Some(&either) {
        combinators.remove("anyOf");
    }
    if let Some(Value::Array(all)) = combinators.get_mut("allOf") {
        if let Some(first) = all.first_mut().and_then(Value::as_object_mut)
            && first.get("anyOf") == Some(&either)
        {
            first.remove("anyOf");
            if first.is_empty() {
                all.remove(0);
            }
        }
        if all.is_empty() {
            combinators.remove("allOf");
        }
    }
}

/// Checks the combinators found in a schema's JSON.
pub(super) fn check(map: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>, depth: usize) {
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, branch) in map.get(key).and_then(Value::as_array).into_iter().flatten().enumerate() {
            branch_at(branch, &format!("{path}.{key}[{index}]"), errors, depth + 1);
        }
    }
    if let Some(not) = map.get("not") {
        branch_at(not, &format!("{path}.not"), errors, depth + 1);
    }
}

fn branch_at(branch: &Value, path: &str, errors: &mut Vec<FieldError>, depth: usize) {
    let Value::Object(map) = branch else {
        errors.push(FieldError::invalid(path, branch.clone(), "must be a schema"));
        return;
    };
    if depth > MAX_DEPTH {
        errors.push(FieldError::invalid(path, "", format!("nests deeper than {MAX_DEPTH} levels")));
        return;
    }
    unsupported(map, path, errors);
    const FORBIDDEN: &[(&str, &str)] = &[
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        ("x-kubernetes-embedded-resource", "must be false to be structural"),
        ("x-kubernetes-int-or-string", "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ];
    for (key, detail) in FORBIDDEN {
        let set = match map.get(*key) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::String(s)) => !s.is_empty(),
            Some(Value::Array(items)) => !items.is_empty(),
            Some(_) => true,
        };
        if set {
            errors.push(FieldError::forbidden(format!("{path}.{key}"), *detail));
        }
    }
    if let Some(pattern) = text(map, "pattern")
        && let Err(error) = patterns::compile(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(format!("{path}.pattern"), pattern, detail));
    }
    for (name, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let at = format!("{path}.properties[{name}]");
        if name == "metadata" {
            errors.push(FieldError::forbidden(at.as_str(), "must not be specified in a nested context"));
        }
        branch_at(property, &at, errors, depth + 1);
    }
    if let Some(items) = map.get("items") {
        branch_at(items, &format!("{path}.items"), errors, depth + 1);
    }
    check(map, path, errors, depth);
}
