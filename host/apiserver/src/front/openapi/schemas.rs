//! The schemas that a document's paths refer to, written from the one form in
//! which built-in kinds and custom resources are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use windlass_schema::arena::{Field, Kind, ListType, Node, Rules, View};
use windlass_schema::builtin;

use super::paths::{self, META, SCHEMAS};
use crate::registry::Resource;

/// Schemas of custom resources nest no deeper than their definitions may; a guard for the stack.
const MAX_DEPTH: usize = 100;

/// The schemas of these resources, their lists, and all that they refer to.
pub(super) fn of(resources: &[Arc<Resource>]) -> BTreeMap<String, Value> {
    let mut writer = Writer::default();
    for resource in resources {
        let name = paths::schema_name(resource);
        let mut own = writer.node(resource.schema.view(), 0, true);
        if !resource.builtin {
            writer.complete(&mut own);
        }
        mark(&mut own, resource, &resource.kind);
        writer.done.insert(name.clone(), own);
        let list = writer.list(resource, &name);
        writer.done.insert(paths::list_name(resource), list);
        for name in paths::referred(resource) {
            writer.want(&name, builtin::table().named(&name));
        }
    }
    while let Some((name, view)) = writer.wanted.pop() {
        if !writer.done.contains_key(&name) {
            let schema = writer.node(view, 0, true);
            writer.done.insert(name, schema);
        }
    }
    for resource in resources {
        for sub in resource.subresources.iter().filter(|sub| !sub.kind.is_empty()) {
            if let Some(schema) = writer.done.get_mut(&paths::body_name(resource, sub)) {
                let gvk = json!([{"group": sub.group, "version": sub.version, "kind": sub.kind}]);
                put(schema, "x-kubernetes-group-version-kind", gvk);
            }
        }
    }
    writer.done
}

fn mark(schema: &mut Value, resource: &Resource, kind: &str) {
    let gvk = json!([{"group": resource.group, "version": resource.version, "kind": kind}]);
    put(schema, "x-kubernetes-group-version-kind", gvk);
}

fn put(schema: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(key.to_owned(), value.into());
    }
}

#[derive(Default)]
struct Writer<'a> {
    done: BTreeMap<String, Value>,
    wanted: Vec<(String, View<'a>)>,
}

impl<'a> Writer<'a> {
    /// A reference to a definition, which is written later.
    fn want(&mut self, name: &str, view: Option<View<'a>>) -> Value {
        match view {
            Some(view) if !self.done.contains_key(name) => self.wanted.push((name.to_owned(), view)),
            Some(_) => {}
            None => {
                self.done.entry(name.to_owned()).or_insert_with(|| json!({"type": "object"}));
            }
        }
        json!({"$ref": format!("{SCHEMAS}{name}")})
    }

    fn common(&mut self, kind: &str) -> Value {
        let name = format!("{META}{kind}");
        self.want(&name, builtin::table().named(&name))
    }

    /// The fields that every object has and that a CRD's schema need not name.
    fn complete(&mut self, own: &mut Value) {
        let metadata = json!({"allOf": [self.common("ObjectMeta")],
            "description": "Standard object's metadata."});
        put(own, "type", "object");
        let Some(own) = own.as_object_mut() else { return };
        let properties = own.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            type_fields(properties);
            properties.insert("metadata".into(), metadata);
        }
    }

    fn list(&mut self, resource: &Resource, item: &str) -> Value {
        let mut properties = Map::new();
        type_fields(&mut properties);
        properties.insert("metadata".into(), json!({"allOf": [self.common("ListMeta")]}));
        properties.insert(
            "items".into(),
            json!({
                "type": "array",
                "items": {"$ref": format!("{SCHEMAS}{item}")},
                "description": format!("List of {}.", resource.resource),
            }),
        );
        let mut list = json!({"type": "object", "required": ["items"], "properties": properties});
        mark(&mut list, resource, &resource.list_kind);
        list
    }

    /// The schema of a node; a reference if it has a name and is not itself being defined.
    fn node(&mut self, view: View<'a>, depth: usize, define: bool) -> Value {
        let node = view.node();
        if let (Some(name), false) = (&node.name, define) {
            return self.want(name, Some(view));
        }
        let mut out = Map::new();
        if depth > MAX_DEPTH {
            return Value::Object(out);
        }
        if let Some(text) = &node.description {
            out.insert("description".into(), text.as_ref().into());
        }
        self.kind(&mut out, view, depth);
        extensions(&mut out, node);
        if let Some(rules) = &node.rules {
            constrain(&mut out, rules);
        }
        Value::Object(out)
    }

    fn kind(&mut self, out: &mut Map<String, Value>, view: View<'a>, depth: usize) {
        let node = view.node();
        let plain = match node.kind {
            Kind::Any => None,
            Kind::Object => Some("object"),
            Kind::Array => Some("array"),
            Kind::String => Some("string"),
            Kind::Integer => Some("integer"),
            Kind::Number => Some("number"),
            Kind::Boolean => Some("boolean"),
            Kind::IntOrString if node.name.is_some() => {
                out.insert("format".into(), "int-or-string".into());
                out.insert("oneOf".into(), json!([{"type": "integer"}, {"type": "string"}]));
                None
            }
            Kind::IntOrString => {
                out.insert("x-kubernetes-int-or-string".into(), true.into());
                None
            }
            Kind::Quantity => {
                out.insert("oneOf".into(), json!([{"type": "string"}, {"type": "number"}]));
                None
            }
        };
        if let Some(plain) = plain {
            out.insert("type".into(), plain.into());
        }
        if let Some(values) = node.values {
            out.insert("additionalProperties".into(), self.node(view.at(values), depth + 1, false));
        }
        if let Some(items) = view.items() {
            out.insert("items".into(), self.node(items, depth + 1, false));
        }
        if !node.fields.is_empty() {
            let fields = node.fields.iter();
            let properties: Map<String, Value> =
                fields.map(|(name, field)| (name.clone(), self.field(view, field, depth))).collect();
            out.insert("properties".into(), Value::Object(properties));
            let required: Vec<&str> = node
                .fields
                .iter()
                .filter(|(_, field)| field.required)
                .map(|(name, _)| name.as_str())
                .collect();
            if !required.is_empty() {
                out.insert("required".into(), json!(required));
            }
        }
    }

    /// A field's schema with what belongs to the field and not to its type.
    fn field(&mut self, parent: View<'a>, field: &'a Field, depth: usize) -> Value {
        let inner = self.node(parent.at(field.node), depth + 1, false);
        let mut own = Map::new();
        if let Some(text) = &field.description {
            own.insert("description".into(), text.as_ref().into());
        }
        if let Some(default) = &field.default {
            own.insert("default".into(), default.clone());
        }
        let strategy: Vec<&str> = [("merge", field.patch.merge), ("retainKeys", field.patch.retain_keys)]
            .into_iter()
            .filter_map(|(name, set)| set.then_some(name))
            .collect();
        if !strategy.is_empty() {
            own.insert("x-kubernetes-patch-strategy".into(), strategy.join(",").into());
        }
        if let Some(key) = &field.merge_key {
            own.insert("x-kubernetes-patch-merge-key".into(), key.as_str().into());
        }
        match inner {
            Value::Object(mut inner) if !inner.contains_key("$ref") => {
                inner.extend(own);
                Value::Object(inner)
            }
            // What stands beside a `$ref` does not count in OpenAPI 3.0.
            reference if !own.is_empty() => {
                own.insert("allOf".into(), json!([reference]));
                Value::Object(own)
            }
            reference => reference,
        }
    }
}

