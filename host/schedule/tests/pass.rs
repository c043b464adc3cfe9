//! Whole schedulings: affinity groups, what is written, what is told, how plugins' failures show.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_object::patch::{apply_json_patch, apply_merge_patch};
use windlass_schedule::pass::{Plan, Retry, Surroundings, Verdict, plan};
use windlass_schedule::{
    BindingView, Bitmap, Candidates, ClusterTable, Explanation, Filter, Options, Peers, PluginError, Profile,
    Stage,
};

const NOW: &str = "2026-06-01T00:00:00Z";

fn cluster(name: &str, pods: i64) -> Value {
    json!({"metadata": {"name": name}, "status": {
        "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
        "resourceSummary": {"allocatable": {"pods": pods.to_string()}}}})
}

fn binding(placement: Value) -> Value {
    json!({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"name": "web-deployment", "namespace": "shop", "generation": 2},
        "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
            "replicas": 3, "placement": placement}})
}

fn run(binding: &Value, profile: &mut Profile) -> Plan {
    let mut table = ClusterTable::new();
    table.upsert(&cluster("m1", 10));
    table.upsert(&cluster("m2", 10));
    table.upsert(&cluster("small", 1));
    let around = Surroundings {
        table: &table,
        peers: &Peers::default(),
        assumed: &BTreeMap::new(),
        options: Options::default(),
    };
    plan(binding, &around, profile)
}

/// Carries a plan out as the controller does.
fn written(binding: &Value, plan: &Plan) -> Value {
    let mut after = binding.clone();
    if let Some(patch) = &plan.result {
        apply_json_patch(&mut after, patch).unwrap();
        after["metadata"]["generation"] = (binding["metadata"]["generation"].as_i64().unwrap() + 1).into();
    }
    let generation = after["metadata"]["generation"].as_i64().unwrap();
    if let Some(patch) = plan.status(&after, &plan.verdict, generation, NOW) {
        apply_merge_patch(&mut after, &patch);
    }
    after
}

fn groups(names: &[(&str, &str)]) -> Value {
    let terms: Vec<Value> = names
        .iter()
        .map(|(name, cluster)| json!({"affinityName": name, "clusterNames": [cluster]}))
        .collect();
    json!({"clusterAffinities": terms, "replicaScheduling":
        {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}})
}

#[test]
fn a_result_is_written_once() {
    let first = binding(json!({"clusterAffinity": {"clusterNames": ["m2", "m1"]}}));
    let plan = run(&first, &mut fakes::profile());
    assert_eq!(plan.verdict, Verdict::Success);
    let texts: Vec<&str> = plan.events.iter().map(|event| event.message.as_str()).collect();
    assert_eq!(texts, ["Binding has been scheduled successfully. Result: {m1:3, m2:3}"]);
    let after = written(&first, &plan);
    assert_eq!(
        after["spec"]["clusters"],
        json!([{"name": "m1", "replicas": 3}, {"name": "m2", "replicas": 3}])
    );
    assert_eq!(after["status"]["schedulerObservedGeneration"], 3);
    assert_eq!(after["status"]["lastScheduledTime"], NOW);
    assert_eq!(after["status"]["conditions"][0]["status"], "True");
    let again = run(&after, &mut fakes::profile());
    assert_eq!(again.result, None);
    assert_eq!(again.status(&after, &again.verdict, 3, "2026-06-01T00:00:09Z"), None);
}

#[test]
fn groups_in_order() {
    type Row<'a> = (&'a str, Value, bool, &'a [(&'a str, &'a str)], Option<&'a str>);
    let table: [Row<'_>; 4] = [
        ("first does", Value::Null, false, &[("g1", "m1"), ("g2", "m2")], Some("g1")),
        ("first fails", Value::Null, false, &[("g1", "none"), ("g2", "m2")], Some("g2")),
        ("starts at the observed", json!("g2"), false, &[("g1", "m1"), ("g2", "m2")], Some("g2")),
        ("starts anew when asked to", json!("g2"), true, &[("g1", "m1"), ("g2", "m2")], Some("g1")),
    ];
    for (name, observed, fresh, terms, expect) in table {
        let mut binding = binding(groups(terms));
        binding["status"] =
            json!({"schedulerObservingAffinityName": observed, "lastScheduledTime": "2026-01-01T00:00:00Z"});
        if fresh {
            binding["spec"]["rescheduleTriggeredAt"] = "2026-02-01T00:00:00Z".into();
        }
        let plan = run(&binding, &mut fakes::profile());
        let after = written(&binding, &plan);
        assert_eq!(after["status"]["schedulerObservingAffinityName"].as_str(), expect, "{name}");
        assert_eq!(plan.passes.last().map(|(name, _)| name.as_str()), expect, "{name}");
    }
}

