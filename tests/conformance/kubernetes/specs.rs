//! Kubernetes' own conformance specs as a test binary, which of them are run, and what a run says.

use crate::real::process::Process;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Specs side by side; each waits most of the time.
const PROCESSES: usize = 6;

/// Specs that can't pass yet; they wait long for what does not come, and are not run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    /// A part of their texts.
    pub(crate) spec: String,
    /// What is missing.
    pub(crate) why: String,
}

/// What is run, and what of it may fail.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// Areas and single specs, as regular expressions.
    pub(crate) run: Vec<String>,
    /// Parts of the names of those that start containers, talk to them or wait for their ends.
    pub(crate) skip: Vec<String>,
    /// What can't pass yet; `EXCEPTIONS=1` runs it nevertheless.
    pub(crate) exceptions: Vec<Exception>,
}

/// Outcomes by the spec's text.
pub(crate) struct Report {
    pub(crate) passed: Vec<String>,
    pub(crate) failed: BTreeMap<String, String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/kubernetes")
}

impl Plan {
    /// Reads `plan.yaml`.
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(folder().join("plan.yaml")).unwrap();
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("plan.yaml: {error}"))
    }
}

/// Builds the specs and their runner into this folder, unless they are there.
pub(crate) fn ensure(programs: &Path) {
    let go = |args: &[&str], output: &str| {
        let file = programs.join(output);
        if file.is_file() {
            return;
        }
        println!("  building {output}: about 3 minutes on two cores the first time");
        let mut command = Command::new("go");
        command.current_dir(folder()).env("GOFLAGS", "-buildvcs=false").args(args).arg("-o").arg(&file);
        let package = if output == "ginkgo" { "github.com/onsi/ginkgo/v2/ginkgo" } else { "." };
        let output = command.arg(package).output().expect("Go is needed to build Kubernetes' specs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    go(&["test", "-c"], "k8s-e2e.test");
    go(&["build"], "ginkgo");
}

/// Runs the specs of a plan against a cluster; one only if `$SPEC` says which.
pub(crate) fn run(programs: &Path, plan: &Plan, kubeconfig: &Path, logs: &Path) -> Report {
    let report = logs.join("specs.json");
    let focus =
        std::env::var("SPEC").unwrap_or_else(|_| format!("({}).*\\[Conformance\\]", plan.run.join("|")));
    let mut command = Command::new(programs.join("ginkgo"));
    command
        .args(["--no-color", "--keep-going", "--timeout=1h", &format!("--procs={PROCESSES}")])
        .arg(format!("--json-report={}", report.display()))
        .args([format!("--focus={focus}"), format!("--skip={}", skipped(plan))])
        .arg(programs.join("k8s-e2e.test"))
        .args(["--", "--provider=skeleton", "--allowed-not-ready-nodes=0"])
        .arg(format!("--kubeconfig={}", kubeconfig.display()));
    Process::start("specs", command, logs).wait();
    read(&report)
}

fn skipped(plan: &Plan) -> String {
    let mut parts = plan.skip.clone();
    if std::env::var_os("EXCEPTIONS").is_none() {
        parts.extend(plan.exceptions.iter().map(|one| regex::escape(&one.spec)));
    }
    parts.join("|")
}

fn read(report: &Path) -> Report {
    let text = std::fs::read_to_string(report).expect("the specs left no report: see specs.log");
    let suites: Value = serde_json::from_str(&text).unwrap();
    let mut outcome = Report { passed: Vec::new(), failed: BTreeMap::new() };
    for suite in suites.as_array().into_iter().flatten() {
        for spec in suite["SpecReports"].as_array().into_iter().flatten() {
            if spec["LeafNodeType"] != "It" {
                continue;
            }
            let containers = spec["ContainerHierarchyTexts"].as_array().into_iter().flatten();
            let parts = containers.chain([&spec["LeafNodeText"]]).filter_map(Value::as_str);
            let name = parts.collect::<Vec<_>>().join(" ");
            match spec["State"].as_str() {
                Some("passed") => outcome.passed.push(name),
                Some("skipped" | "pending") | None => {}
                Some(_) => {
                    let message = spec["Failure"]["Message"].as_str().unwrap_or_default();
                    outcome.failed.insert(name, message.chars().take(600).collect());
                }
            }
        }
    }
    outcome
}
