//! What a call of each shipped plugin costs.

use super::figures::Figures;
use crate::plugins::{self, Loaded};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use windlass_policy::ClusterFacts;
use windlass_schedule::pass::{self, Surroundings};
use windlass_schedule::plugin::Assumed;
use windlass_schedule::{ClusterTable, Options, Peers};

/// Calls per figure.
const CALLS: u32 = 500;

fn median(mut call: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..CALLS)
        .map(|_| {
            let begun = Instant::now();
            call();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn micros(time: Duration) -> String {
    format!("{:.0} µs", time.as_secs_f64() * 1e6)
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", "generation": 1, "labels": {"app": "web"}},
        "spec": {
            "replicas": 9, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{
                "name": "web", "image": "registry.example.com/shop/web:1.4.2", "ports": [{"containerPort": 8080}],
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
            }]}},
        },
    })
}

fn clusters(count: usize) -> ClusterTable {
    let mut table = ClusterTable::new();
    for number in 0..count {
        table.upsert(&json!({
            "metadata": {"name": format!("m{number:05}"), "labels": {"tier": (number % 3).to_string()}},
            "spec": {"provider": "acme", "region": format!("r{}", number % 5), "syncMode": "Push"},
            "status": {
                "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}],
                "resourceSummary": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "500"}},
            },
        }));
    }
    table
}

pub(super) fn run() -> anyhow::Result<Figures> {
    let Loaded { interpreters, transform, mut profile, .. } = plugins::load()?;
    let mut figures =
        Figures::new(format!("plugins: median of {CALLS} calls, one thread, every plugin in Wasm"));
    let object = deployment();
    figures.add(
        "interpret replicas, 1 KB Deployment",
        micros(median(|| drop(interpreters.interpret_replica(&object)))),
    );
    figures.add("revise replicas", micros(median(|| drop(interpreters.revise_replica(&object, 3)))));
    figures.add("interpret health", micros(median(|| drop(interpreters.interpret_health(&object)))));
    let facts = ClusterFacts { name: "m1".into(), ..ClusterFacts::default() };
    let elements = [json!({"component": "Registry", "operator": "replace", "value": "mirror.example"})];
    let image = median(|| drop(transform.transform(&object, "imageOverrider", &elements, &facts)));
    figures.add("override the image's registry", micros(image));
    for count in [3, 100, 1000] {
        let table = clusters(count);
        // A profile follows one table: each size gets its own.
        let Loaded { profile: mut fresh, .. } = plugins::load()?;
        std::mem::swap(&mut fresh, &mut profile);
        let binding = json!({
            "metadata": {"name": "web-deployment", "namespace": "shop", "generation": 1},
            "spec": {
                "replicas": 9, "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop", "uid": "u"},
                "placement": {
                    "clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "1"}}},
                    "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"},
                },
            },
        });
        let (peers, assumed) = (Peers::default(), Assumed::new());
        let around =
            Surroundings { table: &table, peers: &peers, assumed: &assumed, options: Options::default() };
        let time = median(|| drop(pass::plan(&binding, &around, &mut profile)));
        figures.add(format!("schedule among {count} clusters"), micros(time));
    }
    Ok(figures)
}
