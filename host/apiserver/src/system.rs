//! The server as its own client: calls that its loops make.

use crate::error::ApiError;
use crate::handler::{Call, Options, Warnings};
use crate::identity::Identity;
use crate::item::Item;
use crate::registry::Resource;
use crate::server::Server;
use crate::write::{self, Changed, Made};
use crate::{create, intake};
use serde_json::Value;
use std::sync::Arc;

/// The field manager of the server's own writes.
const MANAGER: &str = "windlass-apiserver";

/// A call of the server itself.
pub(crate) fn call(resource: &Arc<Resource>, namespace: &str, name: &str) -> Call {
    Call {
        resource: resource.clone(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        subresource: String::new(),
        options: Options::default(),
        identity: Identity::system(),
        user_agent: MANAGER.to_owned(),
        body: None,
        patch: None,
        warnings: Warnings::default(),
    }
}

/// A call through a subresource.
pub(crate) fn call_through(resource: &Arc<Resource>, namespace: &str, name: &str, subresource: &str) -> Call {
    Call { subresource: subresource.to_owned(), ..call(resource, namespace, name) }
}

/// Makes an object.
pub(crate) async fn create(
    server: &Server,
    resource: &Arc<Resource>,
    namespace: &str,
    mut object: Value,
) -> Result<Item, ApiError> {
    let call = call(resource, namespace, "");
    intake::check_type(resource, &mut object)?;
    intake::check_place(&call, &mut object)?;
    create::create_object(server, &call, object, false).await
}

/// Changes an object in place; absent objects are left alone.
pub(crate) async fn modify(
    server: &Server,
    call: &Call,
    mut change: impl FnMut(&mut Value) + Send,
) -> Result<Changed, ApiError> {
    // It is made anew when somebody else was faster, as a patch is.
    let call = Call { patch: Some(crate::handler::PatchType::Merge), ..call.clone() };
    write::change(server, &call, |mut new| {
        change(&mut new);
        Ok(Made::Update(new))
    })
    .await
}

/// A built-in resource.
pub(crate) fn builtin(
    server: &Server,
    group: &str,
    version: &str,
    plural: &str,
) -> Result<Arc<Resource>, ApiError> {
    server
        .registry()
        .get(group, version, plural)
        .ok_or_else(|| ApiError::internal(format!("{plural}.{version}.{group} is not served")))
}
