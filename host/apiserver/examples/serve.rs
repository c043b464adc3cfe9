//! A control plane and a member in memory behind one TLS port, for trying out
//! with kubectl: prints the path of a kubeconfig and serves until Ctrl-C.
//!
//! `cargo run -p windlass-apiserver --example serve -- [PORT [KUBECONFIG]]`
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use windlass_apiserver::server::{Profile, Server, ServerOptions};
use windlass_apiserver::tls::{self, Authority, Context, Routes, Tls};
use windlass_store::Database;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().as_deref().unwrap_or("0").parse()?;
    let path = arguments
        .next()
        .map_or_else(|| std::env::temp_dir().join("windlass-serve.kubeconfig"), PathBuf::from);

    let authority = Authority::generate()?;
    let database = Database::memory(Default::default());
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let local = listener.local_addr()?;
    let mut servers = Vec::new();
    for (name, profile) in [("control", Profile::Control), ("member1", Profile::Member)] {
        let mut options = ServerOptions::new(name, database.keyspace(name)?);
        options.profile = profile;
        options.ca = Some(authority.certificate_pem().to_owned());
        options.advertise = Some(local);
        servers.push(Server::start(options).await?);
    }
    let [control, member] = servers.as_slice() else { return Err("two servers were started".into()) };
    let routes = Routes::new(Arc::new(control.clone()));
    routes.insert("member1", Arc::new(member.clone()));
    let address = format!("https://{local}");
    let client = authority.client("kubernetes-admin", "system:masters")?;
    let contexts = [
        Context { name: "windlass".to_owned(), server: address.clone() },
        Context {
            name: "member1".to_owned(),
            server: format!("{address}{}", Routes::member_path("member1")),
        },
    ];
    let config = tls::kubeconfig(&authority, "kubernetes-admin", &client, &contexts);
    tls::files::write_private(&path, serde_json::to_string_pretty(&config)?.as_bytes())?;
    println!("export KUBECONFIG={}", path.display());

    let stop = CancellationToken::new();
    let serving =
        tokio::spawn(tls::serve(listener, Tls { config: authority.server(&[])? }, routes, stop.clone()));
    tokio::signal::ctrl_c().await?;
    servers.iter().for_each(Server::stop);
    stop.cancel();
    serving.await?;
    Ok(())
}
