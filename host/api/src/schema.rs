//! Schemas of embedded Kubernetes types, and the pass that brings what schemars makes to structural form.
//!
//! Two marks of ours pass from the types to here: `x-required` (schemars takes a field that has a serde default for
//! optional, and ours all have one) and `x-default` (the schema's default, which isn't serde's).

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// The structural schema of a type.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    structural(&mut schema);
    schema
}

/// Brings a schema to structural form, in place.
fn structural(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    for key in ["$schema", "$defs", "title", "default", "nullable"] {
        map.remove(key);
    }
    unwrap_nullable(map);
    if let Some(default) = map.remove("x-default") {
        map.insert("default".into(), default);
    }
    if map.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("uint") || f == "int") {
        map.remove("format");
        map.remove("minimum");
    }
    let mut required = Vec::new();
    if let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties.iter_mut() {
            structural(property);
            if property.as_object_mut().is_some_and(|p| p.remove("x-required").is_some()) {
                required.push(Value::from(name.as_str()));
            }
        }
        map.remove("required");
        if !required.is_empty() {
            map.insert("required".into(), required.into());
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key) {
            structural(inner);
        }
    }
}

/// Optional fields are omitted, never null: undoes schemars' ways to allow null.
fn unwrap_nullable(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get("type") {
        let kept: Vec<Value> = types.iter().filter(|t| *t != "null").cloned().collect();
        if let [only] = kept.as_slice() {
            map.insert("type".into(), only.clone());
        }
    }
    if let Some(words) = map.get_mut("enum").and_then(Value::as_array_mut) {
        words.retain(|w| !w.is_null());
    }
    if map.contains_key("x-kubernetes-int-or-string") {
        return;
    }
    let Some(Value::Array(choices)) = map.get("anyOf") else { return };
    let kept: Vec<Value> =
        choices.iter().filter(|c| c.get("type") != Some(&json!("null"))).cloned().collect();
    if let [Value::Object(only)] = kept.as_slice() {
        let only = only.clone();
        map.remove("anyOf");
        for (key, value) in only {
            map.entry(key).or_insert(value);
        }
    }
}

/// Go's `int`: an integer without a format.
pub(crate) fn int(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer" })
}

/// A time.
pub(crate) fn date_time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// An object that is kept as it is.
pub(crate) fn raw_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

/// A list of objects that are kept as they are.
pub(crate) fn raw_objects(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": raw_object(generator) })
}

/// Any value, kept as it is.
pub(crate) fn any_json(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
}

/// A label selector.
pub(crate) fn label_selector(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {
            "matchExpressions": {
                "type": "array",
                "x-kubernetes-list-type": "atomic",
                "description": "Requirements on labels; all must hold.",
                "items": {
                    "type": "object",
                    "properties": {
                        "key": { "type": "string", "x-required": true, "description": "Label that is meant." },
                        "operator": { "type": "string", "x-required": true, "description": "In, NotIn, Exists or DoesNotExist." },
                        "values": {
                            "type": "array",
                            "items": { "type": "string" },
                            "x-kubernetes-list-type": "atomic",
                            "description": "Values for In and NotIn.",
                        },
                    },
                },
            },
            "matchLabels": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Labels that must have these values.",
            },
        },
    })
}

fn requirement() -> Value {
    json!({
        "type": "object",
        "properties": {
            "key": { "type": "string", "x-required": true, "description": "What the requirement is on." },
            "operator": { "type": "string", "x-required": true, "description": "In, NotIn, Exists, DoesNotExist, Gt or Lt." },
            "values": {
                "type": "array",
                "items": { "type": "string" },
                "x-kubernetes-list-type": "atomic",
                "description": "Values to compare with.",
            },
        },
    })
}

/// A list of node selector requirements.
pub(crate) fn requirements(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": requirement() })
}

/// A node selector.
pub(crate) fn node_selector(_: &mut SchemaGenerator) -> Schema {
    let list = json!({ "type": "array", "items": requirement(), "x-kubernetes-list-type": "atomic" });
    json_schema!({
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {
            "nodeSelectorTerms": {
                "type": "array",
                "x-required": true,
                "x-kubernetes-list-type": "atomic",
                "items": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": { "matchExpressions": list, "matchFields": list },
                },
            },
        },
    })
}

/// A list of tolerations.
pub(crate) fn tolerations(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "key": { "type": "string", "description": "Key of the taint; empty means all." },
                "operator": { "type": "string", "description": "Exists or Equal; empty means Equal." },
                "value": { "type": "string", "description": "Value of the taint." },
                "effect": { "type": "string", "description": "Effect of the taint; empty means all." },
                "tolerationSeconds": {
                    "type": "integer",
                    "format": "int64",
                    "description": "How long a NoExecute taint is tolerated; absent means forever.",
                },
            },
        },
    })
}

/// A list of taints.
pub(crate) fn taints(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "key": { "type": "string", "x-required": true, "description": "Key of the taint." },
                "value": { "type": "string", "description": "Value of the taint." },
                "effect": { "type": "string", "x-required": true, "description": "NoSchedule or NoExecute." },
                "timeAdded": { "type": "string", "format": "date-time", "description": "When a NoExecute taint was added." },
            },
        },
    })
}

/// Syntax of a condition's type.
pub(crate) const CONDITION_TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

/// The schema of a list of conditions, ready for use.
pub(crate) fn condition_list() -> Value {
    finished(conditions)
}

/// The schema of a label selector, ready for use.
pub(crate) fn label_selector_value() -> Value {
    finished(label_selector)
}

fn finished(schema: fn(&mut SchemaGenerator) -> Schema) -> Value {
    let mut schema = schema(&mut SchemaSettings::draft2020_12().into_generator()).to_value();
    structural(&mut schema);
    schema
}

/// A list of conditions.
pub(crate) fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "type": {
                    "type": "string", "x-required": true, "maxLength": 316,
                    "pattern": CONDITION_TYPE,
                    "description": "What the condition is about.",
                },
                "status": {
                    "type": "string", "x-required": true, "enum": ["True", "False", "Unknown"],
                    "description": "Whether it holds.",
                },
                "reason": {
                    "type": "string", "x-required": true, "minLength": 1, "maxLength": 1024,
                    "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
                    "description": "Why, in a word.",
                },
                "message": { "type": "string", "x-required": true, "maxLength": 32768, "description": "Why, for people." },
                "lastTransitionTime": {
                    "type": "string", "x-required": true, "format": "date-time",
                    "description": "When the status last changed.",
                },
                "observedGeneration": {
                    "type": "integer", "format": "int64", "minimum": 0,
                    "description": "Generation of the object that this was seen at.",
                },
            },
        },
    })
}
