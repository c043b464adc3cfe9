//! The verb `get`.

use crate::error::ApiError;
use crate::handler::{Call, Outcome};
use crate::server::Server;
use crate::{present, scale};

pub(crate) async fn get(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    let resource = &call.resource;
    let snapshot = server.store().snapshot();
    if let Some(text) = call.options.resource_version.as_deref().filter(|text| *text != "0") {
        let asked: u64 = text
            .parse()
            .map_err(|_| ApiError::bad_request(format!("resourceVersion {text:?} is not a number")))?;
        if asked > snapshot.revision() {
            return Err(ApiError::too_large_resource_version(asked, snapshot.revision()));
        }
    }
    let key = resource.key(&call.namespace, &call.name);
    let entry = snapshot.get(&key).ok_or_else(|| ApiError::not_found(resource.target(&call.name)))?;
    match call.subresource.as_str() {
        "scale" => scale::get(&call, entry),
        "" | "status" | "approval" | "ephemeralcontainers" | "resize" => {
            Ok(Outcome::Object { code: 200, object: present::present(resource, entry) })
        }
        other => Err(ApiError::new(
            501,
            "NotImplemented",
            format!("{}/{other} of {:?} has no container behind it", resource.resource, call.name),
        )),
    }
}
