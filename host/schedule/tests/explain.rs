//! Explanations: everything that led to a result, as JSON and as a table; and nothing of it unless it was asked for.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_schedule::explain::render;
use windlass_schedule::{
    BindingView, Candidates, ClusterTable, Input, Options, Outcome, Peers, PluginError, Profile, Request,
    Score, Stage, Trace, schedule,
};

/// Half of what it may give for even ids, and rescaled to the whole.
struct Even;

impl Score for Even {
    fn name(&self) -> &str {
        "Even"
    }

    fn normalizes(&self) -> bool {
        true
    }

    fn score(
        &mut self,
        table: &ClusterTable,
        _: &BindingView,
        candidates: Candidates<'_>,
    ) -> Result<Vec<i64>, PluginError> {
        Ok(candidates.ids(table).iter().map(|id| if id % 2 == 0 { 50 } else { 0 }).collect())
    }

    fn normalize(&mut self, scores: Vec<i64>) -> Result<Vec<i64>, PluginError> {
        Ok(scores.into_iter().map(|score| 2 * score).collect())
    }
}

fn fleet() -> ClusterTable {
    let mut table = ClusterTable::new();
    for (name, region, pods, tainted) in
        [("m1", "eu", 4, false), ("m2", "eu", 6, false), ("m3", "us", 9, false), ("m4", "us", 9, true)]
    {
        let mut cluster = json!({"metadata": {"name": name}, "spec": {"region": region}, "status": {
            "apiEnablements": [{"groupVersion": "v1", "resources": [{"kind": "Web"}]}],
            "resourceSummary": {"allocatable": {"pods": pods}}}});
        if tainted {
            cluster["spec"]["taints"] = json!([{"key": "k", "value": "v", "effect": "NoSchedule"}]);
        }
        table.upsert(&cluster);
    }
    table
}

fn run(table: &ClusterTable, placement: &Value, profile: &mut Profile, explain: bool) -> Outcome {
    let spec =
        json!({"resource": {"apiVersion": "v1", "kind": "Web"}, "replicas": 7, "placement": placement});
    let input = Input {
        table,
        request: &Request::from_parts(&spec, &Value::Null),
        affinity_name: "",
        peers: &Peers::default(),
        assumed: &BTreeMap::new(),
        options: Options { explain, ..Options::default() },
    };
    schedule(&input, profile)
}

fn profile() -> Profile {
    let mut profile = fakes::profile();
    let mut even = Stage::<dyn Score>::required(Box::new(Even));
    even.weight = 3;
    profile.scores.push(even);
    profile
}

fn placement() -> Value {
    json!({
        "spreadConstraints": [
            {"spreadByField": "region", "minGroups": 2, "maxGroups": 2},
            {"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2},
        ],
        "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
            "weightPreference": {"dynamicWeight": "AvailableReplicas"}},
    })
}

#[test]
fn everything_is_named() {
    let table = fleet();
    let outcome = run(&table, &placement(), &mut profile(), true);
    let cluster = |name: &str, even: i64, pods: i64| {
        json!({"cluster": name, "overflowOrder": 0, "score": 6 * even, "allocatable": pods, "available": pods,
            "estimates": {"general-estimator": pods},
            "scores": {"ClusterLocality": {"raw": 0, "normalized": 0}, "Even": {"raw": even, "normalized": 2 * even}}})
    };
    let expected = json!({
        "clusters": 4,
        "refused": [{"cluster": "m4", "plugin": "TaintToleration",
            "reason": "cluster(s) had untolerated taint {k=v:NoSchedule}"}],
        "plugins": [{"name": "ClusterLocality", "weight": 1}, {"name": "Even", "weight": 3}],
        "ranked": [cluster("m3", 50, 9), cluster("m1", 50, 4), cluster("m2", 0, 6)],
        "groups": [
            {"field": "region", "name": "us", "score": 4300, "clusters": 1, "chosen": 1},
            {"field": "region", "name": "eu", "score": 4150, "clusters": 2, "chosen": 2},
        ],
        "selected": ["m3", "m1"],
        "divisions": [{"strategy": "DynamicWeight", "mode": "scale up", "tier": null, "replicas": 7, "shares": [
            {"cluster": "m1", "weight": 4, "kept": 0, "given": 2, "wonAt": 4.0 / 3.0, "nextAt": 0.8},
            {"cluster": "m3", "weight": 9, "kept": 0, "given": 5, "wonAt": 1.0, "nextAt": 9.0 / 11.0},
        ]}],
        "ignoredPlugins": [],
        "result": [{"name": "m1", "replicas": 2}, {"name": "m3", "replicas": 5}],
    });
    assert_eq!(outcome.explain(&table), expected);
}

#[test]
fn people_get_a_table() {
    let table = fleet();
    let outcome = run(&table, &placement(), &mut profile(), true);
    let expected = "\
Result: m1:2, m3:5

Refused: 1 of 4 clusters
  COUNT   PLUGIN            REASON                                              CLUSTERS
  1       TaintToleration   cluster(s) had untolerated taint {k=v:NoSchedule}   m4

Feasible, in order of preference:
  CLUSTER   TIER   SCORE   CLUSTERLOCALITY   EVEN ×3        ROOM   AVAILABLE   SELECTED
  m3        0      300     0                 100 (of 50)    9      9           1
  m1        0      300     0                 100 (of 50)    4      4           2
  m2        0      0       0                 0              6      6

Groups by region:
  GROUP   SCORE   CLUSTERS   CHOSEN
  us      4300    1          1
  eu      4150    2          2

7 replicas, DynamicWeight, scale up:
  CLUSTER   WEIGHT   KEPT   GIVEN   WON AT   NEXT AT
  m1        4        0      2       1.33     0.80
  m3        9        0      5       1.00     0.82
";
    let found = render(&outcome.explain(&table));
    let words = |text: &str| {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(words(&found), words(expected), "{found}");
    let nowhere = run(&table, &json!({"clusterAffinity": {"clusterNames": ["m9"]}}), &mut profile(), true);
    let text = render(&nowhere.explain(&table));
    assert!(
        text.starts_with("Result: 0/4 clusters are available: 1 cluster(s) had untolerated taint"),
        "{text}"
    );
    assert!(text.contains("Refused: 4 of 4 clusters"), "{text}");
}

#[test]
fn nothing_is_gathered_unasked() {
    let table = fleet();
    let bare = Trace { total: 4, ..Trace::default() };
    for placement in [placement(), json!({}), json!({"clusterAffinity": {"clusterNames": ["m9"]}})] {
        assert_eq!(run(&table, &placement, &mut profile(), false).trace, bare);
    }
}
