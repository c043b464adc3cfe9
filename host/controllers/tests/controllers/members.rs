//! Members that refuse, are gone, slow or not ready; and what is in them already.

use crate::support::{PATIENCE, Plane, Setup, deployment, onto, policy, settings, shop};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use windlass_object::condition;
use windlass_object::meta::Meta;
use windlass_object::path::{i64_at, list_at, str_at};
use windlass_simulator::Fault;

async fn plane(mut setup: Setup, placement: Value) -> Plane {
    setup.options.status_interval = Duration::from_millis(100);
    let plane = setup.start().await;
    plane.control.create(shop()).await;
    plane.control.create(policy("all", ("v1", "ConfigMap", ""), placement.clone())).await;
    plane.control.create(policy("web", ("apps/v1", "Deployment", ""), placement)).await;
    for member in ["member1", "member2"] {
        plane.copy(member, "Namespace", "shop", "there", |_| true).await;
    }
    plane
}

async fn work_of(plane: &Plane, member: &str, kind: &str, name: &str) -> String {
    let space = format!("karmada-es-{member}");
    plane
        .until(&format!("work of {kind} {name} for {member}"), async || {
            let works = plane.control.list("Work", &space).await;
            let holds = |work: &&Value| {
                let manifest = &list_at(work, &["spec", "workload", "manifests"])[0];
                manifest.kind() == kind && manifest.name() == name
            };
            works.iter().find(holds).map(|work| format!("{space}/{}", work.name()))
        })
        .await
}

/// Every request is refused: before the control plane gives the member up, the Work says who said what; afterwards the
/// Cluster says it; when it takes requests again, it gets everything at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusing_member_gets_all_when_it_takes_requests_again() {
    let mut setup = Setup::shipped(2);
    // Long enough that the Work is tried while the Cluster counts as ready.
    setup.options.status_threshold = Duration::from_secs(4);
    let plane = plane(setup, onto(&["member1", "member2"])).await;
    plane.fault("member2", Fault::Refusing);
    plane.control.create(settings("early")).await;
    let work = work_of(&plane, "member2", "ConfigMap", "early").await;
    let why = plane.condition("Work", &work, "Applied", "False", "AppliedFailed").await;
    for part in ["ConfigMap", "shop/early", "member2", "refuses"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    plane.event("ConfigMap", "shop/early", "SyncFailed", "member2").await;
    plane.copy("member1", "ConfigMap", "shop/early", "there", |_| true).await;
    plane
        .object("ResourceBinding", "shop/early-configmap", "tells of both clusters", |binding| {
            let items = list_at(binding, &["status", "aggregatedStatus"]);
            let [first, second] = items else { return false };
            first["applied"] == json!(true) && str_at(second, &["appliedMessage"]).contains("refuses")
        })
        .await;

    let cluster = plane.ready("member2", "False").await;
    let told = condition::find(condition::of(&cluster), "Ready").unwrap();
    assert_eq!(str_at(told, &["reason"]), "ClusterNotReachable");
    plane.control.create(deployment("late", 2)).await;
    plane.copy("member1", "Deployment", "shop/late", "there", |_| true).await;

    plane.fault("member2", Fault::None);
    let begun = Instant::now();
    plane.ready("member2", "True").await;
    plane.copy("member2", "ConfigMap", "shop/early", "there", |_| true).await;
    plane.copy("member2", "Deployment", "shop/late", "there", |_| true).await;
    plane.condition("Work", &work, "Applied", "True", "AppliedSuccessful").await;
    assert!(begun.elapsed() < PATIENCE / 2, "took {:?}", begun.elapsed());
}

