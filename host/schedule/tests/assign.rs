//! The published tables of replica assignment: tests/cases/assign.json. `pods` is what each cluster can still take.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_schedule::{ClusterTable, Failure, Input, Options, Peers, Request, schedule};

#[test]
fn published_assignments() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases/assign.json")).unwrap();
    for case in &cases {
        let mut table = ClusterTable::new();
        for (name, pods) in case["pods"].as_object().unwrap() {
            table.upsert(&json!({"metadata": {"name": name}, "status": {
                "apiEnablements": [{"groupVersion": "v1", "resources": [{"kind": "Web"}]}],
                "resourceSummary": {"allocatable": {"pods": pods}}}}));
        }
        let mut spec = case["spec"].clone();
        spec["resource"] = json!({"apiVersion": "v1", "kind": "Web"});
        let mut request = Request::from_parts(&spec, &json!({"schedulerObservingAffinityName": "g"}));
        request.fresh = case["fresh"] == true;
        let input = Input {
            table: &table,
            request: &request,
            affinity_name: "g",
            peers: &Peers::default(),
            assumed: &BTreeMap::new(),
            options: Options::default(),
        };
        let got = match schedule(&input, &mut fakes::profile()).result {
            Ok(targets) => {
                targets.into_iter().map(|target| (target.name, Value::from(target.replicas))).collect()
            }
            Err(Failure::Unschedulable(text)) => {
                Value::from(text.rsplit_once(": ").map_or(text.as_str(), |(_, reason)| reason))
            }
            Err(other) => panic!("{}: {other:?}", case["name"]),
        };
        assert_eq!(got, case["expect"], "{}", case["name"]);
    }
}
