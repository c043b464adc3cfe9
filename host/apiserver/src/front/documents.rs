//! Everything that is no resource: health, version, discovery, OpenAPI.

use axum::body::Body;
use http::header::ACCEPT;
use http::{Method, Response};
use serde_json::json;

use super::answer::{self, Form};
use super::info::{query_pairs, truthy};
use super::{discovery, negotiate, openapi, resources};
use crate::error::ApiError;
use crate::server::Server;

/// The version of Kubernetes whose API this is.
pub(super) const VERSION: &str = "v1.36.3";
/// What `?verbose` lists: there is one process, so these stand or fall together.
const CHECKS: [&str; 5] = [
    "ping",
    "log",
    "store",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/crd-informer-synced",
];

/// Answers the request for a document.
pub(super) fn answer(server: &Server, parts: &http::request::Parts) -> Result<Response<Body>, ApiError> {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return Err(if parts.uri.path() == "/" { method(parts) } else { ApiError::no_such_path() });
    }
    let path: Vec<&str> = parts.uri.path().split('/').filter(|part| !part.is_empty()).collect();
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let form = Form {
        // What can't be negotiated falls back to JSON: health checks send anything.
        format: negotiate::document(accept).unwrap_or_default(),
        pretty: query_pairs(parts.uri.query()).any(|(key, value)| key == "pretty" && truthy(&value)),
        gzip: resources::takes_gzip(&parts.headers),
        ..Form::default()
    };
    match path.as_slice() {
        [] => Ok(answer::document(200, &roots(), form)),
        ["healthz" | "livez" | "readyz", check @ ..] => {
            health(path.first().copied().unwrap_or_default(), check, parts)
        }
        ["version"] => Ok(answer::document(200, &version(), form)),
        ["openapi", rest @ ..] => openapi::answer(server, rest, parts, form),
        ["api" | "apis", ..] => {
            let snapshot = server.registry().snapshot();
            discovery::answer(&server.front().discovery, &snapshot, &path, &parts.headers, form)
                .unwrap_or_else(|| Err(ApiError::no_such_path()))
        }
        _ => Err(ApiError::no_such_path()),
    }
}

fn method(parts: &http::request::Parts) -> ApiError {
    ApiError::new(405, "MethodNotAllowed", format!("{} is not possible here", parts.method))
}

fn health(root: &str, check: &[&str], parts: &http::request::Parts) -> Result<Response<Body>, ApiError> {
    match check {
        [] if query_pairs(parts.uri.query()).any(|(key, _)| key == "verbose") => {
            let mut text: String = CHECKS.iter().map(|check| format!("[+]{check} ok\n")).collect();
            text.push_str(&format!("{root} check passed\n"));
            Ok(answer::text(200, text))
        }
        [] => Ok(answer::text(200, "ok".to_owned())),
        _ if CHECKS.contains(&check.join("/").as_str()) => Ok(answer::text(200, "ok".to_owned())),
        _ => Err(ApiError::no_such_path()),
    }
}

fn version() -> serde_json::Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": VERSION, "gitCommit": "", "gitTreeState": "clean", "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "none", "compiler": "rustc",
        "platform": concat!("linux/", "amd64"),
    })
}

fn roots() -> serde_json::Value {
    json!({"paths": ["/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]})
}
