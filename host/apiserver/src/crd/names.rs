//! Names of CRDs: accepted if nobody in the group has them, and the conditions that tell.

use super::FINALIZER;
use crate::error::ApiError;
use crate::registry::Resource;
use crate::server::Server;
use serde_json::{Value, json};
use windlass_object::condition::{self, Condition};
use windlass_object::meta::Meta as _;
use windlass_object::path;

/// Fills in what a CRD leaves out, and its status: stored versions, accepted names, conditions.
pub(crate) fn prepare(server: &Server, live: Option<&Value>, crd: &mut Value) -> Result<(), ApiError> {
    let kind = path::str_at(crd, &["spec", "names", "kind"]).to_owned();
    for (field, value) in [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))] {
        if path::str_at(crd, &["spec", "names", field]).is_empty() {
            path::set(crd, &["spec", "names", field], json!(value));
        }
    }
    if path::get(crd, &["spec", "conversion"]).is_none_or(Value::is_null) {
        path::set(crd, &["spec", "conversion"], json!({"strategy": "None"}));
    }
    let status = live.and_then(|live| live.get("status")).cloned();
    let fresh = json!({"conditions": [], "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": []});
    path::set(crd, &["status"], status.filter(Value::is_object).unwrap_or(fresh));
    let storage = path::list_at(crd, &["spec", "versions"]).iter().find(|v| path::bool_at(v, &["storage"]));
    if let Some(name) = storage.map(|version| path::str_at(version, &["name"]).to_owned()) {
        let mut stored = path::list_at(crd, &["status", "storedVersions"]).to_vec();
        if !stored.contains(&json!(name)) {
            stored.push(json!(name));
        }
        path::set(crd, &["status", "storedVersions"], Value::Array(stored));
    }
    accept(server, crd);
    Ok(())
}

fn accept(server: &Server, crd: &mut Value) {
    let conflict = conflict(server, crd);
    let mut conditions = path::list_at(crd, &["status", "conditions"]).to_vec();
    let established = condition::is_true(&conditions, "Established");
    let mut set = |kind: &str, status: &str, reason: &str, message: &str| {
        condition::set(&mut conditions, Condition::new(kind, status, reason, message));
    };
    match &conflict {
        None => {
            set("NamesAccepted", "True", "NoConflicts", "no conflicts found");
            if !established {
                set("Established", "True", "InitialNamesAccepted", "the initial names have been accepted");
            }
        }
        Some((reason, message)) => {
            set("NamesAccepted", "False", reason, message);
            if !established {
                set("Established", "False", "NotAccepted", "not all names are accepted");
            }
        }
    }
    path::set(crd, &["status", "conditions"], Value::Array(conditions));
    if conflict.is_none() {
        let names = path::get(crd, &["spec", "names"]).cloned().unwrap_or_default();
        path::set(crd, &["status", "acceptedNames"], names);
    }
}

/// A name that something else in the group has.
fn conflict(server: &Server, crd: &Value) -> Option<(&'static str, String)> {
    let group = path::str_at(crd, &["spec", "group"]);
    let names = path::get(crd, &["spec", "names"])?;
    let own = crate::builtin::prefix(group, path::str_at(names, &["plural"]));
    let snapshot = server.registry().snapshot();
    let uid = crd.uid();
    let others: Vec<&Resource> = snapshot
        .all()
        .map(AsRef::as_ref)
        .filter(|r| r.group == group && (r.builtin || r.crd_uid != uid) && (r.builtin || r.prefix != own))
        .collect();
    let resources = |name: &str| {
        others
            .iter()
            .any(|r| r.resource == name || r.singular == name || r.short_names.iter().any(|s| s == name))
    };
    let kinds = |name: &str| others.iter().any(|r| r.kind == name || r.list_kind == name);
    let used = |name: &str| format!("{name:?} is already in use");
    for (field, reason) in [("plural", "PluralConflict"), ("singular", "SingularConflict")] {
        let name = path::str_at(names, &[field]);
        if resources(name) {
            return Some((reason, used(name)));
        }
    }
    for name in path::list_at(names, &["shortNames"]).iter().filter_map(Value::as_str) {
        if resources(name) {
            return Some(("ShortNamesConflict", used(name)));
        }
    }
    for (field, reason) in [("kind", "KindConflict"), ("listKind", "ListKindConflict")] {
        let name = path::str_at(names, &[field]);
        if kinds(name) {
            return Some((reason, used(name)));
        }
    }
    None
}

/// A CRD that begins to be deleted: kept until its objects are gone.
pub(crate) fn mark_terminating(crd: &mut Value) {
    crd.add_finalizer(FINALIZER);
    let mut conditions = path::list_at(crd, &["status", "conditions"]).to_vec();
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    condition::set(
        &mut conditions,
        Condition::new("Terminating", "True", "InstanceDeletionPending", message),
    );
    path::set(crd, &["status", "conditions"], Value::Array(conditions));
}