/// A machine that is gone: what was reported of it stays, changes and deletions wait, and nobody else waits with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_for_a_lost_member_is_done_when_it_is_back() {
    let plane = plane(Setup::shipped(2), onto(&["member1", "member2"])).await;
    let control = &plane.control;
    control.create(deployment("web", 2)).await;
    control.create(settings("old")).await;
    plane
        .object("Deployment", "shop/web", "4 ready", |web| {
            i64_at(web, &["status", "readyReplicas"]) == Some(4)
        })
        .await;
    plane.copy("member2", "ConfigMap", "shop/old", "there", |_| true).await;

    plane.fault("member2", Fault::Gone);
    let cluster = plane.ready("member2", "False").await;
    let told = condition::find(condition::of(&cluster), "Ready").unwrap();
    assert_eq!(
        (str_at(told, &["reason"]), str_at(told, &["message"])),
        ("ClusterNotReachable", "cluster is not reachable")
    );
    // Nothing that was known is forgotten.
    let work = work_of(&plane, "member2", "Deployment", "web").await;
    let (space, name) = work.split_once('/').unwrap();
    let held = control.get("Work", space, name).await.unwrap();
    assert!(condition::is_true(condition::of(&held), "Applied"), "{}", held["status"]);
    let web = control.get("Deployment", "shop", "web").await.unwrap();
    assert_eq!(i64_at(&web, &["status", "readyReplicas"]), Some(4));

    // Changed, deleted and new while it is away.
    control.patch("Deployment", "shop/web", json!({"spec": {"replicas": 3}})).await;
    control.delete("ConfigMap", "shop/old").await;
    plane
        .copy("member1", "Deployment", "shop/web", "scaled", |web| web["spec"]["replicas"] == json!(3))
        .await;
    plane.no_copy("member1", "ConfigMap", "shop/old").await;
    let why = plane.condition("Work", &work, "Applied", "False", "AppliedFailed").await;
    assert!(why.contains("member2") && why.contains("not ready"), "{why}");
    assert!(plane.in_member("member2").get("ConfigMap", "shop", "old").await.is_some());

    plane.fault("member2", Fault::None);
    plane.ready("member2", "True").await;
    plane
        .copy("member2", "Deployment", "shop/web", "scaled", |web| web["spec"]["replicas"] == json!(3))
        .await;
    plane.no_copy("member2", "ConfigMap", "shop/old").await;
    plane
        .object("Deployment", "shop/web", "6 ready", |web| {
            i64_at(web, &["status", "readyReplicas"]) == Some(6)
        })
        .await;
}

/// A health endpoint that answers without ok.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_is_not_ready_is_tainted_and_comes_back() {
    let plane = plane(Setup::shipped(2), onto(&["member1", "member2"])).await;
    plane.fault("member2", Fault::NotReady);
    let cluster = plane.ready("member2", "False").await;
    let told = condition::find(condition::of(&cluster), "Ready").unwrap();
    assert_eq!(str_at(told, &["reason"]), "ClusterNotReady");
    plane.event("Cluster", "member2", "TaintClusterSucceed", "cluster.karmada.io/not-ready").await;
    // What is new avoids it.
    plane.control.create(settings("new")).await;
    plane.copy("member1", "ConfigMap", "shop/new", "there", |_| true).await;
    assert!(plane.in_member("member2").get("ConfigMap", "shop", "new").await.is_none());
    plane.fault("member2", Fault::None);
    plane.ready("member2", "True").await;
}

/// A slow member gets all in its time; the others don't wait for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_member_holds_nobody_up() {
    const MANY: usize = 40;
    let plane = plane(Setup::shipped(2), onto(&["member1", "member2"])).await;
    plane.fault("member2", Fault::Slow(Duration::from_secs(4)));
    let names: Vec<String> = (0..MANY).map(|number| format!("settings{number}")).collect();
    futures::future::join_all(names.iter().map(|name| plane.control.create(settings(name)))).await;
    let arrived = async |member: &str| {
        let copies = plane.in_member(member).list("ConfigMap", "shop").await;
        names.iter().filter(|name| copies.iter().any(|copy| copy.name() == *name)).count()
    };
    plane.until("all in member1", async || (arrived("member1").await == MANY).then_some(())).await;
    let behind = arrived("member2").await;
    assert!(behind < MANY / 2, "member1 waited until member2 had {behind} of {MANY}");
    plane.fault("member2", Fault::None);
    plane.until("all in member2", async || (arrived("member2").await == MANY).then_some(())).await;
}

/// What was in a member before is not touched, and the user is told how it can be; with consent it is taken over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_is_there_already_is_taken_over_only_with_consent() {
    let plane = plane(Setup::shipped(2), onto(&["member1", "member2"])).await;
    let mut own = settings("web");
    own["data"] = json!({"currency": "USD"});
    plane.in_member("member2").create(own).await;
    plane.control.create(settings("web")).await;
    plane.copy("member1", "ConfigMap", "shop/web", "there", |_| true).await;
    let work = work_of(&plane, "member2", "ConfigMap", "web").await;
    let why = plane.condition("Work", &work, "Applied", "False", "AppliedFailed").await;
    for part in ["ConfigMap", "shop/web", "member2", "already exists", "conflictResolution to Overwrite"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    plane.event("ConfigMap", "shop/web", "SyncFailed", "already exists").await;
    plane
        .condition("ResourceBinding", "shop/web-configmap", "FullyApplied", "False", "FullyAppliedFailed")
        .await;
    let copy = plane.in_member("member2").get("ConfigMap", "shop", "web").await.unwrap();
    assert_eq!(copy["data"], json!({"currency": "USD"}));

    // Unmanaged, it stays when the template's policy is changed to elsewhere, too; with consent it is ours.
    plane
        .control
        .patch("PropagationPolicy", "shop/all", json!({"spec": {"conflictResolution": "Overwrite"}}))
        .await;
    let copy = plane
        .copy("member2", "ConfigMap", "shop/web", "taken over", |copy| {
            copy["data"]["currency"] == json!("EUR")
        })
        .await;
    assert_eq!(copy.label("karmada.io/managed"), Some("true"));
    plane.condition("Work", &work, "Applied", "True", "AppliedSuccessful").await;
    plane
        .condition("ResourceBinding", "shop/web-configmap", "FullyApplied", "True", "FullyAppliedSuccess")
        .await;
    plane.event("ConfigMap", "shop/web", "SyncSucceed", "member2").await;
}

