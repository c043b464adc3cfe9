//! What overriders may say (spec 02 §6, rules 4–12, and the same for plaintext).

use serde_json::Value;
use windlass_api::Overriders;
use windlass_api::overrides::{DocumentOperation, OverriderOperator};
use windlass_object::label;

use crate::fields::Errors;

/// Largest sum of an object's annotations, keys and values: the API server's own limit.
const MAX_ANNOTATIONS: usize = 256 << 10;

pub(crate) fn check(overriders: &Overriders, path: &str, errors: &mut Errors) {
    for (j, overrider) in overriders.annotations_overrider.iter().enumerate() {
        let at = format!("{path}.annotationsOverrider[{j}].value");
        for key in overrider.value.keys() {
            errors.check(&at, key, label::check_key(&key.to_lowercase()));
        }
        let size: usize = overrider.value.iter().map(|(k, v)| k.len() + v.len()).sum();
        if size > MAX_ANNOTATIONS {
            errors.invalid(&at, size, format!("annotations must not have more than {MAX_ANNOTATIONS} bytes"));
        }
    }
    for (j, overrider) in overriders.labels_overrider.iter().enumerate() {
        let at = format!("{path}.labelsOverrider[{j}].value");
        for (key, value) in &overrider.value {
            errors.check(&at, key, label::check_key(key));
            errors.check(&at, value, label::check_value(value));
        }
    }
    for (j, overrider) in overriders.image_overrider.iter().enumerate() {
        if let Some(predicate) = &overrider.predicate {
            check_pointer(&format!("{path}.imageOverrider[{j}].predicate.path"), &predicate.path, errors);
        }
    }
    for (j, overrider) in overriders.field_overrider.iter().enumerate() {
        let at = format!("{path}.fieldOverrider[{j}]");
        match (overrider.json.is_empty(), overrider.yaml.is_empty()) {
            (false, false) => errors.invalid(
                &at,
                &overrider.field_path,
                "json and yaml are exclusive: the document has one format",
            ),
            (true, true) => errors.required(&at, "json or yaml must be given"),
            _ => {}
        }
        check_pointer(&format!("{at}.fieldPath"), &overrider.field_path, errors);
        for (format, operations) in [("json", &overrider.json), ("yaml", &overrider.yaml)] {
            for (k, operation) in operations.iter().enumerate() {
                check_operation(operation, &format!("{at}.{format}[{k}]"), errors);
            }
        }
    }
    for (j, overrider) in overriders.plaintext.iter().enumerate() {
        let at = format!("{path}.plaintext[{j}]");
        check_pointer(&format!("{at}.path"), &overrider.path, errors);
        if overrider.operator != OverriderOperator::Remove && overrider.value.is_none() {
            errors.invalid(
                &format!("{at}.value"),
                Value::Null,
                format!("a value is needed for {}", overrider.operator),
            );
        }
    }
}

fn check_operation(operation: &DocumentOperation, path: &str, errors: &mut Errors) {
    check_pointer(&format!("{path}.subPath"), &operation.sub_path, errors);
    let at = format!("{path}.value");
    match (operation.operator, &operation.value) {
        (OverriderOperator::Remove, Some(value)) => {
            errors.invalid(&at, value, "no value is allowed for remove")
        }
        (OverriderOperator::Add | OverriderOperator::Replace, None) => {
            errors.invalid(&at, Value::Null, format!("a value is needed for {}", operation.operator));
        }
        _ => {}
    }
}

fn check_pointer(path: &str, pointer: &str, errors: &mut Errors) {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        errors.invalid(path, pointer, "a JSON pointer must be empty or start with \"/\"");
    }
}
