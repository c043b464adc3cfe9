//! All scheduling vectors, with native stand-ins for the plugins. See tests/conformance/scheduling/README.md.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_schedule::{ClusterTable, Failure, Input, Options, Outcome, Peers, Request, schedule};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/scheduling")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn fleets(set: &Path) -> HashMap<String, ClusterTable> {
    let fleets: Vec<Value> = serde_json::from_str(&read(&set.join("fleets.json"))).unwrap();
    fleets
        .iter()
        .map(|fleet| {
            let mut table = ClusterTable::new();
            for cluster in fleet["clusters"].as_array().unwrap() {
                table.upsert(cluster);
            }
            (fleet["name"].as_str().unwrap().to_owned(), table)
        })
        .collect()
}

fn run(
    case: &Value,
    table: &ClusterTable,
    components: bool,
    profile: &mut windlass_schedule::Profile,
) -> Outcome {
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
    let deviations: BTreeMap<String, String> =
        serde_json::from_str(&read(&folder().join("deviations.json"))).unwrap();
    let set = folder().join(set);
    let fleets = fleets(&set);
    let mut profile = fakes::profile();
    let (mut total, mut wrong) = (0, Vec::new());
    for line in read(&set.join("cases.ndjson")).lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let table = &fleets[case["fleet"].as_str().unwrap()];
        let outcome = run(&case, table, components, &mut profile);
        let mut expect = case["expect"].clone();
        if let Some(fields) = expect.as_object_mut() {
            fields.remove("message");
        }
        total += 1;
        let equal = verdict(&outcome) == expect;
        if equal == deviations.contains_key(id) {
            wrong.push(format!(
                "{id}: got {} ({:?}), expected {expect}",
                verdict(&outcome),
                outcome.result.err()
            ));
        }
    }
    assert_eq!(total, count, "cases of {}", set.display());
    assert!(wrong.is_empty(), "{} of {total} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn base_cases() {
    check("", 1200, false);
}

#[test]
fn extended_cases() {
    check("extended", 600, false);
}

#[test]
fn component_cases() {
    check("components", 400, true);
}

#[test]
fn large_cases() {
    check("large", 240, false);
}
