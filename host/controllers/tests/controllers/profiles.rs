//! SchedulerProfiles and feature gates: which plugins decide, for whom, and what a mistake does.

use crate::plugins::SHIPPED;
use crate::support::{Plane, Setup, onto, policy, settings, shop};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::path::{list_at, str_at};
use windlass_schedule::gates::Gates;

async fn plane(change: impl FnOnce(&mut Setup)) -> Plane {
    let mut setup = Setup::shipped(2);
    setup.build = Some(Arc::new(|spec| SHIPPED.scheduler_profile(spec)));
    change(&mut setup);
    let plane = setup.start().await;
    plane.control.create(shop()).await;
    plane
}

fn profile(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "plugins.windlass.io/v1alpha1", "kind": "SchedulerProfile", "metadata": {"name": name}, "spec": spec})
}

fn clusters(binding: &Value) -> Vec<&str> {
    list_at(binding, &["spec", "clusters"]).iter().map(|target| str_at(target, &["name"])).collect()
}

/// Without TaintToleration a taint means nothing, at once and for bindings that are there. A profile that names an unknown
/// plugin is refused, and the last good one stays; when it goes the standard plugins are back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_takes_effect_at_once_and_a_bad_one_not_at_all() {
    let plane = plane(|_| {}).await;
    let control = &plane.control;
    let taint = json!({"spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}});
    control.patch("Cluster", "member2", taint).await;
    control.create(policy("all", ("v1", "ConfigMap", ""), onto(&["member1", "member2"]))).await;
    control.create(settings("web")).await;
    let at = "shop/web-configmap";
    let only = |names: &'static [&'static str]| move |binding: &Value| clusters(binding) == names;
    plane.object("ResourceBinding", at, "on member1", only(&["member1"])).await;

    let lax = json!({"filters": [{"name": "APIEnablement"}, {"name": "ClusterAffinity"}], "scores": []});
    control.create(profile("default-scheduler", lax)).await;
    plane.object("ResourceBinding", at, "on both", only(&["member1", "member2"])).await;
    plane.condition("SchedulerProfile", "default-scheduler", "Accepted", "True", "InForce").await;

    let bad = json!({"spec": {"filters": [{"name": "TaintTolerance"}, {"name": "ClusterLocality"}]}});
    control.patch("SchedulerProfile", "default-scheduler", bad).await;
    let why =
        plane.condition("SchedulerProfile", "default-scheduler", "Accepted", "False", "PluginsMissing").await;
    assert!(why.contains("there is no plugin \"TaintTolerance\"; loaded are: APIEnablement, "), "{why}");
    assert!(why.contains("the plugin \"ClusterLocality\" is no filter"), "{why}");
    plane.event("SchedulerProfile", "default-scheduler", "ProfileRefused", "TaintTolerance").await;
    control.create(settings("more")).await;
    plane.object("ResourceBinding", "shop/more-configmap", "on both", only(&["member1", "member2"])).await;

    control.delete("SchedulerProfile", "default-scheduler").await;
    plane
        .until("a new binding keeps away from the taint", async || {
            control.create(settings(&format!("probe{}", nanos()))).await;
            let bindings = control.list("ResourceBinding", "shop").await;
            bindings.iter().any(|binding| clusters(binding) == ["member1"]).then_some(())
        })
        .await;
}

fn nanos() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// A profile of another name starts a scheduler of that name, and ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_starts_a_scheduler() {
    let plane = plane(|_| {}).await;
    let control = &plane.control;
    let mut second = policy("all", ("v1", "ConfigMap", ""), onto(&["member1"]));
    second["spec"]["schedulerName"] = "second".into();
    control.create(second).await;
    control.create(settings("web")).await;
    let at = "shop/web-configmap";
    let binding = plane.object("ResourceBinding", at, "there", |_| true).await;
    assert_eq!(str_at(&binding, &["spec", "schedulerName"]), "second");
    control.create(profile("second", json!({}))).await;
    plane.condition("ResourceBinding", at, "Scheduled", "True", "Success").await;
    plane.copy("member1", "ConfigMap", "shop/web", "there", |_| true).await;
    plane.condition("SchedulerProfile", "second", "Accepted", "True", "InForce").await;
}

/// Gate WorkloadAffinity: two of a group that keeps apart go to different members, a third to none until one leaves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_keeps_apart() {
    let plane =
        plane(|setup| setup.options.gates = Gates { workload_affinity: true, ..Gates::default() }).await;
    let control = &plane.control;
    let apart = json!({"workloadAffinity": {"antiAffinity": {"groupByLabelKey": "group"}},
        "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]});
    control.create(policy("all", ("v1", "ConfigMap", ""), apart)).await;
    let mut placed = Vec::new();
    for name in ["a", "b", "c"] {
        let mut object = settings(name);
        object["metadata"]["labels"] = json!({"group": "x"});
        control.create(object).await;
        let at = format!("shop/{name}-configmap");
        if name == "c" {
            let why = plane.condition("ResourceBinding", &at, "Scheduled", "False", "NoClusterFit").await;
            assert!(
                why.contains("2 cluster already has workload with the same anti-affinity group"),
                "{why}"
            );
        } else {
            plane.condition("ResourceBinding", &at, "Scheduled", "True", "Success").await;
            let binding =
                plane.object("ResourceBinding", &at, "placed", |binding| !clusters(binding).is_empty()).await;
            placed.extend(clusters(&binding).into_iter().map(str::to_owned));
        }
    }
    assert_eq!((placed.len(), placed.first() == placed.last()), (2, false), "{placed:?}");
    control.delete("ConfigMap", "shop/a").await;
    let freed = placed.remove(0);
    let at = "shop/c-configmap";
    plane.object("ResourceBinding", at, "where a was", |binding| clusters(binding) == [freed.as_str()]).await;
}
