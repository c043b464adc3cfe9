//! Plugins that crash, spin, grow, flood and lie: each costs one call, the host stays up, the instance is replaced.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod support;

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{ENGINE, binding, cluster, component, impatient, patient, table};
use windlass_engine::{CallError, InterpreterPlugin, LoadError, Options, SchedulerPlugin, TransformerPlugin};
use windlass_interpret::{Cause, Interpreter};
use windlass_policy::transform::{ClusterFacts, Transform, TransformError};
use windlass_schedule::{Candidates, FailurePolicy, Filter, PluginError, Score};

fn misbehaving(options: Options) -> SchedulerPlugin {
    SchedulerPlugin::load(&component("tests/test-scheduler"), options).unwrap()
}

/// Whether an error is the one that a case wants.
type Expected = fn(&PluginError) -> bool;

#[test]
fn a_bad_call_costs_itself_and_its_instance() {
    let cases: [(&str, Expected); 8] = [
        ("trap", |error| matches!(error, PluginError::Trapped(text) if text.contains("unreachable"))),
        ("loop", |error| *error == PluginError::Timeout),
        ("hog", |error| matches!(error, PluginError::Trapped(_))),
        ("recursion", |error| matches!(error, PluginError::Trapped(_))),
        ("huge", |error| matches!(error, PluginError::Trapped(text) if text.contains("fuel"))),
        ("long", |error| matches!(error, PluginError::Internal(text) if text.contains("2 words"))),
        ("short", |error| matches!(error, PluginError::Internal(text) if text.contains("0 words"))),
        ("always-stale", |error| matches!(error, PluginError::Internal(text) if text.contains("stale"))),
    ];
    let table = table(&["a", "b"]);
    for (name, expected) in cases {
        let plugin = misbehaving(if name == "loop" { impatient() } else { patient() });
        let mut worker = plugin.worker();
        assert_eq!(worker.filter(&table, &binding("good"), Candidates::All).unwrap().count(), 2, "{name}");
        let before = plugin.counters();
        let begun = Instant::now();
        let error = worker.filter(&table, &binding(name), Candidates::All).unwrap_err();
        assert!(expected(&error), "{name}: {error:?}");
        // Generous: the machine that tests run on may be busy.
        assert!(begun.elapsed() < Duration::from_secs(20), "{name} took {:?}", begun.elapsed());
        let after = plugin.counters();
        assert_eq!(after.strikes, 1, "{name}");
        assert_eq!(after.traps + after.timeouts + after.errors, 1, "{name}");
        assert!(after.last_error.is_some(), "{name}");

        // The next call has a new instance that was told of all clusters, and forgives.
        assert_eq!(worker.filter(&table, &binding("good"), Candidates::All).unwrap().count(), 2, "{name}");
        let healed = plugin.counters();
        assert_eq!(healed.instances, before.instances + 1, "{name}");
        assert_eq!(healed.strikes, 0, "{name}");
    }
}

#[test]
fn refusing_a_binding_is_no_misbehaviour() {
    let plugin = misbehaving(Options::default());
    let (mut worker, table) = (plugin.worker(), table(&["a"]));
    let before = plugin.counters().instances;
    let error = worker.filter(&table, &binding("invalid"), Candidates::All).unwrap_err();
    assert_eq!(error, PluginError::Invalid("binding invalid is never understood".to_owned()));
    assert!(worker.filter(&table, &binding("good"), Candidates::All).is_ok());
    let after = plugin.counters();
    assert_eq!((after.instances, after.invalid, after.strikes), (before + 1, 1, 0));
}

#[test]
fn a_stale_table_is_synced_and_asked_again() {
    let plugin = misbehaving(Options::default());
    let (mut worker, table) = (plugin.worker(), table(&["a", "b", "c"]));
    assert_eq!(worker.filter(&table, &binding("stale-once"), Candidates::All).unwrap().count(), 3);
    let after = plugin.counters();
    assert_eq!((after.syncs, after.errors), (2, 0));
}

#[test]
fn a_trap_while_syncing_is_a_failed_call_too() {
    let plugin = misbehaving(Options::default());
    let mut worker = plugin.worker();
    let mut clusters = table(&["a"]);
    worker.filter(&clusters, &binding("good"), Candidates::All).unwrap();
    let labels = |labels: Value| cluster("a", json!({"metadata": {"name": "a", "labels": labels}}));
    clusters.upsert(&labels(json!({"trap-on-sync": "yes"})));
    for _ in 0..2 {
        let error = worker.filter(&clusters, &binding("good"), Candidates::All).unwrap_err();
        assert!(matches!(error, PluginError::Trapped(_)), "{error:?}");
    }
    assert_eq!(plugin.counters().strikes, 2);
    clusters.upsert(&labels(json!({})));
    worker.filter(&clusters, &binding("good"), Candidates::All).unwrap();
}

