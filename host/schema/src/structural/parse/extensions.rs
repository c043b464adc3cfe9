//! Checks of the `x-kubernetes-*` extensions and of schemas for metadata.

use super::{flag, text};
use crate::arena::ListType;
use crate::field_error::FieldError;
use serde_json::{Map, Value};

/// How the schema's list is merged.
pub(super) fn list_type(map: &Map<String, Value>) -> ListType {
    match text(map, "x-kubernetes-list-type") {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(keys(map).map(str::to_owned).collect()),
        _ => ListType::Atomic,
    }
}

fn keys(map: &Map<String, Value>) -> impl Iterator<Item = &str> {
    map.get("x-kubernetes-list-map-keys")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Whether the extensions agree with each other and with the type.
pub(super) fn check(map: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    let kind = text(map, "type").unwrap_or_default();
    let preserve = "x-kubernetes-preserve-unknown-fields";
    if map.get(preserve) == Some(&Value::Bool(false)) {
        errors.push(FieldError::invalid(format!("{path}.{preserve}"), false, "must be true or undefined"));
    }
    if flag(map, "x-kubernetes-int-or-string") {
        for other in [preserve, "x-kubernetes-embedded-resource"] {
            if flag(map, other) {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                errors.push(FieldError::invalid(format!("{path}.{other}"), true, detail));
            }
        }
    }
    if let Some(map_type) = text(map, "x-kubernetes-map-type") {
        needs_type("object", kind, "x-kubernetes-map-type", path, errors);
        if !matches!(map_type, "atomic" | "granular") {
            let at = format!("{path}.x-kubernetes-map-type");
            errors.push(FieldError::not_supported(at, map_type, ["atomic", "granular"]));
        }
    }
    let Some(list) = text(map, "x-kubernetes-list-type") else {
        if keys(map).next().is_some() {
            let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
            errors.push(FieldError::required(format!("{path}.x-kubernetes-list-type"), detail));
        }
        return;
    };
    needs_type("array", kind, "x-kubernetes-list-type", path, errors);
    let at = format!("{path}.x-kubernetes-list-type");
    match list {
        "map" => list_map(map, path, errors),
        _ if keys(map).next().is_some() => {
            let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
            errors.push(FieldError::invalid(at, list, detail));
        }
        "set" => list_set(map, path, errors),
        "atomic" => {}
        other => errors.push(FieldError::not_supported(at, other, ["atomic", "set", "map"])),
    }
    if matches!(list, "map" | "set")
        && map.get("items").and_then(Value::as_object).is_some_and(|i| flag(i, "nullable"))
    {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        errors.push(FieldError::forbidden(format!("{path}.items.nullable"), detail));
    }
}

fn needs_type(wanted: &str, kind: &str, extension: &str, path: &str, errors: &mut Vec<FieldError>) {
    let detail = format!("must be {wanted} if {extension} is specified");
    match kind {
        "" => errors.push(FieldError::required(format!("{path}.type"), detail)),
        kind if kind != wanted => errors.push(FieldError::invalid(format!("{path}.type"), kind, detail)),
        _ => {}
    }
}

fn list_set(map: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    let Some(items) = map.get("items").and_then(Value::as_object) else { return };
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let (extension, value) = match text(items, "type") {
        Some("array") => {
            ("x-kubernetes-list-type", text(items, "x-kubernetes-list-type").unwrap_or("atomic"))
        }
        Some("object") => {
            ("x-kubernetes-map-type", text(items, "x-kubernetes-map-type").unwrap_or("granular"))
        }
        _ => return,
    };
    if value != "atomic" {
        errors.push(FieldError::invalid(format!("{path}.items.{extension}"), value, detail));
    }
}

fn list_map(map: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    let at = format!("{path}.x-kubernetes-list-map-keys");
    let named: Vec<&str> = keys(map).collect();
    if named.is_empty() {
        errors.push(FieldError::required(at.as_str(), "must not be empty if x-kubernetes-list-type is map"));
    }
    let Some(items) = map.get("items").and_then(Value::as_object) else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(FieldError::required(format!("{path}.items"), detail));
        return;
    };
    if text(items, "type") != Some("object") {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        let found = text(items, "type").unwrap_or_default();
        errors.push(FieldError::invalid(format!("{path}.items.type"), found, detail));
    }
    let required = items.get("required").and_then(Value::as_array);
    for (index, key) in named.iter().enumerate() {
        if named.get(..index).is_some_and(|before| before.contains(key)) {
            errors.push(FieldError::invalid(
                at.as_str(),
                named.clone(),
                "must not contain duplicate entries",
            ));
        }
        let Some(property) = items.get("properties").and_then(|p| p.get(key)).and_then(Value::as_object)
        else {
            errors.push(FieldError::invalid(
                at.as_str(),
                named.clone(),
                "entries must all be names of item properties",
            ));
            continue;
        };
        let below = format!("{path}.items.properties[{key}]");
        if matches!(text(property, "type"), Some("array" | "object")) {
            let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            errors.push(FieldError::invalid(format!("{below}.type"), text(property, "type"), detail));
        }
        if !required.is_some_and(|names| names.iter().any(|n| n == key)) && !property.contains_key("default")
        {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(FieldError::required(format!("{below}.default"), detail));
        }
        if flag(property, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(format!("{below}.nullable"), detail));
        }
    }
}

/// What a schema may say of apiVersion, kind and metadata where these are implied.
pub(super) fn meta(name: &str, schema: &Value, root: bool, at: &str, errors: &mut Vec<FieldError>) {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    if matches!(name, "apiVersion" | "kind") && kind != "string" {
        errors.push(FieldError::invalid(format!("{at}.type"), kind, "must be string"));
    }
    if root && matches!(name, "apiVersion" | "kind" | "metadata") && schema.get("default").is_some() {
        let detail = format!("must not be set in top-level {name}");
        errors.push(FieldError::forbidden(format!("{at}.default"), detail));
    }
    if name != "metadata" {
        return;
    }
    if kind != "object" {
        errors.push(FieldError::invalid(format!("{at}.type"), kind, "must be object"));
    }
    let only_names = schema.as_object().is_some_and(|map| {
        map.iter().all(|(key, value)| match key.as_str() {
            "type" | "description" => true,
            "properties" => value
                .as_object()
                .is_some_and(|p| p.keys().all(|k| matches!(k.as_str(), "name" | "generateName"))),
            _ => false,
        })
    });
    if root && !only_names {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(at, detail));
    }
}
