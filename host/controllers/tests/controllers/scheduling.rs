//! Filters that trap, loop, or answer nonsense.

use crate::plugins::crooked_filter;
use crate::support::{Plane, Setup, deployment, onto, policy, settings, shop};
use serde_json::{Value, json};
use windlass_object::path::{list_at, str_at};
use windlass_schedule::{FailurePolicy, Stage};

async fn plane(on_failure: FailurePolicy) -> Plane {
    let mut setup = Setup::shipped(2);
    setup.profile.filters.push(Stage::new(Box::new(crooked_filter().worker()), on_failure));
    let plane = setup.start().await;
    plane.control.create(shop()).await;
    plane.control.create(policy("all", ("v1", "ConfigMap", ""), onto(&["member1", "member2"]))).await;
    plane
}

fn clusters(binding: &Value) -> Vec<&str> {
    list_at(binding, &["spec", "clusters"]).iter().map(|target| str_at(target, &["name"])).collect()
}

/// The binding says which plugin failed and how; the next one is scheduled by the same scheduler.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_filter_is_named_and_the_next_binding_is_scheduled() {
    let plane = plane(FailurePolicy::Fail).await;
    let cases = [
        ("trap", "unreachable"),
        ("loop", "no answer within the deadline"),
        ("recursion", "trapped"),
        ("long", "words in the bitmap"),
        ("short", "words in the bitmap"),
        ("invalid", "never understood"),
    ];
    for (number, (name, part)) in cases.into_iter().enumerate() {
        plane.control.create(settings(name)).await;
        let at = format!("shop/{name}-configmap");
        let why = plane.condition("ResourceBinding", &at, "Scheduled", "False", "SchedulerError").await;
        assert!(why.contains("Misbehaving") && why.contains(part), "{name}: {why}");
        plane.event("ResourceBinding", &at, "ScheduleBindingFailed", "Misbehaving").await;
        plane.event("ConfigMap", &format!("shop/{name}"), "ScheduleBindingFailed", "Misbehaving").await;
        let fine = format!("fine{number}");
        plane.control.create(settings(&fine)).await;
        for member in ["member1", "member2"] {
            plane.copy(member, "ConfigMap", &format!("shop/{fine}"), "there", |_| true).await;
        }
        assert!(plane.in_member("member1").get("ConfigMap", "shop", name).await.is_none());
    }
}

/// What runs stays where it is while a plugin can't decide; once it can, the change is carried out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clusters_are_kept_while_a_filter_fails() {
    let plane = plane(FailurePolicy::Fail).await;
    let control = &plane.control;
    control.create(policy("web", ("apps/v1", "Deployment", "web"), onto(&["member1"]))).await;
    control.create(deployment("web", 2)).await;
    plane.copy("member1", "Deployment", "shop/web", "there", |_| true).await;

    control.patch("Cluster", "member2", json!({"metadata": {"labels": {"trap-on-sync": "yes"}}})).await;
    control.patch("PropagationPolicy", "shop/web", json!({"spec": {"placement": onto(&["member2"])}})).await;
    let at = "shop/web-deployment";
    let why = plane.condition("ResourceBinding", at, "Scheduled", "False", "SchedulerError").await;
    assert!(why.contains("Misbehaving"), "{why}");
    let binding = plane.control.get("ResourceBinding", "shop", "web-deployment").await.unwrap();
    assert_eq!(clusters(&binding), ["member1"]);
    let uid =
        plane.in_member("member1").get("Deployment", "shop", "web").await.unwrap()["metadata"]["uid"].clone();

    control.patch("Cluster", "member2", json!({"metadata": {"labels": {"trap-on-sync": null}}})).await;
    plane.condition("ResourceBinding", at, "Scheduled", "True", "Success").await;
    plane.copy("member2", "Deployment", "shop/web", "there", |copy| copy["metadata"]["uid"] != uid).await;
    plane.no_copy("member1", "Deployment", "shop/web").await;
}

/// An operator may say that a plugin's failure does not count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ignored_filter_holds_nothing_up() {
    let plane = plane(FailurePolicy::Ignore).await;
    for name in ["trap", "loop", "long"] {
        plane.control.create(settings(name)).await;
        for member in ["member1", "member2"] {
            plane.copy(member, "ConfigMap", &format!("shop/{name}"), "there", |_| true).await;
        }
        plane
            .condition("ResourceBinding", &format!("shop/{name}-configmap"), "Scheduled", "True", "Success")
            .await;
    }
}

/// No cluster fits: the binding says why, and gets its place as soon as one does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_without_a_fitting_cluster_wakes() {
    let plane = Setup::shipped(2).start().await;
    let control = &plane.control;
    control.create(shop()).await;
    let labelled = json!({"clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "gold"}}}});
    control.create(policy("all", ("v1", "ConfigMap", ""), labelled)).await;
    control.create(settings("web")).await;
    let at = "shop/web-configmap";
    let why = plane.condition("ResourceBinding", at, "Scheduled", "False", "NoClusterFit").await;
    assert!(why.contains("0/2"), "{why}");
    plane.event("ConfigMap", "shop/web", "ScheduleBindingFailed", "0/2").await;
    let decision = plane.decisions.get(at).expect("the last decision").to_string();
    assert!(decision.contains("member1") && decision.contains("member2"), "{decision}");
    control.patch("Cluster", "member2", json!({"metadata": {"labels": {"tier": "gold"}}})).await;
    plane.copy("member2", "ConfigMap", "shop/web", "there", |_| true).await;
    plane.condition("ResourceBinding", at, "Scheduled", "True", "Success").await;
    assert!(plane.in_member("member1").get("ConfigMap", "shop", "web").await.is_none());
}
