//! How many writes a template costs, and that controllers don't get into each other's way.

use crate::meter::{Kind, since};
use crate::support::{Plane, Setup, deployment, onto, policy, settings, shop};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use windlass_object::condition;
use windlass_object::path::{i64_at, list_at};

/// So long nothing must have been written for the plane to be at rest: longer than anything waits for company.
const REST: Duration = Duration::from_secs(1);

/// The bounds for a ConfigMap and a Deployment in three members, without the user's own create.
const CONFIG_MAP: usize = 13;
const DEPLOYMENT: usize = 21;

/// How often it is tried: on a busy machine members' reports come one by one, and are told one by one.
const ROUNDS: usize = 4;

type Counts = BTreeMap<Kind, usize>;

/// Waits until nothing is written any more; gives what has been.
async fn rest(plane: &Plane) -> Counts {
    let mut last = plane.meter.read();
    loop {
        tokio::time::sleep(REST).await;
        let now = plane.meter.read();
        if now == last {
            return now;
        }
        last = now;
    }
}

async fn plane() -> (Plane, Counts) {
    let plane = Setup::shipped(3).start().await;
    let members = onto(&["member1", "member2", "member3"]);
    plane.control.create(shop()).await;
    plane.control.create(policy("settings", ("v1", "ConfigMap", ""), members.clone())).await;
    plane.control.create(policy("web", ("apps/v1", "Deployment", ""), members)).await;
    for member in ["member1", "member2", "member3"] {
        plane.copy(member, "Namespace", "shop", "there", |_| true).await;
    }
    let counts = rest(&plane).await;
    (plane, counts)
}

fn is_applied(binding: &Value) -> bool {
    condition::is_true(condition::of(binding), "FullyApplied")
        && list_at(binding, &["status", "aggregatedStatus"]).len() == 3
}

fn refused(counts: &Counts) -> Vec<(&Kind, &usize)> {
    counts.iter().filter(|((_, refused), _)| *refused).collect()
}

fn total(counts: &Counts) -> usize {
    counts.values().sum()
}

/// Whether what one template has cost is within the bound; keeps the least, and begins to count anew.
async fn enough(plane: &Plane, before: &mut Counts, best: &mut Option<Counts>, bound: usize) -> bool {
    let after = rest(plane).await;
    let writes = since(before, &after);
    *before = after;
    assert!(refused(&writes).is_empty(), "{writes:#?}");
    let done = total(&writes) <= bound;
    if best.as_ref().is_none_or(|best| total(&writes) < total(best)) {
        *best = Some(writes);
    }
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_template_costs_few_writes() {
    let (plane, mut before) = plane().await;
    let mut best = None;
    for round in 0..ROUNDS {
        let name = format!("settings{round}");
        plane.control.create(settings(&name)).await;
        plane.object("ResourceBinding", &format!("shop/{name}-configmap"), "applied", is_applied).await;
        if enough(&plane, &mut before, &mut best, CONFIG_MAP).await {
            break;
        }
    }
    let writes = best.take().unwrap();
    assert!(total(&writes) <= CONFIG_MAP, "{}: {writes:#?}", total(&writes));
    for round in 0..ROUNDS {
        let name = format!("web{round}");
        plane.control.create(deployment(&name, 2)).await;
        let ready = |web: &Value| i64_at(web, &["status", "readyReplicas"]) == Some(6);
        plane.object("Deployment", &format!("shop/{name}"), "6 ready", ready).await;
        if enough(&plane, &mut before, &mut best, DEPLOYMENT).await {
            break;
        }
    }
    let writes = best.unwrap();
    assert!(total(&writes) <= DEPLOYMENT, "{}: {writes:#?}", total(&writes));

    // Looking again at everything writes nothing.
    for binding in ["settings0-configmap", "web0-deployment"] {
        let touch = json!({"metadata": {"annotations": {"test.windlass.io/touched": "yes"}}});
        plane.control.patch("ResourceBinding", &format!("shop/{binding}"), touch).await;
    }
    assert_eq!(since(&before, &rest(&plane).await), Counts::new());
}

/// Many at once, whatever the order of things: nobody meets another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_is_refused() {
    const MANY: usize = 40;
    let (plane, before) = plane().await;
    let names: Vec<String> = (0..MANY).map(|number| format!("many{number}")).collect();
    let create = async |name: &String| {
        plane.control.create(settings(name)).await;
        plane.control.create(deployment(name, 1)).await;
    };
    futures::future::join_all(names.iter().map(create)).await;
    let ready = async |count: i64| {
        for name in &names {
            let at = format!("shop/{name}");
            let ready = |web: &Value| i64_at(web, &["status", "readyReplicas"]) == Some(count);
            plane.object("Deployment", &at, "ready", ready).await;
            plane.object("ResourceBinding", &format!("{at}-configmap"), "applied", is_applied).await;
        }
    };
    ready(3).await;
    let after = rest(&plane).await;
    let writes = since(&before, &after);
    assert!(refused(&writes).is_empty(), "{writes:#?}");

    let change = async |name: &String| {
        let at = format!("shop/{name}");
        plane.control.patch("Deployment", &at, json!({"spec": {"replicas": 2}})).await;
        plane.control.patch("ConfigMap", &at, json!({"data": {"currency": "CHF"}})).await;
    };
    futures::future::join_all(names.iter().map(change)).await;
    ready(6).await;
    for name in &names {
        let changed = |copy: &Value| copy["data"]["currency"] == json!("CHF");
        plane.copy("member3", "ConfigMap", &format!("shop/{name}"), "changed", changed).await;
    }
    let mut writes = since(&after, &rest(&plane).await);
    // A decision about an older spec must be refused; everything else is written over what it rests on.
    writes.remove(&("PATCH resourcebindings".to_owned(), true));
    assert!(refused(&writes).is_empty(), "{writes:#?}");
}
