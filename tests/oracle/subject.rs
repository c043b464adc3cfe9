//! Our server, behind its own TLS listener, in this process.

use crate::oracle::client::Raw;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use windlass_apiserver::tls::{self, Authority, Context, Routes, Tls};
use windlass_apiserver::{Profile, Server, ServerOptions};
use windlass_store::{Database, Options};

/// A server of the member profile, in memory.
pub(crate) async fn start() -> Raw {
    let authority = Authority::generate().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let store = Database::memory(Options::default()).keyspace("oracle").unwrap();
    let mut options = ServerOptions::new("oracle", store);
    options.profile = Profile::Member;
    options.ca = Some(authority.certificate_pem().to_owned());
    options.advertise = Some(address);
    let server = Server::start(options).await.unwrap();
    let tls = Tls { config: authority.server(&[]).unwrap() };
    let routes = Routes::new(Arc::new(server));
    tokio::spawn(tls::serve(listener, tls, routes, CancellationToken::new()));
    let client = authority.client("admin", "system:masters").unwrap();
    let contexts = [Context { name: "oracle".into(), server: format!("https://{address}") }];
    let kubeconfig = tls::kubeconfig(&authority, "admin", &client, &contexts);
    Raw::new(serde_json::from_value(kubeconfig).unwrap()).await
}
