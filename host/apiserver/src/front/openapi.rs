//! OpenAPI v3: an index with hashes, and a document for each group-version,
//! made when first asked for.

use axum::body::Body;
use http::Response;

use super::answer::Form;
use crate::error::ApiError;
use crate::server::Server;

/// Documents made so far.
#[derive(Debug, Default)]
pub struct Cache {}

/// Answers `/openapi/…`.
pub(super) fn answer(
    _server: &Server,
    _path: &[&str],
    _parts: &http::request::Parts,
    _form: Form,
) -> Result<Response<Body>, ApiError> {
    Err(ApiError::no_such_path())
}
