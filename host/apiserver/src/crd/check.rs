//! What is wrong with a CRD beyond what its own kind says: its schemas, and the versions
//! of which objects may still be stored.

use crate::error::Cause;
use serde_json::Value;
use windlass_object::path;
use windlass_schema::structural;

/// Faults of a CRD, new or changed.
pub(crate) fn check(crd: &Value, causes: &mut Vec<Cause>) {
    let versions = path::list_at(crd, &["spec", "versions"]);
    for (index, version) in versions.iter().enumerate() {
        // A single version's schema is told of as Kubernetes keeps it: the CRD's own.
        let at = match versions.len() {
            1 => "spec.validation.openAPIV3Schema".to_owned(),
            _ => format!("spec.versions[{index}].schema.openAPIV3Schema"),
        };
        match path::get(version, &["schema", "openAPIV3Schema"]).filter(|schema| !schema.is_null()) {
            None => causes.push(Cause::required(&at, "schemas are required")),
            Some(schema) => {
                if let Err(errors) = structural::parse_at(schema, &at) {
                    causes.extend(errors.iter().map(Cause::field));
                }
            }
        }
    }
    let known: Vec<&str> = versions.iter().map(|v| path::str_at(v, &["name"])).collect();
    for (index, stored) in path::list_at(crd, &["status", "storedVersions"]).iter().enumerate() {
        let name = stored.as_str().unwrap_or_default();
        if !known.contains(&name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            causes.push(Cause::invalid(&format!("status.storedVersions[{index}]"), stored, &detail));
        }
    }
}
