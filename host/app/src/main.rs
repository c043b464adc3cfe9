//! `windlass`: parses, sets up what a process has once, and calls one function.

mod admission;
mod alone;
mod bench;
mod cli;
mod components;
mod conformance;
mod explain;
mod faults;
mod fleet;
mod join;
mod meter;
mod metrics;
mod plane;
mod plugins;
mod sample;
mod table;
mod up;

use clap::Parser;
use std::process::ExitCode;

/// Objects are trees of small allocations that threads hand to each other, which the system's allocator
/// answers with fragments: a third more memory after a burst.
/// Without huge pages: of those it touches a few kilobytes each, and a third of all memory would be air.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Threads beside the runtime's workers, for what blocks: look-ups of names, plugins that take long. Each has a heap of its own,
/// so that hundreds would hold more memory than all objects.
const BLOCKING_THREADS: usize = 16;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    logs();
    // One provider for the whole process; a second call would find it installed, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return failed(&anyhow::anyhow!("could not start the runtime: {error}")),
    };
    let outcome = runtime.block_on(async {
        match cli.command {
            cli::Command::Up(args) => up::run(args).await,
            cli::Command::Join(args) => join::run(args).await,
            cli::Command::Explain(args) => explain::run(args).await,
            cli::Command::Apiserver(args) => alone::run(args).await,
            cli::Command::Bench(args) => bench::run(args).await,
            cli::Command::Conformance(args) => conformance::run(&args),
        }
    });
    runtime.shutdown_background();
    match outcome {
        Ok(code) => code,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    anstream::eprintln!("windlass: {error:#}");
    ExitCode::FAILURE
}

/// Logs go to standard error: warnings unless `RUST_LOG` says otherwise; JSON with `WINDLASS_LOG=json`.
fn logs() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let coloured =
        std::io::IsTerminal::is_terminal(&std::io::stderr()) && std::env::var_os("NO_COLOR").is_none();
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(coloured).with_writer(std::io::stderr);
    // Fails only if a subscriber is set already, and nobody did.
    let _ = match std::env::var("WINDLASS_LOG").as_deref() {
        Ok("json") => builder.json().try_init(),
        _ => builder.try_init(),
    };
}
