//! Kinds that are served in two versions and stored in one. Of built-in kinds the schema
//! crate knows how; custom resources change their apiVersion only (conversion `None`).

use serde_json::{Value, json};
use windlass_object::Gvk;
use windlass_object::meta::Meta as _;
use windlass_schema::convert;

/// Brings an object to another version of its kind.
pub(crate) fn to_version(object: &mut Value, api_version: &str, builtin: bool) {
    if object.api_version() == api_version {
        return;
    }
    if builtin {
        let target = Gvk::from_api_version(api_version, object.kind());
        if let Some(converted) = convert::to(&target, object) {
            *object = converted;
            return;
        }
    }
    if let Some(map) = object.as_object_mut() {
        map.insert("apiVersion".into(), json!(api_version));
    }
}
