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
