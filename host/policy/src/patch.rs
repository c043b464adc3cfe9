//! A change to an object as a plan carries it: one of the two kinds of patch that an API server takes.

use serde_json::Value;
use windlass_object::patch::{PatchError, apply_json_patch, apply_merge_patch};

/// A change to one object.
#[derive(Debug, Clone, PartialEq)]
pub enum Patch {
    /// RFC 7396. Carries the object's UID, so that a successor of the same name is not changed.
    Merge(Value),
    /// RFC 6902. Begins with `test` operations on what the decision rests on.
    Json(Value),
}

impl Patch {
    /// The patch itself.
    pub fn value(&self) -> &Value {
        match self {
            Self::Merge(value) | Self::Json(value) => value,
        }
    }

    /// Carries it out on a copy, as an API server would.
    ///
    /// # Errors
    /// The object isn't as the patch expects it.
    pub fn apply(&self, object: &mut Value) -> Result<(), PatchError> {
        match self {
            Self::Merge(patch) => {
                apply_merge_patch(object, patch);
                Ok(())
            }
            Self::Json(patch) => apply_json_patch(object, patch),
        }
    }
}
