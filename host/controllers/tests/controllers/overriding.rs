//! Override transformers that trap or answer nonsense, and overrides that don't fit.

use crate::plugins::CrookedTransform;
use crate::support::{Plane, Setup, onto, policy, settings, shop};
use serde_json::{Value, json};

async fn plane() -> Plane {
    let mut setup = Setup::shipped(3);
    setup.transform = CrookedTransform::load();
    let plane = setup.start().await;
    plane.control.create(shop()).await;
    let all = onto(&["member1", "member2", "member3"]);
    plane.control.create(policy("all", ("v1", "ConfigMap", ""), all)).await;
    plane
}

/// An override of one ConfigMap in `member2`.
fn over(name: &str, overriders: Value) -> Value {
    json!({
        "apiVersion": "policy.karmada.io/v1alpha1", "kind": "OverridePolicy",
        "metadata": {"name": format!("over-{name}"), "namespace": "shop"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": name}],
            "overrideRules": [{"targetCluster": {"clusterNames": ["member2"]}, "overriders": overriders}],
        },
    })
}

fn labels(what: &str) -> Value {
    json!({"labelsOverrider": [{"operator": "add", "value": {"do": what}}]})
}

/// The template says which policy failed for which cluster; that cluster gets nothing half-done, the others get theirs;
/// with the override put right all is well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_override_that_fails_is_told_and_costs_its_cluster_only() {
    let plane = plane().await;
    let plaintext =
        json!({"plaintext": [{"path": "/data/nothing/here", "operator": "replace", "value": "1"}]});
    let cases = [
        ("trap", labels("trap"), "unreachable"),
        ("invalid", labels("invalid"), "there is nothing to override"),
        ("bad-patch", labels("bad-patch"), "/spec/nowhere/at/all"),
        ("no-kind", labels("no-kind"), "kind"),
        ("plaintext", plaintext, "/data/nothing/here"),
    ];
    for (name, overriders, part) in cases {
        plane.control.create(over(name, overriders)).await;
        plane.control.create(settings(name)).await;
        let why = plane.event("ConfigMap", &format!("shop/{name}"), "ApplyOverridePolicyFailed", part).await;
        assert!(why.contains(&format!("shop/over-{name}")) && why.contains("member2"), "{name}: {why}");
        let binding = format!("shop/{name}-configmap");
        let why = plane.event("ResourceBinding", &binding, "SyncWorkFailed", part).await;
        assert!(why.contains("member2") && !why.contains("member1"), "{name}: {why}");
        for member in ["member1", "member3"] {
            plane.copy(member, "ConfigMap", &format!("shop/{name}"), "there", |_| true).await;
        }
        assert!(plane.in_member("member2").get("ConfigMap", "shop", name).await.is_none(), "{name}");
        plane.condition("ResourceBinding", &binding, "FullyApplied", "False", "FullyAppliedFailed").await;

        let right = json!({"labelsOverrider": [{"operator": "add", "value": {"tier": "front"}}]});
        let rules = over(name, right)["spec"]["overrideRules"].clone();
        let at = format!("shop/over-{name}");
        plane.control.patch("OverridePolicy", &at, json!({"spec": {"overrideRules": rules}})).await;
        plane
            .copy("member2", "ConfigMap", &format!("shop/{name}"), "overridden", |copy| {
                copy["metadata"]["labels"]["tier"] == json!("front")
            })
            .await;
        plane.condition("ResourceBinding", &binding, "FullyApplied", "True", "FullyAppliedSuccess").await;
    }
}

/// A rule that goes bad later leaves what is there as it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_override_that_goes_bad_leaves_the_copy() {
    let plane = plane().await;
    plane.control.create(over("web", labels("fine"))).await;
    plane.control.create(settings("web")).await;
    let held = plane
        .copy("member2", "ConfigMap", "shop/web", "overridden", |copy| {
            copy["cluster"] == json!("member2") || copy["data"].is_object()
        })
        .await;
    let rules = over("web", labels("trap"))["spec"]["overrideRules"].clone();
    plane.control.patch("OverridePolicy", "shop/over-web", json!({"spec": {"overrideRules": rules}})).await;
    plane.event("ConfigMap", "shop/web", "ApplyOverridePolicyFailed", "over-web").await;
    let copy = plane.in_member("member2").get("ConfigMap", "shop", "web").await.unwrap();
    assert_eq!((&copy["metadata"]["uid"], &copy["data"]), (&held["metadata"]["uid"], &held["data"]));
}
