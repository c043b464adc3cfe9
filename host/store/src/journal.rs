//! What is on disk, by redb: objects, events and the counters of every keyspace, changed together in one transaction.
//!
//! Three tables of plain bytes: `keyspaces` (name → number, revision, compacted), `objects` (number, key → version) and
//! `events` (number, revision → change). It is read once, when a keyspace is opened.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use crate::batch::Work;
use crate::keyspace::Shared;
use crate::log::Log;
use crate::snapshot::Tree;
use crate::watchers::Watchers;
use crate::{Entry, Event};

mod codec;

const KEYSPACES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("keyspaces");
const OBJECTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("objects");
const EVENTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("events");

/// The first revision of a new keyspace; 0 has a meaning of its own to clients.
pub(crate) const FIRST_REVISION: u64 = 1;

/// Why the journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] redb::Error),
    /// A record is not what this version writes.
    #[error("{table} holds a record that cannot be read: {reason}; restore the file from a copy")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// What is wrong with the record.
        reason: &'static str,
    },
}

macro_rules! from_engine {
    ($($error:ident),*) => {$(
        impl From<redb::$error> for JournalError {
            fn from(error: redb::$error) -> Self {
                Self::Engine(error.into())
            }
        }
    )*};
}
from_engine!(CommitError, DatabaseError, StorageError, TableError, TransactionError);

/// The open file.
#[derive(Debug)]
pub(crate) struct Journal {
    database: Database,
    next_id: AtomicU32,
}

impl Journal {
    /// Takes an opened engine and sees to it that the tables exist.
    pub(crate) fn new(database: Database) -> Result<Self, JournalError> {
        let transaction = database.begin_write()?;
        let mut next_id = 1;
        {
            for record in transaction.open_table(KEYSPACES)?.iter()? {
                let (_, record) = record?;
                next_id = next_id.max(codec::keyspace(record.value())?.id + 1);
            }
            transaction.open_table(OBJECTS)?;
            transaction.open_table(EVENTS)?;
        }
        transaction.commit()?;
        Ok(Self { database, next_id: AtomicU32::new(next_id) })
    }

    /// A keyspace's number and state, or those of a new one.
    pub(crate) fn load(&self, name: &str) -> Result<(u32, Shared), JournalError> {
        let transaction = self.database.begin_read()?;
        let record = transaction
            .open_table(KEYSPACES)?
            .get(name.as_bytes())?
            .map(|record| codec::keyspace(record.value()))
            .transpose()?;
        let Some(record) = record else {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            return Ok((id, Shared::empty(FIRST_REVISION, 0)));
        };
        let mut shared = Shared::empty(record.revision, record.compacted);
        let (start, end) = (codec::object_key(record.id, ""), codec::object_key(record.id + 1, ""));
        for object in transaction.open_table(OBJECTS)?.range::<&[u8]>(start.as_slice()..end.as_slice())? {
            let (key, value) = object?;
            let key = codec::name_of(key.value())?;
            shared.tree.insert_mut(Arc::from(key), codec::object(value.value())?);
        }
        // Newest first: what an event wrote is what the next event on that key found, or what is there now.
        let mut found: HashMap<Arc<str>, Entry> = HashMap::new();
        let mut events = Vec::new();
        for event in transaction.open_table(EVENTS)?.range::<&[u8]>(start.as_slice()..end.as_slice())?.rev() {
            let (key, value) = event?;
            let revision = codec::revision_of(key.value())?;
            events.push(restore(codec::event(value.value())?, revision, &shared.tree, &mut found)?);
        }
        for event in events.into_iter().rev() {
            shared.log.push(Arc::new(event));
        }
        Ok((record.id, shared))
    }

    /// Writes everything that a batch changed, durably.
    pub(crate) fn commit<'a>(&self, works: impl Iterator<Item = &'a Work>) -> Result<(), JournalError> {
        let transaction = self.database.begin_write()?;
        {
            let mut keyspaces = transaction.open_table(KEYSPACES)?;
            let mut objects = transaction.open_table(OBJECTS)?;
            let mut events = transaction.open_table(EVENTS)?;
            let mut value = Vec::new();
            for work in works {
                let id = work.core.id;
                for event in &work.events {
                    let key = codec::object_key(id, &event.key);
                    match &event.new {
                        Some(entry) => {
                            codec::put_object(&mut value, entry);
                            objects.insert(key.as_slice(), value.as_slice())?;
                        }
                        None => {
                            objects.remove(key.as_slice())?;
                        }
                    }
                    if event.revision > work.compact {
                        codec::put_event(&mut value, event);
                        events.insert(codec::event_key(id, event.revision).as_slice(), value.as_slice())?;
                    }
                }
                for revision in work.dropped() {
                    events.remove(codec::event_key(id, revision).as_slice())?;
                }
                codec::put_keyspace(
                    &mut value,
                    &codec::Keyspace { id, revision: work.revision, compacted: work.compact },
                );
                keyspaces.insert(work.core.name.as_bytes(), value.as_slice())?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

impl Shared {
    /// A keyspace without objects.
    pub(crate) fn empty(revision: u64, compacted: u64) -> Self {
        Self {
            revision,
            tree: Tree::new_sync(),
            log: Log::starting_after(compacted),
            watchers: Watchers::default(),
            closed: false,
        }
    }
}

/// Rebuilds an event so that it shares its key and its versions with the tree and with later events, whose previous versions are in `found`.
fn restore(
    record: codec::EventRecord<'_>,
    revision: u64,
    tree: &Tree,
    found: &mut HashMap<Arc<str>, Entry>,
) -> Result<Event, JournalError> {
    let corrupt = |reason| JournalError::Corrupt { table: "events", reason };
    let known = found.get_key_value(record.key).or_else(|| tree.get_key_value(record.key));
    let (key, after) = match known {
        Some((key, entry)) => (key.clone(), Some(entry.clone())),
        None => (Arc::from(record.key), None),
    };
    let previous = record.previous.map(|version| {
        let entry =
            Entry::new(version.revision, version.create_revision, Bytes::copy_from_slice(version.bytes));
        found.insert(key.clone(), entry.clone());
        entry
    });
    if record.put {
        let new = after
            .filter(|entry| entry.revision() == revision)
            .ok_or_else(|| corrupt("what it wrote is missing"))?;
        return Ok(Event::put(revision, key, previous, new));
    }
    let previous = previous.ok_or_else(|| corrupt("a deletion lacks what it deleted"))?;
    let bytes = record.last.map_or_else(|| previous.bytes().clone(), Bytes::copy_from_slice);
    let last = Entry::new(revision, previous.create_revision(), bytes);
    Ok(Event::delete(revision, key, previous, last))
}
