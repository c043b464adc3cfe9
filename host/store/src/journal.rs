//! What is on disk: a log that each commit is appended to, and trees by redb, which take over what the log holds when it is full.
//! Both hold objects, events and the counters of every keyspace, changed together.
//!
//! The trees are tables of plain bytes: `keyspaces` (name → number, revision, compacted), `objects` (number, key → version) and
//! `events` (number, revision → change). They are read once, when a keyspace is opened.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use redb::{
    Database, ReadableDatabase, ReadableTable, StorageBackend, Table, TableDefinition, WriteTransaction,
};

use crate::batch::Work;
use crate::keyspace::Shared;
use crate::log::Log;
use crate::snapshot::Tree;
use crate::watchers::Watchers;
use crate::{Entry, Event};

mod ahead;
mod codec;

use ahead::Ahead;

const KEYSPACES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("keyspaces");
const OBJECTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("objects");
const EVENTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("events");
/// Facts about the database itself.
const FACTS: TableDefinition<'_, &str, u64> = TableDefinition::new("facts");

/// In [`FACTS`]: the number by which a log knows its database.
const NUMBER: &str = "number";

/// The first revision of a new keyspace; 0 has a meaning of its own to clients.
pub(crate) const FIRST_REVISION: u64 = 1;

/// Why the journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] redb::Error),
    /// The log failed.
    #[error("the log: {0}")]
    Log(#[from] io::Error),
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

/// The open files.
#[derive(Debug)]
pub(crate) struct Journal {
    /// Before the engine, which is locked: whoever gets the lock finds both free.
    late: Mutex<Late>,
    database: Database,
    next_id: AtomicU32,
}

/// What the trees don't have yet.
#[derive(Debug)]
struct Late {
    ahead: Ahead,
    changes: BTreeMap<u32, Changes>,
}

/// What happened to a keyspace since the trees took over last.
#[derive(Debug)]
struct Changes {
    name: Box<str>,
    revision: u64,
    compacted: u64,
    events: Vec<Arc<Event>>,
}

type ByteTable<'t> = Table<'t, &'static [u8], &'static [u8]>;

impl Journal {
    /// Takes opened files, sees to it that the tables exist, and lets them take over what the log holds of at most `room` bytes.
    pub(crate) fn new(
        database: Database,
        log: Box<dyn StorageBackend>,
        room: usize,
    ) -> Result<Self, JournalError> {
        let transaction = database.begin_write()?;
        let number = {
            transaction.open_table(KEYSPACES)?;
            transaction.open_table(OBJECTS)?;
            transaction.open_table(EVENTS)?;
            let mut facts = transaction.open_table(FACTS)?;
            let known = facts.get(NUMBER)?.map(|number| number.value());
            match known {
                Some(number) => number,
                None => {
                    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                    let number = now.as_nanos() as u64;
                    facts.insert(NUMBER, number)?;
                    number
                }
            }
        };
        let (ahead, payloads) = Ahead::open(log, number, room)?;
        recover(&transaction, &payloads)?;
        let mut next_id = 1;
        for record in transaction.open_table(KEYSPACES)?.iter()? {
            let (_, record) = record?;
            next_id = next_id.max(codec::keyspace(record.value())?.id + 1);
        }
        transaction.commit()?;
        let late = Mutex::new(Late { ahead, changes: BTreeMap::new() });
        Ok(Self { late, database, next_id: AtomicU32::new(next_id) })
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
    pub(crate) fn commit<'a>(
        &self,
        works: impl Iterator<Item = &'a Work> + Clone,
    ) -> Result<(), JournalError> {
        let mut payload = Vec::new();
        for work in works.clone() {
            let counters =
                codec::Keyspace { id: work.core.id, revision: work.revision, compacted: work.compact };
            codec::put_changes(&mut payload, &work.core.name, &counters, &work.events);
        }
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        if late.ahead.is_full_for(payload.len()) {
            self.take_over(&mut late)?;
        }
        late.ahead.append(&payload)?;
        for work in works {
            let changes = late.changes.entry(work.core.id).or_insert_with(|| Changes {
                name: work.core.name.clone(),
                revision: 0,
                compacted: 0,
                events: Vec::new(),
            });
            (changes.revision, changes.compacted) = (work.revision, work.compact);
            changes.events.extend(work.events.iter().cloned());
        }
        Ok(())
    }

    /// Lets the trees take over what the log holds, so that the next start finds nothing to do.
    pub(crate) fn settle(&self) -> Result<(), JournalError> {
        self.take_over(&mut self.late.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_over(&self, late: &mut Late) -> Result<(), JournalError> {
        if late.changes.is_empty() {
            return Ok(());
        }
        let transaction = self.database.begin_write()?;
        for (id, changes) in &late.changes {
            write(&transaction, *id, changes)?;
        }
        transaction.commit()?;
        late.changes.clear();
        late.ahead.restart();
        Ok(())
    }
}

/// Writes a keyspace's changes into the trees. Of an object that changed often only the last version is written.
fn write(transaction: &WriteTransaction, id: u32, changes: &Changes) -> Result<(), JournalError> {
    let mut keyspaces = transaction.open_table(KEYSPACES)?;
    let mut objects: ByteTable<'_> = transaction.open_table(OBJECTS)?;
    let mut events: ByteTable<'_> = transaction.open_table(EVENTS)?;
    let mut value = Vec::new();
    let last: BTreeMap<&str, &Arc<Event>> = changes.events.iter().map(|event| (&*event.key, event)).collect();
    for (key, event) in last {
        let key = codec::object_key(id, key);
        match &event.new {
            Some(entry) => {
                codec::put_object(&mut value, entry);
                objects.insert(key.as_slice(), value.as_slice())?;
            }
            None => {
                objects.remove(key.as_slice())?;
            }
        }
    }
    for event in changes.events.iter().filter(|event| event.revision > changes.compacted) {
        codec::put_event(&mut value, event);
        events.insert(codec::event_key(id, event.revision).as_slice(), value.as_slice())?;
    }
    let before = keyspaces.get(changes.name.as_bytes())?.map(|record| codec::keyspace(record.value()));
    if before.transpose()?.is_none_or(|before| before.compacted < changes.compacted) {
        let (first, end) = (codec::event_key(id, 0), codec::event_key(id, changes.compacted + 1));
        events.retain_in::<&[u8], _>(first.as_slice()..end.as_slice(), |_, _| false)?;
    }
    let (revision, compacted) = (changes.revision, changes.compacted);
    codec::put_keyspace(&mut value, &codec::Keyspace { id, revision, compacted });
    keyspaces.insert(changes.name.as_bytes(), value.as_slice())?;
    Ok(())
}

/// Takes what the log holds beyond the trees into them.
fn recover(transaction: &WriteTransaction, payloads: &[Vec<u8>]) -> Result<(), JournalError> {
    let mut late: BTreeMap<u32, Changes> = BTreeMap::new();
    let mut found: HashMap<(u32, Arc<str>), Option<Entry>> = HashMap::new();
    for payload in payloads {
        for record in codec::changes(payload)? {
            let codec::Keyspace { id, revision, compacted } = record.counters;
            let known = match late.get(&id) {
                Some(changes) => Some((changes.revision, changes.compacted)),
                None => {
                    let keyspaces = transaction.open_table(KEYSPACES)?;
                    let held = keyspaces.get(record.name.as_bytes())?;
                    let held = held.map(|held| codec::keyspace(held.value())).transpose()?;
                    held.map(|held| (held.revision, held.compacted))
                }
            };
            // Of an earlier round.
            if known.is_some_and(|known| known >= (revision, compacted)) {
                continue;
            }
            let mut events = Vec::new();
            for change in record.events {
                let objects = transaction.open_table(OBJECTS)?;
                let key: Arc<str> = Arc::from(change.key);
                let previous = match found.get(&(id, key.clone())) {
                    Some(previous) => previous.clone(),
                    None => {
                        let held = objects.get(codec::object_key(id, &key).as_slice())?;
                        held.map(|held| codec::object(held.value())).transpose()?
                    }
                };
                let event = change.event(key.clone(), previous)?;
                found.insert((id, key), event.new.clone());
                events.push(Arc::new(event));
            }
            let changes = late.entry(id).or_insert_with(|| Changes {
                name: record.name.into(),
                revision,
                compacted,
                events: Vec::new(),
            });
            (changes.revision, changes.compacted) = (revision, compacted);
            changes.events.extend(events);
        }
    }
    late.iter().try_for_each(|(id, changes)| write(transaction, *id, changes))
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
