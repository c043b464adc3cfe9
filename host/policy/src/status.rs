//! What a binding's Works add up to, and what a Work says of its manifest.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use windlass_api::conditions::{
    APPLIED, DISPATCHING, FULLY_APPLIED, REASON_APPLIED_FAILED, REASON_APPLIED_SUCCESSFUL,
    REASON_DISPATCHING, REASON_FULLY_APPLIED_FAILED, REASON_FULLY_APPLIED_SUCCESS,
    REASON_SUSPEND_DISPATCHING,
};
use windlass_api::names::{cluster_of, namespaced};
use windlass_object::Meta;
use windlass_object::condition::{self, Condition};
use windlass_object::gvk::split_api_version;
use windlass_object::path::{get, list_at, str_at};

use crate::work::expected_clusters;

/// Why a Work can't be counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// Its manifest is another object.
    #[error(
        "work {work} has no manifest of {kind} {name}; an override must not change kind, name or namespace of an object"
    )]
    NoSuchManifest {
        /// Namespace and name of the Work.
        work: String,
        /// Kind looked for.
        kind: String,
        /// Namespace and name looked for.
        name: String,
    },
}

/// Health when nobody can tell.
pub const HEALTH_UNKNOWN: &str = "Unknown";

/// The `status.aggregatedStatus` of a binding, sorted by cluster. Works being deleted are left out.
///
/// # Errors
/// A Work that doesn't hold the binding's object.
pub fn aggregate(binding: &Value, works: &[&Value]) -> Result<Vec<Value>, StatusError> {
    let null = Value::Null;
    let resource = get(binding, &["spec", "resource"]).unwrap_or(&null);
    let mut items = BTreeMap::new();
    for work in works.iter().filter(|work| !work.is_deleting()) {
        let cluster = cluster_of(work.namespace()).unwrap_or_default().to_owned();
        items.insert(cluster.clone(), item(cluster, resource, work)?);
    }
    Ok(items.into_values().collect())
}

fn item(cluster: String, resource: &Value, work: &Value) -> Result<Value, StatusError> {
    let part = |key: &str| str_at(resource, &[key]);
    let manifests = list_at(work, &["spec", "workload", "manifests"]);
    let ordinal = manifests.iter().position(|manifest| {
        manifest.api_version() == part("apiVersion")
            && manifest.kind() == part("kind")
            && manifest.namespace() == part("namespace")
            && manifest.name() == part("name")
    });
    if ordinal.is_none() {
        return Err(StatusError::NoSuchManifest {
            work: namespaced(work.namespace(), work.name()),
            kind: part("kind").to_owned(),
            name: namespaced(part("namespace"), part("name")),
        });
    }
    let mut item = Map::new();
    item.insert("clusterName".to_owned(), cluster.into());
    let applied = condition::find(condition::of(work), APPLIED);
    if applied.is_some_and(|applied| str_at(applied, &["status"]) == "True") {
        item.insert("applied".to_owned(), true.into());
        let reported = list_at(work, &["status", "manifestStatuses"])
            .iter()
            .find(|entry| names_resource(entry.get("identifier").unwrap_or(&Value::Null), resource));
        let health = reported.map(|entry| str_at(entry, &["health"])).filter(|health| !health.is_empty());
        item.insert("health".to_owned(), health.unwrap_or(HEALTH_UNKNOWN).into());
        if let Some(status) =
            reported.and_then(|entry| entry.get("status")).filter(|status| !status.is_null())
        {
            item.insert("status".to_owned(), status.clone());
        }
    } else {
        let message = applied.map(|applied| str_at(applied, &["message"])).unwrap_or_default();
        if !message.is_empty() {
            item.insert("appliedMessage".to_owned(), message.into());
        }
        item.insert("health".to_owned(), HEALTH_UNKNOWN.into());
    }
    Ok(Value::Object(item))
}

fn names_resource(identifier: &Value, resource: &Value) -> bool {
    let (group, version) = split_api_version(str_at(resource, &["apiVersion"]));
    let same = |key: &str| str_at(identifier, &[key]) == str_at(resource, &[key]);
    str_at(identifier, &["group"]) == group
        && str_at(identifier, &["version"]) == version
        && same("kind")
        && same("namespace")
        && same("name")
}

