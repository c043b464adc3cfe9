//! What came out: by file how many cases passed, failed, or differ as listed; on request every difference.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::ExitCode;
use windlass_schedule::vectors::Deviations;

/// The cases of one file.
pub(super) struct Tally {
    file: String,
    deviations: Deviations,
    passed: usize,
    failed: Vec<Difference>,
    /// Listed differences, by reason.
    listed: BTreeMap<String, Vec<Difference>>,
    /// Why the cases were not run, and how many those are.
    not_run: Option<(usize, &'static str)>,
}

/// One case that came out otherwise.
struct Difference {
    id: String,
    got: Value,
    expected: Value,
}

impl Tally {
    pub(super) fn new(file: &str, deviations: Deviations) -> Self {
        Self {
            file: file.to_owned(),
            deviations,
            passed: 0,
            failed: Vec::new(),
            listed: BTreeMap::new(),
            not_run: None,
        }
    }

    /// A file whose cases can't be run.
    pub(super) fn not_run(file: &str, count: usize, why: &'static str) -> Self {
        Self { not_run: Some((count, why)), ..Self::new(file, Deviations::default()) }
    }

    /// One case: what came out, and what was expected.
    pub(super) fn case(&mut self, id: &str, case: &Value, got: Value, expected: Value) {
        if got == expected {
            self.passed += 1;
            return;
        }
        let difference = Difference { id: id.to_owned(), got, expected };
        match self.deviations.reason(id, case) {
            Some(reason) => self.listed.entry(reason.to_owned()).or_default().push(difference),
            None => self.failed.push(difference),
        }
    }

    /// Something that must not be, whatever is listed.
    pub(super) fn fault(&mut self, id: &str, got: Value, expected: Value) {
        self.failed.push(Difference { id: id.to_owned(), got, expected });
    }

    fn deviating(&self) -> usize {
        self.listed.values().map(Vec::len).sum()
    }
}

/// All files.
pub(super) struct Report {
    show: bool,
    tallies: Vec<Tally>,
}

impl Report {
    pub(super) fn new(show: bool) -> Self {
        Self { show, tallies: Vec::new() }
    }

    pub(super) fn add(&mut self, tally: Tally) {
        self.tallies.push(tally);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tallies.is_empty()
    }

    /// Prints it; success if nothing failed.
    pub(super) fn finish(self) -> ExitCode {
        let width = self.tallies.iter().map(|tally| tally.file.len()).max().unwrap_or(0).max("FILE".len());
        anstream::println!("{:<width$}  {:>6}  {:>6}  {:>10}", "FILE", "PASSED", "FAILED", "DEVIATIONS");
        let mut sums = [0, 0, 0];
        for tally in &self.tallies {
            let counts = [tally.passed, tally.failed.len(), tally.deviating()];
            let [passed, failed, deviating] = counts;
            let note = match tally.not_run {
                Some((count, why)) => format!("  {count} not run: {why}"),
                None => String::new(),
            };
            anstream::println!("{:<width$}  {passed:>6}  {failed:>6}  {deviating:>10}{note}", tally.file);
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        let [passed, failed, deviating] = sums;
        anstream::println!("{:<width$}  {passed:>6}  {failed:>6}  {deviating:>10}", "total");
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for (reason, cases) in self.tallies.iter().flat_map(|tally| &tally.listed) {
            *reasons.entry(reason).or_default() += cases.len();
        }
        for (reason, count) in reasons {
            anstream::println!("listed deviation: {reason} ({count})");
        }
        for tally in self.tallies.iter().filter(|_| self.show) {
            for difference in &tally.failed {
                difference.print(&tally.file, "FAILED");
            }
            for (reason, cases) in &tally.listed {
                cases.iter().for_each(|difference| difference.print(&tally.file, reason));
            }
        }
        if failed > 0 && !self.show {
            anstream::println!("--show prints each difference");
        }
        if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

impl Difference {
    fn print(&self, file: &str, why: &str) {
        anstream::println!("\n{file} {}: {why}\n     got {}\n  expect {}", self.id, self.got, self.expected);
    }
}
