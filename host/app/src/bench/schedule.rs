//! What one decision of the scheduler costs: the fleets and bindings of the conformance benches on one thread, every plugin
//! in Wasm, every answer held to what the vectors expect.

use super::figures::Figures;
use crate::conformance::{read, scheduling::profile};
use crate::plugins::{self, Loaded};
use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use windlass_schedule::vectors::{Case, Fleet, read_bench, verdict};
use windlass_schedule::{ClusterTable, Memory, Options, Phase, Profile, Request};

/// How often the whole is done; each round has instances and memory of its own. A binding counts with the median of its
/// rounds, for other programs may have had the core in one of them.
const ROUNDS: usize = 5;

/// Clusters, and the targets in milliseconds for a first and a second pass.
const SIZES: [(usize, f64, f64); 3] = [(100, 0.08, 0.02), (1000, 0.5, 0.1), (5000, 2.5, 0.5)];

/// The passes of a round.
const PASSES: [&str; 3] = ["first pass", "second pass", "third pass, one cluster changed"];

/// What one pass over all bindings took: by round, and in each by binding; and by part of the work in the quickest round.
#[derive(Default)]
struct Timing {
    rounds: Vec<Vec<Duration>>,
    parts: Vec<(&'static str, Duration)>,
    quickest: Option<Duration>,
}

impl Timing {
    fn add(&mut self, each: Vec<Duration>, parts: Vec<(&'static str, Duration)>) {
        let total: Duration = each.iter().sum();
        if self.quickest.is_none_or(|quickest| total < quickest) {
            self.quickest = Some(total);
            self.parts = parts;
        }
        self.rounds.push(each);
    }

    /// Each binding's median, ascending, in milliseconds.
    fn sorted(&self) -> Vec<f64> {
        let bindings = self.rounds.first().map_or(0, Vec::len);
        let median = |binding: usize| {
            let mut times: Vec<Duration> =
                self.rounds.iter().filter_map(|round| round.get(binding).copied()).collect();
            times.sort();
            times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1e3
        };
        let mut medians: Vec<f64> = (0..bindings).map(median).collect();
        medians.sort_by(f64::total_cmp);
        medians
    }
}

/// The value below which so many of a hundred lie.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or(0.0)
}

pub(super) fn run(folder: &Path) -> anyhow::Result<Figures> {
    let loaded = plugins::load()?;
    let mut figures = Figures::new(format!(
        "schedule: per binding, {ROUNDS} rounds over the bench vectors, one thread, every plugin in Wasm"
    ));
    for (size, first, second) in SIZES {
        let path = folder.join(format!("bench-{size}.json.gz"));
        let fleet = read_bench(&read(&path)?).map_err(|why| anyhow!("{}: {why}", path.display()))?;
        let mut passes: [Timing; 3] = Default::default();
        let (mut recall, mut remembered) = (Vec::new(), 0);
        for _ in 0..ROUNDS {
            (recall, remembered) = round(&fleet, &loaded, &mut passes)?;
        }
        let mut medians = Vec::new();
        for ((name, timing), known) in PASSES.into_iter().zip(&passes).zip(&recall) {
            let sorted = timing.sorted();
            let (median, tail) = (percentile(&sorted, 50), percentile(&sorted, 99));
            let target = match medians.len() {
                0 => format!("{first} ms"),
                1 => format!("{second} ms"),
                _ => format!("{:.3} ms (twice the second)", 2.0 * medians.last().copied().unwrap_or(0.0)),
            };
            medians.push(median);
            figures.target(format!("{size} clusters, {name}: median"), format!("{median:.4} ms"), &target);
            figures.add("  99 of 100", format!("{tail:.4} ms"));
            figures.add("  answers remembered", format!("{known:.1} %"));
            for (part, took) in &timing.parts {
                let mean = took.as_secs_f64() * 1e6 / sorted.len() as f64;
                figures.add(format!("  mean, quickest round: {part}"), format!("{mean:.2} µs"));
            }
        }
        figures.add("  memory of what is remembered", megabytes(remembered as f64));
        for status in loaded.plugins.status().iter().filter(|status| status.counters.syncs > 0) {
            let memory = megabytes(status.counters.memory as f64);
            figures.add(format!("  memory of an instance of {}", status.name), memory);
        }
    }
    figures.add("answers held to the vectors", format!("{} per fleet", ROUNDS * 2 * 500));
    Ok(figures)
}

fn megabytes(bytes: f64) -> String {
    format!("{:.2} MB", bytes / f64::from(1 << 20))
}

/// Three passes over the bindings with fresh instances and an empty memory; gives what part of the answers was known in
/// each, and what all that is known takes in the end.
fn round(fleet: &Fleet, loaded: &Loaded, passes: &mut [Timing; 3]) -> anyhow::Result<(Vec<f64>, usize)> {
    let mut table = fleet.table();
    let mut profile = profile(loaded)?;
    let phases: Arc<Mutex<Clock>> = Arc::default();
    let clock = Arc::clone(&phases);
    profile.meter = Some(Box::new(move |phase| {
        clock.lock().unwrap_or_else(PoisonError::into_inner).note(phase);
    }));
    let [first, second, third] = passes;
    let mut recall = Vec::new();
    for (timing, held) in [(first, true), (second, true), (third, false)] {
        let mut truth = None;
        if !held {
            change(&mut table, fleet)?;
            let mut forgetful = crate::conformance::scheduling::profile(loaded)?;
            forgetful.memory = Memory::off();
            truth = Some(forgetful);
        }
        recall.push(pass(fleet, &table, loaded, (&mut profile, truth.as_mut()), &phases, timing)?);
    }
    Ok((recall, profile.remembered()))
}

/// When the last phase ended, and what each took so far.
#[derive(Default)]
struct Clock {
    last: Option<Instant>,
    spent: BTreeMap<Phase, Duration>,
}

impl Clock {
    fn note(&mut self, phase: Phase) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            *self.spent.entry(phase).or_default() += now - last;
        }
    }
}

