//! `windlass conformance`: runs vectors through the components that this binary carries, as they run in production. A folder
//! may have any of the files that the project's `conformance/` has; what a file is for is told by its first record.

mod equal;
mod interpreter;
mod names;
mod overrides;
mod report;
pub(crate) mod scheduling;

use crate::cli::Conformance;
use crate::plugins::{self, Loaded};
use anyhow::{Context as _, bail};
use report::{Report, Tally};
use serde_json::Value;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use windlass_engine::{Limits, Options};
use windlass_schedule::vectors::Deviations;

/// What the project decides differently on purpose.
const DEVIATIONS: &str = include_str!("../../../../tests/conformance/deviations.json");

/// How long a plugin's call may take here: the machine may be busy, and speed is not what is judged.
const DEADLINE: Duration = Duration::from_secs(30);

/// Runs every file of the folder that has vectors.
pub(crate) fn run(args: &Conformance) -> anyhow::Result<ExitCode> {
    let listed = match &args.deviations {
        Some(path) => read(path)?,
        None => DEVIATIONS.to_owned(),
    };
    let deviations: Value = serde_json::from_str(&listed).context("the list of deviations")?;
    let limits = Limits { deadline: DEADLINE, ..Limits::default() };
    let loaded = plugins::load_with(&Options { limits, ..Options::default() })?;
    let mut files = Vec::new();
    find(&args.folder, &mut files)?;
    files.sort();
    let mut report = Report::new(args.show);
    for path in &files {
        let name = path.strip_prefix(&args.folder).unwrap_or(path).display().to_string();
        if let Some(tally) = file(path, &name, &loaded, &deviations).with_context(|| name.clone())? {
            report.add(tally);
        }
    }
    if report.is_empty() {
        bail!(
            "{} has no vectors: no .ndjson or bench-*.json in it is of a known kind",
            args.folder.display()
        );
    }
    Ok(report.finish())
}

/// What a file's vectors give; nothing if it has none.
fn file(path: &Path, name: &str, loaded: &Loaded, deviations: &Value) -> anyhow::Result<Option<Tally>> {
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let base = plain.rsplit('/').next().unwrap_or(plain);
    let of = |family: &str| Deviations::of(deviations, family);
    if base.starts_with("bench-") && base.ends_with(".json") {
        return scheduling::bench(name, &read(path)?, loaded, of("scheduling")).map(Some);
    }
    if !base.ends_with(".ndjson") {
        return Ok(None);
    }
    let text = read(path)?;
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else { return Ok(None) };
    let first: Value = serde_json::from_str(first).context("first record")?;
    let has = |field: &str| first.get(field).is_some();
    Ok(if has("fleet") {
        let fleets = read(&path.with_file_name("fleets.json"))?;
        Some(scheduling::set(name, &fleets, &text, loaded, of("scheduling"))?)
    } else if has("overriders") {
        Some(overrides::run(name, &text, loaded, of("overrides"))?)
    } else if has("script") {
        Some(Tally::not_run(name, text.lines().count(), "scripts in Lua are not there yet"))
    } else if has("operation") {
        Some(interpreter::run(name, &text, loaded, of("interpreter"))?)
    } else if has("bindingName") {
        Some(names::run(name, &text, of("names"))?)
    } else {
        None
    })
}

/// A file's text, unpacked if need be.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    let mut text = String::new();
    if path.extension().is_some_and(|end| end == "gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text)
    } else {
        bytes.as_slice().read_to_string(&mut text)
    }
    .with_context(|| format!("{} is no text", path.display()))?;
    Ok(text)
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// The records of a file, one a line.
fn records(text: &str) -> impl Iterator<Item = anyhow::Result<Value>> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| serde_json::from_str(line).with_context(|| format!("line {number}")))
}

/// A field's text; empty without one.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
