//! The verbs `delete` and `deletecollection`: what is removed at once, what is only
//! marked, and what its dependents can expect.

use crate::admission::{self, Operation};
use crate::commit::{self, Put};
use crate::error::{ApiError, Cause, Target};
use crate::handler::{Call, List, Outcome};
use crate::item::{Item, set_revision};
use crate::limits::{CLEANUP_CONCURRENCY, MAX_RETRIES};
use crate::registry::Resource;
use crate::selection::Selection;
use crate::server::Server;
use crate::{crd, kinds, meta_rules, present};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use windlass_object::meta::Meta as _;
use windlass_object::time;
use windlass_store::Expect;

/// Kept until the dependents are let go.
pub(crate) const ORPHAN: &str = "orphan";
/// Kept until the dependents are gone.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// What becomes of dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They go first.
    Foreground,
    /// They go later.
    Background,
    /// They stay.
    Orphan,
}

/// How to delete.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deletion {
    pub(crate) grace: Option<i64>,
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) propagation: Option<Propagation>,
    pub(crate) dry_run: bool,
    /// `orphanDependents: false` was sent: the old way to ask for the code 202.
    pub(crate) accepted: bool,
}

/// What a delete did.
pub(crate) enum Deleted {
    /// The object is gone; this was its last state.
    Removed(Item),
    /// The object stays for now.
    Marked(Item),
}

pub(crate) async fn delete(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    let deletion = Deletion::read(&call)?;
    let (removed, item) = match delete_object(server, &call, &deletion).await? {
        Deleted::Removed(item) => (true, item),
        Deleted::Marked(item) => (false, item),
    };
    let code = if !removed && deletion.accepted { 202 } else { 200 };
    if !removed || call.resource.facts.returns_deleted {
        return Ok(Outcome::Object { code, object: item });
    }
    let mut details = json!({"name": call.name, "kind": call.resource.resource, "uid": item.value().uid()});
    if !call.resource.group.is_empty()
        && let Some(map) = details.as_object_mut()
    {
        map.insert("group".into(), json!(call.resource.group));
    }
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    });
    Ok(Outcome::Status { code, status })
}

pub(crate) async fn delete_collection(server: &Server, call: Call) -> Result<Outcome, ApiError> {
    let deletion = Deletion::read(&call)?;
    let selection = Selection::parse(&call.resource, &call.options)?;
    let snapshot = server.store().snapshot();
    let prefix = call.resource.range(&call.namespace);
    let found = snapshot.range(&prefix, None).filter_map(|(key, entry)| {
        let selected = selection.is_everything() || selection.matches(&entry.json_uncached());
        let path = key.strip_prefix(&call.resource.prefix)?;
        let (namespace, name) = if call.resource.namespaced { path.split_once('/')? } else { ("", path) };
        selected.then(|| Call { namespace: namespace.to_owned(), name: name.to_owned(), ..call.clone() })
    });
    let calls: Vec<Call> = found.collect();
    let (deletion, server_) = (&deletion, server);
    let mut outcomes = stream::iter(calls)
        .map(|call| async move { delete_object(server_, &call, deletion).await })
        .buffered(CLEANUP_CONCURRENCY);
    let mut items = Vec::new();
    while let Some(outcome) = outcomes.next().await {
        match outcome {
            Ok(Deleted::Removed(item) | Deleted::Marked(item)) => items.push(item),
            Err(error) if error.reason == "NotFound" => {}
            Err(error) => return Err(error),
        }
    }
    drop(outcomes);
    Ok(Outcome::List(List {
        resource: call.resource.clone(),
        items,
        resource_version: server.store().revision(),
        continue_token: String::new(),
        remaining: None,
    }))
}

