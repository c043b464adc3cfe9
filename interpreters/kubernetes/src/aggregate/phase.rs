//! Kinds whose status is a phase: the worst one of all members stands.

use super::{Item, known};
use crate::json::{Result, list, text};
use windlass_sdk::{Map, Value, json};

fn phases(items: &[Item]) -> Result<Vec<&str>> {
    items
        .iter()
        .map(|item| match &item.status {
            Some(status) => text(status, &["phase"]),
            None => Ok("Pending"),
        })
        .collect()
}

fn worst(items: &[Item], order: &[&str]) -> Result<Option<Value>> {
    let found = phases(items)?;
    Ok(order.iter().find(|phase| found.contains(phase)).map(|phase| json!(phase)))
}

/// Of pods.
pub(super) fn pod(items: &[Item]) -> Result<Value> {
    let mut result = Map::new();
    if let Some(phase) = worst(items, &["Failed", "Pending", "Running", "Succeeded"])? {
        result.insert("phase".into(), phase);
    }
    for field in ["containerStatuses", "initContainerStatuses"] {
        let mut all = Vec::new();
        for (_, status) in known(items) {
            for container in list(status, &[field])? {
                // Go's type writes the fields that are left out, too.
                let part = |name: &str, absent: Value| container.get(name).cloned().unwrap_or(absent);
                all.push(json!({
                    "name": "", "image": "", "imageID": "", "restartCount": 0, "lastState": {},
                    "ready": part("ready", json!(false)), "state": part("state", json!({})),
                }));
            }
        }
        if !all.is_empty() {
            result.insert(field.into(), Value::Array(all));
        }
    }
    Ok(Value::Object(result))
}

/// Of persistent volumes.
pub(super) fn volume(items: &[Item]) -> Result<Value> {
    let phase = worst(items, &["Failed", "Pending", "Available", "Bound", "Released"])?;
    Ok(phase.map_or_else(|| json!({}), |phase| json!({ "phase": phase })))
}

/// Of claims: bound if all are; a lost one decides; else the last that isn't bound.
pub(super) fn claim(items: &[Item]) -> Result<Value> {
    let mut result = "Bound";
    for (_, status) in known(items) {
        match text(status, &["phase"])? {
            "Lost" => {
                result = "Lost";
                break;
            }
            "Bound" => {}
            other => result = other,
        }
    }
    Ok(json!({ "phase": result }))
}
