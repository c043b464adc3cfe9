//! What is wrong with a CRD.

use crate::error::Cause;
use crate::meta_rules::check_name;
use crate::strategy::NameRule;
use serde_json::{Value, json};
use windlass_object::meta::Meta as _;
use windlass_object::path;
use windlass_schema::structural;

/// All faults of a CRD, new or changed.
pub(crate) fn check(crd: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let group = path::str_at(crd, &["spec", "group"]);
    let plural = path::str_at(crd, &["spec", "names", "plural"]);
    if group.is_empty() {
        causes.push(Cause::required("spec.group", ""));
    } else if !group.contains('.') {
        causes.push(Cause::invalid("spec.group", &json!(group), "should be a domain with at least one dot"));
    } else if let Some(detail) = check_name(NameRule::Subdomain, group) {
        causes.push(Cause::invalid("spec.group", &json!(group), &detail));
    }
    if crd.name() != format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid("metadata.name", &json!(crd.name()), detail));
    }
    let scope = path::str_at(crd, &["spec", "scope"]);
    if scope.is_empty() {
        causes.push(Cause::required("spec.scope", ""));
    } else if !matches!(scope, "Cluster" | "Namespaced") {
        causes.push(Cause::not_supported("spec.scope", &json!(scope), &["Cluster", "Namespaced"]));
    }
    names(crd, causes);
    versions(crd, causes);
    if path::bool_at(crd, &["spec", "preserveUnknownFields"]) {
        causes.push(Cause::invalid("spec.preserveUnknownFields", &json!(true), "must be false"));
    }
    if let Some(old) = old {
        changed(crd, old, causes);
    }
}

fn names(crd: &Value, causes: &mut Vec<Cause>) {
    let field = |name: &str| format!("spec.names.{name}");
    for (name, required) in [("plural", true), ("singular", false), ("kind", true), ("listKind", true)] {
        let value = path::str_at(crd, &["spec", "names", name]);
        if value.is_empty() {
            if required {
                causes.push(Cause::required(&field(name), ""));
            }
            continue;
        }
        let lower = if name == "kind" || name == "listKind" { value.to_lowercase() } else { value.to_owned() };
        if let Some(detail) = check_name(NameRule::Label1035, &lower) {
            causes.push(Cause::invalid(&field(name), &json!(value), &detail));
        }
    }
    for name in ["shortNames", "categories"] {
        for (index, value) in path::list_at(crd, &["spec", "names", name]).iter().enumerate() {
            if let Some(detail) = check_name(NameRule::Label1035, value.as_str().unwrap_or_default()) {
                causes.push(Cause::invalid(&format!("spec.names.{name}[{index}]"), value, &detail));
            }
        }
    }
    let names = |name: &str| path::str_at(crd, &["spec", "names", name]).to_owned();
    if !names("kind").is_empty() && names("kind") == names("listKind") {
        causes.push(Cause::invalid(&field("listKind"), &json!(names("listKind")), "kind and listKind may not be the same"));
    }
}

fn versions(crd: &Value, causes: &mut Vec<Cause>) {
    let versions = path::list_at(crd, &["spec", "versions"]);
    if versions.is_empty() {
        causes.push(Cause::required("spec.versions", "must have at least one version"));
        return;
    }
    let storage = versions.iter().filter(|v| path::bool_at(v, &["storage"])).count();
    if storage != 1 {
        let detail = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &json!(versions), detail));
    }
    let mut seen: Vec<&str> = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let at = format!("spec.versions[{index}]");
        let name = path::str_at(version, &["name"]);
        if let Some(detail) = check_name(NameRule::Label1035, name) {
            causes.push(Cause::invalid(&format!("{at}.name"), &json!(name), &detail));
        }
        if seen.contains(&name) {
            causes.push(Cause::invalid("spec.versions", &json!(versions), "must contain unique version names"));
        }
        seen.push(name);
        let schema = format!("{at}.schema.openAPIV3Schema");
        match path::get(version, &["schema", "openAPIV3Schema"]).filter(|schema| !schema.is_null()) {
            None => causes.push(Cause::required(&schema, "schemas are required")),
            Some(value) => {
                if let Err(errors) = structural::parse_at(value, &schema) {
                    causes.extend(errors.iter().map(Cause::field));
                }
            }
        }
        if let Some(scale) = path::get(version, &["subresources", "scale"]).filter(|s| !s.is_null()) {
            for (field, start) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
                let value = path::str_at(scale, &[field]);
                let field = format!("{at}.subresources.scale.{field}");
                if value.is_empty() {
                    causes.push(Cause::required(&field, ""));
                } else if !value.starts_with(start) {
                    let detail = format!("should be a json path under {}", start.trim_end_matches('.'));
                    causes.push(Cause::invalid(&field, &json!(value), &detail));
                }
            }
        }
    }
}

fn changed(crd: &Value, old: &Value, causes: &mut Vec<Cause>) {
    for keys in [&["spec", "group"][..], &["spec", "names", "plural"], &["spec", "scope"], &["spec", "names", "kind"]] {
        let (before, after) = (path::str_at(old, keys), path::str_at(crd, keys));
        if before != after {
            causes.push(Cause::invalid(&keys.join("."), &json!(after), "field is immutable"));
        }
    }
    let known: Vec<&str> =
        path::list_at(crd, &["spec", "versions"]).iter().map(|v| path::str_at(v, &["name"])).collect();
    for (index, stored) in path::list_at(crd, &["status", "storedVersions"]).iter().enumerate() {
        if !known.contains(&stored.as_str().unwrap_or_default()) {
            let detail = format!(
                "missing from spec.versions; {} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {} and removes {} from status.storedVersions",
                stored.as_str().unwrap_or_default(),
                stored.as_str().unwrap_or_default(),
                stored.as_str().unwrap_or_default()
            );
            causes.push(Cause::invalid(&format!("status.storedVersions[{index}]"), stored, &detail));
        }
    }
}
