//! Why an interpretation failed.

use serde_json::Value;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_object::patch::PatchError;

use crate::operation::Operation;

/// A failed interpretation: of what, by whom and why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{operation} of {gvk} {object} by {interpreter}: {cause}")]
pub struct Error {
    /// The operation.
    pub operation: Operation,
    /// Kind of the object.
    pub gvk: Box<Gvk>,
    /// `namespace/name` of the object.
    pub object: String,
    /// Who was asked.
    pub interpreter: String,
    /// Why it failed.
    pub cause: Cause,
}

/// Why an interpretation failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Cause {
    /// The object isn't what its kind says it is; for the user.
    #[error("{0}")]
    Invalid(String),
    /// Not a kind or operation of this interpreter.
    #[error("not a kind or operation of this interpreter")]
    Unsupported,
    /// The interpreter failed: a trap, a deadline, no connection; for the operator.
    #[error("{0}")]
    Failed(String),
    /// The answer breaks a rule of the operation.
    #[error("unacceptable answer: {0}")]
    Answer(String),
    /// The patch that was answered doesn't apply.
    #[error("unacceptable answer")]
    Patch(#[source] Box<PatchError>),
}

impl Error {
    /// An error about an object.
    pub fn of(object: &Value, operation: Operation, interpreter: &str, cause: Cause) -> Self {
        Self {
            operation,
            gvk: Box::new(object.gvk()),
            object: windlass_api::names::namespaced(object.namespace(), object.name()),
            interpreter: interpreter.to_owned(),
            cause,
        }
    }
}
