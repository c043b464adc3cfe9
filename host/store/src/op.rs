//! What a caller asks the store to do, and what it answers.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::{Entry, Event};

/// One step of a transaction.
#[derive(Clone, Debug)]
pub struct Op {
    /// The key that it is about.
    pub key: String,
    /// What must be there for the transaction to happen.
    pub expect: Expect,
    /// What to do.
    pub action: Action,
    /// The parsed form of what is put, if the caller has it: spares the first readers from parsing.
    pub value: Option<Arc<Value>>,
}

/// A precondition on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Anything or nothing.
    Any,
    /// Nothing.
    Absent,
    /// The version written at this revision.
    Revision(u64),
}

/// What to do with a key.
#[derive(Clone, Debug)]
pub enum Action {
    /// Store these bytes.
    Put(Bytes),
    /// Remove the key. Final bytes, if given, are the object's last state that watchers are told of. Nothing happens to an absent key.
    Delete(Option<Bytes>),
}

impl Op {
    /// Any step.
    pub fn new(key: impl Into<String>, expect: Expect, action: Action) -> Self {
        Self { key: key.into(), expect, action, value: None }
    }

    /// With the parsed form of what it puts.
    pub fn parsed(self, value: Arc<Value>) -> Self {
        Self { value: Some(value), ..self }
    }

    /// Stores bytes under a key that must be absent.
    pub fn create(key: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self::new(key, Expect::Absent, Action::Put(bytes.into()))
    }

    /// Replaces the version of `revision`.
    pub fn update(key: impl Into<String>, revision: u64, bytes: impl Into<Bytes>) -> Self {
        Self::new(key, Expect::Revision(revision), Action::Put(bytes.into()))
    }

    /// Stores bytes, whatever is there.
    pub fn put(key: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self::new(key, Expect::Any, Action::Put(bytes.into()))
    }

    /// Removes a key, if its state is as expected.
    pub fn delete(key: impl Into<String>, expect: Expect) -> Self {
        Self::new(key, expect, Action::Delete(None))
    }

    /// Removes a key, if its state is as expected, and tells watchers these final bytes.
    pub fn delete_with(key: impl Into<String>, expect: Expect, last: impl Into<Bytes>) -> Self {
        Self::new(key, expect, Action::Delete(Some(last.into())))
    }
}

/// A transaction that happened.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The store's revision after the transaction.
    pub revision: u64,
    /// What happened, in the order of the operations; deletions of absent keys leave no event.
    pub events: Vec<Arc<Event>>,
}

impl Committed {
    /// The entry that the first operation wrote.
    pub fn entry(&self) -> Option<&Entry> {
        self.events.first()?.new.as_ref()
    }
}

/// A transaction that did not happen.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WriteError {
    /// A key was not as expected.
    #[error(
        "key {key:?} is not as expected: wanted {expected:?}, found revision {found:?}; read it again and retry"
    )]
    Conflict {
        /// The key.
        key: String,
        /// What the caller expected.
        expected: Expect,
        /// The revision of what is there.
        found: Option<u64>,
    },
    /// A key is too long or empty.
    #[error("key of {length} bytes refused: keys have 1 to {} bytes", MAX_KEY)]
    Key {
        /// Its length.
        length: usize,
    },
    /// The journal could not be written; whether the transaction survives a restart is unknown.
    #[error("the journal could not be written: {0}")]
    Journal(String),
    /// The database was closed.
    #[error("the database is closed")]
    Closed,
}

/// Longest key: bounds what an index and the journal hold per object. Group, resource, namespace and name have at most 253 bytes each.
pub const MAX_KEY: usize = 1100;

/// A revision that the log no longer reaches; what depends on it must start anew from a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("revision {requested} is compacted: the log starts after revision {compacted}")]
pub struct Compacted {
    /// What was asked for.
    pub requested: u64,
    /// The last revision that is gone.
    pub compacted: u64,
}
