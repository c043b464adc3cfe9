//! Several estimators: each cluster has the room that the strictest of those leaves it that know, and one's trouble is its own.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_schedule::request::Component;
use windlass_schedule::{
    ClusterTable, Demand, Estimate, Input, Options, Outcome, Peers, PluginError, Profile, Query, Request,
    schedule,
};

/// Answers by cluster name; `None` where it doesn't know.
struct Told(Result<BTreeMap<&'static str, i32>, PluginError>);

impl Estimate for Told {
    fn name(&self) -> &str {
        "told"
    }

    fn max_replicas(
        &mut self,
        table: &ClusterTable,
        query: &Query<'_>,
    ) -> Result<Vec<Option<i32>>, PluginError> {
        let known = self.0.clone()?;
        assert!(matches!(query.demand, Demand::Replicas(Some(_))));
        Ok(query.clusters.iter().map(|id| known.get(table.name(*id)).copied()).collect())
    }
}

fn told(answers: &[(&'static str, i32)]) -> Box<dyn Estimate> {
    Box::new(Told(Ok(answers.iter().copied().collect())))
}

fn table() -> ClusterTable {
    let mut table = ClusterTable::new();
    for (name, pods) in [("m1", 10), ("m2", 6), ("m3", 3)] {
        table.upsert(&json!({"metadata": {"name": name}, "status": {
            "apiEnablements": [{"groupVersion": "v1", "resources": [{"kind": "Web"}]}],
            "resourceSummary": {"allocatable": {"pods": pods, "cpu": pods}}}}));
    }
    table
}

fn run(table: &ClusterTable, profile: &mut Profile, assumed: &[(&str, i32)]) -> Outcome {
    let spec = json!({
        "resource": {"apiVersion": "v1", "kind": "Web"}, "replicas": 8,
        "replicaRequirements": {"resourceRequest": {"cpu": "1"}},
        "placement": {"replicaScheduling": {"replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted", "weightPreference": {"dynamicWeight": "AvailableReplicas"}}},
    });
    let request = Request::from_parts(&spec, &Value::Null);
    let on_its_way = |(name, replicas): &(&str, i32)| {
        let component = Component {
            name: "web".to_owned(),
            replicas: *replicas,
            requirements: request.requirements.clone(),
        };
        (table.id(name).unwrap(), vec![vec![component]])
    };
    let input = Input {
        table,
        request: &request,
        affinity_name: "",
        peers: &Peers::default(),
        assumed: &assumed.iter().map(on_its_way).collect(),
        options: Options { explain: true, ..Options::default() },
    };
    schedule(&input, profile)
}

fn room(outcome: &Outcome, table: &ClusterTable) -> BTreeMap<String, i32> {
    let ranked = outcome.trace.ranked.iter();
    ranked.map(|ranked| (table.name(ranked.cluster).to_owned(), ranked.allocatable)).collect()
}

fn rooms(m1: i32, m2: i32, m3: i32) -> BTreeMap<String, i32> {
    [("m1", m1), ("m2", m2), ("m3", m3)].map(|(name, room)| (name.to_owned(), room)).into()
}

#[test]
fn the_strictest_that_knows_counts() {
    let table = table();
    let mut profile = fakes::profile();
    assert_eq!(room(&run(&table, &mut profile, &[]), &table), rooms(10, 6, 3));
    profile.estimators = vec![told(&[("m1", 4), ("m2", 9)]), told(&[("m2", 5), ("m3", -7)])];
    let outcome = run(&table, &mut profile, &[]);
    assert_eq!(room(&outcome, &table), rooms(4, 5, 0));
    let names: Vec<&str> = outcome.trace.estimates.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["general-estimator", "told", "told"]);
    let first = outcome.trace.ranked.iter().find(|ranked| table.name(ranked.cluster) == "m1").unwrap();
    assert_eq!(first.estimates, [Some(10), Some(4), None]);
}

#[test]
fn one_that_fails_spoils_nothing() {
    let table = table();
    let mut profile = fakes::profile();
    profile.estimators = vec![Box::new(Told(Err(PluginError::Timeout))), told(&[("m1", 2)])];
    let outcome = run(&table, &mut profile, &[]);
    assert_eq!(room(&outcome, &table), rooms(2, 6, 3));
    assert_eq!(outcome.trace.ignored, ["told: no answer within the deadline"]);
    assert!(outcome.result.is_ok());
}

/// What is on its way counts at once, also where an estimate is remembered, and is gone as soon as it isn't assumed.
#[test]
fn assumed_workloads_take_room() {
    let table = table();
    let mut profile = fakes::profile();
    assert_eq!(room(&run(&table, &mut profile, &[]), &table), rooms(10, 6, 3));
    assert_eq!(room(&run(&table, &mut profile, &[("m1", 7), ("m3", 3)]), &table), rooms(3, 6, 0));
    assert_eq!(room(&run(&table, &mut profile, &[("m1", 1)]), &table), rooms(9, 6, 3));
    assert_eq!(room(&run(&table, &mut profile, &[]), &table), rooms(10, 6, 3));
}