/// A body that is something else than options would be taken for none.
fn check_body(body: &Value) -> Result<(), ApiError> {
    let kind = body.get("kind").and_then(Value::as_str).unwrap_or_default();
    if !matches!(kind, "" | "DeleteOptions") {
        let version = body.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let text = format!("no kind {kind:?} is registered for version {version:?} as options of a delete");
        return Err(ApiError::bad_request(text));
    }
    check_guards(body)?;
    match body.get("gracePeriodSeconds") {
        None | Some(Value::Null) => Ok(()),
        Some(seconds) if seconds.is_i64() => Ok(()),
        Some(other) => Err(ApiError::bad_request(format!(
            "gracePeriodSeconds of the DeleteOptions must be a number, got {other}"
        ))),
    }
}

/// A guard of the wrong type must not count as none: the object would be deleted.
fn check_guards(body: &Value) -> Result<(), ApiError> {
    let wrong = |field: &str, wanted: &str, got: &Value| {
        ApiError::bad_request(format!("{field} of the DeleteOptions must be {wanted}, got {got}"))
    };
    match body.get("dryRun") {
        None | Some(Value::Null | Value::Array(_)) => {}
        Some(other) => return Err(wrong("dryRun", "a list", other)),
    }
    match body.get("preconditions") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(guards)) => ["uid", "resourceVersion"]
            .iter()
            .filter_map(|key| guards.get(*key).map(|guard| (key, guard)))
            .find(|(_, guard)| !guard.is_string() && !guard.is_null())
            .map_or(Ok(()), |(key, guard)| Err(wrong(&format!("preconditions.{key}"), "a string", guard))),
        Some(other) => Err(wrong("preconditions", "a map", other)),
    }
}

impl Deletion {
    /// Reads the options of a call: the body's win over the query's.
    fn read(call: &Call) -> Result<Self, ApiError> {
        let body = call.body.clone().unwrap_or_default();
        let options = &call.options;
        let mut causes = Vec::new();
        check_body(&body)?;
        for value in body.get("dryRun").and_then(Value::as_array).into_iter().flatten() {
            if value != "All" {
                causes.push(Cause::not_supported("dryRun", &json!([value]), &["All"]));
            }
        }
        let policy =
            body.get("propagationPolicy").and_then(Value::as_str).or(options.propagation_policy.as_deref());
        let orphan = body.get("orphanDependents").and_then(Value::as_bool).or(options.orphan_dependents);
        let propagation = match (policy, orphan) {
            (Some(_), Some(_)) => {
                let text = "orphanDependents and deletionPropagation cannot be both set";
                causes.push(Cause::invalid("propagationPolicy", &json!(policy), text));
                None
            }
            (Some("Foreground"), None) => Some(Propagation::Foreground),
            (Some("Background"), None) => Some(Propagation::Background),
            (Some("Orphan"), None) | (None, Some(true)) => Some(Propagation::Orphan),
            (Some(""), None) | (None, None) => None,
            (None, Some(false)) => Some(Propagation::Background),
            (Some(other), None) => {
                let allowed = ["Foreground", "Background", "Orphan", "nil"];
                causes.push(Cause::not_supported("propagationPolicy", &json!(other), &allowed));
                None
            }
        };
        let grace = body.get("gracePeriodSeconds").and_then(Value::as_i64).or(options.grace_period_seconds);
        if !causes.is_empty() {
            return Err(ApiError::invalid(Target::new("meta.k8s.io", "DeleteOptions", ""), causes));
        }
        let precondition = |key: &str| {
            let value = body.get("preconditions").and_then(|p| p.get(key)).and_then(Value::as_str);
            value.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let dry_run = body.get("dryRun").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        Ok(Self {
            // Nothing is earlier than at once.
            grace: grace.map(|seconds| seconds.max(0)),
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
            propagation,
            dry_run: dry_run || options.dry_run,
            accepted: orphan == Some(false),
        })
    }

    fn check(&self, resource: &Resource, live: &Value, revision: u64) -> Result<(), ApiError> {
        let refuse = |detail: String| ApiError::conflict(resource.kind_target(live.name()), &detail);
        if let Some(uid) = self.uid.as_deref().filter(|uid| *uid != live.uid()) {
            return Err(refuse(format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
                live.uid()
            )));
        }
        if let Some(version) = self.resource_version.as_deref().filter(|v| v.parse() != Ok(revision)) {
            return Err(refuse(format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({revision}). The object might have been modified"
            )));
        }
        Ok(())
    }
}

