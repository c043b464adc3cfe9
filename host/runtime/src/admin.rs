//! The admin port: metrics, liveness, and readiness that waits for everything named.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;

use crate::metrics::Metrics;
use crate::shutdown::Shutdown;

/// What must have happened before the process is ready. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    gates: Arc<Mutex<BTreeMap<String, bool>>>,
}

/// One thing that must have happened.
#[derive(Clone, Debug)]
pub struct Gate {
    name: String,
    readiness: Readiness,
}

impl Readiness {
    /// Nothing to wait for yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds something to wait for, closed at first.
    pub fn gate(&self, name: impl Into<String>) -> Gate {
        let name = name.into();
        self.gates.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), false);
        Gate { name, readiness: self.clone() }
    }

    /// Names of what hasn't happened yet.
    pub fn pending(&self) -> Vec<String> {
        let gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        gates.iter().filter(|(_, open)| !**open).map(|(name, _)| name.clone()).collect()
    }

    /// Whether everything has happened.
    pub fn is_ready(&self) -> bool {
        self.pending().is_empty()
    }
}

impl Gate {
    /// It has happened.
    pub fn open(&self) {
        self.readiness.gates.lock().unwrap_or_else(PoisonError::into_inner).insert(self.name.clone(), true);
    }

    /// It holds no more.
    pub fn close(&self) {
        self.readiness.gates.lock().unwrap_or_else(PoisonError::into_inner).insert(self.name.clone(), false);
    }
}

/// The routes of the admin port: `/metrics`, `/healthz`, `/livez`, `/readyz`.
pub fn router(metrics: Metrics, readiness: Readiness) -> Router {
    Router::new()
        .route("/metrics", get(serve_metrics).with_state(metrics))
        .route("/healthz", get(async || "ok"))
        .route("/livez", get(async || "ok"))
        .route("/readyz", get(ready).with_state(readiness))
}

/// Serves the admin port until shutdown; answers the address, which port 0 leaves to the system.
pub async fn serve(
    address: SocketAddr,
    metrics: Metrics,
    readiness: Readiness,
    shutdown: &Shutdown,
) -> std::io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let token = shutdown.token();
    shutdown.spawn(async move {
        let server = axum::serve(listener, router(metrics, readiness));
        if let Err(error) = server.with_graceful_shutdown(token.cancelled_owned()).await {
            tracing::error!(%error, "admin port failed");
        }
    });
    Ok(address)
}

async fn serve_metrics(State(metrics): State<Metrics>) -> impl IntoResponse {
    let kind = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    match metrics.encode() {
        Ok(text) => (StatusCode::OK, kind, text),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, kind, format!("metrics can't be written: {error}")),
    }
}

async fn ready(State(readiness): State<Readiness>) -> (StatusCode, String) {
    match readiness.pending() {
        pending if pending.is_empty() => (StatusCode::OK, "ok".into()),
        pending => (StatusCode::SERVICE_UNAVAILABLE, format!("waiting for {}", pending.join(", "))),
    }
}
