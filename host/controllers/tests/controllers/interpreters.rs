//! Interpreters that trap, loop, or answer nonsense.

use crate::plugins::{CrookedInterpreter, SHIPPED};
use crate::support::{Plane, Setup, onto, policy, shop};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_interpret::Operation;
use windlass_object::condition;
use windlass_object::meta::Meta;
use windlass_object::path::{i64_at, list_at, str_at};

fn definition() -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "misbehavings.test.windlass.io"},
        "spec": {
            "group": "test.windlass.io", "scope": "Namespaced",
            "names": {"plural": "misbehavings", "singular": "misbehaving", "kind": "Misbehaving"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {}},
            }],
        },
    })
}

fn object(name: &str) -> Value {
    json!({
        "apiVersion": "test.windlass.io/v1", "kind": "Misbehaving",
        "metadata": {"name": name, "namespace": "shop"}, "spec": {"replicas": 2},
    })
}

/// A plane whose objects of the kind are interpreted by the crooked interpreter; the kind's definition, too, travels by
/// a policy.
async fn plane(operations: &'static [Operation]) -> Plane {
    let mut setup = Setup::shipped(2);
    setup.interpreters = vec![CrookedInterpreter::with(operations)];
    setup.interpreters.extend(SHIPPED.interpreters().into_iter().map(|plugin| plugin as Arc<_>));
    let plane = setup.start().await;
    plane.control.create(shop()).await;
    plane.control.create(definition()).await;
    plane
        .control
        .create(json!({
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterPropagationPolicy",
            "metadata": {"name": "kinds"},
            "spec": {
                "resourceSelectors": [{
                    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                    "name": "misbehavings.test.windlass.io",
                }],
                "placement": onto(&["member1", "member2"]),
            },
        }))
        .await;
    for member in ["member1", "member2"] {
        let at = "misbehavings.test.windlass.io";
        plane
            .copy(member, "CustomResourceDefinition", at, "served", |copy| {
                condition::is_true(condition::of(copy), "Established")
            })
            .await;
    }
    let both = onto(&["member1", "member2"]);
    plane.control.create(policy("all", ("test.windlass.io/v1", "Misbehaving", ""), both)).await;
    plane
}

/// Waits until both copies are there and reported with this health.
async fn reported(plane: &Plane, name: &str, health: &str) -> Value {
    for member in ["member1", "member2"] {
        plane.copy(member, "Misbehaving", &format!("shop/{name}"), "there", |_| true).await;
    }
    let at = format!("shop/{name}-misbehaving");
    plane
        .object("ResourceBinding", &at, &format!("applied and {health} in both clusters"), |binding| {
            let items = list_at(binding, &["status", "aggregatedStatus"]);
            let fine = |item: &Value| item["applied"] == json!(true) && str_at(item, &["health"]) == health;
            items.len() == 2 && items.iter().all(fine)
        })
        .await
}

const ALL_BUT_WRITES: &[Operation] =
    &[Operation::InterpretReplica, Operation::InterpretStatus, Operation::InterpretHealth];

/// Nonsense about replicas: the template says so; others go on; under a name that it understands it is propagated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nonsense_about_replicas_is_told_on_the_template() {
    let plane = plane(ALL_BUT_WRITES).await;
    for name in ["no-json", "wrong-shape"] {
        plane.control.create(object(name)).await;
        let at = format!("shop/{name}");
        let why = plane.event("Misbehaving", &at, "GetReplicasFailed", "misbehaving").await;
        assert!(why.contains(&at), "{why}");
        plane.event("Misbehaving", &at, "ApplyPolicyFailed", "Apply policy(all) failed").await;
        assert!(plane.control.get("ResourceBinding", "shop", &format!("{name}-misbehaving")).await.is_none());
    }
    plane.control.create(object("fine")).await;
    let binding = reported(&plane, "fine", "Healthy").await;
    assert_eq!(i64_at(&binding, &["spec", "replicas"]), Some(2));

    plane.control.delete("Misbehaving", "shop/no-json").await;
    plane.control.create(object("json")).await;
    reported(&plane, "json", "Healthy").await;
}

/// An interpreter that can't tell an object's health costs the health, and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_answer_health_is_unknown() {
    let plane = plane(ALL_BUT_WRITES).await;
    for (name, part) in
        [("trap", "unreachable"), ("loop", "deadline"), ("invalid", "the object has no health")]
    {
        plane.control.create(object(name)).await;
        reported(&plane, name, "Unknown").await;
        let at = format!("shop/{name}-misbehaving");
        plane.condition("ResourceBinding", &at, "FullyApplied", "True", "FullyAppliedSuccess").await;
        let works = plane.control.list("Work", "karmada-es-member1").await;
        let work = works
            .iter()
            .find(|work| work.pointer("/spec/workload/manifests/0/metadata/name") == Some(&json!(name)));
        let work = format!("karmada-es-member1/{}", work.unwrap().name());
        plane.event("Work", &work, "InterpretHealthFailed", part).await;
    }
    plane.control.create(object("fine")).await;
    reported(&plane, "fine", "Healthy").await;
}

/// A status beyond all limits isn't carried; that the object was applied is told nevertheless.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_that_is_too_large_is_left_out() {
    let plane = plane(ALL_BUT_WRITES).await;
    plane.control.create(object("huge")).await;
    let binding = reported(&plane, "huge", "Healthy").await;
    for item in list_at(&binding, &["status", "aggregatedStatus"]) {
        assert!(item.get("status").is_none(), "{item}");
    }
    let works = plane.control.list("Work", "karmada-es-member1").await;
    let work = works
        .iter()
        .find(|work| work.pointer("/spec/workload/manifests/0/metadata/name") == Some(&json!("huge")));
    let work = format!("karmada-es-member1/{}", work.unwrap().name());
    plane.event("Work", &work, "ReflectStatusFailed", "misbehaving").await;
}

/// One that claims an operation that it doesn't have: no copy is made that it was to change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_without_an_operation_is_told() {
    let plane = plane(&[Operation::InterpretReplica, Operation::ReviseReplica]).await;
    plane.control.create(object("fine")).await;
    let at = "shop/fine-misbehaving";
    for member in ["cluster member1: ", "cluster member2: "] {
        let why = plane.event("ResourceBinding", at, "SyncWorkFailed", member).await;
        assert!(why.contains("misbehaving") && why.contains("shop/fine"), "{why}");
    }
    plane.event("Misbehaving", "shop/fine", "SyncWorkFailed", "misbehaving").await;
    assert!(plane.in_member("member1").get("Misbehaving", "shop", "fine").await.is_none());
}
