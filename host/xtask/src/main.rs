//! The project's chores: `cargo xtask setup | guests | up | test | bench | conformance | check`.
//! Knows cargo, git and the file system; links neither wasmtime nor kube.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its user")]

mod check;
mod guests;
mod host;
mod kubectl;
mod paths;
mod stage;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Chores of the Windlass repository.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the guests are built with (a compiler for wasm32, in a folder of its own).
    Setup,
    /// Build the guests into components, and compile those ahead for the host.
    Guests {
        /// Compile ahead with the release profile, as `up` and `bench` use it.
        #[arg(long)]
        release: bool,
    },
    /// Set everything up, then run the control plane with simulated members and the sample.
    Up {
        /// Arguments for `windlass up`: --members N, --data-dir DIR, --exit, …
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run every check and every test, and print one summary.
    Test {
        /// Also join real clusters (builds Kubernetes from Go modules: minutes).
        #[arg(long)]
        real: bool,
        /// Everything that needs Go or long waits: real clusters, kube-apiserver beside ours, Kubernetes' own specs.
        #[arg(long)]
        full: bool,
    },
    /// Measure the hot paths (release): propagate, store, schedule, interpret, override, start.
    Bench {
        /// Which benches; all without.
        names: Vec<String>,
    },
    /// Run conformance vectors through the shipped components (release).
    Conformance {
        /// A folder of vectors; the copies in tests/ without.
        folder: Option<PathBuf>,
        /// Print each difference in full.
        #[arg(long)]
        show: bool,
    },
    /// Only the quick checks: formatting, layers of crates, sizes of files.
    Check,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Setup => guests::setup().map(|_| ()),
        Command::Guests { release } => {
            host::components(if release { host::Profile::Release } else { host::Profile::Dev })
        }
        Command::Up { args } => host::up(&args),
        Command::Test { real, full } => host::test(real, full),
        Command::Bench { names } => host::bench(&names),
        Command::Conformance { folder, show } => host::conformance(folder, show),
        Command::Check => check::all(),
    }
}
