//! The whole loop of the scheduler: bindings from empty to placed and written, on the durable store, and what one decision
//! costs as bindings get more. Members are Cluster objects only.

use super::figures::{Figures, resident};
use super::start::Folder;
use crate::admission::Rules;
use crate::meter::Meter;
use crate::plugins;
use anyhow::{Context as _, bail};
use kube::Client;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use windlass_apiserver::identity::Identity;
use windlass_apiserver::server::{Server, ServerOptions};
use windlass_controllers::scheduler::SchedulerPlugins;
use windlass_controllers::{Context, Options};
use windlass_members::Connector;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_object::patch::{apply_json_patch, apply_merge_patch};
use windlass_runtime::admin::Readiness;
use windlass_runtime::client::in_process;
use windlass_runtime::objects::words;
use windlass_runtime::{Objects, Shutdown};
use windlass_schedule::driver::{Decision, Driver, Settings, Written};
use windlass_schedule::gates::Gates;
use windlass_schedule::pass::Retry;
use windlass_schedule::profile::ProfileSpec;
use windlass_schedule::queue::Key;
use windlass_store::{Database, Options as StoreOptions};

/// Clusters.
const CLUSTERS: usize = 100;

/// Bindings of each run.
const SIZES: [usize; 3] = [1_000, 10_000, 50_000];

/// The run whose rate has a target.
const JUDGED: usize = 10_000;

/// Distinct placements: policies are fewer than what they select.
const PLACEMENTS: usize = 40;

/// Creates that are in flight at once.
const CLIENTS: usize = 32;

/// How often it is looked whether all is written.
const LOOK: Duration = Duration::from_millis(10);

/// After this something is stuck.
const DEADLINE: Duration = Duration::from_secs(600);

/// Processor time is told in hundredths of a second.
const TICKS: f64 = 100.0;

/// When decisions are made in the loop without a server: they need no clock.
const NOW: Duration = Duration::ZERO;

fn cluster(number: usize) -> Value {
    let regions = ["eu-west", "eu-north", "us-east", "us-west", "ap-south"];
    let region = regions.get(number % regions.len()).copied().unwrap_or_default();
    let taints = match number % 10 {
        9 => json!([{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]),
        _ => json!([]),
    };
    json!({
        "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
        "metadata": {"name": format!("member{number}"), "labels": {"tier": if number.is_multiple_of(2) {"gold"} else {"tin"}, "cell": format!("c{}", number % PLACEMENTS)}},
        "spec": {"syncMode": "Push", "region": region, "provider": "acme", "zones": [format!("{region}-a")], "taints": taints},
    })
}

fn status(number: usize) -> Value {
    let amounts = |cpu: usize, pods: usize| json!({"cpu": cpu.to_string(), "memory": format!("{}Gi", cpu * 4), "pods": pods.to_string()});
    json!({"status": {
        "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
        "resourceSummary": {"allocatable": amounts(4000 + number, 40_000), "allocated": amounts(number, number)},
    }})
}

fn placement(number: usize) -> Value {
    let number = number % PLACEMENTS;
    let divided = |preference: &str| json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": preference});
    let gold = json!({"labelSelector": {"matchLabels": {"tier": "gold"}}});
    let clusters = json!({"spreadByField": "cluster", "minGroups": 1, "maxGroups": 3});
    match number % 4 {
        0 => {
            json!({"clusterAffinity": {"labelSelector": {"matchLabels": {"cell": format!("c{number}")}}}, "clusterTolerations": [{"operator": "Exists"}]})
        }
        1 => {
            json!({"clusterAffinity": gold, "replicaScheduling": divided("Aggregated"), "spreadConstraints": [clusters]})
        }
        2 => {
            let mut weighted = divided("Weighted");
            if let Some(fields) = weighted.as_object_mut() {
                fields.insert("weightPreference".into(), json!({"dynamicWeight": "AvailableReplicas"}));
            }
            json!({"clusterAffinity": {"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu-west", "us-east"]}]}},
                "replicaScheduling": weighted, "spreadConstraints": [{"spreadByField": "region", "minGroups": 1, "maxGroups": 2}, clusters]})
        }
        _ => json!({"clusterAffinities": [
            {"affinityName": "own", "clusterNames": [format!("member{number}")]},
            {"affinityName": "any", "labelSelector": {"matchLabels": {"tier": "gold"}}}],
            "replicaScheduling": divided("Aggregated")}),
    }
}

