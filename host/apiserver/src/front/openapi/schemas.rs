//! The schemas that a document's paths refer to.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::paths;
use crate::registry::Resource;

/// The schemas of these resources, their lists, and all that they refer to.
pub(super) fn of(resources: &[Arc<Resource>]) -> BTreeMap<String, Value> {
    let mut schemas = BTreeMap::new();
    for resource in resources {
        let mut own = json!({"type": "object"});
        if let Some(own) = own.as_object_mut() {
            own.insert("x-kubernetes-group-version-kind".into(), gvk(resource, &resource.kind));
        }
        schemas.insert(paths::schema_name(resource), own);
        let list =
            json!({"type": "object", "x-kubernetes-group-version-kind": gvk(resource, &resource.list_kind)});
        schemas.insert(paths::list_name(resource), list);
        for name in paths::referred(resource) {
            schemas.entry(name).or_insert_with(|| json!({"type": "object"}));
        }
    }
    schemas
}

fn gvk(resource: &Resource, kind: &str) -> Value {
    json!([{"group": resource.group, "version": resource.version, "kind": kind}])
}
