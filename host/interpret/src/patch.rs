//! Applies what an interpreter answered, and checks that the object stays the object.

use serde_json::Value;
use windlass_object::meta::Meta;
use windlass_object::patch::apply_json_patch;

use crate::error::Cause;
use crate::operation::Change;

/// The object after the change. Kind, apiVersion, name and namespace must stay.
pub(crate) fn apply(object: &Value, change: Change) -> Result<Value, Cause> {
    let result = match change {
        Change::Patch(patch) => {
            let mut result = object.clone();
            apply_json_patch(&mut result, &patch).map_err(|error| Cause::Patch(Box::new(error)))?;
            result
        }
        Change::Object(result) => result,
    };
    let fields = [
        ("apiVersion", object.api_version(), result.api_version()),
        ("kind", object.kind(), result.kind()),
        ("metadata.name", object.name(), result.name()),
        ("metadata.namespace", object.namespace(), result.namespace()),
    ];
    for (field, before, after) in fields {
        if before != after {
            return Err(Cause::Answer(format!("{field} must stay {before:?}, got {after:?}")));
        }
    }
    Ok(result)
}