fn pass(
    fleet: &Fleet,
    table: &ClusterTable,
    loaded: &Loaded,
    (profile, mut truth): (&mut Profile, Option<&mut Profile>),
    clock: &Mutex<Clock>,
    timing: &mut Timing,
) -> anyhow::Result<f64> {
    let lock = || clock.lock().unwrap_or_else(PoisonError::into_inner);
    let before = profile.memory.recall();
    let (guest, lowering) = guest_time(loaded);
    let (mut guest_truth, mut lowering_truth) = (Duration::ZERO, Duration::ZERO);
    lock().spent.clear();
    let mut reading = Duration::ZERO;
    let mut each = Vec::with_capacity(fleet.cases.len());
    for case in &fleet.cases {
        let begun = Instant::now();
        let fresh = read_case(case);
        reading += begun.elapsed();
        lock().last = Some(Instant::now());
        let outcome = fresh.run(table, Options::default(), profile);
        each.push(begun.elapsed());
        let expected = match &mut truth {
            None => case.expected(),
            Some(truth) => {
                let (guest, lowering) = guest_time(loaded);
                let expected = verdict(&case.run(table, Options::default(), truth));
                let after = guest_time(loaded);
                guest_truth += after.0 - guest;
                lowering_truth += after.1 - lowering;
                expected
            }
        };
        let got = verdict(&outcome);
        if got != expected {
            bail!("{}: wrong answer: got {got}, expected {expected}", case.id);
        }
    }
    let after = guest_time(loaded);
    let lowering = after.1 - lowering - lowering_truth;
    let guest = after.0 - guest - guest_truth - lowering;
    let spent = std::mem::take(&mut lock().spent);
    let of = |phase: Phase| spent.get(&phase).copied().unwrap_or_default();
    let asking = of(Phase::Filter) + of(Phase::Reasons) + of(Phase::Score);
    let parts = [
        ("1 reading the binding", reading + of(Phase::Prepare)),
        ("2 filters and scores, host's part", asking.saturating_sub(guest + lowering)),
        ("3 lowering", lowering),
        ("4 guest", guest),
        ("5 estimates, order", of(Phase::Rank)),
        ("6 selection", of(Phase::Select)),
        ("7 assignment", of(Phase::Assign)),
    ];
    timing.add(each, parts.to_vec());
    let recall = profile.memory.recall();
    let (asked, known) = (recall.asked - before.asked, recall.known - before.known);
    Ok(100.0 * known as f64 / (asked + known).max(1) as f64)
}

/// The binding as it is taken out of its object for every decision.
fn read_case(case: &Case) -> Case {
    let null = Value::Null;
    let part = |field: &str| case.value.get(field).unwrap_or(&null);
    Case {
        id: String::new(),
        value: Value::Null,
        request: Request::from_parts(part("spec"), part("status")),
        empty_workload_propagation: case.empty_workload_propagation,
    }
}

/// Time in calls of filters and scores, and of that the time that lowering took.
fn guest_time(loaded: &Loaded) -> (Duration, Duration) {
    let status = loaded.plugins.status();
    let counters = status.iter().map(|status| &status.counters).filter(|counters| counters.syncs > 0);
    counters.fold((Duration::ZERO, Duration::ZERO), |(total, lowering), counters| {
        (total + counters.total, lowering + counters.lowering)
    })
}

/// Changes one cluster in everything that can be read of it but its place.
fn change(table: &mut ClusterTable, fleet: &Fleet) -> anyhow::Result<()> {
    let mut cluster = fleet.clusters.get(fleet.clusters.len() / 2).context("an empty fleet")?.clone();
    let mut set = |pointer: &str, field: &str, value: Value| {
        let part = cluster.pointer_mut(pointer).and_then(Value::as_object_mut);
        part.map(|part| part.insert(field.to_owned(), value)).map(drop)
    };
    let taint = json!([{"key": "bench", "value": "changed", "effect": "NoSchedule"}]);
    set("/metadata/labels", "bench", json!("changed")).context("no labels")?;
    set("/spec", "taints", taint).context("no spec")?;
    set("/status", "apiEnablements", json!([])).context("no status")?;
    set("/status/resourceSummary/allocatable", "pods", json!("7")).context("no summary")?;
    table.upsert(&cluster);
    Ok(())
}
