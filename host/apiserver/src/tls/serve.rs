//! The TLS listener: HTTP/1.1 and HTTP/2 on one port, optional client
//! certificates, and an end in good order.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::peer;
use super::routes::Routes;
use crate::identity::Identity;

/// A peer that does not finish its handshake holds a socket and nothing else; not longer than this.
const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(10);
/// How long running requests may take to finish once we are to stop.
const DRAIN_DEADLINE: Duration = Duration::from_secs(3);
/// Streams per HTTP/2 connection. client-go puts all watches of a process on one connection.
const MAX_STREAMS: u32 = 1000;
/// How often a silent HTTP/2 connection is asked whether it still lives.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// How long to wait after a failed accept (out of file descriptors), so as not to spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What a listener needs to speak TLS.
#[derive(Clone)]
pub struct Tls {
    /// Certificates and client checks: see [`super::Authority::server`].
    pub config: Arc<rustls::ServerConfig>,
}

/// Serves until `stop` is cancelled, then lets running requests finish for a
/// moment. Watches end when their server stops; what remains is cut off.
pub async fn serve(listener: TcpListener, tls: Tls, routes: Routes, stop: CancellationToken) {
    let acceptor = TlsAcceptor::from(tls.config);
    let tasks = TaskTracker::new();
    let cut = CancellationToken::new();
    loop {
        let socket = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => socket,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        let (acceptor, routes, stop, cut) = (acceptor.clone(), routes.clone(), stop.clone(), cut.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = cut.cancelled() => {}
                () = connection(socket, acceptor, routes, stop) => {}
            }
        });
    }
    tasks.close();
    if tokio::time::timeout(DRAIN_DEADLINE, tasks.wait()).await.is_err() {
        cut.cancel();
        tasks.wait().await;
    }
}

async fn connection(socket: TcpStream, acceptor: TlsAcceptor, routes: Routes, stop: CancellationToken) {
    // Watch events are small and must not wait for more.
    let _ = socket.set_nodelay(true);
    let handshake = tokio::time::timeout(HANDSHAKE_DEADLINE, acceptor.accept(socket));
    let stream = match handshake.await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(%error, "TLS handshake failed");
            return;
        }
        Err(_) => return,
    };
    let who = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).and_then(peer::identity);
    let service = hyper::service::service_fn(move |request| answer(routes.clone(), who.clone(), request));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new());
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .keep_alive_interval(KEEP_ALIVE)
        .adaptive_window(true);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended with an error");
    }
}

async fn answer(
    routes: Routes,
    who: Option<Identity>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let mut request = request.map(Body::new);
    if let Some(who) = who {
        request.extensions_mut().insert(who);
    }
    Ok(match routes.select(&mut request) {
        Ok(endpoint) => endpoint.call(request).await,
        Err(name) => crate::front::answer::not_found(&format!("there is no member {name:?} here")),
    })
}

#[cfg(test)]
mod tests {
    use super::super::authority::{Authority, ClientCertificate};
    use super::super::routes::Endpoint;
    use super::*;
    use futures::future::BoxFuture;
    use rustls_pki_types::pem::PemObject as _;
    use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// Tells who asked for what; `/slow` waits for ever.
    struct Mirror;

    impl Endpoint for Mirror {
        fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
            Box::pin(async move {
                if request.uri().path() == "/slow" {
                    std::future::pending::<()>().await;
                }
                let who = request.extensions().get::<Identity>().map_or("nobody", |who| who.user.as_str());
                Response::new(Body::from(format!("{who} {}", request.uri().path())))
            })
        }
    }

    struct Fixture {
        authority: Authority,
        address: std::net::SocketAddr,
        stop: CancellationToken,
        serving: tokio::task::JoinHandle<()>,
    }

    async fn start() -> Fixture {
        let authority = Authority::generate().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Routes::new(Arc::new(Mirror));
        let stop = CancellationToken::new();
        let tls = Tls { config: authority.server(&[]).unwrap() };
        let serving = tokio::spawn(serve(listener, tls, routes, stop.clone()));
        Fixture { authority, address, stop, serving }
    }

    async fn ask(
        fixture: &Fixture,
        client: Option<ClientCertificate>,
        path: &str,
    ) -> std::io::Result<String> {
        let mut roots = rustls::RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(fixture.authority.certificate_pem().as_bytes()).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match client {
            None => builder.with_no_client_auth(),
            Some(client) => {
                let chain = vec![CertificateDer::from_pem_slice(client.certificate.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(client.key.as_bytes()).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        let socket = TcpStream::connect(fixture.address).await?;
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let mut stream = connector.connect(ServerName::try_from("localhost").unwrap(), socket).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer.rsplit("\r\n\r\n").next().unwrap_or_default().to_owned())
    }

    #[tokio::test]
    async fn certificates_say_who_asks() {
        let fixture = start().await;
        let client = fixture.authority.client("ann", "team").unwrap();
        assert_eq!(ask(&fixture, Some(client), "/x").await.unwrap(), "ann /x");
        assert_eq!(ask(&fixture, None, "/x").await.unwrap(), "nobody /x");
        let stranger = Authority::generate().unwrap().client("eve", "team").unwrap();
        assert!(ask(&fixture, Some(stranger), "/x").await.is_err());
        assert!(ask(&fixture, None, "/members/m/x").await.unwrap().contains("there is no member"));
    }

    #[tokio::test]
    async fn stopping_cuts_off_what_does_not_end() {
        let fixture = Arc::new(start().await);
        let waiting = tokio::spawn({
            let fixture = fixture.clone();
            async move { ask(&fixture, None, "/slow").await }
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        fixture.stop.cancel();
        assert!(waiting.await.unwrap().is_err());
        let fixture = Arc::into_inner(fixture).unwrap();
        tokio::time::timeout(DRAIN_DEADLINE * 2, fixture.serving).await.unwrap().unwrap();
    }
}
