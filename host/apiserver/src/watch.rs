//! The verb `watch`.

use crate::error::ApiError;
use crate::handler::{Call, Outcome};
use crate::server::Server;

pub(crate) async fn watch(_server: &Server, _call: Call) -> Result<Outcome, ApiError> {
    Err(ApiError::internal("not built yet"))
}
