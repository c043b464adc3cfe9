//! The trait that override transformers stand behind. The engine implements it for components; tests use small fakes.

use serde_json::Value;
pub use windlass_schedule::ClusterFacts;

/// What may go wrong in a transformer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransformError {
    /// The overrider doesn't fit the object; the text is for the user.
    #[error("{0}")]
    Invalid(String),
    /// No transformer carries out overriders of this name.
    #[error("no plugin carries out {0}; load one whose description lists it")]
    Unknown(String),
    /// Anything else that the transformer reports; the text is for the operator.
    #[error("internal error: {0}")]
    Internal(String),
    /// The transformer crashed or reached a limit other than time.
    #[error("trapped: {0}")]
    Trapped(String),
    /// The transformer didn't answer within its deadline.
    #[error("no answer within the deadline")]
    Timeout,
}

/// Carries out overriders.
pub trait Transform: Send + Sync {
    /// Carries out all elements of one list of one rule, in order, each on the object as the one before left it.
    /// `overrider` is the field's name (`imageOverrider`), `elements` its entries as written. Gives one JSON Patch
    /// (RFC 6902) of `object`.
    ///
    /// # Errors
    /// The overrider doesn't fit the object, or the transformer failed.
    fn transform(
        &self,
        object: &Value,
        overrider: &str,
        elements: &[Value],
        cluster: &ClusterFacts,
    ) -> Result<Value, TransformError>;
}
