//! What is known of Works' objects in members: one that has not changed since it was reported costs nothing, and one
//! whose status alone has changed is not compared with its manifest again.

use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windlass_object::meta::Meta;
use windlass_runtime::ObjectKey;

/// One object as it was when it said what its manifest says.
struct Copy {
    uid: String,
    version: String,
    /// Of all but its status.
    content: u64,
}

/// A Work of which all manifests were carried out.
struct Entry {
    uid: String,
    generation: i64,
    copies: Vec<Copy>,
    /// The Work's status says all that they say.
    reported: bool,
    /// When it was written last.
    told: Option<Instant>,
}

/// Works by key. Clones are handles to the same.
#[derive(Clone, Default)]
pub(super) struct Known(Arc<Mutex<HashMap<ObjectKey, Entry>>>);

impl Known {
    fn entries(&self) -> MutexGuard<'_, HashMap<ObjectKey, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of<T>(&self, work: &Value, look: impl FnOnce(&Entry) -> T) -> Option<T> {
        let entries = self.entries();
        let entry = entries.get(&ObjectKey::of(work))?;
        (entry.uid == work.uid() && entry.generation == work.generation()).then(|| look(entry))
    }

    /// All manifests of this generation were carried out; these are the objects then.
    pub(super) fn applied(&self, work: &Value, live: &[Arc<Value>]) {
        let copies = live.iter().map(|object| Copy {
            uid: object.uid().to_owned(),
            version: object.resource_version().to_owned(),
            content: content(object),
        });
        let entry = Entry {
            uid: work.uid().to_owned(),
            generation: work.generation(),
            copies: copies.collect(),
            reported: false,
            told: self.of(work, |entry| entry.told).flatten(),
        };
        self.entries().insert(ObjectKey::of(work), entry);
    }

    /// The Work's status says all that these objects say.
    pub(super) fn reported(&self, work: &Value) {
        if let Some(entry) = self.entries().get_mut(&ObjectKey::of(work)) {
            (entry.reported, entry.told) = (true, Some(Instant::now()));
        }
    }

    /// How long ago this generation's status was told last.
    pub(super) fn since_report(&self, work: &Value) -> Option<Duration> {
        self.of(work, |entry| entry.told.map(|when| when.elapsed()))?
    }

    /// Nothing is known any more.
    pub(super) fn forget(&self, key: &ObjectKey) {
        self.entries().remove(key);
    }

    /// All manifests of this generation were carried out: what differs now is drift, or the member's own.
    pub(super) fn is_applied(&self, work: &Value) -> bool {
        self.of(work, |_| ()).is_some()
    }

    /// The object of the manifest at `place` says what it said when it was as the manifest wants it.
    pub(super) fn is_as_applied(&self, work: &Value, place: usize, live: &Value) -> bool {
        let same = |copy: &Copy| copy.uid == live.uid() && copy.content == content(live);
        self.of(work, |entry| entry.copies.get(place).is_some_and(same)).unwrap_or(false)
    }

    /// All objects are as the Work's status tells.
    pub(super) fn is_as_reported(&self, work: &Value, live: &[Option<Arc<Value>>]) -> bool {
        let same = |(copy, live): (&Copy, &Option<Arc<Value>>)| {
            live.as_ref().is_some_and(|live| {
                (copy.uid.as_str(), copy.version.as_str()) == (live.uid(), live.resource_version())
            })
        };
        let all = |entry: &Entry| {
            entry.reported && entry.copies.len() == live.len() && entry.copies.iter().zip(live).all(same)
        };
        self.of(work, all).unwrap_or(false)
    }
}

/// A hash of an object without what its server and its controllers note in it all the time.
fn content(object: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (field, value) in object.as_object().into_iter().flatten().filter(|(field, _)| *field != "status") {
        field.hash(&mut hasher);
        match value {
            Value::Object(metadata) if field == "metadata" => {
                let noted = |key: &str| matches!(key, "resourceVersion" | "managedFields");
                for (key, value) in metadata.iter().filter(|(key, _)| !noted(key)) {
                    (key, value).hash(&mut hasher);
                }
            }
            value => value.hash(&mut hasher),
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_has_not_changed_is_known() {
        let known = Known::default();
        let work = |generation: i64| json!({"metadata": {"name": "w", "namespace": "n", "uid": "w1", "generation": generation}});
        let live = |version: &str, replicas: i64, ready: i64| {
            Arc::new(json!({
                "metadata": {"name": "a", "uid": "u", "resourceVersion": version},
                "spec": {"replicas": replicas}, "status": {"ready": ready},
            }))
        };
        assert!(!known.is_applied(&work(1)));
        known.applied(&work(1), &[live("5", 2, 0)]);
        assert!(known.is_applied(&work(1)) && !known.is_applied(&work(2)));
        assert!(!known.is_as_reported(&work(1), &[Some(live("5", 2, 0))]), "not reported yet");
        assert_eq!(known.since_report(&work(1)), None);
        known.reported(&work(1));
        assert!(known.since_report(&work(1)).is_some() && known.since_report(&work(2)).is_none());
        assert!(known.is_as_reported(&work(1), &[Some(live("5", 2, 0))]));
        for other in [Some(live("6", 2, 2)), None] {
            assert!(!known.is_as_reported(&work(1), &[other]));
        }
        assert!(known.is_as_applied(&work(1), 0, &live("6", 2, 2)), "its status alone has changed");
        assert!(!known.is_as_applied(&work(1), 0, &live("6", 3, 2)), "drift");
        assert!(!known.is_as_applied(&work(2), 0, &live("5", 2, 0)), "another spec");
        assert!(!known.is_as_applied(&work(1), 1, &live("5", 2, 0)), "no such manifest");
        known.forget(&ObjectKey::new("n", "w"));
        assert!(!known.is_applied(&work(1)));
    }
}
