//! Fleets and bindings through the shipped filters and scores.

use crate::{Judge, SHIPPED, read, vectors};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use windlass_schedule::plugin::{DEFAULT_FILTERS, DEFAULT_SCORES};
use windlass_schedule::{ClusterTable, Failure, Input, Options, Outcome, Peers, Profile, Request, schedule};

fn run(case: &Value, table: &ClusterTable, components: bool, profile: &mut Profile) -> Outcome {
    let request = Request::from_parts(&case["spec"], &case["status"]);
    let input = Input {
        table,
        request: &request,
        affinity_name: &request.observed_affinity,
        peers: &Peers::default(),
        assumed: &BTreeMap::new(),
        options: Options {
            empty_workload_propagation: case["enableEmptyWorkloadPropagation"] == true,
            components,
            ..Options::default()
        },
    };
    schedule(&input, profile)
}

/// The result in the form of `expect`.
fn verdict(outcome: &Outcome) -> Value {
    match &outcome.result {
        Ok(targets) if targets.is_empty() => json!({}),
        Ok(targets) => {
            let mut targets = targets.clone();
            targets.sort_by(|a, b| a.name.cmp(&b.name));
            json!({"clusters": targets.iter().map(|target| target.to_value()).collect::<Vec<_>>()})
        }
        Err(Failure::NoClusterFit(_)) => json!({"error": "NoClusterFit"}),
        Err(Failure::Unschedulable(_)) => json!({"error": "Unschedulable"}),
        Err(Failure::Error(_)) => json!({"error": "SchedulerError"}),
    }
}

fn check(set: &str, count: usize, components: bool) {
    let folder = vectors().join("scheduling").join(set);
    let mut by_fleet: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in read(&folder.join("cases.ndjson")).lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        by_fleet.entry(case["fleet"].as_str().unwrap().to_owned()).or_default().push(case);
    }
    let mut judge = Judge::new(&format!("scheduling/{set}"));
    let fleets: Vec<Value> = serde_json::from_str(&read(&folder.join("fleets.json"))).unwrap();
    for fleet in &fleets {
        let mut table = ClusterTable::new();
        for cluster in fleet["clusters"].as_array().unwrap() {
            table.upsert(cluster);
        }
        // A worker follows one table: a profile for each fleet.
        let mut profile = SHIPPED.profile(&DEFAULT_FILTERS, &DEFAULT_SCORES).unwrap();
        for case in by_fleet.remove(fleet["name"].as_str().unwrap()).into_iter().flatten() {
            let mut expect = case["expect"].clone();
            if let Some(fields) = expect.as_object_mut() {
                fields.remove("message");
            }
            let outcome = run(&case, &table, components, &mut profile);
            judge.case(case["id"].as_str().unwrap(), &verdict(&outcome), &expect);
        }
    }
    assert!(by_fleet.is_empty(), "cases of unknown fleets: {:?}", by_fleet.keys());
    judge.finish(count);
}

#[test]
fn base() {
    check("", 1200, false);
}

#[test]
fn extended() {
    check("extended", 600, false);
}

#[test]
fn components() {
    check("components", 400, true);
}

#[test]
fn large() {
    check("large", 240, false);
}
