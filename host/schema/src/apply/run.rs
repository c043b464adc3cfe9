//! Applying: merge, take away what is no longer applied, find conflicts, keep managers.

use super::collect::{collect, faults, reconcile, with_fields};
use super::compare::{Delta, NOTHING, compare};
use super::element::Element;
use super::entries::{Entry, decode, sort};
use super::last_applied;
use super::merge::merge;
use super::remove::remove;
use super::set::FieldSet;
use super::types::Type;
use super::update::{put, take};
use super::{BEFORE_FIRST_APPLY, Manager, Operation};
use crate::arena::View;
use serde_json::{Map, Value};
use std::fmt;
use windlass_object::Meta;

/// A field that another manager owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Whose, in the words for people: `"kubectl" with subresource "scale" using apps/v1`.
    pub owner: String,
    /// The field: `.spec.replicas`.
    pub field: String,
}

impl Conflict {
    /// `message` of the cause in the Status; `field` is its `field`, and its reason is
    /// `FieldManagerConflict`.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.owner)
    }
}

/// All conflicts of one apply, by manager and field. Shown as the message of the Status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(pub Vec<Conflict>);

impl fmt::Display for Conflicts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return write!(out, "Apply failed with 1 conflict: conflict with {}: {}", only.owner, only.field);
        }
        write!(out, "Apply failed with {} conflicts: ", self.0.len())?;
        let mut last = None;
        for conflict in &self.0 {
            if last != Some(&conflict.owner) {
                let line = if last.is_some() { "\n" } else { "" };
                write!(out, "{line}conflicts with {}:", conflict.owner)?;
                last = Some(&conflict.owner);
            }
            write!(out, "\n- {}", conflict.field)?;
        }
        Ok(())
    }
}

/// Why an object was not applied.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ApplyError {
    /// Others own fields with other values (409, reason Conflict).
    #[error("{0}")]
    Conflicts(Conflicts),
    /// The applied object carries managedFields (400).
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsGiven,
    /// The applied object does not fit the schema: a client's fault, though Kubernetes answers 500.
    #[error("failed to create typed patch object ({object}): {}", lines(faults))]
    Typed {
        /// `namespace/name; apps/v1, Kind=Deployment`; core kinds are of `/v1`.
        object: String,
        /// What is wrong, each with its path.
        faults: Vec<String>,
    },
    /// The live object's managedFields can't be read.
    #[error("failed to decode managed fields: {0}")]
    Entries(String),
}

fn lines(faults: &[String]) -> String {
    match faults {
        [only] => only.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    }
}

/// Applies an object to the live one (none: it is created) and returns what is to be
/// stored, managedFields kept. Defaults and resets are the caller's, as is the check
/// that name and version fit. A result equal to `live` is a no-op.
pub fn apply<'a>(
    view: impl Into<Option<View<'a>>>,
    live: Option<&Value>,
    applied: &Value,
    manager: &Manager,
    force: bool,
) -> Result<Value, ApplyError> {
    let ty = Type::root(view.into(), manager.reset);
    if applied.get("metadata").and_then(|m| m.get("managedFields")).is_some_and(|m| !m.is_null()) {
        return Err(ApplyError::ManagedFieldsGiven);
    }
    let found = faults(ty, applied);
    if !found.is_empty() {
        let (namespace, name, gvk) = (applied.namespace(), applied.name(), applied.gvk());
        let object = format!("{namespace}/{name}; {}/{}, Kind={}", gvk.group, gvk.version, gvk.kind);
        return Err(ApplyError::Typed { object, faults: found });
    }
    let mut before = live.cloned().unwrap_or_else(|| NOTHING.clone());
    let old_entries = take(&mut before);
    let mut entries = decode(old_entries.as_ref().unwrap_or(&Value::Null)).map_err(ApplyError::Entries)?;
    for entry in &mut entries {
        reconcile(ty, &mut entry.fields);
    }
    if entries.is_empty() {
        entries.extend(before_first_apply(ty, &before, manager));
    }
    let claimed = collect(ty, applied);
    let last =
        entries.iter().position(|entry| entry.is_of(manager, Operation::Apply)).map(|at| entries.remove(at));
    let mut merged = merge(ty, &before, applied);
    if let Some(last) = last.as_ref().filter(|last| !last.fields.difference(&claimed).is_empty()) {
        let ty = ty.unfiltered();
        merged = prune(ty, merged, &last.fields, collect(ty, applied), &entries);
    }
    let delta = compare(ty, &before, &merged);
    if !force {
        let conflicts = conflicts(&entries, &delta, &allowed(ty, &before, manager));
        if !conflicts.is_empty() {
            return Err(ApplyError::Conflicts(Conflicts(conflicts)));
        }
    }
    for entry in &mut entries {
        entry.fields = entry.fields.difference(&delta.changed).difference(&delta.removed);
    }
    entries.retain(|entry| !entry.fields.is_empty());
    if manager.name() == last_applied::KUBECTL {
        last_applied::rewrite(&mut merged, applied);
    }
    if !claimed.below.is_empty() {
        let time = match &last {
            Some(last)
                if last.fields == claimed && last.api_version == manager.api_version && merged == before =>
            {
                last.time.clone()
            }
            _ => Some(manager.time()),
        };
        entries.push(Entry {
            manager: manager.name().to_owned(),
            operation: Operation::Apply,
            api_version: manager.api_version.clone(),
            subresource: manager.subresource.clone(),
            time,
            fields: claimed,
        });
    }
    let mut encoded: Vec<Value> = entries.iter().map(Entry::to_value).collect();
    sort(&mut encoded);
    put(&mut merged, encoded);
    Ok(merged)
}

