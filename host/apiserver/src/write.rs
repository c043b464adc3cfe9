//! Changing an object that exists: one road for update, patch, apply and the server's
//! own loops. Reads the live object, lets the caller make the new one, applies the rules
//! of metadata, status and generation, admission, ownership and validation, and writes
//! if anything differs. Where somebody else was faster, it begins again.

use crate::admission::{self, Operation};
use crate::commit::{self, Put};
use crate::error::{ApiError, Cause};
use crate::handler::Call;
use crate::item::{Item, set_revision};
use crate::limits::MAX_RETRIES;
use crate::present;
use crate::registry::Resource;
use crate::server::Server;
use crate::{intake, kinds, meta_rules};
use serde_json::{Map, Value};
use std::sync::Arc;
use windlass_object::meta::Meta as _;
use windlass_schema::apply::{self, Manager};
use windlass_store::Expect;

/// What the caller made of the live object.
pub(crate) enum Made {
    /// A new object; the ownership of fields follows from what changed.
    Update(Value),
    /// A new object whose managedFields are right already.
    Applied(Value),
}

/// What became of a change.
pub(crate) enum Changed {
    /// There is no such object.
    Missing,
    /// It is written, or nothing differed.
    Kept(Item),
    /// The last finalizer went, and the object with it.
    Removed(Item),
}

impl Changed {
    /// The object, or `NotFound`.
    pub(crate) fn item(self, call: &Call) -> Result<Item, ApiError> {
        match self {
            Self::Missing => Err(ApiError::not_found(call.resource.target(&call.name))),
            Self::Kept(item) | Self::Removed(item) => Ok(item),
        }
    }
}

/// Longest name of a field manager; Kubernetes' own limit.
const MAX_MANAGER: usize = 128;

/// The field manager of a call: as named, else the first part of the User-Agent.
pub(crate) fn manager(call: &Call) -> Manager {
    let agent = || call.user_agent.split('/').next().unwrap_or_default();
    let mut name = call.options.field_manager.as_deref().unwrap_or_else(agent);
    if name.len() > MAX_MANAGER {
        name = name.get(..MAX_MANAGER).unwrap_or_default();
    }
    let has_status = call.resource.has_status();
    let manager = Manager::new(name, &call.resource.api_version, has_status);
    if call.subresource.is_empty() { manager } else { manager.through(&call.subresource) }
}

/// Changes the object that a call names. `make` is given the live object with its
/// resourceVersion, to change or to drop, and may be asked again.
pub(crate) async fn change(
    server: &Server,
    call: &Call,
    mut make: impl FnMut(Value) -> Result<Made, ApiError> + Send,
) -> Result<Changed, ApiError> {
    let resource = &call.resource;
    let key = resource.key(&call.namespace, &call.name);
    for _ in 0..MAX_RETRIES {
        let snapshot = server.store().snapshot();
        let Some(entry) = snapshot.get(&key) else { return Ok(Changed::Missing) };
        let live = present::live(resource, entry);
        let mut shown = live.as_ref().clone();
        set_revision(&mut shown, entry.revision());
        let (mut new, applied) = match make(shown)? {
            Made::Update(new) => (new, false),
            Made::Applied(new) => (new, true),
        };
        let pinned = check_revision(call, entry.revision(), &mut new)?;
        check_uid(call, &live, &new)?;
        settle(call, &live, &mut new);
        meta_rules::carry(&live, &mut new);
        kinds::before_update(call, &mut new);
        // Before what the server adds: nobody owns that.
        if !applied && call.subresource != "binding" {
            apply::update(resource.schema.view(), Some(live.as_ref()), &mut new, &manager(call));
        }
        kinds::on_update(server, call, &live, &mut new)?;
        new = admitted(server, call, new, &live)?;
        // Where a pod runs is no wish of its author's.
        if call.subresource != "binding" {
            bump(resource, &live, &mut new);
        }
        if meta_rules::same(&live, &new) {
            return Ok(Changed::Kept(present::present(resource, entry)));
        }
        intake::validate(call, &new, Some(live.as_ref()))?;
        let last = removable(call, &live, &new);
        if call.options.dry_run {
            set_revision(&mut new, entry.revision());
            let item = Item::value_of(new);
            return Ok(if last { Changed::Removed(item) } else { Changed::Kept(item) });
        }
        if last {
            let told = Some(new.clone());
            if commit::remove(server, resource, key.clone(), entry.revision(), told).await? {
                set_revision(&mut new, entry.revision());
                return Ok(Changed::Removed(Item::value_of(new)));
            }
        } else if let Put::Done(entry) =
            commit::put(server, resource, key.clone(), Expect::Revision(entry.revision()), new).await?
        {
            return Ok(Changed::Kept(present::present(resource, &entry)));
        }
        if pinned {
            return Err(ApiError::modified(resource.target(&call.name)));
        }
    }
    Err(ApiError::modified(resource.target(&call.name)))
}

/// Compares the resourceVersion that the writer saw, and takes it off. True if it named one.
fn check_revision(call: &Call, revision: u64, new: &mut Value) -> Result<bool, ApiError> {
    let given = match new.metadata_mut().remove("resourceVersion") {
        Some(Value::String(text)) if !text.is_empty() && text != "0" => text,
        _ => {
            let lenient = call.resource.facts.unconditional_update || call.subresource == "scale";
            if !lenient && call.patch.is_none() {
                let cause = Cause::new(
                    "FieldValueInvalid",
                    "metadata.resourceVersion",
                    "Invalid value: 0: must be specified for an update",
                );
                return Err(ApiError::invalid(call.resource.target(&call.name), vec![cause]));
            }
            return Ok(false);
        }
    };
    if given.parse::<u64>().ok() == Some(revision) {
        // A patch that does not name a revision is made anew when it loses; the shown one is no claim.
        return Ok(call.patch.is_none());
    }
    if given.parse::<u64>().is_err() {
        let cause = Cause::invalid("metadata.resourceVersion", &Value::String(given), "must be a number");
        return Err(ApiError::invalid(call.resource.kind_target(&call.name), vec![cause]));
    }
    Err(ApiError::modified(call.resource.target(&call.name)))
}

