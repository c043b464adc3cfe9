//! The subresource `scale`: an autoscaling/v1 Scale in front of the replica count of
//! whatever can be scaled, by the paths of its resource.

use crate::error::{ApiError, Cause};
use crate::handler::{Call, Outcome, PatchType};
use crate::item::{Item, set_revision};
use crate::patch::patched;
use crate::registry::{Resource, ScalePaths};
use crate::server::Server;
use crate::write::{self, Changed, Made};
use crate::{patch, present};
use serde_json::{Map, Value, json};
use windlass_object::LabelSelector;
use windlass_object::meta::Meta as _;
use windlass_object::path;
use windlass_store::Entry;

pub(crate) fn get(call: &Call, entry: &Entry) -> Result<Outcome, ApiError> {
    let paths = paths(call)?;
    let mut object = present::live(&call.resource, entry).as_ref().clone();
    set_revision(&mut object, entry.revision());
    Ok(Outcome::Object { code: 200, object: Item::value_of(scale(&call.resource, paths, &object)) })
}

pub(crate) async fn update(server: &Server, call: Call, body: Value) -> Result<Outcome, ApiError> {
    check(&call, &body)?;
    let changed = write::change(server, &call, |mut new| {
        place(&call, &body, &mut new)?;
        if let Some(version) = body.get("metadata").and_then(|m| m.get("resourceVersion")) {
            new.metadata_mut().insert("resourceVersion".into(), version.clone());
        } else {
            new.metadata_mut().remove("resourceVersion");
        }
        Ok(Made::Update(new))
    });
    answer(&call, Box::pin(changed).await?)
}

pub(crate) async fn patch(
    server: &Server,
    call: Call,
    kind: PatchType,
    body: Value,
) -> Result<Outcome, ApiError> {
    let paths = paths(&call)?.clone();
    let manager = write::manager(&call);
    let changed = write::change(server, &call, |mut new| {
        let before = scale(&call.resource, &paths, &new);
        if kind == PatchType::Apply {
            check(&call, &body)?;
            let mut applied = json!({
                "apiVersion": call.resource.api_version, "kind": call.resource.kind,
                "metadata": {"name": call.name, "namespace": call.namespace},
            });
            place(&call, &body, &mut applied)?;
            return Ok(Made::Applied(patch::merge(&call, Some(&new), &applied, &manager)?));
        }
        let after = match kind {
            // The table's Scale has no lists: a strategic merge is a plain one.
            PatchType::Strategic => patched(&call.resource, PatchType::Merge, before.clone(), &body)?,
            _ => patched(&call.resource, kind, before.clone(), &body)?,
        };
        check(&call, &after)?;
        if after.name() != before.name() {
            return Err(ApiError::bad_request("the name of a Scale cannot be changed"));
        }
        place(&call, &after, &mut new)?;
        new.metadata_mut().insert("resourceVersion".into(), json!(after.resource_version()));
        Ok(Made::Update(new))
    });
    answer(&call, Box::pin(changed).await?)
}

fn answer(call: &Call, changed: Changed) -> Result<Outcome, ApiError> {
    let item = changed.item(call)?;
    let scale = scale(&call.resource, paths(call)?, &item.value());
    Ok(Outcome::Object { code: 200, object: Item::value_of(scale) })
}

fn paths(call: &Call) -> Result<&ScalePaths, ApiError> {
    call.resource.scale.as_ref().ok_or_else(ApiError::no_such_path)
}

fn check(call: &Call, scale: &Value) -> Result<(), ApiError> {
    if !matches!(scale.name(), name if name.is_empty() || name == call.name) {
        let text = format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            scale.name(),
            call.name
        );
        return Err(ApiError::bad_request(text));
    }
    let kind = (scale.api_version(), scale.kind());
    if kind != ("autoscaling/v1", "Scale") && kind != ("", "") {
        let text = format!("expected an autoscaling/v1 Scale, got {} {}", scale.api_version(), scale.kind());
        return Err(ApiError::bad_request(text));
    }
    Ok(())
}

/// Puts a Scale's replica count into the object.
fn place(call: &Call, scale: &Value, object: &mut Value) -> Result<(), ApiError> {
    let given = path::get(scale, &["spec", "replicas"]).filter(|value| !value.is_null());
    let replicas = given.map_or(Some(0), Value::as_i64).ok_or_else(|| {
        ApiError::bad_request(format!(
            "spec.replicas of the Scale must be a number, got {}",
            given.unwrap_or(&Value::Null)
        ))
    })?;
    if replicas < 0 {
        let target = crate::error::Target::new("autoscaling", "Scale", &call.name);
        let cause = Cause::invalid("spec.replicas", &json!(replicas), "must be greater than or equal to 0");
        return Err(ApiError::invalid(target, vec![cause]));
    }
    let keys: Vec<&str> = paths(call)?.spec_replicas.iter().map(String::as_str).collect();
    path::set(object, &keys, json!(replicas));
    Ok(())
}

/// The Scale of an object.
fn scale(resource: &Resource, paths: &ScalePaths, object: &Value) -> Value {
    let number = |keys: &[String]| {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        path::i64_at(object, &keys).unwrap_or_default()
    };
    let mut metadata = Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object.get("metadata").and_then(|m| m.get(field)) {
            metadata.insert(field.into(), value.clone());
        }
    }
    let mut status = json!({"replicas": number(&paths.status_replicas)});
    if let Some(text) = selector(resource, paths, object)
        && let Some(map) = status.as_object_mut()
    {
        map.insert("selector".into(), json!(text));
    }
    let mut spec = Map::new();
    if number(&paths.spec_replicas) != 0 {
        spec.insert("replicas".into(), json!(number(&paths.spec_replicas)));
    }
    json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": metadata, "spec": spec, "status": status,
    })
}

fn selector(resource: &Resource, paths: &ScalePaths, object: &Value) -> Option<String> {
    if resource.builtin {
        let selector = path::get(object, &["spec", "selector"])?;
        let parsed = match resource.kind.as_str() {
            "ReplicationController" => {
                let labels =
                    selector.as_object()?.iter().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?)));
                LabelSelector::from_labels(labels)
            }
            _ => LabelSelector::from_json(selector).ok()?,
        };
        return Some(parsed.to_string());
    }
    let keys: Vec<&str> = paths.selector.as_ref()?.iter().map(String::as_str).collect();
    path::get(object, &keys)?.as_str().map(str::to_owned)
}
