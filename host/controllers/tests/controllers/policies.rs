//! Policies that select nothing, or lose what they had.

use crate::support::{Setup, deployment, onto, policy, settings, shop};
use serde_json::json;
use windlass_object::meta::Meta;
use windlass_object::path::list_at;

/// A policy that selects nothing says so, once it has waited for what may be on its way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_selects_nothing_says_so() {
    let plane = Setup::shipped(1).start().await;
    let control = &plane.control;
    control.create(shop()).await;
    control.create(settings("web")).await;
    control.create(policy("typo", ("v1", "ConfigMap", "wbe"), onto(&["member1"]))).await;
    control.create(policy("unknown", ("shop.example/v1", "Basket", ""), onto(&["member1"]))).await;
    let why = plane.event("PropagationPolicy", "shop/typo", "NothingSelected", "wbe").await;
    assert!(why.contains("ConfigMap"), "{why}");
    let why = plane.event("PropagationPolicy", "shop/unknown", "NothingSelected", "Basket").await;
    assert!(why.contains("does not serve"), "{why}");
    assert!(control.list("ResourceBinding", "shop").await.is_empty());

    control
        .patch(
            "PropagationPolicy",
            "shop/typo",
            json!({"spec": {"resourceSelectors": [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "web"},
            ]}}),
        )
        .await;
    plane.copy("member1", "ConfigMap", "shop/web", "there", |_| true).await;
}

/// A second policy for the same objects gets what the first lets go.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_policy_lets_go_another_gets() {
    let plane = Setup::shipped(2).start().await;
    let control = &plane.control;
    control.create(shop()).await;
    control.create(policy("first", ("v1", "ConfigMap", "web"), onto(&["member1"]))).await;
    control.create(settings("web")).await;
    plane.copy("member1", "ConfigMap", "shop/web", "there", |_| true).await;
    control.create(policy("second", ("v1", "ConfigMap", ""), onto(&["member2"]))).await;
    plane.event("PropagationPolicy", "shop/second", "NothingSelected", "first").await;
    assert!(plane.in_member("member2").get("ConfigMap", "shop", "web").await.is_none());

    control.delete("PropagationPolicy", "shop/first").await;
    plane.copy("member2", "ConfigMap", "shop/web", "there", |_| true).await;
    plane.no_copy("member1", "ConfigMap", "shop/web").await;
    let web = plane
        .object("ConfigMap", "shop/web", "claimed", |web| {
            web.annotation("propagationpolicy.karmada.io/name") == Some("second")
        })
        .await;
    assert_eq!(web["data"], json!({"currency": "EUR"}));
}

/// A policy for one ConfigMap by name, that takes it from others.
fn taking(name: &str, priority: i64, clusters: &[&str]) -> serde_json::Value {
    let mut policy = policy(name, ("v1", "ConfigMap", "web"), onto(clusters));
    policy["spec"]["priority"] = json!(priority);
    policy["spec"]["preemption"] = json!("Always");
    policy
}

/// `preemption: Always` takes from policies of lower priority, and from nobody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_takes_what_a_lower_one_has() {
    let plane = Setup::shipped(2).start().await;
    let control = &plane.control;
    control.create(shop()).await;
    let mut low = policy("low", ("v1", "ConfigMap", "web"), onto(&["member1"]));
    low["spec"]["priority"] = json!(1);
    control.create(low).await;
    control.create(settings("web")).await;
    plane.copy("member1", "ConfigMap", "shop/web", "there", |_| true).await;

    control.create(taking("equal", 1, &["member2"])).await;
    plane.event("PropagationPolicy", "shop/equal", "NothingSelected", "low").await;
    control.create(taking("high", 2, &["member2"])).await;
    plane.copy("member2", "ConfigMap", "shop/web", "there", |_| true).await;
    plane.no_copy("member1", "ConfigMap", "shop/web").await;
    let why = plane.event("ConfigMap", "shop/web", "PreemptPolicySucceed", "shop/high").await;
    assert!(why.contains("shop/low"), "{why}");

    // Whose priority falls below another's loses what it has to that.
    control.patch("PropagationPolicy", "shop/high", json!({"spec": {"priority": -1}})).await;
    plane.event("ConfigMap", "shop/web", "PreemptPolicySucceed", "shop/equal").await;
    let web = control.get("ConfigMap", "shop", "web").await.unwrap();
    assert_eq!(web.annotation("propagationpolicy.karmada.io/name"), Some("equal"));
    assert_eq!(web["data"], json!({"currency": "EUR"}));
}

