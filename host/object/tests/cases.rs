//! Tables of cases for everything that is a function of text.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise, in its helpers too"
)]

use serde_json::Value;
use windlass_object::{FieldSelector, JsonPath, LabelSelector, Quantity, patch};

fn load(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn list<'a>(cases: &'a Value, name: &str) -> &'a [Value] {
    let list = cases[name].as_array().unwrap();
    assert!(!list.is_empty());
    list
}

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap()
}

fn quantity(value: &Value) -> Quantity {
    Quantity::parse(value.as_str().unwrap()).unwrap()
}

#[test]
fn quantities() {
    let cases = load(include_str!("cases/quantity.json"));
    for case in list(&cases, "valid") {
        let quantity = quantity(&case["in"]);
        assert_eq!(quantity.to_string(), text(case, "out"), "{case}");
        assert_eq!(quantity.value(), case["value"].as_i64().unwrap(), "{case}");
        assert_eq!(quantity.milli_value(), case["milli"].as_i64().unwrap(), "{case}");
        assert_eq!(serde_json::to_value(quantity).unwrap(), case["out"]);
    }
    for case in list(&cases, "invalid") {
        let refused = Quantity::parse(case.as_str().unwrap());
        assert!(refused.is_err(), "{case} was read as {refused:?}");
    }
    for pair in list(&cases, "order").windows(2) {
        assert!(quantity(&pair[0]) < quantity(&pair[1]), "{pair:?}");
    }
    for pair in list(&cases, "equal") {
        assert_eq!(quantity(&pair[0]), quantity(&pair[1]));
    }
    for case in list(&cases, "sum") {
        let (a, b) = (quantity(&case["a"]), quantity(&case["b"]));
        assert_eq!((a + b).to_string(), text(case, "plus"), "{case}");
        assert_eq!((a - b).to_string(), text(case, "minus"), "{case}");
    }
    assert_eq!(serde_json::from_str::<Quantity>("1.5").unwrap().to_string(), "1500m");
    assert_eq!(quantity(&"100m".into()).times(12).to_string(), "1200m");
    assert_eq!(quantity(&"1".into()).fits(quantity(&"300m".into())), Some(3));
    assert_eq!(quantity(&"1".into()).fits(Quantity::ZERO), None);
}

fn matching(case: &Value, matches: impl Fn(&Value) -> bool) {
    for labels in case["match"].as_array().unwrap() {
        assert!(matches(labels), "{labels} should match {}", case["in"]);
    }
    for labels in case["miss"].as_array().unwrap() {
        assert!(!matches(labels), "{labels} should not match {}", case["in"]);
    }
}

#[test]
fn label_selectors() {
    let cases = load(include_str!("cases/label_selector.json"));
    for case in list(&cases, "valid") {
        let selector =
            LabelSelector::parse(text(case, "in")).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(selector.to_string(), text(case, "out"));
        assert_eq!(LabelSelector::parse(&selector.to_string()).unwrap(), selector);
        matching(case, |labels| selector.matches(|key| labels[key].as_str()));
        matching(case, |labels| {
            selector.matches_object(&serde_json::json!({"metadata": {"labels": labels}}))
        });
    }
    for case in list(&cases, "invalid") {
        let refused = LabelSelector::parse(case.as_str().unwrap());
        assert!(refused.is_err(), "{case} was read as {refused:?}");
    }
}

#[test]
fn label_selectors_of_objects() {
    let read = |text: &str| LabelSelector::from_json(&load(text));
    let selector = read(
        r#"{"matchLabels": {"b": "x"}, "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["2", "1"]}, {"key": "c", "operator": "Exists"},
            {"key": "d", "operator": "DoesNotExist"}, {"key": "e", "operator": "NotIn", "values": ["y"]}]}"#,
    );
    assert_eq!(selector.unwrap().to_string(), "a in (1,2),b=x,c,!d,e!=y");
    assert!(read("{}").unwrap().is_everything());
    assert!(!read("null").unwrap().matches(|_| None) && !LabelSelector::nothing().is_everything());
    for refused in [
        "[]",
        r#"{"matchLabels": {"a": 1}}"#,
        r#"{"matchLabels": {"a b": "x"}}"#,
        r#"{"matchExpressions": [{"key": "a", "operator": "Like"}]}"#,
        r#"{"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}"#,
        r#"{"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}"#,
    ] {
        assert!(read(refused).is_err(), "{refused}");
    }
}

#[test]
fn field_selectors() {
    let cases = load(include_str!("cases/field_selector.json"));
    for case in list(&cases, "valid") {
        let selector = FieldSelector::parse(text(case, "in")).unwrap();
        assert_eq!(selector.to_string(), text(case, "out"));
        matching(case, |fields| selector.matches(|key| fields[key].as_str()));
    }
    for case in list(&cases, "invalid") {
        let refused = FieldSelector::parse(case.as_str().unwrap());
        assert!(refused.is_err(), "{case} was read as {refused:?}");
    }
    let selector = FieldSelector::parse("a!=x,metadata.name=web").unwrap();
    assert_eq!((selector.exact("metadata.name"), selector.exact("a")), (Some("web"), None));
}

#[test]
fn json_paths() {
    let cases = load(include_str!("cases/jsonpath.json"));
    for case in list(&cases, "valid") {
        let path = JsonPath::compile(text(case, "in")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Value::Array(path.eval(&cases["object"])), case["out"], "{path}");
    }
    for case in list(&cases, "invalid") {
        let refused = JsonPath::compile(case.as_str().unwrap());
        assert!(refused.is_err(), "{case} was read as {refused:?}");
    }
}

#[test]
fn json_patches() {
    let cases = load(include_str!("cases/json_patch.json"));
    for case in list(&cases, "valid") {
        let mut document = case["doc"].clone();
        patch::apply_json_patch(&mut document, &case["patch"])
            .unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
        assert_eq!(document, case["out"], "{}", case["name"]);
    }
    for case in list(&cases, "invalid") {
        let mut document = case["doc"].clone();
        let error = patch::apply_json_patch(&mut document, &case["patch"]).unwrap_err().to_string();
        assert!(error.contains(text(case, "error")), "{}: {error}", case["name"]);
        assert_eq!(document, case["doc"], "{}", case["name"]);
    }
}
