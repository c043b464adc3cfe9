//! `windlass up` as a program: its exit codes, what it says of bad arguments, its admin port, and that it rests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;
use support::{Done, Folder, PATIENCE, Plane, binary, bounded, pause, root};

/// How long nothing may be written for it to count as rest: longer than the members' heartbeat.
const REST: Duration = Duration::from_secs(12);

fn up(arguments: &[&str]) -> Done {
    let folder = Folder::new();
    let mut command = Command::new(binary());
    command.arg("up").arg("--kubeconfig").arg(folder.join("kubeconfig")).args(arguments);
    bounded(&mut command, None, PATIENCE, |_| false)
}

fn sample(manifest: &str) -> Folder {
    let folder = Folder::new();
    std::fs::write(folder.join("one.yaml"), manifest).unwrap();
    folder
}

#[test]
fn exits_once_all_is_ready() {
    let shop = root().join("deploy/samples/shop");
    let done = up(&["--sample", shop.to_str().unwrap(), "--exit"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let squeezed = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for row in [
        "export KUBECONFIG=",
        "shop deployment/web member1 3 ready",
        "shop deployment/web member2 6 ready",
        "shop deployment/web member3 - refused cluster(s) had untolerated taint {dedicated=batch:NoSchedule}",
        "Ready after",
    ] {
        assert!(squeezed.contains(row), "no {row:?} in\n{}", done.stdout);
    }
}

#[test]
fn says_what_is_missing_at_the_deadline() {
    let folder = sample(
        r#"
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "lost", "namespace": "default"}}
---
{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "lost", "namespace": "default"},
 "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "lost"}],
          "placement": {"clusterAffinity": {"clusterNames": ["member9"]}}}}
"#,
    );
    let done = up(&["--sample", folder.path().to_str().unwrap(), "--exit", "--deadline", "4"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stderr.contains("configmap/lost: no cluster fits"), "{done:?}");
}

#[test]
fn bad_arguments_are_named() {
    let broken = sample("kind: [");
    let unknown =
        sample(r#"{"apiVersion": "nowhere.example/v1", "kind": "Nothing", "metadata": {"name": "one"}}"#);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let file = broken.join("one.yaml/below");
    let cases: [(&[&str], &str); 6] = [
        (&["--sample", "/no/such/folder"], "/no/such/folder"),
        (&["--sample", broken.path().to_str().unwrap()], "one.yaml"),
        (&["--sample", unknown.path().to_str().unwrap()], "nowhere.example/v1"),
        (&["--listen", &address], &address),
        (&["--admin-listen", &address], &address),
        (&["--data-dir", file.to_str().unwrap()], "one.yaml"),
    ];
    for (arguments, named) in cases {
        let done = up(arguments);
        assert!(done.code.is_some_and(|code| code != 0), "{arguments:?}: {done:?}");
        assert!(done.stderr.contains(named), "{arguments:?} doesn't name {named}: {done:?}");
        assert!(!done.stderr.contains("panicked"), "{arguments:?}: {done:?}");
    }
}

#[test]
fn help_is_worth_reading() {
    let done = bounded(Command::new(binary()).arg("--help"), None, PATIENCE, |_| false);
    assert_eq!(done.code, Some(0));
    for text in ["windlass up --data-dir", "windlass join", "Run the control plane"] {
        assert!(done.stdout.contains(text), "no {text:?} in\n{}", done.stdout);
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn revision(plane: &Plane, context: &str) -> String {
    let list =
        plane.kubectl().ok(&["--context", context, "get", "--raw", "/api/v1/namespaces?limit=1"], None);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    list["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

#[test]
fn the_admin_port_answers_and_at_rest_nothing_is_written() {
    let shop = root().join("deploy/samples/shop");
    let plane = Plane::start(&["--sample", shop.to_str().unwrap()]);
    let admin = plane.started()["admin"].as_str().unwrap().to_owned();
    plane.wait_for("ready");
    for path in ["/healthz", "/readyz"] {
        let answer = get(&admin, path);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    let metrics = get(&admin, "/metrics");
    for name in ["windlass_plugin_calls", "TaintToleration"] {
        assert!(metrics.contains(name), "no {name} in\n{metrics}");
    }

    // What the start has set off comes to an end; then everything stands still.
    let all = || ["windlass", "member1", "member2", "member3"].map(|context| revision(&plane, context));
    let mut before = all();
    for _ in 0..4 {
        pause(REST);
        let after = all();
        if before == after {
            return;
        }
        before = after;
    }
    panic!("something is written again and again while nothing changes: {before:?}, {:?}", all());
}