/// The condition that sums up whether every cluster has its copy.
pub fn fully_applied(binding: &Value, items: &[Value]) -> Condition {
    let expected = expected_clusters(binding);
    let all = !expected.is_empty()
        && expected.len() == items.len()
        && items.iter().all(|item| {
            item.get("applied") == Some(&Value::Bool(true))
                && expected.contains(str_at(item, &["clusterName"]))
        });
    let condition = if all {
        Condition::new(
            FULLY_APPLIED,
            "True",
            REASON_FULLY_APPLIED_SUCCESS,
            "All works have been successfully applied",
        )
    } else {
        Condition::new(
            FULLY_APPLIED,
            "False",
            REASON_FULLY_APPLIED_FAILED,
            "Failed to apply all works, see status.aggregatedStatus for details",
        )
    };
    condition.observed(binding.generation())
}

/// The binding's status with new items and condition; nothing if it says so already.
///
/// # Errors
/// A Work that doesn't hold the binding's object.
pub fn binding_status(binding: &Value, works: &[&Value], now: &str) -> Result<Option<Value>, StatusError> {
    let items = aggregate(binding, works)?;
    let before = binding.get("status").cloned().unwrap_or_else(|| json!({}));
    let mut status = before.as_object().cloned().unwrap_or_default();
    let mut conditions = condition::of(binding).to_vec();
    condition::set_at(&mut conditions, fully_applied(binding, &items), now);
    status.insert("conditions".to_owned(), conditions.into());
    if items.is_empty() {
        status.remove("aggregatedStatus");
    } else {
        status.insert("aggregatedStatus".to_owned(), items.into());
    }
    let status = Value::Object(status);
    Ok((status != before).then_some(status))
}

/// The one entry of a Work's `status.manifestStatuses` for the manifest that a member object was made from.
///
/// # Errors
/// The Work has no such manifest.
pub fn manifest_status(
    work: &Value,
    observed: &Value,
    status: Option<Value>,
    health: &str,
) -> Result<Value, StatusError> {
    let manifests = list_at(work, &["spec", "workload", "manifests"]);
    let ordinal = manifests
        .iter()
        .position(|manifest| {
            manifest.api_version() == observed.api_version()
                && manifest.kind() == observed.kind()
                && manifest.namespace() == observed.namespace()
                && manifest.name() == observed.name()
        })
        .ok_or_else(|| StatusError::NoSuchManifest {
            work: namespaced(work.namespace(), work.name()),
            kind: observed.kind().to_owned(),
            name: namespaced(observed.namespace(), observed.name()),
        })?;
    let gvk = observed.gvk();
    let mut identifier = json!({
        "ordinal": ordinal,
        "version": gvk.version,
        "kind": gvk.kind,
        "resource": "",
        "name": observed.name(),
    });
    if let Some(fields) = identifier.as_object_mut() {
        for (key, value) in [("group", gvk.group.as_str()), ("namespace", observed.namespace())] {
            if !value.is_empty() {
                fields.insert(key.to_owned(), value.into());
            }
        }
    }
    let mut entry = json!({"identifier": identifier, "health": health});
    if let (Some(fields), Some(status)) = (entry.as_object_mut(), status) {
        fields.insert("status".to_owned(), status);
    }
    Ok(entry)
}

/// A Work's condition after an attempt to write its manifests; `errors` are of those that failed.
pub fn applied(work: &Value, total: usize, errors: &[String]) -> Condition {
    let condition = if errors.is_empty() {
        Condition::new(APPLIED, "True", REASON_APPLIED_SUCCESSFUL, "Manifest has been successfully applied")
    } else {
        let ok = total.saturating_sub(errors.len());
        let message = format!("Failed to apply all manifests ({ok}/{total}): {}", errors.join("; "));
        Condition::new(APPLIED, "False", REASON_APPLIED_FAILED, message)
    };
    condition.observed(work.generation())
}

/// A Work's condition that says whether it is dispatched at all.
pub fn dispatching(work: &Value) -> Condition {
    let condition = if get(work, &["spec", "suspendDispatching"]) == Some(&Value::Bool(true)) {
        Condition::new(
            DISPATCHING,
            "False",
            REASON_SUSPEND_DISPATCHING,
            "Work dispatching is in a suspended state.",
        )
    } else {
        Condition::new(
            DISPATCHING,
            "True",
            REASON_DISPATCHING,
            "Work is being dispatched to member clusters.",
        )
    };
    condition.observed(work.generation())
}
