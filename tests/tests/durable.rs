//! `windlass up --data-dir`, killed in the middle of things again and again: what was acknowledged is there, revisions
//! don't go back, and the controllers carry on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};
use support::{Folder, Kubectl, PATIENCE, Plane, binary, bounded, pause, root};

/// How often it is killed during a burst of creates.
const CRASHES: usize = 3;

/// How often it is killed while it starts.
const STARTS_KILLED: usize = 5;

/// Clients that create at the same time.
const CLIENTS: usize = 2;

/// More than a client gets done before the crash.
const BURST: usize = 400;

/// The crash comes within so long of the first create that was acknowledged.
const LATEST_CRASH: Duration = Duration::from_millis(1500);

/// A policy for every ConfigMap of the namespace.
const POLICY: &str = r#"
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "burst"}}
---
{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
 "metadata": {"name": "all", "namespace": "burst"},
 "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}],
          "placement": {"clusterAffinity": {"clusterNames": ["member1", "member2"]}}}}
"#;

fn manifests(round: usize, client: usize) -> String {
    (0..BURST)
        .map(|number| {
            format!(
                "---\n{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {{\"name\": \
                 \"c{round}-{client}-{number}\", \"namespace\": \"burst\"}}, \"data\": {{\"number\": \"{number}\"}}}}\n"
            )
        })
        .collect()
}

fn arguments(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

/// Lines `name=revision`; the last may have been cut off.
fn acknowledged(text: &str) -> BTreeMap<String, u64> {
    let whole = text.lines().zip(text.split_inclusive('\n')).filter(|(_, line)| line.ends_with('\n'));
    whole
        .filter_map(|(line, _)| line.split_once('='))
        .map(|(name, revision)| (name.to_owned(), revision.parse().unwrap()))
        .collect()
}

const NAME_AND_REVISION: &str = r#"jsonpath={.metadata.name}={.metadata.resourceVersion}{"\n"}"#;

/// Creates until the control plane is gone; gives what was acknowledged.
fn create(kubectl: &Kubectl, round: usize, client: usize) -> BTreeMap<String, u64> {
    let line = arguments(&["create", "--validate=false", "-f", "-", "-o", NAME_AND_REVISION]);
    let input = manifests(round, client);
    acknowledged(&bounded(&mut kubectl.command(&line), Some(&input), PATIENCE, |_| false).stdout)
}

fn names(kubectl: &Kubectl, context: &str) -> BTreeSet<String> {
    let line = [
        "--context",
        context,
        "get",
        "cm",
        "-n",
        "burst",
        "-o",
        r#"jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}"#,
    ];
    let text = kubectl.ok(&line, None);
    text.lines().filter(|name| name.starts_with('c')).map(str::to_owned).collect()
}

fn revisions(kubectl: &Kubectl) -> BTreeMap<String, u64> {
    let form = r#"jsonpath={range .items[*]}{.metadata.name}={.metadata.resourceVersion}{"\n"}{end}"#;
    acknowledged(&kubectl.ok(&["get", "cm", "-n", "burst", "-o", form], None))
}

fn newest(kubectl: &Kubectl) -> u64 {
    let list = kubectl.ok(&["get", "--raw", "/api/v1/namespaces/burst/configmaps?limit=1"], None);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

/// Between nothing and `most`, another each time.
fn sometime(most: Duration) -> Duration {
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
    most.mul_f64(f64::from(nanos % 1000) / 1000.0)
}

#[test]
fn killed_in_the_middle_of_things() {
    let data = Folder::new();
    let start = || Plane::start(&["--members", "2", "--data-dir", data.path().to_str().unwrap()]);
    let mut wanted = BTreeMap::new();
    let mut seen = 0;

    let mut plane = start();
    plane.kubectl().ok(&["create", "-f", "-"], Some(POLICY));
    for round in 0..CRASHES {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let kubectl = plane.kubectl().clone();
                std::thread::spawn(move || create(&kubectl, round, client))
            })
            .collect();
        let first = format!("c{round}-");
        wait_until("the first object is there", || {
            names(plane.kubectl(), "windlass").iter().any(|name| name.starts_with(&first))
        });
        let after = sometime(LATEST_CRASH);
        pause(after);
        plane.kill();
        let done: BTreeMap<_, _> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        assert!(!done.is_empty(), "nothing was acknowledged in round {round}");
        seen = done.values().copied().max().unwrap().max(seen);
        println!("round {round}: killed after {after:?}, {} creates acknowledged", done.len());
        wanted.extend(done);

        plane = start();
        let there = revisions(plane.kubectl());
        for (name, revision) in &wanted {
            let now = there.get(name);
            assert!(
                now.is_some_and(|now| now >= revision),
                "{name}: acknowledged at {revision}, now at {now:?}"
            );
        }
        let newest = newest(plane.kubectl());
        assert!(newest >= seen, "the newest revision was {seen} and is {newest}");
        seen = newest;
    }

    // A deletion that was acknowledged stays one.
    let gone: Vec<&str> = wanted.keys().map(String::as_str).take(3).collect();
    let line: Vec<&str> = [&["delete", "cm", "-n", "burst", "--wait=false"], gone.as_slice()].concat();
    plane.kubectl().ok(&line, None);
    plane.kill();
    plane = start();
    let there = names(plane.kubectl(), "windlass");
    assert!(gone.iter().all(|name| !there.contains(*name)), "{gone:?} came back");

    // The controllers carry on: members get what is there, and nothing else, and follow what comes.
    plane.kubectl().ok(&["create", "cm", "c-last", "-n", "burst"], None);
    let there = names(plane.kubectl(), "windlass");
    for member in ["member1", "member2"] {
        wait_until(&format!("{member} has the same {} objects", there.len()), || {
            names(plane.kubectl(), member) == there
        });
    }
    println!("{} objects are in both members", there.len());
}

#[test]
fn killed_while_starting() {
    let data = Folder::new();
    let shop = root().join("deploy/samples/shop");
    let up = || {
        let mut command = Command::new(binary());
        command.arg("up").arg("--data-dir").arg(data.path()).arg("--sample").arg(&shop).arg("--exit");
        command
    };
    for _ in 0..STARTS_KILLED {
        bounded(&mut up(), None, sometime(LATEST_CRASH), |_| false);
    }
    // Soon, and not by a retry after a long wait.
    let done = bounded(up().args(["--deadline", "20"]), None, PATIENCE, |_| false);
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn a_folder_has_one_owner() {
    let data = Folder::new();
    let _plane = Plane::start(&["--members", "0", "--data-dir", data.path().to_str().unwrap()]);
    let mut second = Command::new(binary());
    second.args(["up", "--members", "0", "--data-dir"]).arg(data.path());
    let done = bounded(&mut second, None, PATIENCE, |_| false);
    assert!(done.code.is_some_and(|code| code != 0), "{done:?}");
    let path = data.path().to_string_lossy().into_owned();
    assert!(done.stderr.contains(&path), "which folder? {}", done.stderr);
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        pause(Duration::from_millis(300));
    }
}
