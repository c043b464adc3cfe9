//! A Kubernetes API server on a loopback port, plain HTTP, in memory:
//! `cargo run -p windlass-apiserver --example serve -- 8080`, then
//! `kubectl --server http://127.0.0.1:8080 --token admin get namespaces`.

use std::net::Ipv4Addr;
use windlass_apiserver::front::FrontOptions;
use windlass_apiserver::{Identity, Server, ServerOptions};
use windlass_store::{Database, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).map_or(Ok(8080), |text| text.parse())?;
    let database = Database::memory(Options::default());
    let mut options = ServerOptions::new("example", database.keyspace("example")?);
    let tokens = [("admin".to_owned(), Identity::system())].into();
    options.front = FrontOptions { tokens, ..FrontOptions::default() };
    let server = Server::start(options).await?;
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    axum::serve(listener, server.router()).await?;
    Ok(())
}
