//! A small transactional store with etcd's contract in one process: revisions, compare-and-set, snapshots, watches that resume, compaction.
//!
//! A [`Database`] holds any number of keyspaces, each a [`Store`] with revisions of its own, over bytes. All objects live in memory in a
//! persistent tree, so that snapshots are free; a file, if there is one, is the journal beneath. Every change is one [`Event`] with one
//! revision, logged in the same transaction as the change itself, so a watch resumes after a crash without a gap and without a repeat.
//! Revisions never go back.
//!
//! Keys are paths with slashes, `/<group>/<resource>/<namespace>/<name>`; the store reads nothing into them but their slashes, by which
//! watchers and the log are indexed.

use std::fmt::Debug;

use futures::future::BoxFuture;

mod batch;
mod database;
mod entry;
mod event;
mod journal;
mod keyspace;
mod log;
mod op;
mod snapshot;
mod watch;
mod watchers;
mod writer;

pub use database::{
    CACHE_BYTES, Database, LOG_BYTES, MAX_AGE, MAX_EVENT_BYTES, MAX_EVENTS, OpenError, Options, TICK,
    WATCH_CAPACITY,
};
pub use entry::Entry;
pub use event::{Change, Event};
pub use journal::JournalError;
pub use op::{Action, Committed, Compacted, Expect, MAX_KEY, Op, WriteError};
pub use snapshot::Snapshot;
pub use watch::Watch;

/// A keyspace.
pub trait Store: Debug + Send + Sync + 'static {
    /// The keyspace's name in its database.
    fn name(&self) -> &str;

    /// The latest published revision.
    fn revision(&self) -> u64;

    /// The last revision whose events are gone: snapshots and watches start there or later.
    fn compacted(&self) -> u64;

    /// Everything at the latest revision. Costs nothing.
    fn snapshot(&self) -> Snapshot;

    /// Everything at an earlier revision that the log still reaches; the latest for a revision that is still to come.
    fn snapshot_at(&self, revision: u64) -> Result<Snapshot, Compacted>;

    /// Carries out all operations or none, and answers once they are durable and visible. It is on its way when this returns:
    /// dropping the future does not undo it.
    fn write(&self, ops: Vec<Op>) -> BoxFuture<'static, Result<Committed, WriteError>>;

    /// Events after a revision on keys with a prefix: those in the log, then those that happen. With a snapshot's prefix and revision it
    /// continues that snapshot without a gap.
    fn watch(&self, prefix: &str, after: u64) -> Result<Watch, Compacted>;

    /// Lets the log begin after a revision. The log's own limits do that all the time; this is for tests and operators.
    fn compact(&self, revision: u64) -> BoxFuture<'static, Result<(), WriteError>>;

    /// How many watches are running.
    fn watchers(&self) -> usize;
}
