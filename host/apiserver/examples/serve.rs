//! A Kubernetes API server on a loopback port, plain HTTP, in memory; everybody who reaches it may do everything:
//! `cargo run -p windlass-apiserver --example serve -- 8080`, then `kubectl --server http://127.0.0.1:8080 get namespaces`.

use std::net::Ipv4Addr;
use windlass_apiserver::{Identity, Server, ServerOptions};
use windlass_store::{Database, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).map_or(Ok(8080), |text| text.parse())?;
    let database = Database::memory(Options::default());
    let server = Server::start(ServerOptions::new("example", database.keyspace("example")?)).await?;
    let router = server.router().layer(axum::Extension(Identity::system()));
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    axum::serve(listener, router).await?;
    Ok(())
}