/// Deletes the object that a call names: at once if nothing holds it.
pub(crate) async fn delete_object(
    server: &Server,
    call: &Call,
    deletion: &Deletion,
) -> Result<Deleted, ApiError> {
    let resource = &call.resource;
    let key = resource.key(&call.namespace, &call.name);
    for _ in 0..MAX_RETRIES {
        let snapshot = server.store().snapshot();
        let Some(entry) = snapshot.get(&key) else {
            return Err(ApiError::not_found(resource.target(&call.name)));
        };
        let live = present::live(resource, entry);
        deletion.check(resource, &live, entry.revision())?;
        kinds::on_delete(resource, &live)?;
        admission::admit(server.admission(), call, Operation::Delete, &call.name, None, Some(&live))?;
        let grace = kinds::grace(resource, &live, deletion.grace);
        let mut new = live.as_ref().clone();
        finalizers(resource, deletion.propagation, &mut new);
        kinds::mark(resource, &mut new);
        let waits = !new.finalizers().is_empty() || grace > 0 || kinds::holds(resource, &new);
        if !waits {
            if !deletion.dry_run
                && !commit::remove(server, resource, key.clone(), entry.revision(), None).await?
            {
                continue;
            }
            return Ok(Deleted::Removed(present::present(resource, entry)));
        }
        stamp(resource, &live, grace, &mut new);
        if meta_rules::same(&live, &new) {
            return Ok(Deleted::Marked(present::present(resource, entry)));
        }
        if deletion.dry_run {
            set_revision(&mut new, entry.revision());
            return Ok(Deleted::Marked(Item::value_of(new)));
        }
        if let Put::Done(entry) =
            commit::put(server, resource, key.clone(), Expect::Revision(entry.revision()), new).await?
        {
            return Ok(Deleted::Marked(present::present(resource, &entry)));
        }
    }
    Err(ApiError::modified(resource.target(&call.name)))
}

fn finalizers(resource: &Resource, propagation: Option<Propagation>, new: &mut Value) {
    let propagation = match propagation {
        // A second delete leaves the first one's choice.
        None if new.is_deleting() => return,
        None if resource.facts.orphans_by_default => Propagation::Orphan,
        None => return,
        Some(propagation) => propagation,
    };
    let (add, remove): (Option<&str>, &[&str]) = match propagation {
        Propagation::Orphan => (Some(ORPHAN), &[FOREGROUND]),
        Propagation::Foreground => (Some(FOREGROUND), &[ORPHAN]),
        Propagation::Background => (None, &[ORPHAN, FOREGROUND]),
    };
    for finalizer in remove {
        new.remove_finalizer(finalizer);
    }
    if let Some(finalizer) = add {
        new.add_finalizer(finalizer);
    }
}

/// Marks an object as being deleted; a second mark can only shorten the time.
fn stamp(resource: &Resource, live: &Value, grace: i64, new: &mut Value) {
    // Namespaces and CRDs have clean-up of their own, and are marked by the time alone.
    let plain = resource.builtin && (resource.kind == "Namespace" || crd::is_crd(resource));
    if plain && live.is_deleting() {
        return;
    }
    let earlier =
        live.get("metadata").and_then(|m| m.get("deletionGracePeriodSeconds")).and_then(Value::as_i64);
    if live.is_deleting() && earlier.is_none_or(|earlier| earlier <= grace) {
        return;
    }
    let now = jiff::Timestamp::now();
    let at = now.checked_add(jiff::SignedDuration::from_secs(grace)).unwrap_or(now);
    let generation = live.generation();
    let first = !live.is_deleting();
    let metadata = new.metadata_mut();
    metadata.insert("deletionTimestamp".into(), json!(time::format(at)));
    if plain {
        return;
    }
    metadata.insert("deletionGracePeriodSeconds".into(), json!(grace));
    if first && generation > 0 {
        metadata.insert("generation".into(), json!(generation + 1));
    }
}
