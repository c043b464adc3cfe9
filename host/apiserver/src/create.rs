//! The verb `create`, and what stands behind every other way to make an object.

use crate::admission::{self, Operation};
use crate::commit::{self, Put};
use crate::error::{ApiError, Cause};
use crate::handler::{Call, Outcome};
use crate::item::Item;
use crate::limits::GENERATE_ATTEMPTS;
use crate::server::Server;
use crate::{intake, kinds, meta_rules, pods, present, write};
use serde_json::{Value, json};
use windlass_object::meta::Meta as _;
use windlass_schema::apply;
use windlass_store::{Expect, Snapshot};

pub(crate) async fn create(server: &Server, mut call: Call) -> Result<Outcome, ApiError> {
    let resource = call.resource.clone();
    match (resource.resource.as_str(), call.subresource.as_str()) {
        ("pods", "binding") => return pods::bind(server, call).await,
        ("pods", "eviction") => return pods::evict(server, call).await,
        ("bindings", "") if resource.group.is_empty() => return pods::bind(server, call).await,
        (_, "") => {}
        _ => return Err(ApiError::method_not_allowed(resource.target(&call.name), "create")),
    }
    let Some(mut object) = call.body.take() else {
        return Err(ApiError::bad_request(format!("a body is needed: the {} to create", resource.kind)));
    };
    intake::check_type(&resource, &mut object)?;
    intake::check_place(&call, &mut object)?;
    let item = create_object(server, &call, object, false).await?;
    Ok(Outcome::Object { code: 201, object: item })
}

/// Makes a new object. `applied`: its managedFields are right already.
pub(crate) async fn create_object(
    server: &Server,
    call: &Call,
    mut object: Value,
    applied: bool,
) -> Result<Item, ApiError> {
    let resource = &call.resource;
    // A dry run does not reach the storage layer, which is who minds.
    if !object.resource_version().is_empty() && !call.options.dry_run {
        // The code is Kubernetes' own: it takes this for a fault of its storage layer.
        return Err(ApiError::new(500, "", "resourceVersion should not be set on objects to be created"));
    }
    if resource.facts.resets_status
        && let Some(map) = object.as_object_mut()
    {
        map.remove("status");
    }
    intake::normalize(call, &mut object)?;
    let base = object
        .get("metadata")
        .and_then(|m| m.get("generateName"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !object.name().is_empty() || base.is_empty() {
        return attempt(server, call, object, applied).await;
    }
    let base = base.to_owned();
    for _ in 1..GENERATE_ATTEMPTS {
        let mut named = object.clone();
        named.metadata_mut().insert("name".into(), json!(meta_rules::generate(&base)));
        match attempt(server, call, named, applied).await {
            Err(error) if error.reason == "AlreadyExists" => {}
            outcome => return outcome,
        }
    }
    object.metadata_mut().insert("name".into(), json!(meta_rules::generate(&base)));
    attempt(server, call, object, applied).await.map_err(|mut error| {
        if error.reason == "AlreadyExists" {
            error.message.push_str(", the server was not able to generate a unique name for the object");
        }
        error
    })
}

async fn attempt(server: &Server, call: &Call, mut object: Value, applied: bool) -> Result<Item, ApiError> {
    let resource = &call.resource;
    let name = object.name().to_owned();
    let target = resource.target(&name);
    if resource.terminating {
        let detail = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::forbidden(target, detail));
    }
    let _namespace = match resource.namespaced {
        true => Some(server.gates().namespaces.pass(&call.namespace).await),
        false => None,
    };
    let _definition = match resource.builtin {
        true => None,
        false => Some(server.gates().definitions.pass(&resource.prefix).await),
    };
    if !resource.builtin
        && server.registry().get(&resource.group, &resource.version, &resource.resource).is_none()
    {
        return Err(ApiError::no_such_path());
    }
    let snapshot = server.store().snapshot();
    check_namespace(call, &snapshot, &name)?;
    meta_rules::begin(resource, &mut object);
    // Before what the server adds: nobody owns that.
    if !applied {
        apply::update(resource.schema.view(), None, &mut object, &write::manager(call));
    }
    kinds::on_create(server, call, &mut object, &snapshot)?;
    object = admission::admit(server.admission(), call, Operation::Create, &name, Some(object), None)?
        .ok_or_else(|| ApiError::internal("an admission function took the object away"))?;
    intake::validate(call, &object, None)?;
    let key = resource.key(&call.namespace, &name);
    if let Some(entry) = snapshot.get(&key) {
        let mut error = ApiError::already_exists(target);
        if entry.json_uncached().is_deleting() {
            error.message.insert_str(0, "object is being deleted: ");
        }
        return Err(error);
    }
    if call.options.dry_run {
        return Ok(Item::value_of(object));
    }
    match commit::put(server, resource, key, Expect::Absent, object).await? {
        Put::Done(entry) => Ok(present::present(resource, &entry)),
        Put::Lost => Err(ApiError::already_exists(target)),
    }
}

/// The namespace of a new object must exist and must not be on its way out.
fn check_namespace(call: &Call, snapshot: &Snapshot, name: &str) -> Result<(), ApiError> {
    if !call.resource.namespaced {
        return Ok(());
    }
    let namespace = &call.namespace;
    let Some(entry) = snapshot.get(&format!("/core/namespaces/{namespace}")) else {
        return Err(ApiError::not_found(crate::error::Target::new("", "namespaces", namespace)));
    };
    if !entry.json().is_deleting() {
        return Ok(());
    }
    let detail =
        format!("unable to create new content in namespace {namespace} because it is being terminated");
    let text = format!("namespace {namespace} is being terminated");
    Err(ApiError::forbidden(call.resource.target(name), &detail).cause(Cause::new(
        "NamespaceTerminating",
        "metadata.namespace",
        text,
    )))
}
