//! The verbs `delete` and `deletecollection`.

use crate::error::ApiError;
use crate::handler::{Call, Outcome};
use crate::server::Server;

pub(crate) async fn delete(_server: &Server, _call: Call) -> Result<Outcome, ApiError> {
    Err(ApiError::internal("not built yet"))
}

pub(crate) async fn delete_collection(_server: &Server, _call: Call) -> Result<Outcome, ApiError> {
    Err(ApiError::internal("not built yet"))
}
