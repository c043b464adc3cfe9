//! The whole path with shipped components.

use crate::support::{Plane, Setup, deployment, onto, policy, settings, shop};
use serde_json::{Value, json};
use windlass_object::condition;
use windlass_object::meta::Meta;
use windlass_object::path::{i64_at, list_at, str_at};

/// Weights 1:2 over two clusters.
fn one_to_two() -> Value {
    let weight =
        |cluster: &str, weight: i64| json!({"targetCluster": {"clusterNames": [cluster]}, "weight": weight});
    json!({"replicaScheduling": {
        "replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": [weight("member1", 1), weight("member2", 2)]},
    }})
}

async fn replicas(plane: &Plane, member: &str, at: &str, wanted: i64) -> Value {
    let what = format!("{wanted} replicas");
    plane
        .copy(member, "Deployment", at, &what, |copy| i64_at(copy, &["spec", "replicas"]) == Some(wanted))
        .await
}

async fn ready(plane: &Plane, at: &str, wanted: i64) -> Value {
    let what = format!("{wanted} ready");
    plane
        .object("Deployment", at, &what, |web| i64_at(web, &["status", "readyReplicas"]) == Some(wanted))
        .await
}

fn places(object: &Value) -> Vec<(String, i64)> {
    list_at(object, &["spec", "clusters"])
        .iter()
        .map(|target| (str_at(target, &["name"]).to_owned(), i64_at(target, &["replicas"]).unwrap_or(0)))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deployment_goes_the_whole_way() {
    let plane = Setup::shipped(3).start().await;
    let control = &plane.control;
    control.create(shop()).await;
    control.create(policy("web", ("apps/v1", "Deployment", "web"), one_to_two())).await;
    control.create(deployment("web", 9)).await;

    // There, and told about.
    replicas(&plane, "member1", "shop/web", 3).await;
    replicas(&plane, "member2", "shop/web", 6).await;
    ready(&plane, "shop/web", 9).await;
    plane.condition("ResourceBinding", "shop/web-deployment", "Scheduled", "True", "Success").await;
    plane
        .condition("ResourceBinding", "shop/web-deployment", "FullyApplied", "True", "FullyAppliedSuccess")
        .await;
    let binding = plane
        .object("ResourceBinding", "shop/web-deployment", "healthy in both clusters", |binding| {
            let items = list_at(binding, &["status", "aggregatedStatus"]);
            items.len() == 2 && items.iter().all(|item| str_at(item, &["health"]) == "Healthy")
        })
        .await;
    assert_eq!(places(&binding), [("member1".to_owned(), 3), ("member2".to_owned(), 6)]);
    assert!(plane.in_member("member3").get("Deployment", "shop", "web").await.is_none());
    plane.event("Deployment", "shop/web", "ApplyPolicySucceed", "").await;
    plane.event("ResourceBinding", "shop/web-deployment", "ScheduleBindingSucceed", "member1:3").await;
    for (member, count) in [("member1", 1), ("member2", 1), ("member3", 0)] {
        let works = control.list("Work", &format!("karmada-es-{member}")).await;
        let of_binding = |work: &&Value| {
            list_at(work, &["spec", "workload", "manifests"])
                .iter()
                .any(|manifest| manifest.kind() == "Deployment")
        };
        let works: Vec<&Value> = works.iter().filter(of_binding).collect();
        assert_eq!(works.len(), count, "{member}");
        assert!(works.iter().all(|work| condition::is_true(condition::of(work), "Applied")), "{member}");
    }

    // Scaled.
    control.patch("Deployment", "shop/web", json!({"spec": {"replicas": 12}})).await;
    replicas(&plane, "member1", "shop/web", 4).await;
    replicas(&plane, "member2", "shop/web", 8).await;
    ready(&plane, "shop/web", 12).await;

    // Changed: keys come and go, what a member added stays.
    plane
        .in_member("member1")
        .patch("Deployment", "shop/web", json!({"metadata": {"labels": {"own": "yes"}}}))
        .await;
    control.patch("Deployment", "shop/web", json!({"metadata": {"labels": {"tier": "front"}}})).await;
    for member in ["member1", "member2"] {
        plane
            .copy(member, "Deployment", "shop/web", "labelled", |copy| copy.label("tier") == Some("front"))
            .await;
    }
    control.patch("Deployment", "shop/web", json!({"metadata": {"labels": {"tier": null}}})).await;
    for member in ["member1", "member2"] {
        plane
            .copy(member, "Deployment", "shop/web", "no longer labelled", |copy| copy.label("tier").is_none())
            .await;
    }
    let copy = plane.in_member("member1").get("Deployment", "shop", "web").await.unwrap();
    assert_eq!(copy.label("own"), Some("yes"));

    // Edited in a member: put right. Deleted there: it comes back.
    plane.in_member("member1").patch("Deployment", "shop/web", json!({"spec": {"replicas": 1}})).await;
    replicas(&plane, "member1", "shop/web", 4).await;
    let image = "/spec/template/spec/containers/0/image";
    let other = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other"}]}}}});
    plane.in_member("member1").patch("Deployment", "shop/web", other).await;
    let wanted = json!("registry.example/web:1");
    plane
        .copy("member1", "Deployment", "shop/web", "image as before", |c| c.pointer(image) == Some(&wanted))
        .await;
    let uid = plane.in_member("member2").get("Deployment", "shop", "web").await.unwrap().uid().to_owned();
    plane.in_member("member2").delete("Deployment", "shop/web").await;
    plane.copy("member2", "Deployment", "shop/web", "made again", |copy| copy.uid() != uid).await;
    ready(&plane, "shop/web", 12).await;

    // A Work deleted by somebody is made again, and its object with it.
    let space = "karmada-es-member2";
    let works = control.list("Work", space).await;
    let work = works
        .iter()
        .find(|work| work.pointer("/spec/workload/manifests/0/kind") == Some(&json!("Deployment")));
    let work = work.unwrap();
    let at = format!("{space}/{}", work.name());
    control.delete("Work", &at).await;
    plane.object("Work", &at, "made again", |fresh| fresh.uid() != work.uid() && !fresh.is_deleting()).await;
    replicas(&plane, "member2", "shop/web", 8).await;
    ready(&plane, "shop/web", 12).await;

    // A binding deleted by somebody, too.
    let binding = control.get("ResourceBinding", "shop", "web-deployment").await.unwrap();
    control.delete("ResourceBinding", "shop/web-deployment").await;
    plane
        .object("ResourceBinding", "shop/web-deployment", "made again", |fresh| {
            fresh.uid() != binding.uid() && condition::is_true(condition::of(fresh), "FullyApplied")
        })
        .await;
    replicas(&plane, "member2", "shop/web", 8).await;
    ready(&plane, "shop/web", 12).await;

    // Another policy: it moves.
    control
        .patch(
            "PropagationPolicy",
            "shop/web",
            json!({"spec": {"placement": {
                "replicaScheduling": null, "clusterAffinity": {"clusterNames": ["member3"]},
            }}}),
        )
        .await;
    replicas(&plane, "member3", "shop/web", 12).await;
    plane.no_copy("member1", "Deployment", "shop/web").await;
    plane.no_copy("member2", "Deployment", "shop/web").await;
    ready(&plane, "shop/web", 12).await;

    // The policy goes, the application stays.
    control.delete("PropagationPolicy", "shop/web").await;
    plane
        .until("the policy is gone", async || {
            control.get("PropagationPolicy", "shop", "web").await.is_none().then_some(())
        })
        .await;
    plane
        .object("Deployment", "shop/web", "released", |web| {
            web.label("propagationpolicy.karmada.io/permanent-id").is_none()
        })
        .await;
    replicas(&plane, "member3", "shop/web", 12).await;

    // The application goes, and everything of it.
    control.delete("Deployment", "shop/web").await;
    plane.no_copy("member3", "Deployment", "shop/web").await;
    plane
        .until("no binding", async || {
            control.get("ResourceBinding", "shop", "web-deployment").await.is_none().then_some(())
        })
        .await;
    plane
        .until("no pods in any member", async || {
            for member in ["member1", "member2", "member3"] {
                if !plane.in_member(member).list("Pod", "shop").await.is_empty() {
                    return None;
                }
            }
            Some(())
        })
        .await;
}

/// Many at once, written while others are on their way: each arrives in each member, once, and as it was written last.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_of_many_is_lost() {
    const MANY: usize = 60;
    let plane = Setup::shipped(2).start().await;
    let control = &plane.control;
    control.create(shop()).await;
    control.create(policy("all", ("v1", "ConfigMap", ""), onto(&["member1", "member2"]))).await;
    let names: Vec<String> = (0..MANY).map(|number| format!("settings{number}")).collect();
    futures::future::join_all(names.iter().map(|name| control.create(settings(name)))).await;
    let edits = names.iter().step_by(2).map(|name| async move {
        control.patch("ConfigMap", &format!("shop/{name}"), json!({"data": {"currency": "CHF"}})).await;
    });
    futures::future::join_all(edits).await;
    for member in ["member1", "member2"] {
        plane
            .until(&format!("all in {member}"), async || {
                let copies = plane.in_member(member).list("ConfigMap", "shop").await;
                names
                    .iter()
                    .enumerate()
                    .all(|(number, name)| {
                        let wanted = if number % 2 == 0 { "CHF" } else { "EUR" };
                        let copy = copies.iter().find(|copy| copy.name() == name);
                        copy.is_some_and(|copy| str_at(copy, &["data", "currency"]) == wanted)
                    })
                    .then_some(())
            })
            .await;
    }
    plane
        .until("all bindings are fully applied", async || {
            let bindings = control.list("ResourceBinding", "shop").await;
            let applied = |binding: &&Value| condition::is_true(condition::of(binding), "FullyApplied");
            (bindings.iter().filter(applied).count() >= MANY).then_some(())
        })
        .await;

    // Half of them go again.
    let gone: Vec<String> = names.iter().step_by(2).map(|name| format!("shop/{name}")).collect();
    futures::future::join_all(gone.iter().map(|at| control.delete("ConfigMap", at))).await;
    for member in ["member1", "member2"] {
        plane
            .until(&format!("half in {member}"), async || {
                let copies = plane.in_member(member).list("ConfigMap", "shop").await;
                (copies.iter().filter(|copy| copy.name().starts_with("settings")).count() == MANY / 2)
                    .then_some(())
            })
            .await;
    }
}
