//! All scheduling vectors, with native stand-ins for the plugins, so that a difference is the host's. With the memory of
//! answers and without: both must decide alike. See tests/conformance/scheduling/README.md.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod fakes;

use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_schedule::vectors::{Deviations, Fleet, read_set, verdict};
use windlass_schedule::{Memory, Options};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn check(set: &str, count: usize, components: bool) {
    let file: Value = serde_json::from_str(&read(&folder().join("deviations.json"))).unwrap();
    let deviations = Deviations::of(&file, "scheduling");
    let set = folder().join("scheduling").join(set);
    let fleets = read_set(&read(&set.join("fleets.json")), &read(&set.join("cases.ndjson"))).unwrap();
    let total: usize = fleets.iter().map(|fleet| fleet.cases.len()).sum();
    let options = Options { components, ..Options::default() };
    let mut wrong = Vec::new();
    for fleet in &fleets {
        run(fleet, options, &deviations, &mut wrong);
    }
    let shown: Vec<&str> = wrong.iter().take(20).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} of {total} cases differ, the first are:\n{}",
        wrong.len(),
        shown.join("\n")
    );
    assert_eq!(total, count);
}

/// Each case twice with memory, once without and once with an explanation.
fn run(fleet: &Fleet, options: Options, deviations: &Deviations, wrong: &mut Vec<String>) {
    let table = fleet.table();
    let mut remembering = fakes::profile();
    let mut forgetful = fakes::profile();
    forgetful.memory = Memory::off();
    for case in &fleet.cases {
        let outcome = case.run(&table, options, &mut forgetful);
        let got = verdict(&outcome);
        if got != case.expected() && deviations.reason(&case.id, &case.value).is_none() {
            wrong.push(format!("{}: got {got}, expected {}", case.id, case.expected()));
        }
        for explain in [false, true] {
            let again = case.run(&table, Options { explain, ..options }, &mut remembering);
            if again.result != outcome.result {
                wrong.push(format!(
                    "{}: {:?} with memory, {:?} without",
                    case.id, again.result, outcome.result
                ));
            }
        }
    }
}

#[test]
fn base() {
    check("", 1200, false);
}

#[test]
fn extended() {
    check("extended", 600, false);
}

#[test]
fn components() {
    check("components", 400, true);
}

#[test]
fn large() {
    check("large", 240, false);
}