#[test]
fn scores_out_of_range_and_wrong_lengths_are_refused() {
    let plugin = misbehaving(Options::default());
    let (mut worker, table) = (plugin.worker(), table(&["a", "b"]));
    let these = Candidates::These(&[0, 1]);
    assert_eq!(worker.score(&table, &binding("good"), these).unwrap(), [7, 7]);
    assert_eq!(worker.score(&table, &binding("good"), Candidates::All).unwrap(), [100, 100]);
    for (name, part) in [("too-high", "score of 101"), ("too-many", "3 scores; expected 2")] {
        let error = worker.score(&table, &binding(name), these).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(worker.normalize(vec![1, 2]).unwrap(), [1, 2]);
    assert!(worker.normalize(vec![13, 2]).is_err());
    assert!(worker.explain(&table, &binding("no-reasons"), Candidates::All).is_err());
    let explained = worker.explain(&table, &binding("long-reason"), Candidates::All).unwrap();
    assert!(explained.reasons[0].len() < 5_000);
}

#[test]
fn a_flood_of_log_lines_is_dropped_and_counted() {
    let plugin = misbehaving(Options::default());
    let (mut worker, table) = (plugin.worker(), table(&["a"]));
    worker.filter(&table, &binding("chatty"), Candidates::All).unwrap();
    assert_eq!(plugin.counters().logs_dropped, 1000 - u64::from(windlass_engine::limits::LOG_LINES));
}

#[test]
fn a_plugin_that_does_not_start_is_refused() {
    let component = component("tests/test-scheduler");
    for (config, expected) in
        [("\"trap\"", "trapped"), ("\"loop\"", "deadline"), ("\"refuse\"", "is refused")]
    {
        let options = Options { config: config.to_owned(), ..impatient() };
        let error = SchedulerPlugin::load(&component, options).unwrap_err();
        assert!(matches!(&error, LoadError::Start { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{config}: {error}");
    }
    let error = InterpreterPlugin::load(&component, Options::default()).unwrap_err();
    assert!(
        error.to_string().contains("is a scheduler plugin, but a resource interpreter is needed"),
        "{error}"
    );
}

#[test]
fn workers_have_instances_of_their_own() {
    let plugin = misbehaving(Options::default());
    let table = table(&["a"]);
    let mut workers: Vec<_> = (0..4).map(|_| plugin.worker()).collect();
    std::thread::scope(|scope| {
        for worker in &mut workers {
            scope.spawn(|| {
                for call in 1..=20u64 {
                    let answer =
                        worker.filter(&table, &binding("count"), Candidates::These(&[0; 64])).unwrap();
                    assert_eq!(answer.words(), [call]);
                }
            });
        }
    });
    assert_eq!(plugin.counters().instances, 5);
    let _ = &*ENGINE;
}

#[test]
fn interpreters_start_anew_for_each_call() {
    let plugin = InterpreterPlugin::load(&component("tests/test-interpreter"), patient()).unwrap();
    let hasty = InterpreterPlugin::load(&component("tests/test-interpreter"), impatient()).unwrap();
    let object = |name: &str| json!({"apiVersion": "test.windlass.io/v1", "kind": "Misbehaving", "metadata": {"name": name, "namespace": "shop"}});
    let cause = |name: &str| plugin.interpret_health(&object(name)).unwrap_err().cause;
    assert!(matches!(cause("trap"), Cause::Failed(text) if text.starts_with("trapped")));
    let looped = hasty.interpret_health(&object("loop")).unwrap_err().cause;
    assert!(matches!(looped, Cause::Failed(text) if text == CallError::Timeout.to_string()));
    assert!(matches!(cause("invalid"), Cause::Invalid(text) if text == "the object has no health"));
    assert!(matches!(plugin.interpret_status(&object("huge")).unwrap_err().cause, Cause::Failed(_)));
    assert!(matches!(plugin.retain(&object("x"), &object("x")).unwrap_err().cause, Cause::Unsupported));
    for name in ["no-json", "wrong-shape"] {
        let error = plugin.interpret_replica(&object(name)).unwrap_err().to_string();
        assert!(error.contains("requirements"), "{error}");
    }
    let error = plugin.interpret_health(&object("trap")).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "InterpretHealth of test.windlass.io/v1, Kind=Misbehaving shop/trap by misbehaving:"
        ),
        "{error}"
    );
    plugin.interpret_health(&object("good")).unwrap();
    assert_eq!(plugin.interpret_replica(&object("good")).unwrap().replicas, 2);
    let counters = plugin.counters();
    assert_eq!((counters.timeouts, counters.strikes, hasty.counters().timeouts), (0, 0, 1));
}

#[test]
fn transformers_fail_closed_or_are_ignored() {
    let component = component("tests/test-transformer");
    let closed = TransformerPlugin::load(&component, Options::default()).unwrap();
    let open = TransformerPlugin::load(
        &component,
        Options { on_failure: FailurePolicy::Ignore, ..Options::default() },
    )
    .unwrap();
    let cluster = ClusterFacts { name: "member1".to_owned(), ..ClusterFacts::default() };
    let run = |plugin: &TransformerPlugin, element: &str| {
        plugin.transform(&json!({}), "testOverrider", &[json!(element)], &cluster)
    };
    let patch = json!([{"op": "add", "path": "/cluster", "value": "member1"}]);
    assert_eq!(run(&closed, "good").unwrap(), patch);
    assert!(matches!(run(&closed, "trap"), Err(TransformError::Trapped(_))));
    assert_eq!(run(&open, "trap").unwrap(), json!([]));
    // What the user wrote is wrong whatever the operator says.
    assert_eq!(
        run(&open, "invalid"),
        Err(TransformError::Invalid("there is nothing to override".to_owned()))
    );
    assert_eq!(run(&closed, "good").unwrap(), patch);
}
