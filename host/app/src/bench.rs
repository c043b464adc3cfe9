//! `windlass bench`: measures this binary on this machine.

use crate::cli::Bench;
use std::process::ExitCode;

/// Runs the benches that were named, or all.
pub(crate) async fn run(args: Bench) -> anyhow::Result<ExitCode> {
    let _ = args;
    anyhow::bail!("no benches yet")
}
