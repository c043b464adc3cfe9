//! README's transcript, kept true: each line with `$ ` in a `console` block is run by a shell in a control plane with the
//! sample, in order, and what stands below it must come out. Ages may differ; `…` stands for any word, a line of it
//! for any lines. Since clusters follow within moments and not at once, a read is repeated until it gives what it should.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod support;

use std::ffi::OsString;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{Kubectl, PATIENCE, Plane, bounded, kubectl_path, root};

/// How long a read is repeated.
const SETTLING: Duration = Duration::from_secs(15);

/// Pause between attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// A command and what it prints.
struct Step {
    command: String,
    expected: Vec<String>,
}

#[test]
fn the_transcript_is_true() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let steps = steps(&readme);
    assert!(steps.len() >= 3, "README has lost its transcript");
    let sample = root().join("deploy/samples/shop");
    let plane = Plane::start(&["--sample", sample.to_str().unwrap()]);
    plane.wait_for("ready");
    for step in &steps {
        check(plane.kubectl(), step);
    }
}

fn check(kubectl: &Kubectl, step: &Step) {
    let reads = step.command.contains(" get ") || step.command.contains(" describe ");
    let until = Instant::now() + if reads { SETTLING } else { Duration::ZERO };
    loop {
        let done = bounded(&mut shell(kubectl, &step.command), None, PATIENCE, |_| false);
        let printed: Vec<&str> = done.stdout.lines().chain(done.stderr.lines()).collect();
        if same_lines(&step.expected, &printed) {
            return;
        }
        assert!(
            Instant::now() < until,
            "README says that\n  $ {}\nprints\n{}\nbut it prints\n{}",
            step.command,
            step.expected.join("\n"),
            printed.join("\n")
        );
        pause();
    }
}

#[allow(clippy::disallowed_methods, reason = "a test's own thread may wait")]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// The shell with the environment of the test's kubectl, and that on the path.
fn shell(kubectl: &Kubectl, command: &str) -> Command {
    let program = kubectl_path();
    let mut path = OsString::from(program.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("bash");
    shell.args(["-c", command]).current_dir(root()).env("PATH", path);
    for (name, value) in kubectl.command(&[]).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside && language == "console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), expected: Vec::new() });
        } else if let Some(step) = steps.last_mut() {
            step.expected.push(line.to_owned());
        }
    }
    steps
}

fn same_lines<S: AsRef<str>>(expected: &[S], printed: &[&str]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line.as_ref() == "…" => {
            (0..=printed.len()).any(|skipped| same_lines(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| same_words(line.as_ref(), first) && same_lines(rest, others)),
    }
}

fn same_words(expected: &str, printed: &str) -> bool {
    let (expected, printed) = (expected.split_whitespace(), printed.split_whitespace());
    let printed: Vec<&str> = printed.collect();
    let expected: Vec<&str> = expected.collect();
    let same =
        |(word, found): (&&str, &&str)| word == found || *word == "…" || (is_age(word) && is_age(found));
    expected.len() == printed.len() && expected.iter().zip(&printed).all(same)
}

/// `8s`, `2m3s`
fn is_age(word: &str) -> bool {
    let unit = word.ends_with(['s', 'm', 'h', 'd']);
    unit && word.starts_with(|first: char| first.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || "smhd".contains(c))
}

#[test]
fn lines_and_words() {
    assert!(same_lines(&["a   8s", "…", "b"], &["a 12m", "x", "y", "b"]));
    assert!(same_lines(&["web-… ready"], &["web-… ready"]));
    assert!(!same_lines(&["a"], &["a", "b"]));
    assert!(!same_lines(&["a 1"], &["a 2"]));
    let found = steps("```sh\n$ no\n```\ntext\n```console\n$ one\nout\n\n$ two\n```\n$ not this\n");
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].expected, ["out", ""]);
}
