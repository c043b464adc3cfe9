//! Stock kubectl against a control plane with three simulated members and the sample. Sessions are data:
//! `clients/kubectl/*.yaml`, described in `clients/kubectl/README.md`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod support;

use regex::Regex;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{Done, PATIENCE, Plane, bounded, pause};

/// Pause between attempts at something that is to come true.
const PAUSE: Duration = Duration::from_millis(200);

/// How long a command that is to see something while another runs is given to get going.
const HEAD_START: Duration = Duration::from_secs(1);

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    /// What it is about.
    #[allow(dead_code, reason = "for readers of the file")]
    about: String,
    /// In order.
    steps: Vec<Step>,
}

/// One command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Arguments of kubectl, as one would type them; quotes as in a shell.
    run: String,
    /// Standard input.
    stdin: Option<String>,
    /// What must come out.
    #[serde(default)]
    expect: Expect,
    /// Tried again for so many seconds until it does. Without: must at once.
    within: Option<u64>,
    /// Another command that runs meanwhile; this one is stopped once it has printed what is expected.
    meanwhile: Option<String>,
}

/// What must come out of a command. Patterns are regular expressions, `.` matches no end of line.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expect {
    /// Exit code.
    code: i32,
    /// Each is found in the standard output.
    stdout: Vec<String>,
    /// Each is found in the standard error.
    stderr: Vec<String>,
    /// None is found in either.
    absent: Vec<String>,
}

fn found(pattern: &str, text: &str) -> bool {
    Regex::new(&format!("(?m){pattern}")).unwrap_or_else(|why| panic!("{why}")).is_match(text)
}

impl Expect {
    /// What is wrong; nothing if all is well. The code of a command that was stopped doesn't count.
    fn faults(&self, done: &Done, stopped: bool) -> Vec<String> {
        let mut faults = Vec::new();
        if !stopped && done.code != Some(self.code) {
            faults.push(format!("exit code {:?}, expected {}", done.code, self.code));
        }
        for (name, patterns, text) in
            [("stdout", &self.stdout, &done.stdout), ("stderr", &self.stderr, &done.stderr)]
        {
            for pattern in patterns.iter().filter(|pattern| !found(pattern, text)) {
                faults.push(format!("{name} has no {pattern:?}"));
            }
        }
        let all = format!("{}{}", done.stdout, done.stderr);
        for pattern in self.absent.iter().filter(|pattern| found(pattern, &all)) {
            faults.push(format!("there is {pattern:?}"));
        }
        faults
    }
}

/// Splits as a shell does: at spaces, but for quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut open) = (Vec::new(), String::new(), None, false);
    for character in line.chars() {
        match quote {
            Some(end) if character == end => quote = None,
            Some(_) => word.push(character),
            None if matches!(character, '\'' | '"') => (quote, open) = (Some(character), true),
            None if character.is_whitespace() => {
                if open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            None => word.push(character),
        }
    }
    if open || !word.is_empty() {
        words.push(word);
    }
    words
}

fn attempt(plane: &Plane, step: &Step) -> (Done, Vec<String>) {
    let kubectl = plane.kubectl();
    let Some(other) = &step.meanwhile else {
        let done = kubectl.run(&words(&step.run), step.stdin.as_deref(), PATIENCE);
        let faults = step.expect.faults(&done, false);
        return (done, faults);
    };
    let enough = |text: &str| step.expect.stdout.iter().all(|pattern| found(pattern, text));
    let helper = kubectl.clone();
    let other = words(other);
    let meanwhile = std::thread::spawn(move || {
        pause(HEAD_START);
        helper.run(&other, None, PATIENCE)
    });
    let limit = Duration::from_secs(step.within.unwrap_or(20));
    let done = bounded(&mut kubectl.command(&words(&step.run)), step.stdin.as_deref(), limit, enough);
    let other = meanwhile.join().unwrap();
    let mut faults = step.expect.faults(&done, true);
    if other.code != Some(0) {
        faults.push(format!("meanwhile: {}{}", other.stdout, other.stderr));
    }
    (done, faults)
}

fn sessions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/kubectl")
}

/// Runs a file against a control plane of its own. All steps are run, unless ten have failed.
fn run(name: &str) {
    let path = sessions().join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let session: Session =
        serde_saphyr::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let sample = support::root().join("deploy/samples/shop");
    let plane = Plane::start(&["--members", "3", "--sample", sample.to_str().unwrap()]);
    plane.wait_for("ready");
    let mut failed = Vec::new();
    for (number, step) in session.steps.iter().enumerate() {
        let begun = Instant::now();
        let patience = Duration::from_secs(step.within.unwrap_or(0));
        let (done, faults) = loop {
            let (done, faults) = attempt(&plane, step);
            if faults.is_empty() || step.meanwhile.is_some() || begun.elapsed() >= patience {
                break (done, faults);
            }
            pause(PAUSE);
        };
        if !faults.is_empty() {
            failed.push(format!(
                "step {}: kubectl {}\n  {}\n--- stdout\n{}--- stderr\n{}",
                number + 1,
                step.run,
                faults.join("\n  "),
                shortened(&done.stdout),
                shortened(&done.stderr)
            ));
            if failed.len() >= 10 {
                break;
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} steps of {} failed:\n{}",
        failed.len(),
        session.steps.len(),
        path.display(),
        failed.join("\n")
    );
}

fn shortened(text: &str) -> String {
    text.lines().take(25).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_file_is_run() {
    let mut names: Vec<_> = std::fs::read_dir(sessions())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["bad-input", "changes", "faults", "kinds", "members", "policies", "verbs"]);
}

#[test]
fn bad_input() {
    run("bad-input");
}

#[test]
fn changes() {
    run("changes");
}

#[test]
fn faults() {
    run("faults");
}

#[test]
fn kinds() {
    run("kinds");
}

#[test]
fn members() {
    run("members");
}

#[test]
fn policies() {
    run("policies");
}

#[test]
fn verbs() {
    run("verbs");
}
