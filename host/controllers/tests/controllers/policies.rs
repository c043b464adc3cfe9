//! Policies that select nothing, or lose what they had.

use crate::support::{Setup, onto, policy, settings, shop};
use serde_json::json;
use windlass_object::meta::Meta;

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
