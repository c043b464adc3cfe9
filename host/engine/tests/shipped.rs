//! Shipped components through the deciding crates' traits: the table's deltas, reasons, objects and patches.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod support;

use serde_json::json;
use support::{cluster, component, table};
use windlass_engine::{InterpreterPlugin, Options, SchedulerPlugin, TransformerPlugin, Transformers};
use windlass_interpret::{Chain, Operation};
use windlass_object::gvk::Gvk;
use windlass_policy::transform::{ClusterFacts, Transform, TransformError};
use windlass_schedule::{BindingView, Candidates, Filter};

#[test]
fn the_table_follows_by_deltas_of_declared_fields() {
    let plugin = SchedulerPlugin::load(&component("filter-taint-toleration"), Options::default()).unwrap();
    assert_eq!(plugin.description().name, "TaintToleration");
    let mut worker = plugin.worker();
    let mut clusters = table(&["a", "b", "c"]);
    let binding = BindingView::default();
    let passing = |worker: &mut windlass_engine::SchedulerWorker,
                   clusters: &windlass_schedule::ClusterTable| {
        let map = worker.filter(clusters, &binding, Candidates::All).unwrap();
        (0..map.len()).filter(|index| map.get(*index)).collect::<Vec<_>>()
    };
    assert_eq!(passing(&mut worker, &clusters), [0, 1, 2]);
    assert_eq!(plugin.counters().syncs, 1);

    // A field that the filter doesn't read: nothing is told.
    clusters.upsert(&cluster("a", json!({"spec": {"region": "north"}})));
    assert_eq!(passing(&mut worker, &clusters), [0, 1, 2]);
    assert_eq!(plugin.counters().syncs, 1);

    clusters.upsert(&cluster(
        "b",
        json!({"spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}}),
    ));
    assert_eq!(passing(&mut worker, &clusters), [0, 2]);
    let explained = worker.explain(&clusters, &binding, Candidates::These(&[1, 2])).unwrap();
    assert_eq!(explained.reason(1), Some("cluster(s) had untolerated taint {k=v:NoSchedule}"));
    assert_eq!(explained.reason(2), None);

    clusters.remove("a");
    assert_eq!(passing(&mut worker, &clusters), [2]);
    clusters.remove("c");
    assert_eq!(passing(&mut worker, &clusters), [0; 0]);
    clusters.upsert(&cluster("d", json!({})));
    assert_eq!(passing(&mut worker, &clusters), [clusters.id("d").unwrap() as usize]);
    assert_eq!((plugin.counters().errors, plugin.counters().syncs), (0, 5));
}

#[test]
fn built_in_kinds_are_interpreted() {
    let plugin = InterpreterPlugin::load(&component("interpreter-kubernetes"), Options::default()).unwrap();
    let chain = Chain::new(vec![std::sync::Arc::new(plugin)]);
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "web", "image": "nginx",
            "resources": {"requests": {"cpu": "100m"}}}]}}},
    });
    assert!(chain.enabled(&Gvk::from_api_version("apps/v1", "Deployment"), Operation::InterpretReplica));
    let replica = chain.interpret_replica(&deployment).unwrap().unwrap();
    assert_eq!(replica.replicas, 2);
    assert!(replica.requirements.is_some());
    let revised = chain.revise_replica(&deployment, 5).unwrap().unwrap();
    assert_eq!(revised["spec"]["replicas"], 5);
    assert_eq!(chain.interpret_health(&json!({"apiVersion": "example.io/v1", "kind": "Toy"})).unwrap(), None);
}

#[test]
fn transformers_are_found_by_the_overriders_that_they_list() {
    let names = ["override-image", "override-labels-annotations"];
    let plugins = names
        .map(|name| TransformerPlugin::load(&component(name), Options::default()).unwrap())
        .map(std::sync::Arc::new);
    let transformers = Transformers::new(&plugins);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "web", "image": "nginx:1"}]}});
    let overrider = json!({"component": "Tag", "operator": "replace", "value": "2"});
    let patch =
        transformers.transform(&pod, "imageOverrider", &[overrider], &ClusterFacts::default()).unwrap();
    assert_eq!(patch, json!([{"op": "replace", "path": "/spec/containers/0/image", "value": "nginx:2"}]));
    let unknown = transformers.transform(&pod, "colourOverrider", &[], &ClusterFacts::default());
    assert_eq!(unknown, Err(TransformError::Unknown("colourOverrider".to_owned())));
}