/// Whoever wrote the object before anyone applied.
fn before_first_apply(ty: Type<'_>, before: &Value, manager: &Manager) -> Option<Entry> {
    let fields = compare(ty, &NOTHING, before).changed;
    (!fields.is_empty()).then(|| Entry {
        manager: BEFORE_FIRST_APPLY.to_owned(),
        operation: Operation::Update,
        api_version: manager.api_version.clone(),
        subresource: manager.subresource.clone(),
        time: Some(manager.time()),
        fields,
    })
}

/// Takes away what the manager applied last time and not now, unless another owns it,
/// or it holds what the manager did not put there.
fn prune(ty: Type<'_>, merged: Value, last: &FieldSet, claimed: FieldSet, others: &[Entry]) -> Value {
    let last = with_fields(ty, last);
    let nothing = || Value::Object(Map::new());
    let all = with_fields(ty, &collect(ty, &merged));
    let pruned = remove(ty, &merged, &last).unwrap_or_else(nothing);
    let owned = others.iter().fold(claimed, |set, entry| set.union(&entry.fields));
    let kept = with_fields(ty, &collect(ty, &pruned)).union(&with_fields(ty, &owned));
    let pruned = remove(ty, &merged, &all.difference(&kept)).unwrap_or_else(nothing);
    let kept = with_fields(ty, &collect(ty, &pruned));
    remove(ty, &merged, &all.difference(&kept).intersection(&last)).unwrap_or_else(nothing)
}

fn conflicts(entries: &[Entry], delta: &Delta, allowed: &FieldSet) -> Vec<Conflict> {
    let mut found = Vec::new();
    for entry in entries {
        let fields = entry.fields.intersection(&delta.changed).difference(allowed);
        let mut paths = fields.paths();
        paths.sort_by_cached_key(|path| members_first(path));
        for path in paths {
            let field = path.iter().map(Element::to_string).collect();
            found.push(Conflict { owner: owner(entry), field });
        }
    }
    found.sort_by(|a, b| a.owner.cmp(&b.owner));
    found
}

/// The order in which Kubernetes tells of fields: of each level its own members before what is below others.
fn members_first(path: &[Element]) -> Vec<(bool, Element)> {
    let last = path.len().saturating_sub(1);
    path.iter().enumerate().map(|(at, element)| (at < last, element.clone())).collect()
}

fn owner(entry: &Entry) -> String {
    let mut text = format!("{:?}", entry.manager);
    if !entry.subresource.is_empty() {
        text.push_str(&format!(" with subresource {:?}", entry.subresource));
    }
    if entry.operation == Operation::Update {
        text.push_str(&format!(" using {}", entry.api_version));
    }
    text
}

/// What kubectl may take over without force: fields that still are as its client-side
/// apply left them.
fn allowed(ty: Type<'_>, before: &Value, manager: &Manager) -> FieldSet {
    if manager.name() != last_applied::KUBECTL {
        return FieldSet::default();
    }
    last_applied::unchanged(ty, before, &manager.api_version).unwrap_or_default()
}
