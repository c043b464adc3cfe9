//! Reading of `openAPIV3Schema` into an [`Arena`], with all that makes a schema
//! structural checked on the way. Messages are Kubernetes' own.

use super::{MAX_DEPTH, check, patterns, prune, rules};
use crate::arena::{Arena, Field, Kind, Node, NodeId};
use crate::field_error::FieldError;
use serde_json::{Map, Value, json};

mod extensions;
mod nested;

/// Reads a schema, or tells all that keeps it from being structural, as seen from
/// `spec.validation.openAPIV3Schema`.
pub fn parse(schema: &Value) -> Result<(Arena, NodeId), Vec<FieldError>> {
    parse_at(schema, "spec.validation.openAPIV3Schema")
}

/// The same with another path in the errors: `spec.versions[1].schema.openAPIV3Schema`.
pub fn parse_at(schema: &Value, path: &str) -> Result<(Arena, NodeId), Vec<FieldError>> {
    let mut parser = Parser { arena: Arena::default(), errors: Vec::new(), defaults: Vec::new() };
    let root = parser.node(schema, Level::Root, path, 0);
    for (at, id, value) in std::mem::take(&mut parser.defaults) {
        parser.check_default(&at, id, value);
    }
    if parser.errors.is_empty() {
        return Ok((parser.arena, root));
    }
    parser.errors.sort_by_cached_key(ToString::to_string);
    parser.errors.dedup();
    Err(parser.errors)
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

struct Parser {
    arena: Arena,
    errors: Vec<FieldError>,
    /// Defaults found, to be held against their schemas when all are read.
    defaults: Vec<(String, NodeId, Value)>,
}

impl Parser {
    fn node(&mut self, schema: &Value, level: Level, path: &str, depth: usize) -> NodeId {
        let Value::Object(map) = schema else {
            self.errors.push(FieldError::invalid(path, schema.clone(), "must be a schema"));
            return self.arena.add(Node::default());
        };
        if depth > MAX_DEPTH {
            self.errors.push(FieldError::invalid(path, "", format!("nests deeper than {MAX_DEPTH} levels")));
            return self.arena.add(Node::default());
        }
        unsupported(map, path, &mut self.errors);
        extensions::check(map, path, &mut self.errors);
        let mut node = Node {
            kind: self.kind(map, level, path),
            nullable: flag(map, "nullable"),
            preserve_unknown: flag(map, "x-kubernetes-preserve-unknown-fields"),
            embedded: flag(map, "x-kubernetes-embedded-resource"),
            atomic: map.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic"),
            list_type: extensions::list_type(map),
            description: text(map, "description").filter(|s| !s.is_empty()).map(Into::into),
            ..Node::default()
        };
        self.fields(&mut node, map, level, path, depth);
        self.values(&mut node, map, level, path, depth);
        match map.get("items") {
            Some(items @ Value::Object(_)) => {
                let id = self.node(items, Level::Item, &format!("{path}.items"), depth + 1);
                self.own_default(items, id, &format!("{path}.items"));
                node.items = Some(id);
            }
            Some(Value::Array(_)) => {
                let detail = "items must be a schema object and not an array";
                self.errors.push(FieldError::forbidden(format!("{path}.items"), detail));
            }
            _ if node.kind == Kind::Array => {
                self.errors.push(FieldError::required(format!("{path}.items"), "must be specified"));
            }
            _ => {}
        }
        let mut own = rules::read(map);
        own.combinators = self.combinators(map, &node, path);
        if let Some(pattern) = &own.pattern
            && let Err(error) = patterns::compile(pattern)
        {
            let detail = format!("must be a valid regular expression, but isn't: {error}");
            self.errors.push(FieldError::invalid(format!("{path}.pattern"), pattern.as_str(), detail));
        }
        if own.unique_items {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.errors.push(FieldError::forbidden(format!("{path}.uniqueItems"), detail));
        }
        if own != crate::arena::Rules::default() {
            node.rules = Some(Box::new(own));
        }
        let id = self.arena.add(node);
        if level == Level::Root {
            self.own_default(schema, id, path);
        }
        id
    }

    fn kind(&mut self, map: &Map<String, Value>, level: Level, path: &str) -> Kind {
        let at = format!("{path}.type");
        let name = text(map, "type").unwrap_or_default();
        let either = flag(map, "x-kubernetes-int-or-string");
        let preserve = flag(map, "x-kubernetes-preserve-unknown-fields");
        let embedded = flag(map, "x-kubernetes-embedded-resource");
        let error = if embedded && name != "object" {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            Some(if name.is_empty() {
                FieldError::required(at, detail)
            } else {
                FieldError::invalid(at, name, detail)
            })
        } else if name.is_empty() && !either && !preserve {
            Some(FieldError::required(
                at,
                match level {
                    Level::Root => "must not be empty at the root",
                    Level::Item => "must not be empty for specified array items",
                    Level::Field => "must not be empty for specified object fields",
                },
            ))
        } else if level == Level::Root && !name.is_empty() && name != "object" {
            Some(FieldError::invalid(at, name, "must be object at the root"))
        } else {
            None
        };
        self.errors.extend(error);
        match name {
            _ if either => Kind::IntOrString,
            "object" => Kind::Object,
            "array" => Kind::Array,
            "string" => Kind::String,
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "boolean" => Kind::Boolean,
            "" => Kind::Any,
            "null" => {
                let detail = "type cannot be set to null, use nullable as an alternative";
                self.errors.push(FieldError::forbidden(format!("{path}.type"), detail));
                Kind::Any
            }
            other => {
                let known = ["array", "boolean", "integer", "number", "object", "string"];
                self.errors.push(FieldError::not_supported(format!("{path}.type"), other, known));
                Kind::Any
            }
        }
    }

    fn fields(&mut self, node: &mut Node, map: &Map<String, Value>, level: Level, path: &str, depth: usize) {
        let required = |name: &str| {
            map.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|n| n == name))
        };
        let resource = level == Level::Root || node.embedded;
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let at = format!("{path}.properties[{name}]");
            let id = self.node(schema, Level::Field, &at, depth + 1);
            if resource {
                extensions::meta(name, schema, level == Level::Root, &at, &mut self.errors);
            }
            let default = schema.get("default").filter(|d| !d.is_null()).cloned();
            if let Some(default) = &default {
                self.defaults.push((format!("{at}.default"), id, default.clone()));
            }
            let description = schema.get("description").and_then(Value::as_str).map(Into::into);
            let field =
                Field { node: id, required: required(name), default, description, ..Field::default() };
            node.fields.insert(name.clone(), field);
        }
        if node.embedded && !node.preserve_unknown && node.fields.is_empty() {
            let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
            self.errors.push(FieldError::required(format!("{path}.properties"), detail));
        }
    }

    fn values(&mut self, node: &mut Node, map: &Map<String, Value>, level: Level, path: &str, depth: usize) {
        let Some(values) = map.get("additionalProperties") else { return };
        let at = format!("{path}.additionalProperties");
        if !node.fields.is_empty() && values != &Value::Bool(true) {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.errors.push(FieldError::forbidden(at.as_str(), detail));
        }
        if level == Level::Root {
            self.errors.push(FieldError::forbidden(at.as_str(), "must not be used at the root"));
        }
        if node.embedded {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            self.errors.push(FieldError::forbidden(at.as_str(), detail));
        }
        match values {
            Value::Bool(true) => node.values = Some(self.arena.add(Node::default())),
            Value::Bool(false) => {}
            schema => {
                let id = self.node(schema, Level::Field, &at, depth + 1);
                self.own_default(schema, id, &at);
                node.values = Some(id);
            }
        }
    }

    /// Keeps the default of a schema that is no field with its node.
    fn own_default(&mut self, schema: &Value, id: NodeId, path: &str) {
        let Some(default) = schema.get("default").filter(|d| !d.is_null()) else { return };
        self.defaults.push((format!("{path}.default"), id, default.clone()));
        let mut node = self.arena.view(id).node().clone();
        node.default = Some(default.clone());
        self.arena.set(id, node);
    }

    fn combinators(&mut self, map: &Map<String, Value>, node: &Node, path: &str) -> Option<Value> {
        let mut kept = Map::new();
        for key in ["allOf", "anyOf", "oneOf", "not"] {
            if let Some(value) = map.get(key) {
                kept.insert(key.to_owned(), value.clone());
            }
        }
        if node.kind == Kind::IntOrString {
            nested::drop_int_or_string(&mut kept);
        }
        nested::check(&kept, path, &mut self.errors, 0);
        let undeclared: Vec<Value> = map
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|name| name.as_str().is_some_and(|name| !node.fields.contains_key(name)))
            .cloned()
            .collect();
        if !undeclared.is_empty() {
            kept.insert("required".to_owned(), json!(undeclared));
        }
        (!kept.is_empty()).then_some(Value::Object(kept))
    }

    fn check_default(&mut self, at: &str, id: NodeId, value: Value) {
        let view = self.arena.view(id);
        for error in check::validate(view, &value, None) {
            let field = match error.field.as_str() {
                "" => at.to_owned(),
                below if below.starts_with('[') => format!("{at}{below}"),
                below => format!("{at}.{below}"),
            };
            self.errors.push(FieldError { field, ..error });
        }
        let mut pruned = json!({ "d": value });
        if let Some(inner) = pruned.get_mut("d")
            && !prune::prune(view, inner).is_empty()
        {
            self.errors.push(FieldError::invalid(at, value, "must not have unknown fields"));
        }
    }
}

fn flag(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key) == Some(&Value::Bool(true))
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    map.get(key).and_then(Value::as_str)
}

/// Parts of JSON Schema that Kubernetes does not take.
fn unsupported(map: &Map<String, Value>, path: &str, errors: &mut Vec<FieldError>) {
    for key in
        ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"]
    {
        if map.contains_key(key) {
            errors.push(FieldError::forbidden(format!("{path}.{key}"), format!("{key} is not supported")));
        }
    }
}