fn type_fields(properties: &mut Map<String, Value>) {
    for (name, text) in [
        ("apiVersion", "Group and version of the schema that this object has."),
        ("kind", "The kind of object, in CamelCase."),
    ] {
        properties.insert(name.to_owned(), json!({"type": "string", "description": text}));
    }
}

fn extensions(out: &mut Map<String, Value>, node: &Node) {
    match &node.list_type {
        _ if node.kind != Kind::Array => {}
        ListType::Atomic => {
            out.insert("x-kubernetes-list-type".into(), "atomic".into());
        }
        ListType::Set => {
            out.insert("x-kubernetes-list-type".into(), "set".into());
        }
        ListType::Map(keys) => {
            out.insert("x-kubernetes-list-type".into(), "map".into());
            out.insert("x-kubernetes-list-map-keys".into(), json!(keys));
        }
    }
    for (key, set) in [
        ("nullable", node.nullable),
        ("x-kubernetes-preserve-unknown-fields", node.preserve_unknown && node.kind != Kind::Any),
        ("x-kubernetes-embedded-resource", node.embedded),
    ] {
        if set {
            out.insert(key.to_owned(), Value::Bool(true));
        }
    }
    if node.atomic && node.kind == Kind::Object {
        out.insert("x-kubernetes-map-type".into(), "atomic".into());
    }
    if let Some(default) = &node.default {
        out.insert("default".into(), default.clone());
    }
}

fn constrain(out: &mut Map<String, Value>, rules: &Rules) {
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            out.insert(key.to_owned(), value);
        }
    };
    put("format", rules.format.as_deref().map(Value::from));
    put("enum", (!rules.enumeration.is_empty()).then(|| Value::Array(rules.enumeration.clone())));
    put("pattern", rules.pattern.as_deref().map(Value::from));
    put("minimum", rules.minimum.map(number));
    put("maximum", rules.maximum.map(number));
    put("exclusiveMinimum", rules.exclusive_minimum.then_some(Value::Bool(true)));
    put("exclusiveMaximum", rules.exclusive_maximum.then_some(Value::Bool(true)));
    put("multipleOf", rules.multiple_of.map(number));
    for (key, bound) in [
        ("minLength", rules.min_length),
        ("maxLength", rules.max_length),
        ("minItems", rules.min_items),
        ("maxItems", rules.max_items),
        ("minProperties", rules.min_properties),
        ("maxProperties", rules.max_properties),
    ] {
        put(key, bound.map(Value::from));
    }
    put("uniqueItems", rules.unique_items.then_some(Value::Bool(true)));
    put("x-kubernetes-validations", rules.cel.clone());
    if let Some(Value::Object(combinators)) = &rules.combinators {
        for (key, value) in combinators {
            put(key, Some(value.clone()));
        }
    }
}

/// A bound as it was written: whole numbers without a fraction.
fn number(bound: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be whole and within the range where floats are exact"
    )]
    if bound.fract() == 0.0 && bound.abs() < 9e15 { Value::from(bound as i64) } else { Value::from(bound) }
}