fn check_uid(call: &Call, live: &Value, new: &Value) -> Result<(), ApiError> {
    // A patch with another uid is refused by validation; only a whole object claims to be that of before.
    if new.uid().is_empty() || new.uid() == live.uid() || call.patch.is_some() {
        return Ok(());
    }
    let detail = format!(
        "Precondition failed: UID in precondition: {}, UID in object meta: {}",
        new.uid(),
        live.uid()
    );
    Err(ApiError::conflict(call.resource.target(&call.name), &detail))
}

/// Puts back what this door does not change.
fn settle(call: &Call, live: &Value, new: &mut Value) {
    match call.subresource.as_str() {
        "" if call.resource.has_status() => {
            if let Some(map) = new.as_object_mut() {
                restore(live, map, "status");
            }
        }
        "status" | "approval" => only_status(call.resource.builtin, live, new),
        "finalize" => {
            let finalizers = new.get("spec").and_then(|spec| spec.get("finalizers")).cloned();
            let mut result = live.clone();
            if let Some(spec) = result.get_mut("spec").and_then(Value::as_object_mut) {
                match finalizers {
                    Some(list) if list.as_array().is_some_and(|l| !l.is_empty()) => {
                        spec.insert("finalizers".into(), list)
                    }
                    _ => spec.remove("finalizers"),
                };
            }
            *new = result;
        }
        "ephemeralcontainers" => {
            let containers = new.get("spec").and_then(|spec| spec.get("ephemeralContainers")).cloned();
            let mut result = live.clone();
            if let (Some(spec), Some(containers)) =
                (result.get_mut("spec").and_then(Value::as_object_mut), containers)
            {
                spec.insert("ephemeralContainers".into(), containers);
            }
            *new = result;
        }
        _ => {}
    }
}

/// Puts everything but the status back as it is. What the writer left alone is not copied.
fn only_status(builtin: bool, live: &Value, new: &mut Value) {
    let (Some(map), Some(before)) = (new.as_object_mut(), live.as_object()) else {
        live.clone_into(new);
        return;
    };
    map.retain(|key, _| matches!(key.as_str(), "status" | "metadata") || before.contains_key(key));
    for key in before.keys().filter(|key| *key != "status") {
        match (map.get_mut(key), before.get(key)) {
            (Some(_), _) if key == "metadata" && builtin => {}
            // Custom resources keep their metadata here; of managedFields, ownership takes care.
            (Some(Value::Object(metadata)), Some(Value::Object(before))) if key == "metadata" => {
                metadata.retain(|key, _| key == "managedFields" || before.contains_key(key));
                for (key, value) in before {
                    if key != "managedFields" || !metadata.contains_key(key) {
                        put_back(metadata, key, value);
                    }
                }
            }
            (_, Some(value)) => put_back(map, key, value),
            (_, None) => {}
        }
    }
}

fn restore(live: &Value, map: &mut Map<String, Value>, field: &str) {
    match live.get(field) {
        Some(value) => put_back(map, field, value),
        None => {
            map.remove(field);
        }
    }
}

/// Sees to it that a field has this value.
fn put_back(map: &mut Map<String, Value>, field: &str, value: &Value) {
    if map.get(field) != Some(value) {
        map.insert(field.to_owned(), value.clone());
    }
}

fn admitted(server: &Server, call: &Call, new: Value, live: &Arc<Value>) -> Result<Value, ApiError> {
    admission::admit(server.admission(), call, Operation::Update, &call.name, Some(new), Some(live))?
        .ok_or_else(|| ApiError::internal("an admission function took the object away"))
}

/// Counts a change of anything but metadata and status.
fn bump(resource: &Resource, live: &Value, new: &mut Value) {
    if !resource.facts.generation {
        return;
    }
    let status = resource.builtin || resource.has_status();
    let counted = |key: &str| match key {
        "metadata" | "apiVersion" | "kind" => false,
        "status" => !status,
        _ => true,
    };
    let empty = Map::new();
    let (before, after) = (live.as_object().unwrap_or(&empty), new.as_object().unwrap_or(&empty));
    let size = |map: &Map<String, Value>| map.keys().filter(|key| counted(key)).count();
    let same = size(before) == size(after)
        && before.iter().filter(|(key, _)| counted(key)).all(|(key, value)| after.get(key) == Some(value));
    let annotations =
        |map: &Map<String, Value>| map.get("metadata").and_then(|m| m.get("annotations")).cloned();
    let differs =
        !same || (resource.facts.generation_of_annotations && annotations(before) != annotations(after));
    if differs {
        let next = live.generation() + 1;
        new.metadata_mut().insert("generation".into(), next.into());
    }
}

/// Whether this change takes the last thing that kept a deleted object.
fn removable(call: &Call, live: &Value, new: &Value) -> bool {
    let grace =
        live.get("metadata").and_then(|m| m.get("deletionGracePeriodSeconds")).and_then(Value::as_i64);
    live.is_deleting()
        && new.finalizers().is_empty()
        && grace.unwrap_or_default() == 0
        && !kinds::holds(&call.resource, new)
}
