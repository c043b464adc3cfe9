//! `windlass bench`: measures this binary on this machine. Each bench says what it did and prints one table.

mod figures;
mod plugins;
mod propagate;
mod start;

use crate::cli::{Bench, Output};
use anyhow::bail;
use figures::Figures;
use std::process::ExitCode;

/// All benches, in order.
const NAMES: [&str; 4] = ["start", "plugins", "propagate", "members"];

/// Runs the benches that were named, or all.
pub(crate) async fn run(args: Bench) -> anyhow::Result<ExitCode> {
    let names: Vec<&str> = match args.names.as_slice() {
        [] => NAMES.to_vec(),
        names => names.iter().map(String::as_str).collect(),
    };
    if let Some(unknown) = names.iter().find(|name| !NAMES.contains(name)) {
        bail!("there is no bench {unknown:?}; there are: {}", NAMES.join(", "));
    }
    for name in names {
        let figures: Vec<Figures> = match name {
            "start" => vec![start::start().await?],
            "members" => vec![start::members().await?],
            "plugins" => vec![plugins::run()?],
            _ => vec![
                propagate::run(propagate::What::ConfigMaps).await?,
                propagate::run(propagate::What::Deployments).await?,
            ],
        };
        for figures in figures {
            match args.output {
                Output::Table => anstream::print!("{}", figures.render()),
                Output::Json => anstream::println!("{}", figures.json()),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
