//! One keyspace: what is published of it, and the handle that callers hold.

use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::oneshot;

use crate::log::{Log, undo};
use crate::snapshot::Tree;
use crate::watchers::Watchers;
use crate::writer::Request;
use crate::{Action, Committed, Compacted, Event, Op, Options, Snapshot, Store, Watch, WriteError};

/// The published state of a keyspace. Only the writer thread changes it.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) name: Box<str>,
    /// The keyspace's number in the journal.
    pub(crate) id: u32,
    shared: RwLock<Shared>,
    watch_capacity: usize,
}

/// A keyspace as it is read from the journal, or as it begins.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) revision: u64,
    pub(crate) tree: Tree,
    pub(crate) log: Log,
    pub(crate) watchers: Watchers,
    /// Set when the database closes: no watch starts any more.
    pub(crate) closed: bool,
}

/// What a batch changed in one keyspace.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) revision: u64,
    pub(crate) tree: Tree,
    pub(crate) events: Vec<Arc<Event>>,
    pub(crate) compact: u64,
}

impl Core {
    pub(crate) fn new(name: &str, id: u32, shared: Shared, options: &Options) -> Self {
        Self { name: name.into(), id, shared: RwLock::new(shared), watch_capacity: options.watch_capacity }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Shared> {
        self.shared.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Shared> {
        self.shared.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn revision(&self) -> u64 {
        self.read().revision
    }

    /// Makes a committed batch visible, all at once, and tells the watchers.
    pub(crate) fn publish(&self, batch: Published) {
        let old = {
            let mut shared = self.lock();
            let shared = &mut *shared;
            let mut values = Vec::with_capacity(batch.events.len());
            for event in batch.events {
                shared.watchers.send(&event);
                values.extend(shared.log.push(event));
            }
            shared.revision = batch.revision;
            shared.log.checkpoint(batch.revision, &batch.tree);
            let gone = shared.log.compact(batch.compact);
            (std::mem::replace(&mut shared.tree, batch.tree), gone, values)
        };
        // Freed outside the lock: these may be the last owners of much.
        drop(old);
    }

    /// Ends all watches.
    pub(crate) fn close(&self) {
        let mut shared = self.lock();
        shared.watchers = Watchers::default();
        shared.closed = true;
    }

    pub(crate) fn unwatch(&self, prefix: &str, id: u64) {
        self.lock().watchers.remove(prefix, id);
    }

    fn snapshot(&self) -> Snapshot {
        let shared = self.read();
        Snapshot::new(shared.revision, shared.tree.clone())
    }

    fn snapshot_at(&self, revision: u64) -> Result<Snapshot, Compacted> {
        let (mut tree, events, present) = {
            let shared = self.read();
            let (tree, events) = shared.log.base_for(revision, &shared.tree)?;
            (tree, events, shared.revision)
        };
        undo(&mut tree, &events);
        Ok(Snapshot::new(revision.min(present), tree))
    }

    fn watch(self: &Arc<Self>, prefix: &str, after: u64) -> Result<Watch, Compacted> {
        let mut shared = self.lock();
        let backlog = shared.log.after(after, prefix)?;
        let added = shared.watchers.add(prefix, after, self.watch_capacity);
        if shared.closed {
            shared.watchers = Watchers::default();
        }
        drop(shared);
        Ok(Watch::new(self.clone(), prefix, after, backlog, added))
    }
}

/// A caller's end of a keyspace.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) core: Arc<Core>,
    pub(crate) requests: Sender<Request>,
}

impl Store for Handle {
    fn name(&self) -> &str {
        &self.core.name
    }

    fn revision(&self) -> u64 {
        self.core.revision()
    }

    fn compacted(&self) -> u64 {
        self.core.read().log.compacted()
    }

    fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    fn snapshot_at(&self, revision: u64) -> Result<Snapshot, Compacted> {
        self.core.snapshot_at(revision)
    }

    fn write(&self, mut ops: Vec<Op>) -> BoxFuture<'static, Result<Committed, WriteError>> {
        // What is given may be a part of a large buffer or have room to spare; what is kept for long is exact.
        for op in &mut ops {
            if let Action::Put(bytes) | Action::Delete(Some(bytes)) = &mut op.action {
                *bytes = Bytes::copy_from_slice(bytes);
            }
        }
        let (reply, answer) = oneshot::channel();
        let sent = self.requests.send(Request::Write { core: self.core.clone(), ops, reply });
        async move {
            sent.map_err(|_| WriteError::Closed)?;
            answer.await.unwrap_or(Err(WriteError::Closed))
        }
        .boxed()
    }

    fn compact(&self, revision: u64) -> BoxFuture<'static, Result<(), WriteError>> {
        let (reply, answer) = oneshot::channel();
        let sent = self.requests.send(Request::Compact { core: self.core.clone(), revision, reply });
        async move {
            sent.map_err(|_| WriteError::Closed)?;
            answer.await.unwrap_or(Err(WriteError::Closed))
        }
        .boxed()
    }

    fn watch(&self, prefix: &str, after: u64) -> Result<Watch, Compacted> {
        self.core.watch(prefix, after)
    }

    fn watchers(&self) -> usize {
        self.core.read().watchers.len()
    }
}
