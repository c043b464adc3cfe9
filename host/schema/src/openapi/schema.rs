//! Schema nodes as OpenAPI v3: named definitions once each under `components.schemas`, everything else in place.

use super::{Descriptions, Resource, gvk_json};
use crate::arena::{Absent, Field, Kind, ListType, Node, Rules, View};
use crate::builtin::{Leaf, META, table};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

type Object = Map<String, Value>;

/// Collects the definitions that a document refers to.
#[derive(Debug)]
pub struct Schemas {
    texts: Descriptions,
    done: BTreeMap<String, Value>,
}

impl Schemas {
    /// None yet.
    pub fn new(texts: Descriptions) -> Self {
        Schemas { texts, done: BTreeMap::new() }
    }

    /// All that were referred to.
    pub fn finish(self) -> Value {
        self.done.into_iter().collect::<Object>().into()
    }

    /// Adds a kind and its list under their names, with their group, version and kind.
    pub(super) fn root(&mut self, resource: &Resource<'_>) {
        let builtin = resource.schema.node().name.is_some();
        let mut schema = if builtin {
            self.named(resource.schema);
            self.done.get(&resource.definition).cloned().unwrap_or_default()
        } else {
            self.custom(resource)
        };
        if let Some(map) = schema.as_object_mut() {
            map.insert("x-kubernetes-group-version-kind".into(), json!([gvk_json(&resource.gvk)]));
        }
        self.done.insert(resource.definition.clone(), schema);
        if resource.verbs.iter().any(|verb| verb == "list") {
            if let Some(list) = table().named(&format!("{}List", resource.definition)) {
                self.named(list);
                return;
            }
            let list = self.list_of(resource);
            self.done.insert(format!("{}List", resource.definition), list);
        }
    }

    fn list_of(&mut self, resource: &Resource<'_>) -> Value {
        let metadata = self.reference(&format!("{META}ListMeta"));
        let kind = format!("{}List", resource.gvk.kind);
        let text = |about: &str| json!({"type": "string", "description": about});
        json!({
            "type": "object",
            "description": format!("A list of {}.", resource.gvk.kind),
            "required": ["items"],
            "properties": {
                "apiVersion": text("The versioned schema of this list."),
                "kind": text("The kind of this list."),
                "metadata": {"allOf": [metadata], "default": {}, "description": "Standard list metadata."},
                "items": {
                    "type": "array",
                    "description": format!("The {} found.", resource.resource),
                    "items": {"allOf": [{"$ref": format!("#/components/schemas/{}", resource.definition)}], "default": {}},
                },
            },
            "x-kubernetes-group-version-kind": [{"group": resource.gvk.group, "version": resource.gvk.version, "kind": kind}],
        })
    }

