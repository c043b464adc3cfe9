//! What holds for any input.

use crate::support::builtin_view;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use windlass_schema::apply::{self, FieldSet, Manager};
use windlass_schema::arena::View;
use windlass_schema::{strategic, structural};

const NAMES: &[&str] =
    &["a", "b", "name", "spec", "containers", "env", "labels", "metadata", "status", "k<>&"];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..12).prop_map(Value::from),
        Just(json!(1.5)),
        "[a-c<\"]{0,2}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(prop::sample::select(NAMES), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

/// An object of the schema below, valid and without duplicates.
fn valid() -> impl Strategy<Value = Value> {
    let item = (0usize..4, prop::option::of(0i64..3));
    (
        prop::option::of(0i64..3),
        prop::collection::btree_map("[a-c]", "[x-z]", 0..3),
        prop::collection::btree_map(0usize..4, item, 0..4),
        prop::collection::btree_set("[p-s]", 0..4),
        prop::collection::vec(0i64..3, 0..3),
    )
        .prop_map(|(replicas, labels, items, set, atomic)| {
            let mut spec = Map::new();
            if let Some(replicas) = replicas {
                spec.insert("replicas".into(), json!(replicas));
            }
            let items: Vec<Value> = items
                .into_iter()
                .map(|(name, (value, port))| match port {
                    Some(port) => json!({"name": format!("n{name}"), "value": value, "port": port}),
                    None => json!({"name": format!("n{name}"), "value": value}),
                })
                .collect();
            spec.insert("items".into(), json!(items));
            spec.insert("set".into(), json!(set));
            spec.insert("list".into(), json!(atomic));
            json!({"apiVersion": "x/v1", "kind": "X", "metadata": {"name": "n", "labels": labels}, "spec": spec})
        })
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "replicas": {"type": "integer"},
        "items": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "value": {"type": "integer"}, "port": {"type": "integer"},
            }},
        },
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "integer"}},
    }}}})
}

fn manager(name: &str) -> Manager {
    Manager { time: "2024-01-01T00:00:00Z".into(), ..Manager::new(name, "x/v1", false) }
}

fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nothing_panics(schema in value(), a in value(), b in value()) {
        if let Ok((arena, root)) = structural::parse(&schema) {
            walk(arena.view(root), &a, &b);
        }
        walk(builtin_view("v1 Pod"), &a, &b);
        for view in [None, Some(builtin_view("apps/v1 Deployment"))] {
            let mut new = b.clone();
            apply::update(view, Some(&a), &mut new, &manager("u"));
            let _ = apply::apply(view, Some(&a), &b, &manager("a"), true);
        }
        let _ = strategic::merge(builtin_view("v1 Pod"), &a, &b);
        let _ = FieldSet::from_fields(&a);
        let _ = apply::check_managed_fields("metadata.managedFields", &a);
    }

    #[test]
    fn applying_twice_changes_nothing(first in valid(), config in valid()) {
        let (arena, root) = structural::parse(&schema()).unwrap();
        let view = arena.view(root);
        let mut live = first;
        apply::update(view, None, &mut live, &manager("creator"));
        let once = apply::apply(view, Some(&live), &config, &manager("a"), true).unwrap();
        let twice = apply::apply(view, Some(&once), &config, &manager("a"), false).unwrap();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn what_was_applied_is_there_and_what_was_dropped_is_gone(first in valid(), second in valid()) {
        let (arena, root) = structural::parse(&schema()).unwrap();
        let view = arena.view(root);
        let live = apply::apply(view, None, &first, &manager("a"), false).unwrap();
        let then = apply::apply(view, Some(&live), &second, &manager("a"), false).unwrap();
        let delta = apply::compare(view, &second, &bare(&then));
        // Only what nobody claims may differ: containers that are empty in the configuration.
        prop_assert!(apply::field_set(view, &second).intersection(&delta.changed).is_empty());
        let left = apply::field_set(view, &bare(&then)).difference(&apply::field_set(view, &second));
        prop_assert!(left.is_empty(), "left over: {}", left.to_json());
    }

    #[test]
    fn update_owns_what_differs(first in valid(), second in valid()) {
        let (arena, root) = structural::parse(&schema()).unwrap();
        let view = arena.view(root);
        let mut live = first;
        apply::update(view, None, &mut live, &manager("one"));
        let mut new = second;
        apply::update(view, Some(&live), &mut new, &manager("two"));
        let delta = apply::compare(view, &bare(&live), &bare(&new));
        for entry in new["metadata"]["managedFields"].as_array().into_iter().flatten() {
            let set = FieldSet::from_fields(&entry["fieldsV1"]).unwrap();
            let touched = set.intersection(&delta.changed);
            if entry["manager"] == "two" {
                prop_assert_eq!(touched, delta.changed.clone());
            } else {
                prop_assert!(touched.is_empty());
            }
            prop_assert!(set.intersection(&delta.removed).is_empty());
        }
    }

    #[test]
    fn fields_come_back_as_they_went(object in value()) {
        let set = apply::field_set(None, &json!({"spec": object, "list": [1, "a"]}));
        prop_assert_eq!(&FieldSet::from_fields(&set.to_fields()).unwrap(), &set);
        let text: Value = serde_json::from_str(&set.to_json()).unwrap();
        prop_assert_eq!(text, set.to_fields());
    }

    #[test]
    fn sets_are_in_canonical_order(paths in prop::collection::vec(prop::collection::vec(element(), 1..4), 0..12)) {
        let mut set = FieldSet::default();
        for path in &paths {
            set.insert(path);
        }
        let found = set.paths();
        prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
        for path in &paths {
            prop_assert!(set.has(path));
            prop_assert!(found.contains(path));
        }
        prop_assert!(set.difference(&set).is_empty());
        prop_assert_eq!(&set.union(&set), &set);
        prop_assert_eq!(&set.intersection(&set), &set);
        prop_assert_eq!(&FieldSet::from_fields(&set.to_fields()).unwrap(), &set);
    }

    #[test]
    fn defaulting_twice_changes_nothing(object in value()) {
        let (arena, root) = structural::parse(&json!({"type": "object", "properties": {
            "a": {"type": "object", "default": {"b": 1}, "properties": {"b": {"type": "integer", "default": 2}}},
            "spec": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}},
        }})).unwrap();
        let view = arena.view(root);
        let mut once = object;
        structural::default(view, &mut once);
        structural::prune(view, &mut once);
        let mut twice = once.clone();
        structural::default(view, &mut twice);
        prop_assert!(structural::prune(view, &mut twice).is_empty());
        prop_assert_eq!(once, twice);
    }
}

fn element() -> impl Strategy<Value = apply::Element> {
    prop_oneof![
        prop::sample::select(NAMES).prop_map(|name| apply::Element::Field(name.to_owned())),
        (0i64..12).prop_map(|n| apply::Element::Value(json!(n))),
        "[a<]{1,2}".prop_map(|s| apply::Element::Value(json!(s))),
        (0i64..12)
            .prop_map(|n| apply::Element::Key(vec![("port".into(), json!(n)), ("x".into(), json!("y"))])),
        (0i64..3).prop_map(apply::Element::Index),
    ]
}

fn walk(view: View<'_>, a: &Value, b: &Value) {
    let mut object = a.clone();
    structural::prune(view, &mut object);
    structural::default(view, &mut object);
    structural::validate(view, &object, Some(b));
    let mut new = b.clone();
    apply::update(view, Some(a), &mut new, &manager("u"));
    let _ = apply::apply(view, Some(a), b, &manager("a"), true);
    let _ = strategic::merge(view, a, b);
}