#[test]
fn the_first_failure_counts() {
    let placed = |terms: &[(&str, &str)]| {
        let mut binding = binding(groups(terms));
        binding["spec"]["clusters"] = json!([{"name": "m1", "replicas": 1}]);
        binding["status"] = json!({"schedulerObservingAffinityName": "g1"});
        binding
    };
    let binding = placed(&[("g1", "none"), ("g2", "small")]);
    let plan = run(&binding, &mut fakes::profile());
    assert!(matches!(&plan.verdict, Verdict::NoClusterFit(_)));
    assert_eq!(plan.verdict.retry(), Retry::No, "a cluster's change brings it back");
    let after = written(&binding, &plan);
    assert_eq!(after["spec"].get("clusters"), None);
    assert_eq!(after["status"]["conditions"][0]["reason"], "NoClusterFit");
    let texts: Vec<&str> = plan.events.iter().map(|event| event.message.as_str()).collect();
    assert_eq!(
        texts,
        [
            "failed to schedule ResourceBinding(shop/web-deployment) with clusterAffiliates index(0): 0/3 clusters are \
             available: 3 cluster(s) did not match the placement cluster affinity constraint.",
            "failed to schedule ResourceBinding(shop/web-deployment) with clusterAffiliates index(1): failed to assign \
             replicas: failed to scale up: Clusters available replicas 1 are not enough to schedule.",
            "0/3 clusters are available: 3 cluster(s) did not match the placement cluster affinity constraint.",
        ]
    );
    let binding = placed(&[("g1", "small"), ("g2", "none")]);
    let plan = run(&binding, &mut fakes::profile());
    assert!(matches!(&plan.verdict, Verdict::Unschedulable(_)));
    assert_eq!(written(&binding, &plan)["spec"]["clusters"], binding["spec"]["clusters"]);
}

#[test]
fn a_changed_spec_is_not_overwritten() {
    let before = binding(json!({}));
    let plan = run(&before, &mut fakes::profile());
    let mut newer = before;
    newer["metadata"]["generation"] = 9.into();
    assert!(apply_json_patch(&mut newer, &plan.result.unwrap()).is_err());
}

struct Broken;

impl Filter for Broken {
    fn name(&self) -> &str {
        "Broken"
    }

    fn filter(
        &mut self,
        _: &ClusterTable,
        _: &BindingView,
        _: Candidates<'_>,
    ) -> Result<Bitmap, PluginError> {
        Err(PluginError::Trapped("unreachable".to_owned()))
    }

    fn explain(
        &mut self,
        _: &ClusterTable,
        _: &BindingView,
        _: Candidates<'_>,
    ) -> Result<Explanation, PluginError> {
        Err(PluginError::Timeout)
    }
}

#[test]
fn a_broken_plugin_takes_nothing_away() {
    let mut binding = binding(json!({}));
    binding["spec"]["clusters"] = json!([{"name": "m1", "replicas": 3}]);
    let mut profile = fakes::profile();
    profile.filters.push(Stage::<dyn Filter>::required(Box::new(Broken)));
    let plan = run(&binding, &mut profile);
    let text = "plugin \"Broken\" failed with: trapped: unreachable";
    assert_eq!(plan.verdict, Verdict::SchedulerError(text.to_owned()));
    assert_eq!((plan.verdict.retry(), plan.result), (Retry::Backoff, None));

    let mut profile = fakes::profile();
    profile.filters.push(Stage::<dyn Filter>::optional(Box::new(Broken)));
    let plan = run(&binding, &mut profile);
    assert_eq!(plan.verdict, Verdict::Success);
    assert_eq!(plan.passes[0].1.trace.ignored, ["Broken: trapped: unreachable"]);
}
