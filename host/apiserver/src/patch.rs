//! The verb `patch` in its four forms.

use crate::create::create_object;
use crate::error::{ApiError, Cause, Target};
use crate::handler::{Call, Outcome, PatchType};
use crate::limits::MAX_RETRIES;
use crate::registry::Resource;
use crate::server::Server;
use crate::write::{self, Changed, Made};
use crate::{intake, scale};
use serde_json::Value;
use windlass_object::Gvk;
use windlass_object::meta::Meta as _;
use windlass_object::patch::{PatchError, apply_merge_patch, json_patched};
use windlass_schema::apply::{self, ApplyError};
use windlass_schema::strategic;

pub(crate) async fn patch(server: &Server, mut call: Call) -> Result<Outcome, ApiError> {
    let Some(body) = call.body.take() else {
        return Err(ApiError::bad_request("a body is needed: the patch"));
    };
    let kind = call.patch.unwrap_or(PatchType::Merge);
    check(&call, kind)?;
    if call.subresource == "scale" {
        return scale::patch(server, call, kind, body).await;
    }
    if kind == PatchType::Apply {
        return apply(server, call, body).await;
    }
    let changed = write::change(server, &call, |live| {
        let mut new = patched(&call.resource, kind, live, &body)?;
        intake::check_type(&call.resource, &mut new).map_err(of_patch)?;
        intake::check_place(&call, &mut new)?;
        intake::normalize(&call, &mut new).map_err(of_patch)?;
        Ok(Made::Update(new))
    })
    .await?;
    Ok(Outcome::Object { code: 200, object: changed.item(&call)? })
}

fn check(call: &Call, kind: PatchType) -> Result<(), ApiError> {
    let cause = if kind == PatchType::Apply {
        let named = call.options.field_manager.as_deref().is_some_and(|name| !name.is_empty());
        (!named).then(|| Cause::required("fieldManager", "is required for apply patch"))
    } else {
        call.options.force.then(|| Cause::forbidden("force", "may not be specified for non-apply patch"))
    };
    if let Some(cause) = cause {
        return Err(ApiError::invalid(Target::new("meta.k8s.io", "PatchOptions", ""), vec![cause]));
    }
    if kind == PatchType::Strategic && !call.resource.builtin {
        return Err(ApiError::unsupported_media_type(&[
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/apply-patch+yaml",
        ]));
    }
    Ok(())
}

/// The live object with a patch (of any form but apply) on it.
pub(crate) fn patched(
    resource: &Resource,
    kind: PatchType,
    mut live: Value,
    body: &Value,
) -> Result<Value, ApiError> {
    match kind {
        PatchType::Json => json_patched(live, body).map_err(refused),
        PatchType::Strategic => strategic::merge(resource.schema.view(), &live, body).map_err(|error| {
            ApiError::bad_request(format!("the strategic merge patch does not fit: {error}"))
        }),
        PatchType::Merge | PatchType::Apply => {
            if !body.is_object() {
                return Err(ApiError::bad_request("a merge patch must be an object"));
            }
            apply_merge_patch(&mut live, body);
            Ok(live)
        }
    }
}

/// What a patch makes can't be read: the patch is invalid, though it is well formed.
fn of_patch(error: ApiError) -> ApiError {
    let text = format!(" \"\" is invalid: patch: Invalid value: {}", error.message);
    let cause = Cause::new("FieldValueInvalid", "patch", format!("Invalid value: {}", error.message));
    ApiError::new(422, "Invalid", text).about(Target::default()).cause(cause)
}

fn refused(error: PatchError) -> ApiError {
    match error {
        PatchError::NotAList(_) | PatchError::Malformed { .. } => ApiError::bad_request(error.to_string()),
        PatchError::TooLong(_) => ApiError::new(413, "RequestEntityTooLarge", error.to_string()),
        PatchError::Failed { .. } | PatchError::TestFailed { .. } => {
            let text = format!("the server rejected our request due to an error in our request: {error}");
            ApiError::new(422, "Invalid", text).about(Target::default())
        }
    }
}

async fn apply(server: &Server, call: Call, mut applied: Value) -> Result<Outcome, ApiError> {
    let resource = call.resource.clone();
    if applied.api_version() != resource.api_version || applied.kind() != resource.kind {
        let given = Gvk::from_api_version(applied.api_version(), applied.kind());
        let text = format!("invalid object type: {}/{}, Kind={}", given.group, given.version, given.kind);
        return Err(ApiError::bad_request(text));
    }
    intake::check_type(&resource, &mut applied)?;
    let placed = !applied.namespace().is_empty();
    intake::check_place(&call, &mut applied)?;
    if !placed {
        // It is told of as it was sent.
        applied.metadata_mut().remove("namespace");
    }
    let manager = write::manager(&call);
    for _ in 0..MAX_RETRIES {
        let changed = write::change(server, &call, |live| {
            let mut merged = merge(&call, Some(&live), &applied, &manager)?;
            intake::check_place(&call, &mut merged)?;
            intake::normalize(&call, &mut merged)?;
            Ok(Made::Applied(merged))
        })
        .await?;
        if !matches!(changed, Changed::Missing) || !call.subresource.is_empty() {
            return Ok(Outcome::Object { code: 200, object: changed.item(&call)? });
        }
        if !applied.uid().is_empty() {
            let detail = format!(
                "uid mismatch: the provided object specified uid {}, and no existing object was found",
                applied.uid()
            );
            return Err(ApiError::conflict(resource.target(&call.name), &detail));
        }
        let mut new = merge(&call, None, &applied, &manager)?;
        intake::check_place(&call, &mut new)?;
        new.metadata_mut().remove("resourceVersion");
        match create_object(server, &call, new, true).await {
            Err(error) if error.reason == "AlreadyExists" => {}
            made => return Ok(Outcome::Object { code: 201, object: made? }),
        }
    }
    Err(ApiError::modified(resource.target(&call.name)))
}

/// Applies to the live object, or to nothing.
pub(crate) fn merge(
    call: &Call,
    live: Option<&Value>,
    applied: &Value,
    manager: &apply::Manager,
) -> Result<Value, ApiError> {
    apply::apply(call.resource.schema.view(), live, applied, manager, call.options.force).map_err(|error| {
        let text = error.to_string();
        match error {
            ApplyError::Conflicts(conflicts) => {
                let cause = |c: &apply::Conflict| Cause::new("FieldManagerConflict", &c.field, c.message());
                let mut refusal = ApiError::new(409, "Conflict", text);
                refusal.causes = conflicts.0.iter().map(cause).collect();
                refusal
            }
            ApplyError::ManagedFieldsGiven => ApiError::bad_request(text),
            // The code is Kubernetes' own, and so is the missing reason.
            ApplyError::Typed { .. } => ApiError::new(500, "", text),
            ApplyError::Entries(_) => ApiError::internal(text),
        }
    })
}
