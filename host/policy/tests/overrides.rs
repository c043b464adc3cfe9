//! Which override rules apply in which order, and how they are recorded. The transformer here only notes what it was asked.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use serde_json::{Value, json};
use windlass_object::Meta;
use windlass_policy::overrides::{annotation, apply, plan, selects};
use windlass_policy::{ClusterFacts, Transform, TransformError};

/// Puts the first element's `value` into the label `<overrider>`; refuses the value `refuse`.
struct Labels;

impl Transform for Labels {
    fn transform(
        &self,
        object: &Value,
        overrider: &str,
        elements: &[Value],
        cluster: &ClusterFacts,
    ) -> Result<Value, TransformError> {
        let value = elements[0]["value"].as_str().unwrap();
        if value == "refuse" {
            return Err(TransformError::Invalid(format!("not in {}", cluster.name)));
        }
        let before = object.label(overrider).unwrap_or_default();
        Ok(
            json!([{"op": "add", "path": format!("/metadata/labels/{overrider}"), "value": format!("{before}{value}")}]),
        )
    }
}

fn object() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop", "labels": {"a": "b"}}})
}

fn cluster() -> ClusterFacts {
    ClusterFacts::from_value(
        &json!({"metadata": {"name": "c2", "labels": {"env": "prod"}}, "spec": {"region": "eu"}}),
    )
}

fn policy(namespace: &str, name: &str, selector: Option<Value>, rules: &[(Value, Value)]) -> Value {
    let rules: Vec<Value> = rules
        .iter()
        .map(|(target, overriders)| {
            if target.is_null() {
                json!({ "overriders": overriders })
            } else {
                json!({"targetCluster": target, "overriders": overriders})
            }
        })
        .collect();
    let mut spec = json!({ "overrideRules": rules });
    if let Some(selector) = selector {
        spec["resourceSelectors"] = json!([selector]);
    }
    json!({"metadata": {"namespace": namespace, "name": name}, "spec": spec})
}

fn value(list: &str, value: &str) -> Value {
    json!({ list: [{"operator": "add", "value": value}] })
}

#[test]
fn the_precise_comes_last() {
    let by_name = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "c"});
    let by_label =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "labelSelector": {"matchLabels": {"a": "b"}}});
    let other = json!({"apiVersion": "v1", "kind": "Secret"});
    let all = Value::Null;
    let here = json!({"labelSelector": {"matchLabels": {"env": "prod"}}});
    let elsewhere = json!({"exclude": ["c2"]});
    let rule = value("plaintext", "x");
    let a = policy("shop", "a", Some(by_name), &[(all.clone(), rule.clone()), (here, rule.clone())]);
    let b = policy("shop", "b", None, &[(elsewhere, rule.clone()), (all.clone(), rule.clone())]);
    let c = policy("shop", "c", Some(by_label), &[(all.clone(), rule.clone())]);
    let d = policy("shop", "d", Some(other), &[(all, rule.clone())]);
    let mut old = json!({"metadata": {"name": "old", "namespace": "shop"}, "spec": {"overriders": rule}});
    let object = object();
    let steps: Vec<(String, usize)> = plan(&object, &[&a, &old, &c, &b, &d], &cluster())
        .iter()
        .map(|step| (step.policy.name().to_owned(), step.rule))
        .collect();
    let names: Vec<(&str, usize)> = steps.iter().map(|(name, rule)| (name.as_str(), *rule)).collect();
    assert_eq!(names, [("b", 1), ("old", 0), ("c", 0), ("a", 0), ("a", 1)]);
    old["spec"]["targetCluster"] = json!({"clusterNames": ["other"]});
    assert!(plan(&object, &[&old], &cluster()).is_empty());
    assert!(selects(&b, &object) && !selects(&d, &object));
}

#[test]
fn lists_and_kinds_in_order() {
    let wide = policy("", "wide", None, &[(Value::Null, value("labelsOverrider", "1"))]);
    let narrow = policy("shop", "narrow", None, &[(Value::Null, value("labelsOverrider", "2"))]);
    let done = apply(object(), &[&wide], &[&narrow], &cluster(), &Labels).unwrap();
    assert_eq!(done.object.label("labelsOverrider"), Some("12"));
    assert_eq!((done.cluster_rules.len(), done.rules.len()), (1, 1));
    assert_eq!(done.cluster_rules[0].kind, "ClusterOverridePolicy");
    assert_eq!(done.rules[0].patches[0].1[0]["value"], "12");
    let mut lists = value("plaintext", "p");
    lists["imageOverrider"] = json!([{"value": "i"}]);
    let both = policy("shop", "both", None, &[(Value::Null, lists)]);
    let done = apply(object(), &[], &[&both], &cluster(), &Labels).unwrap();
    let order: Vec<&str> = done.rules[0].patches.iter().map(|(list, _)| *list).collect();
    assert_eq!(order, ["imageOverrider", "plaintext"]);
    let mut global = object();
    global["metadata"].as_object_mut().unwrap().remove("namespace");
    assert!(apply(global, &[], &[&both], &cluster(), &Labels).unwrap().rules.is_empty());
}

#[test]
fn an_error_has_an_address() {
    let good = policy("shop", "a", None, &[(Value::Null, value("plaintext", "x"))]);
    let bad = policy(
        "shop",
        "b",
        None,
        &[(Value::Null, value("plaintext", "x")), (Value::Null, value("argsOverrider", "refuse"))],
    );
    let error = apply(object(), &[], &[&good, &bad], &cluster(), &Labels).unwrap_err();
    assert_eq!(error.to_string(), "OverridePolicy shop/b, rule 1, argsOverrider for cluster c2: not in c2");
}

#[test]
fn rules_are_recorded_in_the_apis_order() {
    assert_eq!(annotation(&[]), None);
    let lists = json!({"imageOverrider": [{"value": "v", "operator": "replace", "component": "Tag",
            "predicate": {"path": "/spec"}}],
        "plaintext": [{"value": {"b": 1, "a": 2}, "path": "/x", "operator": "add"}, {"operator": "remove", "path": "/y"}],
        "labelsOverrider": [],
        "fieldOverrider": [{"json": [{"operator": "remove", "subPath": "/k"}], "fieldPath": "/data/x"}]});
    let mut fake = apply(object(), &[], &[], &cluster(), &Labels).unwrap();
    for (name, overriders) in [("z", json!({})), ("a", lists)] {
        fake.rules.push(windlass_policy::overrides::AppliedRule {
            policy: name.to_owned(),
            kind: "OverridePolicy".to_owned(),
            rule: 0,
            overriders,
            patches: Vec::new(),
        });
    }
    assert_eq!(
        annotation(&fake.rules).unwrap(),
        concat!(
            r#"[{"policyName":"a","overriders":{"plaintext":[{"path":"/x","operator":"add","value":{"a":2,"b":1}},"#,
            r#"{"path":"/y","operator":"remove","value":null}],"#,
            r#""imageOverrider":[{"predicate":{"path":"/spec"},"component":"Tag","operator":"replace","value":"v"}],"#,
            r#""fieldOverrider":[{"fieldPath":"/data/x","json":[{"subPath":"/k","operator":"remove","value":null}]}]}},"#,
            r#"{"policyName":"z","overriders":{}}]"#
        )
    );
}
