//! A stored object: its bytes, its revisions, and its parsed form for as long as someone needs it.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bytes::Bytes;
use serde_json::Value;

/// One version of one object. Cloning shares it; snapshots, the log and watchers hold the same one.
#[derive(Clone)]
pub struct Entry(Arc<Inner>);

struct Inner {
    revision: u64,
    create_revision: u64,
    bytes: Bytes,
    kept: OnceLock<Arc<Value>>,
    shared: Mutex<Weak<Value>>,
}

impl Entry {
    /// A version written at `revision` of an object that was created at `create_revision`.
    pub fn new(revision: u64, create_revision: u64, bytes: Bytes) -> Self {
        Self(Arc::new(Inner {
            revision,
            create_revision,
            bytes,
            kept: OnceLock::new(),
            shared: Mutex::default(),
        }))
    }

    /// The same, with its parsed form: readers get that for as long as somebody holds it.
    pub(crate) fn with_value(
        revision: u64,
        create_revision: u64,
        bytes: Bytes,
        value: Option<&Arc<Value>>,
    ) -> Self {
        let shared = Mutex::new(value.map(Arc::downgrade).unwrap_or_default());
        Self(Arc::new(Inner { revision, create_revision, bytes, kept: OnceLock::new(), shared }))
    }

    /// The revision that wrote this version.
    pub fn revision(&self) -> u64 {
        self.0.revision
    }

    /// The revision that created the object.
    pub fn create_revision(&self) -> u64 {
        self.0.create_revision
    }

    /// The stored bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.0.bytes
    }

    /// The parsed object, kept as long as this version lives. For the few objects that are read all the time;
    /// a parsed object takes several times the memory of its bytes, so anything numerous uses [`Entry::json_uncached`].
    pub fn json(&self) -> &Arc<Value> {
        self.0.kept.get_or_init(|| self.json_uncached())
    }

    /// The parsed object, shared with others who hold it now, and forgotten when the last of them drops it.
    pub fn json_uncached(&self) -> Arc<Value> {
        if let Some(kept) = self.0.kept.get() {
            return kept.clone();
        }
        let mut shared = self.0.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = shared.upgrade() {
            return value;
        }
        let value = Arc::new(parse(&self.0.bytes));
        *shared = Arc::downgrade(&value);
        value
    }

    /// The parsed object, if somebody holds it now.
    pub fn json_in_use(&self) -> Option<Arc<Value>> {
        self.0.kept.get().cloned().or_else(|| {
            let shared = self.0.shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.upgrade()
        })
    }

    /// Whether both are the same version in memory.
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Bytes that are no JSON read as null: the store promises nothing about what its user wrote.
fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|error| {
        tracing::error!(%error, "a stored object is not JSON");
        Value::Null
    })
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("revision", &self.0.revision)
            .field("create_revision", &self.0.create_revision)
            .field("bytes", &self.0.bytes)
            .finish()
    }
}

/// Equal in revisions and bytes.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        let key = |entry: &Self| (entry.0.revision, entry.0.create_revision);
        self.same(other) || (key(self) == key(other) && self.0.bytes == other.0.bytes)
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsed_form_is_shared_and_forgotten() {
        let entry = Entry::new(2, 1, Bytes::from_static(b"{\"a\":1}"));
        let (first, second) = (entry.json_uncached(), entry.json_uncached());
        assert!(Arc::ptr_eq(&first, &second));
        let weak = Arc::downgrade(&first);
        drop((first, second));
        assert!(weak.upgrade().is_none());
        assert!(Arc::ptr_eq(entry.json(), &entry.json_uncached()));
        assert_eq!(entry.json()["a"], 1);
        let given = Arc::new(Value::from(5));
        let entry = Entry::with_value(1, 1, Bytes::from_static(b"5"), Some(&given));
        assert!(Arc::ptr_eq(&entry.json_uncached(), &given));
        drop(given);
        assert!(entry.json_in_use().is_none());
        assert_eq!(*entry.json_uncached(), 5);
        assert!(Entry::new(1, 1, Bytes::from_static(b"nonsense")).json().is_null());
    }
}
