//! What the hot paths of the server side cost: a durable commit, a write through the API, an event that many watch.

use super::figures::{Figures, cpu_seconds};
use super::start::Folder;
use anyhow::bail;
use serde_json::{Value, json};
use std::time::Instant;
use windlass_apiserver::identity::Identity;
use windlass_apiserver::server::{Server, ServerOptions};
use windlass_object::gvk::Gvr;
use windlass_runtime::client::in_process;
use windlass_runtime::{Informers, Objects};
use windlass_store::{Database, Op, Options};

/// Commits of one object each; a few seconds in all.
const COMMITS: usize = 20_000;

/// Writers that wait for their commits at once, as controllers' workers do.
const WRITERS: usize = 64;

/// Patches of one object, one after the other.
const PATCHES: usize = 5_000;

/// Informers of one collection.
const WATCHERS: usize = 100;

/// Objects that all of them hear of.
const EVENTS: usize = 500;

pub(super) async fn run() -> anyhow::Result<Figures> {
    let mut figures = Figures::new("server: hot paths, in this process");
    commits(&mut figures).await?;
    let store = Database::memory(Options::default()).keyspace("bench")?;
    let server = Server::start(ServerOptions::new("bench", store)).await?;
    patches(&server, &mut figures).await?;
    events(&server, &mut figures).await?;
    server.stop();
    Ok(figures)
}

fn micros(seconds: f64, count: usize) -> String {
    format!("{:.1} µs", seconds * 1e6 / count as f64)
}

async fn commits(figures: &mut Figures) -> anyhow::Result<()> {
    let folder = Folder::new("server")?;
    let database = Database::open(folder.path().join("bench.redb"), Options::default())?;
    let store = database.keyspace("bench")?;
    let object = json!({"metadata": {"name": "x".repeat(60)}, "data": {"k": "x".repeat(900)}}).to_string();
    let (begun, busy) = (Instant::now(), cpu_seconds());
    let writers = (0..WRITERS).map(|writer| {
        let (store, object) = (store.clone(), object.clone());
        async move {
            for number in 0..COMMITS / WRITERS {
                // Each object is written several times, as in life.
                let key = format!("/bench/objects/{writer}/{}", number % 50);
                store.write(vec![Op::put(key, object.clone())]).await?;
            }
            anyhow::Ok(())
        }
    });
    futures::future::join_all(writers).await.into_iter().collect::<anyhow::Result<()>>()?;
    let rate = COMMITS as f64 / begun.elapsed().as_secs_f64();
    let title = format!("durable writes of 1 KB per second, {WRITERS} writers");
    figures.target(title, format!("{rate:.0}"), "10000");
    figures.target("CPU of one", micros(cpu_seconds() - busy, COMMITS), "20 µs");
    database.close();
    Ok(())
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "bench", "namespace": "default"},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "bench"}},
            "template": {"metadata": {"labels": {"app": "bench"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    })
}

async fn patches(server: &Server, figures: &mut Figures) -> anyhow::Result<()> {
    let client = in_process(server.service(Identity::system()), "default");
    let deployments = Objects::new(client, &Gvr::new("apps", "v1", "deployments"));
    deployments.create(&deployment()).await?;
    let busy = cpu_seconds();
    for number in 0..PATCHES {
        let patch = json!([{"op": "add", "path": "/status/replicas", "value": number + 1}]);
        deployments.patch_status_json("default", "bench", &patch).await?;
    }
    figures.target(
        "CPU of a status patch of a Deployment, through the client",
        micros(cpu_seconds() - busy, PATCHES),
        "100 µs",
    );
    Ok(())
}

async fn events(server: &Server, figures: &mut Figures) -> anyhow::Result<()> {
    let gvr = Gvr::new("", "v1", "configmaps");
    let client = in_process(server.service(Identity::system()), "default");
    let handles: Vec<_> = (0..WATCHERS).map(|_| Informers::new(client.clone()).watch(&gvr)).collect();
    for handle in &handles {
        handle.synced().await;
    }
    let mut heard: Vec<_> = handles.iter().map(windlass_runtime::informer::Handle::subscribe).collect();
    let objects = Objects::new(client, &gvr);
    let busy = cpu_seconds();
    for number in 0..EVENTS {
        let name = format!("bench-{number}");
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"},
            "data": {"k": "x".repeat(900)},
        });
        objects.create(&object).await?;
    }
    for (watcher, changes) in heard.iter_mut().enumerate() {
        let mut seen = 0;
        while seen < EVENTS {
            let Some(change) = changes.recv().await else { bail!("informer {watcher} ended") };
            seen += usize::from(change.key.name.starts_with("bench-"));
        }
    }
    let title = format!("CPU of an event, for each of {WATCHERS} informers");
    figures.target(title, micros(cpu_seconds() - busy, EVENTS * WATCHERS), "10 µs");
    Ok(())
}