    /// A custom resource's schema, with the fields that every object has.
    fn custom(&mut self, resource: &Resource<'_>) -> Value {
        let mut schema = self.inline(resource.schema, None);
        unsaid(&mut schema);
        let metadata = self.reference(&format!("{META}ObjectMeta"));
        let Some(map) = schema.as_object_mut() else { return schema };
        let properties = map.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            // What every kind's are for, any built-in kind tells.
            let about =
                |field: &str| self.texts.of("io.k8s.api.core.v1.ConfigMap", field).unwrap_or_default();
            for name in ["apiVersion", "kind"] {
                let own = || json!({"type": "string", "description": about(name)});
                properties.entry(name).or_insert_with(own);
            }
            let about = about("metadata");
            properties.insert("metadata".into(), json!({"allOf": [metadata], "description": about}));
        }
        schema
    }

    /// A reference to a built-in definition, which is added if it is new.
    pub(super) fn reference(&mut self, name: &str) -> Value {
        match table().named(name) {
            Some(view) => self.named(view),
            // A patch has no fields of its own.
            None => {
                let about = "The body of a PATCH request, in one of its forms.";
                self.done
                    .entry(name.to_owned())
                    .or_insert_with(|| json!({"type": "object", "description": about}));
            }
        }
        json!({"$ref": format!("#/components/schemas/{name}")})
    }

    /// Adds a named node.
    fn named(&mut self, view: View<'_>) {
        let Some(name) = view.node().name.as_deref() else { return };
        if self.done.contains_key(name) {
            return;
        }
        // Recursive types find themselves done.
        self.done.insert(name.to_owned(), Value::Null);
        let mut schema = self.inline(view, Some(name));
        if let (Some(gvk), Some(map)) = (table().registered(view), schema.as_object_mut()) {
            map.insert("x-kubernetes-group-version-kind".into(), json!([gvk_json(gvk)]));
        }
        self.done.insert(name.to_owned(), schema);
    }

    /// A node where it is used: a reference if it is named.
    fn used(&mut self, view: View<'_>) -> Value {
        match view.node().name.as_deref() {
            Some(name) => {
                self.named(view);
                json!({"$ref": format!("#/components/schemas/{name}")})
            }
            None => self.inline(view, None),
        }
    }

    fn inline(&mut self, view: View<'_>, definition: Option<&str>) -> Value {
        let node = view.node();
        let mut map = Object::new();
        if let Some(text) = definition
            .and_then(|name| self.texts.of(name, ""))
            .or_else(|| node.description.as_deref().map(str::to_owned))
        {
            map.insert("description".into(), text.into());
        }
        if let Some(leaf) = table().leaf(view).filter(|_| definition.is_some()) {
            special(leaf, &mut map);
            return map.into();
        }
        self.shape(view, definition, &mut map);
        if let Some(rules) = &node.rules {
            write_rules(rules, &mut map);
        }
        if let Some(default) = &node.default {
            map.insert("default".into(), default.clone());
        }
        extensions(node, &mut map);
        map.into()
    }

    fn shape(&mut self, view: View<'_>, definition: Option<&str>, map: &mut Object) {
        let node = view.node();
        let type_ = match node.kind {
            Kind::Any | Kind::IntOrString => None,
            Kind::Object => Some("object"),
            Kind::Array => Some("array"),
            Kind::String | Kind::Quantity => Some("string"),
            Kind::Integer => Some("integer"),
            Kind::Number => Some("number"),
            Kind::Boolean => Some("boolean"),
        };
        if let Some(type_) = type_ {
            map.insert("type".into(), type_.into());
        }
        if let Some(items) = view.items() {
            let mut inner = self.used(items);
            if items.node().name.is_some() && items.node().kind == Kind::Object {
                inner = json!({"allOf": [inner], "default": {}});
            } else if definition.is_some() && items.node().kind == Kind::String {
                inner = json!({"type": "string", "default": ""});
            }
            map.insert("items".into(), inner);
        }
        if let Some(values) = node.values {
            let values = self.used(view.at(values));
            map.insert("additionalProperties".into(), values);
        }
        if node.fields.is_empty() {
            return;
        }
        let mut properties = Object::new();
        let mut required = Vec::new();
        for (name, field) in &node.fields {
            if field.required {
                required.push(Value::from(name.as_str()));
            }
            let text = definition
                .and_then(|d| self.texts.of(d, name))
                .or_else(|| field.description.as_deref().map(str::to_owned));
            let schema = self.field(view.at(field.node), field, text);
            properties.insert(name.clone(), schema);
        }
        map.insert("properties".into(), properties.into());
        if !required.is_empty() {
            map.insert("required".into(), required.into());
        }
    }

    fn field(&mut self, view: View<'_>, field: &Field, text: Option<String>) -> Value {
        let mut schema = self.used(view);
        let reference = schema.get("$ref").is_some();
        let mut extra = Object::new();
        if let Some(text) = text {
            extra.insert("description".into(), text.into());
        }
        if let Some(default) = field.default.clone().or_else(|| zero_default(view, field)) {
            extra.insert("default".into(), default);
        }
        let strategy = match (field.patch.retain_keys, field.patch.merge) {
            (true, true) => Some("merge,retainKeys"),
            (true, false) => Some("retainKeys"),
            (false, true) => Some("merge"),
            (false, false) => None,
        };
        if let Some(strategy) = strategy {
            extra.insert("x-kubernetes-patch-strategy".into(), strategy.into());
        }
        if let Some(key) = &field.merge_key {
            extra.insert("x-kubernetes-patch-merge-key".into(), key.as_str().into());
        }
        if reference && !extra.is_empty() {
            // Nothing may stand beside a reference in OpenAPI 3.0.
            extra.insert("allOf".into(), json!([schema]));
            return extra.into();
        }
        if let Some(map) = schema.as_object_mut() {
            map.extend(extra);
        }
        schema
    }
}

/// Upstream's documents give Go's zero value as the default of fields that are always written.
fn zero_default(view: View<'_>, field: &Field) -> Option<Value> {
    if field.absent != Absent::Zero || table().leaf(view).is_some() {
        return None;
    }
    match view.node().kind {
        Kind::Object => Some(json!({})),
        Kind::String => Some("".into()),
        Kind::Integer | Kind::Number => Some(0.into()),
        Kind::Boolean => Some(false.into()),
        _ => None,
    }
}

