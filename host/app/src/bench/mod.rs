//! `windlass bench`: measures this binary on this machine. Each bench says what it did and prints one table.

mod decisions;
mod figures;
mod follow;
mod plugins;
mod propagate;
mod schedule;
mod server;
mod start;

use crate::cli::{Bench, Output};
use anyhow::bail;
use std::process::ExitCode;
use windlass_simulator::Pods;

/// All benches, in order.
const NAMES: [&str; 10] = [
    "start",
    "plugins",
    "schedule",
    "server",
    "propagate-configmaps",
    "propagate-deployments",
    "propagate-pods",
    "follow",
    "decisions",
    "members",
];

/// Runs the benches that were named (also by the first word of a name), or all. Each of several runs in a process of
/// its own, so that none pays for the memory of those before it.
pub(crate) async fn run(args: Bench) -> anyhow::Result<ExitCode> {
    let meant = |name: &&str| {
        args.names.is_empty()
            || args.names.iter().any(|word| name.split('-').next() == Some(word) || *name == word)
    };
    let names: Vec<&str> = NAMES.into_iter().filter(meant).collect();
    let [name] = names.as_slice() else { return each(&names, &args) };
    let figures = match *name {
        "start" => start::start().await?,
        "members" => start::members().await?,
        "plugins" => plugins::run()?,
        "follow" => follow::run().await?,
        "schedule" => schedule::run(&args.fleets)?,
        "decisions" => decisions::run().await?,
        "server" => server::run().await?,
        "propagate-configmaps" => propagate::run(propagate::What::ConfigMaps).await?,
        "propagate-pods" => propagate::run(propagate::What::Deployments(Pods::Real)).await?,
        _ => propagate::run(propagate::What::Deployments(Pods::Counted)).await?,
    };
    match args.output {
        Output::Table => anstream::print!("{}", figures.render()),
        Output::Json => anstream::println!("{}", figures.json()),
    }
    Ok(ExitCode::SUCCESS)
}

fn each(names: &[&str], args: &Bench) -> anyhow::Result<ExitCode> {
    if names.is_empty() {
        bail!("there is no such bench; there are: {}", NAMES.join(", "));
    }
    let output = if args.output == Output::Json { "json" } else { "table" };
    for name in names {
        let status = std::process::Command::new(std::env::current_exe()?)
            .args(["bench", name, "--output", output, "--fleets"])
            .arg(&args.fleets)
            .status()?;
        if !status.success() {
            bail!("bench {name} ended with {status}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
