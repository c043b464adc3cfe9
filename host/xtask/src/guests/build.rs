//! Builds the guest workspace: each crate to one component in `target/components`.

use super::component;
use super::toolchain::{TARGET, setup};
use crate::paths;
use crate::stage::{output, sh};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Guests of this prefix are the engine's tests; they are kept apart, for the binary carries the others.
const TEST_PREFIX: &str = "test-";

/// Where they go, within the folder of components.
const TESTS: &str = "tests";

/// Builds every guest, writes the components that changed, and removes those whose crate is gone.
pub(crate) fn build() -> Result<()> {
    let compiler = setup()?;
    fs::create_dir_all(paths::components().join(TESTS))?;
    let guests = guests()?;
    let mut written = 0;
    for guest in &guests {
        // One call each: features that one guest wants of a library must not reach the others.
        sh(cargo("build")
            .args(["--quiet", "--release", "--target", TARGET, "-p", &guest.name])
            .env("RUSTC", &compiler))?;
        let module = target().join(TARGET).join("release").join(format!("{}.wasm", guest.library));
        let component = guest.folder().join(format!("{}.wasm", guest.name));
        if component::encode(&module, &component)? {
            let size = fs::metadata(&component)?.len();
            println!("  {} ({} KB)", component.display(), size.div_ceil(1024));
            written += 1;
        }
    }
    remove_others(&guests)?;
    println!("  {} components, {written} of them new", guests.len());
    Ok(())
}

/// Lints the guests and runs their own tests natively, with the host's compiler.
pub(crate) fn test() -> Result<()> {
    sh(cargo("clippy").args(["--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    sh(cargo("test").args(["--quiet", "--workspace"]))
}

fn cargo(verb: &str) -> Command {
    let mut command = Command::new("cargo");
    command
        .arg(verb)
        .arg("--locked")
        .current_dir(paths::root().join("plugins"))
        .env("CARGO_TARGET_DIR", target())
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

/// Where guests are built: apart from the host, for another compiler builds them.
fn target() -> PathBuf {
    paths::cache().join("guests")
}

struct Guest {
    name: String,
    library: String,
}

impl Guest {
    fn folder(&self) -> PathBuf {
        let components = paths::components();
        if self.name.starts_with(TEST_PREFIX) { components.join(TESTS) } else { components }
    }
}

/// The crates of the workspace that make a Wasm module; others are libraries that guests share.
fn guests() -> Result<Vec<Guest>> {
    let text = output(
        Command::new("cargo")
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(paths::root().join("plugins")),
    )?;
    let metadata: Metadata =
        serde_json::from_str(&text).context("cargo metadata gave something unexpected")?;
    let mut guests: Vec<Guest> = metadata
        .packages
        .into_iter()
        .filter_map(|package| {
            let module = package
                .targets
                .into_iter()
                .find(|target| target.crate_types.iter().any(|kind| kind == "cdylib"))?;
            Some(Guest { name: package.name, library: module.name.replace('-', "_") })
        })
        .collect();
    guests.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(guests)
}

/// A crate that was renamed or removed must not live on as a component.
fn remove_others(guests: &[Guest]) -> Result<()> {
    let wanted: BTreeSet<PathBuf> = guests.iter().map(|guest| guest.folder().join(&guest.name)).collect();
    for folder in [paths::components(), paths::components().join(TESTS)] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let ours = path.extension().is_some_and(|end| end == "wasm" || end == "cwasm");
            if ours && !wanted.contains(&path.with_extension("")) {
                fs::remove_file(&path)?;
            }
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    crate_types: Vec<String>,
}
