//! In-process admission: functions that see every write before it happens, may change
//! it and may refuse it. They run synchronously and must not block.

use crate::error::ApiError;
use crate::handler::Call;
use crate::identity::Identity;
use crate::registry::Resource;
use serde_json::Value;
use std::sync::Arc;
use windlass_object::{Gvk, Gvr};

/// What is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new object.
    Create,
    /// A changed object.
    Update,
    /// A deletion.
    Delete,
}

/// A write under review.
#[derive(Clone, Debug)]
pub struct Review {
    /// What is about to happen.
    pub operation: Operation,
    /// The object's kind.
    pub gvk: Gvk,
    /// The resource of the request.
    pub gvr: Gvr,
    /// The subresource of the request; empty for the main resource.
    pub subresource: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// The object as it will be; may be changed. `None` on delete.
    pub object: Option<Value>,
    /// The object as it is; `None` on create.
    pub old: Option<Arc<Value>>,
    /// Nothing will be written.
    pub dry_run: bool,
    /// Who asks.
    pub user: Identity,
    /// Warnings for the client.
    pub warnings: Vec<String>,
}

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The HTTP code: 403 unless the hook knows better (422 for an invalid object).
    pub code: u16,
    /// Why, in words that a user can act on.
    pub message: String,
}

impl Denied {
    /// A refusal with 403.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: 403, message: message.into() }
    }

    /// A refusal with 422: the object itself is at fault.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { code: 422, message: message.into() }
    }
}

/// An admission function.
pub trait Admission: Send + Sync {
    /// Whether the function cares about a resource; asked before a review is built.
    fn concerns(&self, group: &str, resource: &str) -> bool {
        let _ = (group, resource);
        true
    }

    /// Lets the write pass, changed or not, or refuses it.
    fn admit(&self, review: &mut Review) -> Result<(), Denied>;
}

/// Passes a write through the hooks; gives back the object as they left it.
pub(crate) fn admit(
    hooks: &[Arc<dyn Admission>],
    call: &Call,
    operation: Operation,
    name: &str,
    object: Option<Value>,
    old: Option<&Arc<Value>>,
) -> Result<Option<Value>, ApiError> {
    let resource: &Resource = &call.resource;
    let mut concerned =
        hooks.iter().filter(|hook| hook.concerns(&resource.group, &resource.resource)).peekable();
    if concerned.peek().is_none() {
        return Ok(object);
    }
    let mut review = Review {
        operation,
        gvk: Gvk::new(&resource.group, &resource.version, &resource.kind),
        gvr: Gvr::new(&resource.group, &resource.version, &resource.resource),
        subresource: call.subresource.clone(),
        namespace: call.namespace.clone(),
        name: name.to_owned(),
        object,
        old: old.cloned(),
        dry_run: call.options.dry_run,
        user: call.identity.clone(),
        warnings: Vec::new(),
    };
    for hook in concerned {
        let verdict = hook.admit(&mut review);
        review.warnings.drain(..).for_each(|text| call.warnings.add(text));
        if let Err(denied) = verdict {
            return Err(refusal(resource, name, &denied));
        }
    }
    Ok(review.object)
}

fn refusal(resource: &Resource, name: &str, denied: &Denied) -> ApiError {
    match denied.code {
        403 => ApiError::forbidden(resource.target(name), &denied.message),
        code => {
            let kind = resource.kind_target(name);
            let message = format!("{} {name:?} is invalid: {}", kind.qualified(), denied.message);
            let reason = if code == 422 { "Invalid" } else { "BadRequest" };
            ApiError::new(code, reason, message).about(kind)
        }
    }
}
