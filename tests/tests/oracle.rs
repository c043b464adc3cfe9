//! The same scripts to kube-apiserver and to our server: the answers must be the same, but for what
//! `oracle/differences.yaml` lists. Without Go the reference's recorded answers stand for it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test should stop where it fails"
)]
#![allow(clippy::print_stdout, reason = "the figures are its result")]

#[path = "../oracle/mod.rs"]
mod oracle;
#[path = "../real/mod.rs"]
#[allow(dead_code, reason = "each test program uses a part")]
mod real;

use oracle::compare::{Differences, Outcome};
use oracle::reference::{self, Reference};
use oracle::{play, script, subject};

/// Fewer would mean that scripts were lost.
const FEWEST: usize = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_those_that_kube_apiserver_gave() {
    let ours = subject::start().await;
    let (mut differences, mut outcome) = (Differences::read(), Outcome::default());
    for script in script::all() {
        let answers = play::play(&ours, &script).await;
        differences.compare(&script.name, &reference::recorded(&script.name), &answers, &mut outcome);
    }
    finish(&differences, &outcome);
}

/// `UPDATE=1` keeps what the reference answers now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "builds Kubernetes; run by cargo xtask test --full"]
async fn kube_apiserver_answers_as_recorded() {
    let reference = Reference::start().await;
    let update = std::env::var_os("UPDATE").is_some();
    let mut faults = Vec::new();
    let mut exchanges = 0;
    for script in script::all() {
        let answers = play::play(&reference.client, &script).await;
        exchanges += answers.len();
        if update {
            reference::record(&script.name, &answers);
            continue;
        }
        let mut outcome = Outcome::default();
        Differences::none().compare(&script.name, &reference::recorded(&script.name), &answers, &mut outcome);
        faults.extend(outcome.faults);
    }
    println!("  {exchanges} exchanges with kube-apiserver");
    assert!(faults.is_empty(), "kube-apiserver no longer answers as recorded:\n{}", faults.join("\n"));
}

fn finish(differences: &Differences, outcome: &Outcome) {
    let Outcome { exchanges, equal, meant, open, faults } = outcome;
    println!(
        "  {exchanges} exchanges: {equal} equal, {meant} differ on purpose, {open} are still to be done, {} are new",
        faults.len()
    );
    assert!(faults.is_empty(), "{} of {exchanges} exchanges differ:\n{}", faults.len(), faults.join("\n"));
    if std::env::var_os("SCRIPT").is_none() {
        assert!(*exchanges >= FEWEST, "only {exchanges} exchanges");
        let unmet = differences.unmet();
        assert!(unmet.is_empty(), "listed differences that are none any more:\n{}", unmet.join("\n"));
    }
}
