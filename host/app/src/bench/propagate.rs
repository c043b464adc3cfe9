//! From the first create to the last arrival: many templates to three members, on the durable store.

use super::figures::{Figures, cpu_seconds, resident};
use super::start::{Folder, options};
use crate::plane::Plane;
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_object::path::i64_at;
use windlass_runtime::Objects;
use windlass_simulator::Pods;
use windlass_store::{Event, Store};

/// Templates of each kind.
const TEMPLATES: usize = 1000;

/// Replicas of each Deployment, in each member.
const REPLICAS: i64 = 3;

/// Members that all of it goes to.
const MEMBERS: usize = 3;

/// Clients that create templates.
const CLIENTS: usize = 16;

/// After this something is stuck.
const DEADLINE: Duration = Duration::from_secs(300);

/// Where it all happens.
const NAMESPACE: &str = "bench";

/// What is propagated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    ConfigMaps,
    /// To members that do this for a workload.
    Deployments(Pods),
}

impl What {
    fn gvr(self) -> Gvr {
        match self {
            What::ConfigMaps => Gvr::new("", "v1", "configmaps"),
            What::Deployments(_) => Gvr::new("apps", "v1", "deployments"),
        }
    }

    fn template(self, number: usize) -> Value {
        let name = format!("t{number:05}");
        match self {
            What::ConfigMaps => json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NAMESPACE},
                "data": {"k": "x".repeat(900)},
            }),
            What::Deployments(_) => json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {
                    "replicas": REPLICAS, "selector": {"matchLabels": {"app": name}},
                    "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
                },
            }),
        }
    }

    fn policy(self) -> Value {
        let (version, kind) = match self {
            What::ConfigMaps => ("v1", "ConfigMap"),
            What::Deployments(_) => ("apps/v1", "Deployment"),
        };
        json!({
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"name": "bench", "namespace": NAMESPACE},
            "spec": {
                "resourceSelectors": [{"apiVersion": version, "kind": kind}],
                "placement": {"clusterAffinity": {"clusterNames": ["member1", "member2", "member3"]},
                    "clusterTolerations": [{"operator": "Exists"}]},
            },
        })
    }
}

/// When each stage had its last event.
type Stages = BTreeMap<&'static str, Duration>;

/// Waits on a store's events until `count` of them are `done`.
async fn follow(
    store: Arc<dyn Store>,
    from: u64,
    prefix: String,
    count: usize,
    done: impl Fn(&Event) -> bool,
) -> anyhow::Result<()> {
    let mut watch = store.watch(&prefix, from)?;
    let mut seen = HashSet::new();
    while seen.len() < count {
        let Some(event) = watch.next().await else { bail!("the watch of {prefix} ended") };
        if done(&event) {
            seen.insert(event.key.to_string());
        }
    }
    Ok(())
}

/// Which stage an event of the control plane belongs to.
fn stage(event: &Event, what: What) -> Option<&'static str> {
    let key = event.key.as_ref();
    let entry = event.new.as_ref()?;
    if key.contains("/resourcebindings/") {
        let object = entry.json_uncached();
        return Some(match event.previous {
            None => "2 detect (binding)",
            Some(_) if object.pointer("/status/aggregatedStatus").is_some() => "6 status (binding)",
            Some(_) => "3 schedule",
        });
    }
    if key.contains("/works/") {
        return Some(if event.previous.is_none() { "4 work" } else { "5 apply (work status)" });
    }
    key.contains(&format!("/{}/", what.gvr().resource)).then_some(match event.previous {
        None => "1 create",
        Some(_) => "7 template (claim, status)",
    })
}

pub(super) async fn run(what: What) -> anyhow::Result<Figures> {
    let folder = Folder::new("propagate")?;
    let mut options = options(MEMBERS, folder.path());
    if let What::Deployments(pods) = what {
        options.member.pods = pods;
    }
    let plane = Plane::start(options).await?;
    prepare(&plane, what).await?;
    let before = plane.meter.read();
    let control = plane.server.store().clone();
    let from = control.revision();
    let (begun, busy) = (Instant::now(), cpu_seconds());

    let stages: Arc<std::sync::Mutex<Stages>> = Arc::default();
    let (clock, watched) = (stages.clone(), control.clone());
    let clock = tokio::spawn(async move {
        let Ok(mut watch) = watched.watch("/", from) else { return };
        while let Some(event) = watch.next().await {
            if let Some(stage) = stage(&event, what)
                && let Ok(mut stages) = clock.lock()
            {
                stages.insert(stage, begun.elapsed());
            }
        }
    });
    let mut arrivals = Vec::new();
    for member in &plane.members {
        let store = member.server().store().clone();
        let prefix = prefix(member.server(), what)?;
        let from = store.revision();
        arrivals.push(follow(store, from, prefix, TEMPLATES, |event| event.new.is_some()));
    }
    let ready = follow(control, from, prefix(&plane.server, what)?, TEMPLATES, move |event| {
        let Some(entry) = &event.new else { return false };
        let wanted = REPLICAS * MEMBERS as i64;
        what == What::ConfigMaps
            || i64_at(&entry.json_uncached(), &["status", "readyReplicas"]) == Some(wanted)
    });
    let all = async {
        let (created, arrived, ready) =
            futures::future::join3(create(&plane, what), futures::future::join_all(arrivals), ready).await;
        created?;
        arrived.into_iter().collect::<anyhow::Result<()>>()?;
        let arrived = begun.elapsed();
        ready?;
        anyhow::Ok(arrived)
    };
    let arrived =
        tokio::time::timeout(DEADLINE, all).await.context("not all arrived within the deadline")??;
    let took = if what == What::ConfigMaps { arrived } else { begun.elapsed() };
    // Statuses and events of the last ones are still on their way.
    tokio::time::sleep(Duration::from_secs(1)).await;
    clock.abort();
    let busy = cpu_seconds() - busy;
    let figures = figures(&plane, what, (took, busy), &before, &stages);
    plane.stop().await;
    Ok(figures)
}