fn special(leaf: Leaf, map: &mut Object) {
    let mut set = |name: &str, value: Value| map.insert(name.into(), value);
    match leaf {
        Leaf::Time | Leaf::MicroTime => {
            set("type", "string".into());
            set("format", "date-time".into());
        }
        Leaf::Quantity => {
            set("oneOf", json!([{"type": "string"}, {"type": "number"}]));
        }
        Leaf::IntOrString => {
            set("oneOf", json!([{"type": "integer"}, {"type": "string"}]));
            set("format", "int-or-string".into());
        }
        Leaf::Duration => {
            set("type", "string".into());
        }
        Leaf::Bytes => {
            set("type", "string".into());
            set("format", "byte".into());
        }
        Leaf::WrappedList => {
            set("type", "array".into());
            set("items", json!({"type": "string", "default": ""}));
        }
        Leaf::Raw => {
            if !map
                .get("description")
                .and_then(Value::as_str)
                .is_some_and(|d| d.starts_with("JSON represents"))
            {
                map.insert("type".into(), "object".into());
            }
        }
        Leaf::SchemaOrBool | Leaf::SchemaOrArray | Leaf::SchemaOrStrings => {}
    }
}

fn write_rules(rules: &Rules, map: &mut Object) {
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            map.insert(name.into(), value);
        }
    };
    // Upstream knows no format of its own for times with microseconds.
    let format = rules.format.as_deref().map(|f| if f == "micro-time" { "date-time" } else { f });
    set("format", format.map(Value::from));
    set("enum", (!rules.enumeration.is_empty()).then(|| rules.enumeration.clone().into()));
    set("pattern", rules.pattern.clone().map(Value::from));
    set("minimum", rules.minimum.map(number));
    set("maximum", rules.maximum.map(number));
    set("exclusiveMinimum", rules.exclusive_minimum.then_some(true.into()));
    set("exclusiveMaximum", rules.exclusive_maximum.then_some(true.into()));
    set("multipleOf", rules.multiple_of.map(number));
    set("minLength", rules.min_length.map(Value::from));
    set("maxLength", rules.max_length.map(Value::from));
    set("minItems", rules.min_items.map(Value::from));
    set("maxItems", rules.max_items.map(Value::from));
    set("uniqueItems", rules.unique_items.then_some(true.into()));
    set("minProperties", rules.min_properties.map(Value::from));
    set("maxProperties", rules.max_properties.map(Value::from));
    set("x-kubernetes-validations", rules.cel.clone());
    if let Some(Value::Object(combinators)) = &rules.combinators {
        for (name, value) in combinators {
            map.insert(name.clone(), value.clone());
        }
    }
}

/// Whole numbers without a fraction.
fn number(number: f64) -> Value {
    let whole = number as i64;
    if whole as f64 == number { whole.into() } else { number.into() }
}

/// A definition's lists are atomic unless it says otherwise, and then its document need not say so.
fn unsaid(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("x-kubernetes-list-type").is_some_and(|kind| kind == "atomic") {
                map.remove("x-kubernetes-list-type");
            }
            map.values_mut().for_each(unsaid);
        }
        Value::Array(list) => list.iter_mut().for_each(unsaid),
        _ => {}
    }
}

fn extensions(node: &Node, map: &mut Object) {
    match &node.list_type {
        ListType::Atomic if node.kind == Kind::Array => {
            map.insert("x-kubernetes-list-type".into(), "atomic".into());
        }
        ListType::Atomic => {}
        ListType::Set => {
            map.insert("x-kubernetes-list-type".into(), "set".into());
        }
        ListType::Map(keys) => {
            map.insert("x-kubernetes-list-type".into(), "map".into());
            map.insert("x-kubernetes-list-map-keys".into(), keys.clone().into());
        }
    }
    if node.atomic {
        map.insert("x-kubernetes-map-type".into(), "atomic".into());
    }
    if node.nullable {
        map.insert("nullable".into(), true.into());
    }
    if node.preserve_unknown {
        map.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
    }
    if node.embedded {
        map.insert("x-kubernetes-embedded-resource".into(), true.into());
    }
    if node.kind == Kind::IntOrString {
        map.insert("x-kubernetes-int-or-string".into(), true.into());
    }
}
