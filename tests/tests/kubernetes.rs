//! Kubernetes' own conformance specs against our API server, driven by the real kube-controller-manager,
//! kube-scheduler and kwok. `conformance/kubernetes/README.md` has the table.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test should stop where it fails"
)]
#![allow(clippy::print_stdout, reason = "the test takes minutes and tells what it is doing")]

#[path = "../real/mod.rs"]
#[allow(dead_code, reason = "each test program uses a part")]
mod real;
#[path = "../conformance/kubernetes/specs.rs"]
mod specs;

use real::cluster::Cluster;
use real::folder::Folder;
use real::kubectl::Kubectl;
use real::pki::Pki;
use real::process::Process;
use real::programs::{self, Programs};
use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "builds Kubernetes and its specs; run by cargo xtask test --full"]
fn kubernetes_own_specs_pass() {
    let programs = Programs::ensure();
    let specs = programs.path("k8s-e2e.test");
    let binaries = specs.parent().unwrap();
    specs::ensure(binaries);
    let plan = specs::Plan::read();
    let folder = Folder::new();
    let mut cluster = ours(folder.path());
    let pki = Pki::of(&folder.path().join("data/pki"));
    cluster.complete(&programs, &pki);
    let report = specs::run(binaries, &plan, &cluster.kubectl.kubeconfig, folder.path());
    let specs::Report { passed, failed } = report;
    println!("  {} specs passed, {} failed", passed.len(), failed.len());
    for one in &plan.exceptions {
        println!("  not yet: {}: {}", one.spec, one.why);
    }
    let excepted = |name: &str| plan.exceptions.iter().any(|one| name.contains(&one.spec));
    let fault = |(name, message): (&String, &String)| format!("{name}\n    {message}");
    let mut faults: Vec<String> = failed.iter().filter(|(name, _)| !excepted(name)).map(fault).collect();
    let better = passed.iter().filter(|name| excepted(name));
    faults.extend(better.map(|name| format!("{name}\n    is listed as an exception and passes")));
    assert!(faults.is_empty(), "{} specs are not as they should be:\n{}", faults.len(), faults.join("\n"));
    assert!(!passed.is_empty(), "no spec was run");
}

/// Our server in kube-apiserver's place.
fn ours(folder: &Path) -> Cluster {
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let kubeconfig = folder.join("kubeconfig");
    let mut command = Command::new(programs::windlass());
    command.args(["apiserver", "--profile", "member", "--data-dir"]).arg(&data);
    command.arg("--kubeconfig").arg(&kubeconfig);
    let process = Process::start("windlass", command, folder);
    Cluster::around("conformance", folder, Kubectl::new(&kubeconfig), process)
}
