//! Checks of the repository itself: which crate may use which, how long files may be,
//! what may not be in the dependency graph.
#![allow(clippy::indexing_slicing, reason = "indexing a JSON value gives null where nothing is")]

use crate::{paths, stage};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Crates by layer, lowest first. A crate may use its own layer where listed before it, and those below.
const LAYERS: [(&str, &[&str]); 5] = [
    ("matter", &["object", "api", "store", "schema"]),
    ("deciding", &["schedule", "policy", "interpret", "validate"]),
    ("hosting", &["engine"]),
    ("acting", &["runtime", "apiserver", "members", "simulator", "controllers"]),
    ("assembly", &["app", "xtask", "tests"]),
];

/// What a deciding crate, or one below it, may never link: it would bring IO where there is none.
const IO: [&str; 6] = ["tokio", "kube", "kube-client", "hyper", "axum", "wasmtime"];

/// The one exception, with its reason: the store's watches are channels.
const IO_ALLOWED: [(&str, &str); 1] = [("store", "tokio")];

/// No source file is longer: a longer one hides an idea that wants its own file.
const MAX_LINES: usize = 800;

/// Everything in this module.
pub(crate) fn all() -> Result<()> {
    formatting()?;
    layers()?;
    file_sizes()
}

/// `cargo fmt --check` for the host and the guests.
pub(crate) fn formatting() -> Result<()> {
    stage::sh(Command::new("cargo").args(["fmt", "--all", "--check"]).current_dir(paths::root()))?;
    stage::sh(
        Command::new("cargo").args(["fmt", "--all", "--check"]).current_dir(paths::root().join("plugins")),
    )
}

/// Dependencies run one way, and pure crates stay pure (`cargo metadata`).
pub(crate) fn layers() -> Result<()> {
    let text = stage::output(
        Command::new("cargo")
            .args(["metadata", "--format-version", "1", "--locked"])
            .current_dir(paths::root()),
    )?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata gave no JSON")?;
    let order: BTreeMap<&str, usize> = LAYERS
        .iter()
        .flat_map(|(_, crates)| crates.iter())
        .enumerate()
        .map(|(at, name)| (*name, at))
        .collect();
    let mut faults = Vec::new();
    let empty = Vec::new();
    for package in metadata["packages"].as_array().unwrap_or(&empty) {
        let full = package["name"].as_str().unwrap_or_default();
        let Some(name) = short(full) else { continue };
        let Some(rank) = order.get(name) else {
            if package["source"].is_null() {
                faults.push(format!("{full} is in no layer: add it to LAYERS in host/xtask/src/check.rs"));
            }
            continue;
        };
        let pure = LAYERS.iter().take(2).any(|(_, crates)| crates.contains(&name));
        for dependency in package["dependencies"].as_array().unwrap_or(&empty) {
            if dependency["kind"].as_str() == Some("dev") {
                continue;
            }
            let wanted = dependency["name"].as_str().unwrap_or_default();
            if let Some(above) = short(wanted).and_then(|other| order.get(other))
                && above >= rank
            {
                faults.push(format!("{full} uses {wanted}, which is not below it"));
            }
            if pure && IO.contains(&wanted) && !IO_ALLOWED.contains(&(name, wanted)) {
                faults.push(format!("{full} uses {wanted}: it decides or holds data, and may do no IO"));
            }
        }
    }
    duplicates(&metadata, &mut faults);
    if faults.is_empty() { Ok(()) } else { bail!("dependencies that may not be:\n  {}", faults.join("\n  ")) }
}

/// Crates whose second copy would be another, incompatible type.
fn duplicates(metadata: &Value, faults: &mut Vec<String>) {
    let empty = Vec::new();
    for single in
        ["kube", "kube-core", "k8s-openapi", "rustls", "wasmtime", "wasmparser", "axum", "json-patch"]
    {
        let packages = metadata["packages"].as_array().unwrap_or(&empty);
        let found: Vec<_> =
            packages.iter().filter(|p| p["name"] == single).filter_map(|p| p["version"].as_str()).collect();
        if found.len() > 1 {
            faults.push(format!("{single} is in the graph {} times: {}", found.len(), found.join(", ")));
        }
    }
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap_or(&empty);
    for node in nodes.iter().filter(|n| n["id"].as_str().is_some_and(|id| id.contains("#serde_json@"))) {
        let features = node["features"].as_array().unwrap_or(&empty);
        for banned in ["preserve_order", "arbitrary_precision"] {
            if features.iter().any(|feature| feature == banned) {
                faults
                    .push(format!("serde_json/{banned} is on: objects would lose their one order and form"));
            }
        }
    }
}

fn short(package: &str) -> Option<&str> {
    if package == "xtask" {
        Some(package)
    } else {
        package.strip_prefix("windlass-").filter(|name| *name != "sdk")
    }
}

/// No source file over [`MAX_LINES`]; prints the median.
pub(crate) fn file_sizes() -> Result<()> {
    let list = stage::output(Command::new("git").args(["ls-files", "*.rs"]).current_dir(paths::root()))?;
    let mut sizes = Vec::new();
    for path in list.lines() {
        if let Ok(text) = std::fs::read_to_string(paths::root().join(path)) {
            sizes.push((text.lines().count(), path));
        }
    }
    sizes.sort();
    let median = sizes.get(sizes.len() / 2).map(|(lines, _)| *lines).unwrap_or_default();
    println!("  {} Rust files, median {median} lines", sizes.len());
    let long: Vec<_> = sizes.iter().filter(|(lines, _)| *lines > MAX_LINES).collect();
    if long.is_empty() {
        return Ok(());
    }
    let shown: Vec<_> = long.iter().map(|(lines, path)| format!("{path}: {lines}")).collect();
    bail!("files over {MAX_LINES} lines:\n  {}", shown.join("\n  "))
}