fn binding(number: usize) -> Value {
    let name = format!("b{number:05}");
    json!({
        "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"name": format!("{name}-deployment"), "namespace": format!("ns{}", number % 20),
            "labels": {"propagationpolicy.karmada.io/permanent-id": format!("p{}", number % PLACEMENTS)}},
        "spec": {
            "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": format!("ns{}", number % 20), "name": name, "uid": format!("uid-{number}")},
            "replicas": 1 + number % 9, "placement": placement(number), "schedulerName": "default-scheduler",
            "replicaRequirements": {"resourceRequest": {"cpu": "100m", "memory": "64Mi"}},
        },
    })
}

/// Time on processors so far, of all threads, in seconds.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

pub(super) async fn run() -> anyhow::Result<Figures> {
    let mut figures = Figures::new(format!(
        "decisions: bindings of {PLACEMENTS} placements over {CLUSTERS} clusters, from empty to written (durable store, every plugin in Wasm)"
    ));
    for size in SIZES {
        let each = tokio::task::spawn_blocking(move || alone(size)).await??;
        figures.add(
            format!("{size} bindings: a decision by the loop without a server"),
            format!("{each:.0} µs"),
        );
    }
    for size in SIZES {
        let folder = Folder::new("decisions")?;
        let run = whole(size, folder.path()).await?;
        let rate = format!("{:.0} /s", run.rate);
        let name = format!("{size} bindings: decisions written");
        match size == JUDGED {
            true => figures.target(name, rate, "1000 /s"),
            false => figures.add(name, rate),
        }
        figures.add("  processor time per decision", format!("{:.0} µs", run.processor * 1e6));
        figures.add("  writes per decision, refused", format!("{:.2}, {}", run.writes, run.refused));
        figures.add(
            "  a cluster's label changes: reconsidered",
            format!("{} in {:.0} ms", run.reconsidered, run.change.as_secs_f64() * 1e3),
        );
        figures.add("  resident memory after it", format!("{} MB", resident()));
    }
    Ok(figures)
}

/// Microseconds that a decision takes from the queue to the plan, with the index and all memory, on one thread.
fn alone(size: usize) -> anyhow::Result<f64> {
    let profile = plugins::load_for(Gates::default())?.build()(&ProfileSpec::standard(Gates::default()))
        .map_err(|why| anyhow::anyhow!(why))?;
    let mut driver = Driver::new(Settings::default());
    driver.set_profile("default-scheduler", profile);
    for number in 0..CLUSTERS {
        let mut cluster = cluster(number);
        apply_merge_patch(&mut cluster, &status(number));
        driver.on_cluster(&cluster, NOW);
    }
    let mut bindings = std::collections::HashMap::new();
    for number in 0..size {
        let mut binding = binding(number);
        let metadata = binding.metadata_mut();
        metadata.insert("generation".into(), json!(1));
        metadata.insert("uid".into(), json!(number.to_string()));
        metadata.insert("resourceVersion".into(), json!("1"));
        let key: Key = windlass_api::names::namespaced(binding.namespace(), binding.name()).into();
        bindings.insert(key, Arc::new(binding));
    }
    let begun = Instant::now();
    let mut writing = Duration::ZERO;
    for (key, binding) in &bindings {
        driver.on_binding(key, Some(binding), NOW);
    }
    while let Some(entry) = driver.pop(NOW) {
        let key = entry.key;
        let decision = driver.decide(&key, bindings.get(&key).cloned(), NOW);
        let Decision::Placed(binding, plan, _) = decision else {
            bail!("{key} was not placed: {decision:?}")
        };
        // What a server would do isn't counted.
        let stopped = Instant::now();
        let mut written = (*binding).clone();
        if let Some(patch) = &plan.result {
            apply_json_patch(&mut written, patch).map_err(|why| anyhow::anyhow!("{key}: {why}"))?;
            written.metadata_mut().insert("generation".into(), json!(2));
            written.metadata_mut().insert("resourceVersion".into(), json!("2"));
        }
        let written = Arc::new(written);
        writing += stopped.elapsed();
        driver.written(&key, &Written::Accepted(written.clone()), NOW);
        driver.finish(&key, Retry::No, NOW);
        driver.on_binding(&key, Some(&written), NOW);
    }
    Ok((begun.elapsed() - writing).as_secs_f64() * 1e6 / size as f64)
}

