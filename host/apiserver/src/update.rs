//! The verb `update`.

use crate::create::create_object;
use crate::error::ApiError;
use crate::handler::{Call, Outcome};
use crate::server::Server;
use crate::write::{self, Changed, Made};
use crate::{intake, scale};
use windlass_object::meta::Meta as _;

pub(crate) async fn update(server: &Server, mut call: Call) -> Result<Outcome, ApiError> {
    let Some(mut object) = call.body.take() else {
        return Err(ApiError::bad_request(format!(
            "a body is needed: the {} as it should be",
            call.resource.kind
        )));
    };
    if call.subresource == "scale" {
        return scale::update(server, call, object).await;
    }
    intake::check_type(&call.resource, &mut object)?;
    intake::check_place(&call, &mut object)?;
    intake::normalize(&call, &mut object)?;
    // Whoever names a revision has seen the object: if it is gone, it stays so, and one try is all there is.
    let version = object.resource_version();
    let pinned = !matches!(version, "" | "0");
    let creates = call.resource.facts.create_on_update && call.subresource.is_empty() && version.is_empty();
    let make = |_| Ok(Made::Update(if pinned { std::mem::take(&mut object) } else { object.clone() }));
    match write::change(server, &call, make).await? {
        Changed::Missing if creates => {
            let item = create_object(server, &call, object, false).await?;
            Ok(Outcome::Object { code: 201, object: item })
        }
        changed => Ok(Outcome::Object { code: 200, object: changed.item(&call)? }),
    }
}
