//! From a CRD to the resources it serves, one for each served version.

use crate::builtin::{prefix, storage_hash};
use crate::registry::{ArenaRef, Columns, Resource, ScalePaths, Schema, Subresource, version_rank};
use crate::strategy::Facts;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_object::gvk::join_api_version;
use windlass_object::hash::fnv1a32;
use windlass_object::meta::Meta as _;
use windlass_object::path;
use windlass_schema::structural;

const VERBS: &[&str] = &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const CHANGE: &[&str] = &["get", "patch", "update"];

/// All served versions.
pub(super) fn resources(crd: &Value) -> Vec<Resource> {
    let versions = path::list_at(crd, &["spec", "versions"]);
    let storage =
        versions.iter().find(|v| path::bool_at(v, &["storage"])).map(|v| path::str_at(v, &["name"]));
    let storage = storage.unwrap_or_default();
    versions
        .iter()
        .filter(|version| path::bool_at(version, &["served"]))
        .map(|version| resource(crd, version, storage))
        .collect()
}

fn resource(crd: &Value, version: &Value, storage: &str) -> Resource {
    let group = path::str_at(crd, &["spec", "group"]);
    let name = path::str_at(version, &["name"]);
    let accepted = path::get(crd, &["status", "acceptedNames"]).unwrap_or(&Value::Null);
    let text = |key: &str| path::str_at(accepted, &[key]).to_owned();
    let list = |key: &str| -> Vec<String> {
        path::list_at(accepted, &[key]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (plural, kind) = (text("plural"), text("kind"));
    let schema_json = path::get(version, &["schema", "openAPIV3Schema"])
        .cloned()
        .unwrap_or_else(|| json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let (schema, has_defaults) = schema(crd.name(), &schema_json);
    let status = path::get(version, &["subresources", "status"]).is_some_and(|s| !s.is_null());
    let scale = path::get(version, &["subresources", "scale"]).filter(|s| !s.is_null()).map(scale_paths);
    let mut subresources = Vec::new();
    if scale.is_some() {
        subresources.push(subresource("scale", "autoscaling", "v1", "Scale"));
    }
    if status {
        subresources.push(subresource("status", group, name, &kind));
    }
    let columns = path::list_at(version, &["additionalPrinterColumns"]).to_vec();
    let selectable = path::list_at(version, &["selectableFields"]).iter().filter_map(|field| {
        let keys = steps(field.get("jsonPath")?.as_str()?);
        Some((keys.join("."), keys))
    });
    let spec = path::get(crd, &["spec"]).map(Value::to_string).unwrap_or_default();
    Resource {
        group: group.to_owned(),
        version: name.to_owned(),
        list_kind: text("listKind"),
        singular: text("singular"),
        short_names: list("shortNames"),
        categories: list("categories"),
        namespaced: path::str_at(crd, &["spec", "scope"]) == "Namespaced",
        verbs: VERBS.iter().map(|verb| (*verb).to_owned()).collect(),
        subresources,
        schema,
        builtin: false,
        prefix: prefix(group, &plural),
        storage_api_version: join_api_version(group, storage),
        api_version: join_api_version(group, name),
        columns: Columns::Custom(Arc::new(columns)),
        scale,
        selectable: selectable.collect(),
        deprecation: deprecation(crd, version, group, name, &kind),
        crd_uid: crd.uid().to_owned(),
        storage_hash: storage_hash(group, storage, &kind),
        // An object written under an earlier schema lacks the defaults of this one.
        read_through: name != storage || (has_defaults && crd.generation() > 1),
        terminating: crd.is_deleting(),
        incarnation: format!("{}/{:08x}/{:08x}", crd.uid(), fnv1a32(&spec), fnv1a32(accepted.to_string())),
        facts: Facts::custom(status),
        resource: plural,
        kind,
    }
}

/// The warning of a deprecated version: as given, else with the version to use instead.
fn deprecation(crd: &Value, version: &Value, group: &str, name: &str, kind: &str) -> Option<String> {
    if !path::bool_at(version, &["deprecated"]) {
        return None;
    }
    let given = path::str_at(version, &["deprecationWarning"]);
    if !given.is_empty() {
        return Some(given.to_owned());
    }
    let better = path::list_at(crd, &["spec", "versions"])
        .iter()
        .filter(|other| path::bool_at(other, &["served"]) && !path::bool_at(other, &["deprecated"]))
        .map(|other| path::str_at(other, &["name"]))
        .filter(|other| version_rank(other) > version_rank(name))
        .max_by_key(|other| version_rank(other));
    let hint = better.map(|better| format!("; use {group}/{better} {kind}")).unwrap_or_default();
    Some(format!("{group}/{name} {kind} is deprecated{hint}"))
}

fn schema(crd: &str, json: &Value) -> (Schema, bool) {
    match structural::parse(json) {
        Ok((arena, root)) => {
            let has_defaults = json.to_string().contains("\"default\":");
            (Schema { arena: ArenaRef::Shared(Arc::new(arena)), root }, has_defaults)
        }
        Err(errors) => {
            // Refused on writing; only a store of another version can hold one.
            tracing::error!(crd, ?errors, "schema is not structural; its objects are not checked");
            let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            let (arena, root) = structural::parse(&free).unwrap_or_default();
            (Schema { arena: ArenaRef::Shared(Arc::new(arena)), root }, false)
        }
    }
}

fn subresource(name: &str, group: &str, version: &str, kind: &str) -> Subresource {
    Subresource {
        name: name.to_owned(),
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        verbs: CHANGE.iter().map(|verb| (*verb).to_owned()).collect(),
    }
}

fn scale_paths(scale: &Value) -> ScalePaths {
    let keys = |key: &str| steps(path::str_at(scale, &[key]));
    let selector = keys("labelSelectorPath");
    ScalePaths {
        spec_replicas: keys("specReplicasPath"),
        status_replicas: keys("statusReplicasPath"),
        selector: (!selector.is_empty()).then_some(selector),
    }
}

/// `.spec.replicas` as keys.
fn steps(path: &str) -> Vec<String> {
    path.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect()
}