fn prefix(server: &windlass_apiserver::server::Server, what: What) -> anyhow::Result<String> {
    let gvr = what.gvr();
    let resource = server.registry().get(&gvr.group, &gvr.version, &gvr.resource);
    Ok(resource.with_context(|| format!("{gvr} is not served"))?.range(NAMESPACE))
}

async fn prepare(plane: &Plane, what: What) -> anyhow::Result<()> {
    let objects = |gvr: Gvr| Objects::new(plane.control.clone(), &gvr);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    objects(Gvr::new("", "v1", "namespaces")).create(&namespace).await?;
    let policies = objects(Gvr::new("policy.karmada.io", "v1alpha1", "propagationpolicies"));
    policies.create(&what.policy()).await?;
    // The members' namespaces, their statuses and the controllers' informers come to rest.
    tokio::time::sleep(Duration::from_secs(2)).await;
    Ok(())
}

async fn create(plane: &Plane, what: What) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let objects = Objects::new(plane.control.clone(), &what.gvr());
    let client = || async {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= TEMPLATES {
                return anyhow::Ok(());
            }
            let template = what.template(number);
            objects.create(&template).await.with_context(|| template.name().to_owned())?;
        }
    };
    futures::future::join_all((0..CLIENTS).map(|_| client())).await.into_iter().collect()
}

/// How many objects of the bench's namespace all members hold together, by kind: what the simulator did.
fn held(plane: &Plane, what: What) -> Vec<(&'static str, usize)> {
    let kinds: &[(&str, &str)] = match what {
        What::ConfigMaps => &[("", "configmaps")],
        What::Deployments(_) => &[("apps", "deployments"), ("apps", "replicasets"), ("", "pods")],
    };
    let count = |group: &str, resource: &str| -> usize {
        let servers = plane.members.iter().map(windlass_simulator::Member::server);
        let prefixed = servers.filter_map(|server| {
            let prefix = server.registry().get(group, "v1", resource)?.range(NAMESPACE);
            Some(server.store().snapshot().range(&prefix, None).count())
        });
        prefixed.sum()
    };
    kinds.iter().map(|(group, resource)| (*resource, count(group, resource))).collect()
}

fn figures(
    plane: &Plane,
    what: What,
    (took, busy): (Duration, f64),
    before: &BTreeMap<crate::meter::Kind, u64>,
    stages: &std::sync::Mutex<Stages>,
) -> Figures {
    let (title, time, writes) = match what {
        What::ConfigMaps => ("ConfigMaps to 3 members, until each is in all", "5 s", "14"),
        What::Deployments(_) => {
            ("Deployments of 3 replicas to 3 members, until every template's status is right", "10 s", "22")
        }
    };
    let kept = match what {
        What::ConfigMaps => "",
        What::Deployments(Pods::Counted) => ", members that count pods and hold none",
        What::Deployments(Pods::Real) => ", members with real ReplicaSets and Pods",
    };
    let mut figures = Figures::new(format!("propagate: {TEMPLATES} {title} (durable store{kept})"));
    figures.target("time", format!("{:.2} s", took.as_secs_f64()), time);
    figures.add("CPU time of the process, all cores", format!("{busy:.2} s"));
    let mut total = 0;
    let mut refused = 0;
    let mut rows = Vec::new();
    for ((verb, resource, bad), count) in plane.meter.read() {
        let fresh = count - before.get(&(verb, resource.clone(), bad)).copied().unwrap_or(0);
        if fresh == 0 {
            continue;
        }
        let name = format!("{verb} {resource}{}", if bad { " (refused)" } else { "" });
        rows.push((name, fresh));
        if bad {
            refused += fresh;
        } else {
            total += fresh;
        }
    }
    let each = |count: u64| format!("{:.2}", count as f64 / TEMPLATES as f64);
    figures.target("writes per template", each(total), writes);
    figures.target("refused writes", refused.to_string(), "none");
    figures.target("resident memory after it, members included", format!("{} MB", resident()), "300 MB");
    for (kind, count) in held(plane, what) {
        figures.add(format!("  {kind} that the members hold"), count.to_string());
    }
    for (name, count) in rows {
        figures.add(format!("  {name}, per template"), each(count));
    }
    if let Ok(stages) = stages.lock() {
        for (stage, last) in stages.iter() {
            figures.add(format!("  last event of stage {stage}"), format!("{:.2} s", last.as_secs_f64()));
        }
    }
    figures
}
