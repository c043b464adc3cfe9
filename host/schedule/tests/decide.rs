//! When a binding is scheduled, and whom a cluster's change concerns: tests/cases/decide.json.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

use serde_json::{Value, json};
use windlass_object::patch::apply_merge_patch;
use windlass_schedule::decide::{Trigger, concerns, is_handled, trigger};
use windlass_schedule::{ClusterFacts, ClusterTable};

fn cases() -> Value {
    serde_json::from_str(include_str!("cases/decide.json")).unwrap()
}

fn merged(base: &Value, change: &Value) -> Value {
    let mut value = base.clone();
    apply_merge_patch(&mut value, change);
    value
}

/// A placed binding whose applied placement is given apart, to keep the cases readable.
fn binding(cases: &Value, case: &Value) -> Value {
    let mut binding = merged(&cases["binding"], &case["change"]);
    if let Some(applied) = case.get("applied") {
        binding["metadata"]["annotations"]["policy.karmada.io/applied-placement"] =
            if applied.is_string() { applied.clone() } else { applied.to_string().into() };
    }
    binding
}

#[test]
fn triggers() {
    let cases = cases();
    let mut table = ClusterTable::new();
    for (name, deleting) in [("m1", false), ("m2", false), ("leaving", true)] {
        let mut cluster = json!({"metadata": {"name": name}});
        if deleting {
            cluster["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        }
        table.upsert(&cluster);
    }
    for case in cases["triggers"].as_array().unwrap() {
        let got = match trigger(&binding(&cases, case), &table, case["components"] == true) {
            Trigger::Skip(None) => "Skip".to_owned(),
            Trigger::Skip(Some(generation)) => format!("Skip and observe {generation}"),
            other => format!("{other:?}"),
        };
        assert_eq!(got, case["expect"].as_str().unwrap(), "{}", case["name"]);
    }
}

#[test]
fn handled_bindings() {
    let cases = cases();
    for case in cases["handled"].as_array().unwrap() {
        let got = is_handled(&binding(&cases, case), "default-scheduler");
        assert_eq!(got, case["expect"], "{}", case["name"]);
    }
}

#[test]
fn concerned_bindings() {
    let cases = cases();
    for case in cases["concerns"].as_array().unwrap() {
        let facts = ClusterFacts::from_value(&case["cluster"]);
        assert_eq!(concerns(&binding(&cases, case), &[&facts]), case["expect"], "{}", case["name"]);
    }
}