struct Run {
    rate: f64,
    processor: f64,
    writes: f64,
    refused: u64,
    reconsidered: u64,
    change: Duration,
}

async fn whole(size: usize, folder: &Path) -> anyhow::Result<Run> {
    let shutdown = Shutdown::new();
    let database = Database::open(folder.join("windlass.redb"), StoreOptions::default())?;
    let mut options = ServerOptions::new("control", database.keyspace("control")?);
    options.admission.push(Arc::new(Rules));
    let server = Server::start(options).await?;
    let meter = Meter::default();
    let control = in_process(meter.over(server.service(Identity::system())), "default");
    crate::plane::install_crds(&control).await?;
    fill(&control, size).await?;

    let context = Context::new(
        control.clone(),
        Connector::new(&control),
        windlass_interpret::Chain::new(Vec::new()),
        Arc::new(windlass_engine::Plugins::new().transformers()),
        shutdown.clone(),
        Readiness::new(),
        Options::default(),
    );
    let build = plugins::load_for(Gates::default())?.build();
    let before = counts(&meter);
    let (begun, spent) = (Instant::now(), processor());
    let _running =
        windlass_controllers::start_schedulers(&context, SchedulerPlugins::Loaded(Arc::new(build)));
    until(begun, || counts(&meter).status - before.status >= size as u64).await?;
    let took = begun.elapsed().as_secs_f64();
    let spent = processor() - spent;
    let after = counts(&meter);

    // A label that one in forty placements asks for.
    let clusters = Objects::new(control.clone(), &Gvr::new("cluster.karmada.io", "v1alpha1", "clusters"));
    let begun = Instant::now();
    clusters.patch_merge("", "member4", &json!({"metadata": {"labels": {"cell": "none"}}})).await?;
    let expected = (0..size).filter(|number| number % PLACEMENTS == 4).count() as u64;
    until(begun, || counts(&meter).result - after.result >= expected).await?;
    let change = begun.elapsed();
    let reconsidered = counts(&meter).result - after.result;

    server.stop();
    shutdown.drain(Duration::from_secs(3)).await;
    tokio::task::spawn_blocking(move || database.close()).await?;
    Ok(Run {
        rate: size as f64 / took,
        processor: spent / size as f64,
        writes: (after.status + after.result - before.status - before.result) as f64 / size as f64,
        refused: after.refused - before.refused,
        reconsidered,
        change,
    })
}

/// Clusters with a status, and bindings that nobody has looked at.
async fn fill(control: &Client, size: usize) -> anyhow::Result<()> {
    let clusters = Objects::new(control.clone(), &Gvr::new("cluster.karmada.io", "v1alpha1", "clusters"));
    for number in 0..CLUSTERS {
        let cluster = cluster(number);
        clusters
            .create(&cluster)
            .await
            .map_err(|why| anyhow::anyhow!("{}: {}", cluster.name(), words(&why)))?;
        clusters.patch_status_merge("", cluster.name(), &status(number)).await?;
    }
    let namespaces = Objects::new(control.clone(), &Gvr::new("", "v1", "namespaces"));
    for number in 0..20 {
        let name = format!("ns{number}");
        namespaces
            .create(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
            .await?;
    }
    let bindings =
        Objects::new(control.clone(), &Gvr::new("work.karmada.io", "v1alpha2", "resourcebindings"));
    let next = AtomicUsize::new(0);
    let client = || async {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= size {
                return anyhow::Ok(());
            }
            let binding = binding(number);
            bindings.create(&binding).await.with_context(|| binding.name().to_owned())?;
        }
    };
    futures::future::join_all((0..CLIENTS).map(|_| client())).await.into_iter().collect()
}

#[derive(Clone, Copy, Default)]
struct Counts {
    result: u64,
    status: u64,
    refused: u64,
}

fn counts(meter: &Meter) -> Counts {
    let mut counts = Counts::default();
    for ((verb, resource, refused), count) in meter.read() {
        match (verb, resource.as_str(), refused) {
            (_, _, true) => counts.refused += count,
            ("patch", "resourcebindings", _) => counts.result += count,
            ("patch", "resourcebindings/status", _) => counts.status += count,
            _ => {}
        }
    }
    counts
}

async fn until(begun: Instant, done: impl Fn() -> bool) -> anyhow::Result<()> {
    while !done() {
        if begun.elapsed() > DEADLINE {
            bail!("not all was written after {} s", DEADLINE.as_secs());
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}
