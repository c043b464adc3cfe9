//! `windlass apiserver`: one Kubernetes API server by itself, with no controllers of ours and no members.

use crate::cli::{Apiserver, Output, Serves};
use crate::plane;
use anyhow::Context as _;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use windlass_apiserver::tls::files::write_private;
use windlass_apiserver::tls::{self, Context as KubeContext, Routes, Tls};
use windlass_apiserver::{Profile, Server, ServerOptions};
use windlass_runtime::Shutdown;

/// How long running requests may take at the end.
const DRAIN: Duration = Duration::from_secs(3);

/// Serves until Ctrl-C.
pub(crate) async fn run(args: Apiserver) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let shutdown = Shutdown::new();
    shutdown.on_signals()?;
    let (database, authority, issuer) = plane::open(args.data_dir.as_deref())?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("--listen {}: is the port taken?", args.listen))?;
    let address = listener.local_addr()?;
    let store = database.keyspace("apiserver").context("the server's store")?;
    let mut options = ServerOptions::new("apiserver", store);
    options.profile = match args.profile {
        Serves::Control => Profile::Control,
        Serves::Member => Profile::Member,
    };
    options.front.issuer = Some(issuer);
    options.ca = Some(authority.certificate_pem().to_owned());
    options.advertise = Some(address);
    let server = Server::start(options).await?;
    let tls = Tls { config: authority.server(&[])? };
    shutdown.spawn(tls::serve(listener, tls, Routes::new(Arc::new(server.clone())), shutdown.token()));

    let client = authority.client("admin", "system:masters")?;
    let contexts = [KubeContext { name: "apiserver".into(), server: format!("https://{address}") }];
    let kubeconfig = tls::kubeconfig(&authority, "admin", &client, &contexts);
    let path = args.kubeconfig.unwrap_or_else(|| {
        args.data_dir.clone().unwrap_or_else(std::env::temp_dir).join("apiserver.kubeconfig")
    });
    write_private(&path, serde_json::to_string_pretty(&kubeconfig)?.as_bytes())
        .with_context(|| format!("kubeconfig {}", path.display()))?;
    announce(args.output, &path, address, begun.elapsed());
    shutdown.token().cancelled().await;
    server.stop();
    shutdown.drain(DRAIN).await;
    // Closing waits for the writer's last commit. That it can't be joined would mean it panicked.
    let _ = tokio::task::spawn_blocking(move || database.close()).await;
    Ok(ExitCode::SUCCESS)
}

fn announce(output: Output, kubeconfig: &Path, address: std::net::SocketAddr, took: Duration) {
    match output {
        Output::Json => anstream::println!(
            "{}",
            json!({
                "event": "started", "kubeconfig": kubeconfig, "address": address,
                "milliseconds": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            })
        ),
        Output::Table => {
            anstream::println!(
                "The API server is up at https://{address} after {:.2} s.\n",
                took.as_secs_f64()
            );
            anstream::println!("  export KUBECONFIG={}", kubeconfig.display());
        }
    }
}