/// A Cluster that leaves takes its copies with it; the others keep theirs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_leaves_is_left_clean() {
    let plane = plane(Setup::shipped(2), json!({"clusterAffinity": {}})).await;
    plane.control.create(settings("web")).await;
    for member in ["member1", "member2"] {
        plane.copy(member, "ConfigMap", "shop/web", "there", |_| true).await;
    }
    plane.control.delete("Cluster", "member2").await;
    plane
        .until("the Cluster is gone", async || {
            plane.control.get("Cluster", "", "member2").await.is_none().then_some(())
        })
        .await;
    plane.no_copy("member2", "ConfigMap", "shop/web").await;
    assert!(plane.in_member("member1").get("ConfigMap", "shop", "web").await.is_some());
    plane
        .object("ResourceBinding", "shop/web-configmap", "in member1 alone", |binding| {
            list_at(binding, &["status", "aggregatedStatus"]).len() == 1
        })
        .await;
}

/// A Cluster that doesn't say how it is reached: it says what is missing, gets nothing, holds nobody up, and can go.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_without_credentials_says_what_is_missing() {
    let plane = plane(Setup::shipped(2), json!({"clusterAffinity": {}})).await;
    let ghost = json!({
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "ghost"},
        "spec": {"apiEndpoint": "https://ghost.test", "syncMode": "Push"},
    });
    plane.control.create(ghost).await;
    let cluster = plane.ready("ghost", "False").await;
    let told = condition::find(condition::of(&cluster), "Ready").unwrap();
    assert_eq!(str_at(told, &["reason"]), "StatusCollectionFailed");
    let why = str_at(told, &["message"]);
    assert!(why.contains("ghost") && why.contains("spec.secretRef is missing"), "{why}");
    plane.control.create(settings("web")).await;
    for member in ["member1", "member2"] {
        plane.copy(member, "ConfigMap", "shop/web", "there", |_| true).await;
    }
    plane
        .condition("ResourceBinding", "shop/web-configmap", "FullyApplied", "True", "FullyAppliedSuccess")
        .await;
    plane.control.delete("Cluster", "ghost").await;
    plane
        .until("the Cluster is gone", async || {
            plane.control.get("Cluster", "", "ghost").await.is_none().then_some(())
        })
        .await;
}

/// So long failures go on, that pauses which double would be far longer than [`SOON`].
const LONG: Duration = Duration::from_secs(11);

/// How soon a Work goes on when what it waited for has happened.
const SOON: Duration = Duration::from_secs(7);

/// Somebody takes away what was in the way. It isn't ours, and nobody tells; the Work goes on nevertheless.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_work_goes_on_when_what_is_in_its_way_is_gone() {
    let plane = plane(Setup::shipped(2), onto(&["member1", "member2"])).await;
    plane.in_member("member2").create(settings("web")).await;
    plane.control.create(settings("web")).await;
    let work = work_of(&plane, "member2", "ConfigMap", "web").await;
    plane.condition("Work", &work, "Applied", "False", "AppliedFailed").await;
    tokio::time::sleep(LONG).await;
    plane.in_member("member2").delete("ConfigMap", "shop/web").await;
    let begun = Instant::now();
    plane
        .copy("member2", "ConfigMap", "shop/web", "ours", |copy| {
            copy.label("karmada.io/managed") == Some("true")
        })
        .await;
    plane.condition("Work", &work, "Applied", "True", "AppliedSuccessful").await;
    assert!(begun.elapsed() < SOON, "took {:?}", begun.elapsed());
}

/// A member that refused for a while, and was never called not ready: no change of its Cluster tells that it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_was_never_called_not_ready_gets_all_soon() {
    let mut setup = Setup::shipped(2);
    setup.options.status_threshold = PATIENCE * 2;
    let plane = plane(setup, onto(&["member1", "member2"])).await;
    plane.fault("member2", Fault::Refusing);
    plane.control.create(settings("web")).await;
    let work = work_of(&plane, "member2", "ConfigMap", "web").await;
    plane.condition("Work", &work, "Applied", "False", "AppliedFailed").await;
    tokio::time::sleep(LONG).await;
    plane.fault("member2", Fault::None);
    let begun = Instant::now();
    plane.copy("member2", "ConfigMap", "shop/web", "there", |_| true).await;
    assert!(begun.elapsed() < SOON, "took {:?}", begun.elapsed());
}
