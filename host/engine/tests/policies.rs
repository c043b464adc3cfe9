//! What a misbehaving plugin does to a decision: as its failure policy says, in words on the object, and nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod support;

use serde_json::{Value, json};
use std::time::Duration;
use support::{cluster, component, table};
use windlass_engine::{Limits, Options, SchedulerPlugin};
use windlass_schedule::pass::{Plan, Retry, Surroundings, Verdict, plan};
use windlass_schedule::plugin::Assumed;
use windlass_schedule::{ClusterTable, FailurePolicy, Filter, Memory, Peers, Profile, Score, Stage};

/// Misbehaviour of the filter by the name of the template, and what is said of it.
const FILTER: [(&str, &str); 10] = [
    ("trap", "trapped: "),
    ("loop", "no answer within the deadline"),
    ("hog", "trapped: "),
    ("recursion", "trapped: "),
    ("huge", "fuel"),
    ("long", "words in the bitmap"),
    ("short", "words in the bitmap"),
    ("always-stale", "stale"),
    ("internal", "asked to"),
    ("invalid", "never understood"),
];

/// The same of the score.
const SCORE: [(&str, &str); 5] = [
    ("too-high", "score of 101"),
    ("negative", "score of -1"),
    ("too-many", "scores; expected 3"),
    ("score-trap", "trapped: "),
    ("thirteen", "normalized scores"),
];

fn crooked(limits: Limits) -> SchedulerPlugin {
    SchedulerPlugin::load(&component("tests/test-scheduler"), Options { limits, ..Options::default() })
        .unwrap()
}

fn profile(plugin: &SchedulerPlugin, scores: bool, policy: FailurePolicy) -> Profile {
    let mut profile = Profile::default();
    if scores {
        profile.scores.push(Stage::<dyn Score>::new(Box::new(plugin.worker()), policy));
    } else {
        profile.filters.push(Stage::<dyn Filter>::new(Box::new(plugin.worker()), policy));
    }
    profile
}

fn binding(name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "shop", "generation": 1}, "spec": {
        "resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": name},
        "clusters": [{"name": "a"}], "placement": {}}})
}

fn decide(table: &ClusterTable, name: &str, profile: &mut Profile) -> Plan {
    let around = Surroundings {
        table,
        peers: &Peers::default(),
        assumed: &Assumed::new(),
        options: windlass_schedule::Options::default(),
    };
    plan(&binding(name), &around, profile)
}

/// A loop must be waited for, and is given little; others may be held up by a busy machine.
fn limits(name: &str) -> Limits {
    let deadline = if name == "loop" { Duration::from_millis(100) } else { Duration::from_secs(30) };
    Limits { deadline, ..Limits::default() }
}

#[test]
fn the_failure_policy_decides() {
    let table = table(&["a", "b", "c"]);
    let filters = FILTER.map(|(name, words)| (name, words, false));
    let scores = SCORE.map(|(name, words)| (name, words, true));
    for (name, words, scores) in filters.into_iter().chain(scores) {
        let plugin = crooked(limits(name));

        // Closed: the binding keeps its clusters, says which plugin failed and how, and is tried again.
        let mut closed = profile(&plugin, scores, FailurePolicy::Fail);
        for _ in 0..2 {
            let plan = decide(&table, name, &mut closed);
            let Verdict::SchedulerError(text) = &plan.verdict else { panic!("{name}: {:?}", plan.verdict) };
            assert!(
                text.contains("plugin \"Misbehaving\" failed with: ") && text.contains(words),
                "{name}: {text}"
            );
            assert_eq!((&plan.result, plan.verdict.retry()), (&None, Retry::Backoff), "{name}");
            let condition = plan.verdict.condition(1);
            assert_eq!((condition.reason.as_str(), &condition.message), ("SchedulerError", text), "{name}");
            let event = plan.events.last().unwrap();
            assert!(event.warning && event.message == *text, "{name}: {event:?}");
        }
        // The host stays up, and so does the plugin: the next binding is decided.
        assert_eq!(decide(&table, "good", &mut closed).targets.len(), 3, "{name}");

        // Open: as if the plugin weren't there, and the explanation says so.
        let mut open = profile(&plugin, scores, FailurePolicy::Ignore);
        let plan = decide(&table, name, &mut open);
        assert_eq!((&plan.verdict, plan.targets.len()), (&Verdict::Success, 3), "{name}");
        let ignored = &plan.passes[0].1.trace.ignored;
        assert!(
            matches!(ignored.as_slice(), [text] if text.starts_with("Misbehaving: ") && text.contains(words)),
            "{ignored:?}"
        );
    }
}

/// A plugin that wants to know more than it declares isn't told; so what is remembered holds.
#[test]
fn what_is_not_declared_is_not_told() {
    let plugin = crooked(limits(""));
    let mut remembering = profile(&plugin, false, FailurePolicy::Fail);
    let mut forgetful = profile(&plugin, false, FailurePolicy::Fail);
    forgetful.memory = Memory::off();
    let mut clusters = table(&["a", "b"]);
    let located = |region: &str| cluster("b", json!({"metadata": {"name": "b"}, "spec": {"region": region}}));
    // It would let only clusters without a region pass, but declares labels only.
    for region in ["", "north", ""] {
        clusters.upsert(&located(region));
        for profile in [&mut remembering, &mut forgetful] {
            assert_eq!(decide(&clusters, "nosy", profile).targets.len(), 2, "{region}");
        }
    }
}

/// Clusters that a failed call was about are asked about again, not taken as known.
#[test]
fn a_failure_is_not_remembered() {
    let plugin = crooked(limits(""));
    let mut profile = profile(&plugin, false, FailurePolicy::Fail);
    let mut clusters = table(&["a", "b"]);
    assert_eq!(decide(&clusters, "good", &mut profile).targets.len(), 2);
    let labels = |labels: Value| cluster("b", json!({"metadata": {"name": "b", "labels": labels}}));
    clusters.upsert(&labels(json!({"trap-on-sync": "yes"})));
    for _ in 0..2 {
        assert!(matches!(decide(&clusters, "good", &mut profile).verdict, Verdict::SchedulerError(_)));
    }
    clusters.upsert(&labels(json!({})));
    assert_eq!(decide(&clusters, "good", &mut profile).targets.len(), 2);
}
