//! Runs the steps of a long chore one after another, shows progress and how long
//! each took, and keeps the output of those that fail.

use anyhow::{Context, Result, bail};
use owo_colors::{OwoColorize, Stream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How one step ended.
struct Record {
    name: String,
    took: Duration,
    failure: Option<String>,
}

/// The steps of one chore.
#[derive(Default)]
pub(crate) struct Stages {
    records: Vec<Record>,
}

impl Stages {
    /// Runs a step; a failure is noted and the next step still runs.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Result<()>) {
        let begun = Instant::now();
        println!("{} {name}", "▶".if_supports_color(Stream::Stdout, |t| t.cyan()));
        let failure = step().err().map(|error| format!("{error:#}"));
        if let Some(text) = &failure {
            eprintln!("{text}");
        }
        self.records.push(Record { name: name.into(), took: begun.elapsed(), failure });
    }

    /// Prints one line per step and fails if any step did.
    pub(crate) fn finish(self) -> Result<()> {
        println!("\n{:<44} {:>8}  RESULT", "STAGE", "TIME");
        for record in &self.records {
            let result = match &record.failure {
                None => "passed".if_supports_color(Stream::Stdout, |t| t.green()).to_string(),
                Some(_) => "FAILED".if_supports_color(Stream::Stdout, |t| t.red()).to_string(),
            };
            println!("{:<44} {:>7.1}s  {result}", record.name, record.took.as_secs_f64());
        }
        let total: Duration = self.records.iter().map(|record| record.took).sum();
        println!("{:<44} {:>7.1}s", "total", total.as_secs_f64());
        let failed: Vec<_> =
            self.records.iter().filter(|r| r.failure.is_some()).map(|r| r.name.as_str()).collect();
        if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
    }
}

/// Runs a program, its output going to the terminal.
pub(crate) fn sh(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.status().with_context(|| format!("could not start `{shown}`; is it installed?"))?;
    if status.success() { Ok(()) } else { bail!("`{shown}` ended with {status}") }
}

/// Runs a program and gives what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let out = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start `{shown}`; is it installed?"))?;
    if !out.status.success() {
        bail!("`{shown}` ended with {}:\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn show(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}
