//! Who depends on whom. Only objects with owners are in here, so that a cluster of
//! ownerless objects costs nothing, and no event of one is parsed.

use crate::delete::{FOREGROUND, ORPHAN};
use crate::worker::Task;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use windlass_object::meta::Meta as _;
use windlass_store::Entry;

/// An owner as a dependent names it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    uid: String,
    blocks: bool,
}

/// The index of owners.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Objects with owners, by key.
    dependents: HashMap<Arc<str>, Vec<Owner>>,
    /// Keys of dependents by the owner's uid.
    by_owner: HashMap<String, HashSet<Arc<str>>>,
    /// Owners that go after their dependents, key by uid.
    waiting: HashMap<String, String>,
}

/// Whether stored JSON may have a field or text, without parsing it.
fn mentions(entry: Option<&Entry>, words: &str) -> bool {
    entry.and_then(|entry| std::str::from_utf8(entry.bytes()).ok()).is_some_and(|text| text.contains(words))
}

impl Graph {
    /// Takes in an event; gives what is to be looked at.
    pub(crate) fn observe(&mut self, key: &str, previous: Option<&Entry>, new: Option<&Entry>) -> Vec<Task> {
        let mut tasks = Vec::new();
        let owns = mentions(new, "\"ownerReferences\":[");
        if owns || self.dependents.contains_key(key) {
            let owners = new.filter(|_| owns).map(|entry| owners(&entry.json_uncached())).unwrap_or_default();
            self.relate(key, owners, &mut tasks);
        }
        match (new, previous) {
            (Some(entry), _)
                if mentions(new, "\"deletionTimestamp\":") && mentions(new, "\"finalizers\":[") =>
            {
                self.deleting(key, &entry.json_uncached(), &mut tasks);
            }
            (None, Some(entry)) if !self.by_owner.is_empty() || !self.waiting.is_empty() => {
                self.gone(entry.json_uncached().uid(), &mut tasks);
            }
            _ => {}
        }
        tasks
    }

    fn relate(&mut self, key: &str, owners: Vec<Owner>, tasks: &mut Vec<Task>) {
        let before = self.dependents.remove(key).unwrap_or_default();
        let changed = before != owners;
        if changed {
            for owner in &before {
                if let Some(keys) = self.by_owner.get_mut(&owner.uid) {
                    keys.remove(key);
                    if keys.is_empty() {
                        self.by_owner.remove(&owner.uid);
                    }
                }
            }
        }
        // An owner that waits for its dependents looks again: one came, went or stopped blocking.
        for owner in before.iter().chain(&owners) {
            if let Some(waiting) = self.waiting.get(&owner.uid).filter(|_| changed) {
                tasks.push(Task::Foreground(waiting.clone()));
            }
        }
        if owners.is_empty() {
            return;
        }
        let key: Arc<str> = Arc::from(key);
        if changed {
            for owner in &owners {
                self.by_owner.entry(owner.uid.clone()).or_default().insert(key.clone());
            }
            tasks.push(Task::Collect(key.to_string()));
        }
        self.dependents.insert(key, owners);
    }

    fn deleting(&mut self, key: &str, object: &Value, tasks: &mut Vec<Task>) {
        if !object.is_deleting() {
            return;
        }
        let finalizers = object.finalizers();
        if finalizers.contains(&FOREGROUND) {
            self.waiting.insert(object.uid().to_owned(), key.to_owned());
            tasks.push(Task::Foreground(key.to_owned()));
        } else {
            self.waiting.remove(object.uid());
        }
        if finalizers.contains(&ORPHAN) {
            tasks.push(Task::Orphan(key.to_owned()));
        }
    }

    fn gone(&mut self, uid: &str, tasks: &mut Vec<Task>) {
        self.waiting.remove(uid);
        let keys = self.by_owner.get(uid).into_iter().flatten();
        tasks.extend(keys.map(|key| Task::Collect(key.to_string())));
    }

    /// Whether an owner goes after its dependents.
    pub(crate) fn waits(&self, uid: &str) -> bool {
        self.waiting.contains_key(uid)
    }

    /// Keys of all dependents.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<Arc<str>> {
        self.by_owner.get(uid).into_iter().flatten().cloned().collect()
    }

    /// Keys of dependents that keep a waiting owner.
    pub(crate) fn blocking(&self, uid: &str) -> Vec<Arc<str>> {
        let blocks = |key: &Arc<str>| {
            self.dependents.get(key).into_iter().flatten().any(|owner| owner.uid == uid && owner.blocks)
        };
        self.by_owner.get(uid).into_iter().flatten().filter(|key| blocks(key)).cloned().collect()
    }
}

fn owners(object: &Value) -> Vec<Owner> {
    let uid = |owner: &Value| Some(owner.get("uid")?.as_str()?.to_owned());
    let blocks = |owner: &Value| owner.get("blockOwnerDeletion").and_then(Value::as_bool) == Some(true);
    object.owner_references().iter().filter_map(|o| Some(Owner { uid: uid(o)?, blocks: blocks(o) })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::encode;
    use serde_json::json;

    fn entry(revision: u64, object: &Value) -> Entry {
        Entry::new(revision, revision, encode(object))
    }

    #[test]
    fn ownerless_objects_leave_no_trace() {
        let mut graph = Graph::default();
        let object = entry(1, &json!({"metadata": {"name": "a", "uid": "u"}}));
        assert!(graph.observe("/core/configmaps/d/a", None, Some(&object)).is_empty());
        assert!(graph.observe("/core/configmaps/d/a", Some(&object), None).is_empty());
        assert!(graph.dependents.is_empty() && graph.by_owner.is_empty());
    }

    #[test]
    fn a_dependent_is_looked_at_when_its_owner_goes() {
        let mut graph = Graph::default();
        let owner = entry(1, &json!({"metadata": {"name": "o", "uid": "u"}}));
        let dependent = entry(
            2,
            &json!({"metadata": {"name": "d", "uid": "v", "ownerReferences": [{"uid": "u", "blockOwnerDeletion": true}]}}),
        );
        graph.observe("/core/configmaps/d/o", None, Some(&owner));
        let first = graph.observe("/core/configmaps/d/d", None, Some(&dependent));
        assert_eq!(first, [Task::Collect("/core/configmaps/d/d".into())]);
        assert_eq!(graph.blocking("u").len(), 1);
        let then = graph.observe("/core/configmaps/d/o", Some(&owner), None);
        assert_eq!(then, [Task::Collect("/core/configmaps/d/d".into())]);
        graph.observe("/core/configmaps/d/d", Some(&dependent), None);
        assert!(graph.dependents.is_empty() && graph.by_owner.is_empty());
    }
}