/// A PropagationPolicy takes from a ClusterPropagationPolicy whatever their priorities; never the other way round.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_s_policy_comes_before_the_cluster_s() {
    let plane = Setup::shipped(2).start().await;
    let control = &plane.control;
    control.create(shop()).await;
    let mut general = taking("general", 9, &["member1"]);
    general["kind"] = json!("ClusterPropagationPolicy");
    general["metadata"] = json!({"name": "general"});
    general["spec"]["resourceSelectors"][0]["namespace"] = json!("shop");
    control.create(general).await;
    control.create(settings("web")).await;
    plane.copy("member1", "ConfigMap", "shop/web", "there", |_| true).await;
    control.create(taking("own", -3, &["member2"])).await;
    plane.copy("member2", "ConfigMap", "shop/web", "there", |_| true).await;
    plane.no_copy("member1", "ConfigMap", "shop/web").await;
    control.patch("ClusterPropagationPolicy", "general", json!({"spec": {"priority": 10}})).await;
    plane.event("ClusterPropagationPolicy", "general", "NothingSelected", "shop/own").await;
    assert!(plane.in_member("member2").get("ConfigMap", "shop", "web").await.is_some());
}

/// What a workload needs goes where it goes, and leaves with it, if the policy says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_workload_needs_follows_it() {
    let plane = Setup::shipped(2).start().await;
    let control = &plane.control;
    control.create(shop()).await;
    let mut policy = policy("web", ("apps/v1", "Deployment", ""), onto(&["member1"]));
    policy["spec"]["propagateDeps"] = json!(true);
    control.create(policy).await;
    let with_settings = |name: &str, settings: &str| {
        let mut web = deployment(name, 1);
        web["spec"]["template"]["spec"]["containers"][0]["envFrom"] =
            json!([{"configMapRef": {"name": settings}}]);
        web
    };
    control.create(settings("prices")).await;
    control.create(with_settings("web", "prices")).await;
    control.create(with_settings("api", "prices")).await;
    plane.copy("member1", "ConfigMap", "shop/prices", "there", |_| true).await;
    let attached = plane
        .object("ResourceBinding", "shop/prices-configmap", "for both, applied", |binding| {
            list_at(binding, &["spec", "requiredBy"]).len() == 2
                && list_at(binding, &["status", "aggregatedStatus"]).len() == 1
        })
        .await;
    assert!(attached["spec"].get("placement").is_none(), "{attached}");
    assert!(control.get("ConfigMap", "shop", "prices").await.unwrap().get("status").is_none());

    // Changed, it changes there; the workload moves, and takes it along.
    control.patch("ConfigMap", "shop/prices", json!({"data": {"currency": "CHF"}})).await;
    plane
        .copy("member1", "ConfigMap", "shop/prices", "changed", |copy| {
            copy["data"]["currency"] == json!("CHF")
        })
        .await;
    let elsewhere = json!({"spec": {"placement": {"clusterAffinity": {"clusterNames": ["member2"]}}}});
    control.patch("PropagationPolicy", "shop/web", elsewhere).await;
    plane.copy("member2", "ConfigMap", "shop/prices", "there", |_| true).await;
    plane.no_copy("member1", "ConfigMap", "shop/prices").await;

    // What is needed and not there yet comes when it comes.
    control.create(with_settings("late", "rates")).await;
    plane.copy("member2", "Deployment", "shop/late", "there", |_| true).await;
    control.create(settings("rates")).await;
    plane.copy("member2", "ConfigMap", "shop/rates", "there", |_| true).await;

    // Needed by one, it stays; needed by none, it goes from the members, and not from here.
    control.delete("Deployment", "shop/web").await;
    plane
        .object("ResourceBinding", "shop/prices-configmap", "for one", |binding| {
            list_at(binding, &["spec", "requiredBy"]).len() == 1
        })
        .await;
    assert!(plane.in_member("member2").get("ConfigMap", "shop", "prices").await.is_some());
    control.delete("Deployment", "shop/api").await;
    plane.no_copy("member2", "ConfigMap", "shop/prices").await;
    plane
        .until("no binding of the ConfigMap", async || {
            control.get("ResourceBinding", "shop", "prices-configmap").await.is_none().then_some(())
        })
        .await;
    assert!(control.get("ConfigMap", "shop", "prices").await.is_some());
}
