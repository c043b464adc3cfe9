//! `windlass explain` on files, without a server: what is printed is tests/explain/expected.txt (`UPDATE=1` writes it).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod support;

use std::process::{Command, Output};
use support::{binary, root};

fn explain(arguments: &[&str]) -> Output {
    let mut command = Command::new(binary());
    command.arg("explain").args(arguments).current_dir(root().join("tests/explain"));
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_table() {
    let done = explain(&["-f", "clusters.yaml", "-f", "binding.yaml"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let path = root().join("tests/explain/expected.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &done.stdout).unwrap();
    }
    assert_eq!(text(&done.stdout), std::fs::read_to_string(path).unwrap(), "run with UPDATE=1");
}

#[test]
fn everything_as_json() {
    let done =
        explain(&["shop/web-deployment", "-f", "clusters.yaml", "-f", "binding.yaml", "--output", "json"]);
    let told: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(told["trigger"], "PlacementChanged");
    assert_eq!(told["verdict"]["reason"], "Success");
    assert_eq!(told["affinityName"], "gold");
    assert_eq!(told["passes"].as_array().unwrap().len(), 2);
    assert_eq!(told["clusters"].as_array().unwrap().len(), 2);
}

#[test]
fn mistakes() {
    let words = |arguments: &[&str]| {
        let done = explain(arguments);
        assert!(!done.status.success());
        text(&done.stderr)
    };
    let missing = words(&["shop/web", "-f", "clusters.yaml", "-f", "binding.yaml"]);
    assert!(missing.contains("no ResourceBinding shop/web; there is shop/web-deployment"), "{missing}");
    let gate =
        words(&["-f", "clusters.yaml", "-f", "binding.yaml", "--feature-gates", "WorkloadAfinity=true"]);
    assert!(gate.contains("there is no feature gate \"WorkloadAfinity\"; there are: Priority"), "{gate}");
    let alone = words(&["-f", "binding.yaml"]);
    assert!(alone.contains("the files hold no Cluster"), "{alone}");
}
