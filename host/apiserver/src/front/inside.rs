//! Requests that the front makes of the core for its own purposes.

use std::sync::Arc;

use serde_json::Value;

use crate::error::{ApiError, Target};
use crate::handler::{self, Call, Options, Outcome, Warnings};
use crate::identity::Identity;
use crate::server::Server;

/// Reads one object of the resource (group, version, plural) as the system.
pub async fn get(
    server: &Server,
    (group, version, resource): (&str, &str, &str),
    namespace: &str,
    name: &str,
) -> Result<Arc<Value>, ApiError> {
    let resource = server
        .registry()
        .get(group, version, resource)
        .ok_or_else(|| ApiError::not_found(Target::new(group, resource, name)))?;
    let call = Call {
        resource,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        subresource: String::new(),
        options: Options::default(),
        identity: Identity::system(),
        user_agent: String::new(),
        body: None,
        patch: None,
        warnings: Warnings::default(),
    };
    match handler::get(server, call).await? {
        Outcome::Object { object, .. } => Ok(object.value()),
        _ => Err(ApiError::internal("reading an object gave no object")),
    }
}
