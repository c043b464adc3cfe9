//! Builds and runs the host: components, `up`, `test`, `bench`.

use crate::{check, guests, kubectl, paths, stage};
use anyhow::{Context, Result, bail};
use stage::{Stages, sh};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// With which cargo profile the host is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Quick to build: tests.
    Dev,
    /// Quick to run: `up` and benches.
    Release,
}

impl Profile {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Profile::Dev => &[],
            Profile::Release => &["--release"],
        }
    }

    fn folder(self) -> PathBuf {
        paths::host_target().join(match self {
            Profile::Dev => "debug",
            Profile::Release => "release",
        })
    }
}

/// cargo for the host's workspace. One target folder for all clones; the whole workspace is selected
/// each time, so that features resolve alike and nothing is built twice.
fn cargo(verb: &str, profile: Profile) -> Command {
    let mut command = Command::new("cargo");
    command
        .arg(verb)
        .args(["--workspace", "--exclude", "xtask", "--locked"])
        .args(profile.flags())
        .current_dir(paths::root())
        .env("CARGO_TARGET_DIR", paths::host_target());
    command
}

/// Guests → components → compiled ahead.
pub(crate) fn components(profile: Profile) -> Result<()> {
    guests::setup()?;
    guests::build()?;
    sh(cargo("build", profile).args(["--bin", "precompile"]))?;
    sh(Command::new(profile.folder().join("precompile")).arg(paths::components()))
}

fn windlass(profile: Profile) -> Result<PathBuf> {
    components(profile)?;
    sh(cargo("build", profile).args(["--bin", "windlass"]))?;
    Ok(profile.folder().join("windlass"))
}

/// Everything from nothing to a running control plane with the sample.
pub(crate) fn up(args: &[String]) -> Result<()> {
    let begun = Instant::now();
    let program = windlass(Profile::Release)?;
    println!("  ready to start after {:.1} s", begun.elapsed().as_secs_f64());
    let mut command = Command::new(program);
    command.arg("up").args(args);
    let asked = |flag: &str| args.iter().any(|arg| arg == flag || arg.starts_with(&format!("{flag}=")));
    if !asked("--sample") {
        command.arg("--sample").arg(paths::root().join("deploy/samples/shop"));
    }
    let status = command.status().context("could not start windlass")?;
    if status.success() { Ok(()) } else { bail!("windlass up ended with {status}") }
}

/// The test command of the README. `real` adds real clusters; `full` those, too, and all else that needs Go.
pub(crate) fn test(real: bool, full: bool) -> Result<()> {
    let mut stages = Stages::default();
    stages.run("format", check::formatting);
    stages.run("layers of crates", check::layers);
    stages.run("sizes of files", check::file_sizes);
    stages.run("guest toolchain", || guests::setup().map(|_| ()));
    stages.run("guests: native tests", guests::test);
    let mut program = PathBuf::new();
    stages.run("components and host (dev)", || {
        program = windlass(Profile::Dev)?;
        Ok(())
    });
    stages.run("lints", lints);
    let mut client = PathBuf::new();
    stages.run("kubectl", || {
        client = kubectl::ensure()?;
        Ok(())
    });
    let run = |extra: &[&str]| {
        sh(cargo("test", Profile::Dev)
            .args(extra)
            .env("WINDLASS_BIN", &program)
            .env("WINDLASS_COMPONENTS", paths::components())
            .env("KUBECTL", &client))
    };
    let ready = !program.as_os_str().is_empty() && !client.as_os_str().is_empty();
    if ready {
        stages.run("tests", || run(&["--no-fail-fast"]));
    } else {
        println!("  the tests need what failed above; they were not run");
    }
    if full && ready {
        let run = |test: &str| run(&["--test", test, "--", "--ignored", "--nocapture"]);
        stages.run("kube-apiserver answers as recorded", || run("oracle"));
        stages.run("Kubernetes' own specs", || run("kubernetes"));
    }
    if (real || full) && ready {
        stages.run("real clusters", || run(&["--test", "real", "--", "--ignored", "--nocapture"]));
    }
    stages.finish()
}

/// clippy with warnings as errors: the host, then xtask, which is built apart from it.
fn lints() -> Result<()> {
    sh(cargo("clippy", Profile::Dev).args(["--all-targets", "--", "-D", "warnings"]))?;
    sh(Command::new("cargo")
        .args(["clippy", "--package", "xtask", "--all-targets", "--locked", "--", "-D", "warnings"])
        .current_dir(paths::root()))
}

/// The measurements of the README.
pub(crate) fn bench(names: &[String]) -> Result<()> {
    let program = windlass(Profile::Release)?;
    let mut command = Command::new(program);
    command.arg("bench").args(names).current_dir(paths::root());
    sh(&mut command)
}

/// Vectors through the shipped components; ends as the program does.
pub(crate) fn conformance(folder: Option<PathBuf>, show: bool) -> Result<()> {
    let program = windlass(Profile::Release)?;
    let folder = folder.unwrap_or_else(|| paths::root().join("tests/conformance"));
    let mut command = Command::new(program);
    command.arg("conformance").arg(folder).args(show.then_some("--show"));
    sh(&mut command)
}
