//! The transactions that go into one commit, carried out on a private copy of each keyspace before anyone sees them.

use std::sync::Arc;

use crate::keyspace::{Core, Published};
use crate::op::MAX_KEY;
use crate::snapshot::Tree;
use crate::{Action, Committed, Entry, Event, Expect, Op, Options, WriteError};

/// The pending changes of one keyspace.
pub(crate) struct Work {
    pub(crate) core: Arc<Core>,
    pub(crate) revision: u64,
    pub(crate) events: Vec<Arc<Event>>,
    /// Everything up to here leaves the log with this commit.
    pub(crate) compact: u64,
    tree: Tree,
    touched: bool,
}

/// The pending changes of all keyspaces in a batch.
#[derive(Default)]
pub(crate) struct Batch {
    works: Vec<Work>,
}

impl Batch {
    /// The pending state of a keyspace, begun from what is published.
    pub(crate) fn work(&mut self, core: &Arc<Core>) -> Option<&mut Work> {
        let position = match self.works.iter().position(|work| Arc::ptr_eq(&work.core, core)) {
            Some(position) => position,
            None => {
                self.works.push(Work::new(core));
                self.works.len() - 1
            }
        };
        self.works.get_mut(position)
    }

    /// Keyspaces that have something to commit.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Work> + Clone {
        self.works.iter().filter(|work| work.touched)
    }

    /// Lets the log's limits take effect.
    pub(crate) fn trim(&mut self, options: &Options) {
        for work in &mut self.works {
            work.trim(options);
        }
    }

    /// Makes everything visible.
    pub(crate) fn publish(self) {
        for work in self.works.into_iter().filter(|work| work.touched) {
            let Work { core, revision, events, compact, tree, .. } = work;
            core.publish(Published { revision, tree, events, compact });
        }
    }
}

impl Work {
    fn new(core: &Arc<Core>) -> Self {
        let shared = core.read();
        let (revision, tree, compact) = (shared.revision, shared.tree.clone(), shared.log.compacted());
        drop(shared);
        Self { core: core.clone(), revision, tree, events: Vec::new(), compact, touched: false }
    }

    /// Carries out a transaction, or leaves everything as it was.
    pub(crate) fn apply(&mut self, ops: Vec<Op>) -> Result<Committed, WriteError> {
        let mut tree = self.tree.clone();
        let mut revision = self.revision;
        let mut events = Vec::with_capacity(ops.len());
        for op in ops {
            if let Some(event) = step(&mut tree, revision + 1, op)? {
                revision = event.revision;
                events.push(Arc::new(event));
            }
        }
        if !events.is_empty() {
            self.tree = tree;
            self.revision = revision;
            self.events.extend(events.iter().cloned());
            self.touched = true;
        }
        Ok(Committed { revision, events })
    }

    /// Lets the log begin after a revision, at most the present one.
    pub(crate) fn compact(&mut self, revision: u64) {
        let revision = revision.min(self.revision);
        if revision > self.compact {
            self.compact = revision;
            self.touched = true;
        }
    }

    /// Takes a revision in which nothing happens, so that an idle keyspace's old revisions can expire.
    pub(crate) fn bump(&mut self) {
        self.revision += 1;
        self.touched = true;
    }

    /// Drops the oldest events beyond the limits on count and bytes.
    fn trim(&mut self, options: &Options) {
        if !self.touched {
            return;
        }
        let shared = self.core.read();
        let log = &shared.log;
        let mut count = log.len() + self.events.len();
        let mut weight = log.weight() + self.events.iter().map(|event| event.weight()).sum::<usize>();
        if count <= options.max_events && weight <= options.max_event_bytes {
            return;
        }
        let mut upto = self.compact;
        for event in log.iter().chain(&self.events) {
            if count <= options.max_events && weight <= options.max_event_bytes {
                break;
            }
            count -= 1;
            weight = weight.saturating_sub(event.weight());
            upto = upto.max(event.revision);
        }
        self.compact = upto;
    }
}

/// One operation on a tree; no event if there was nothing to do.
fn step(tree: &mut Tree, revision: u64, op: Op) -> Result<Option<Event>, WriteError> {
    let Op { key, expect, action, value } = op;
    if key.is_empty() || key.len() > MAX_KEY {
        return Err(WriteError::Key { length: key.len() });
    }
    let found = tree.get_key_value(key.as_str()).map(|(key, entry)| (key.clone(), entry.clone()));
    let there = found.as_ref().map(|(_, entry)| entry.revision());
    let fulfilled = match expect {
        Expect::Any => true,
        Expect::Absent => there.is_none(),
        Expect::Revision(revision) => there == Some(revision),
    };
    if !fulfilled {
        return Err(WriteError::Conflict { key, expected: expect, found: there });
    }
    match (action, found) {
        (Action::Put(bytes), found) => {
            let created = found.as_ref().map_or(revision, |(_, entry)| entry.create_revision());
            // One allocation per key, shared by the tree and all events of the object's life.
            let (key, previous) =
                found.map_or_else(|| (Arc::from(key), None), |(key, entry)| (key, Some(entry)));
            let entry = Entry::with_value(revision, created, bytes, value.as_ref());
            tree.insert_mut(key.clone(), entry.clone());
            Ok(Some(Event::put(revision, key, previous, entry).holding(value)))
        }
        (Action::Delete(last), Some((key, previous))) => {
            let last = last.unwrap_or_else(|| previous.bytes().clone());
            let last = Entry::new(revision, previous.create_revision(), last);
            tree.remove_mut(key.as_ref());
            Ok(Some(Event::delete(revision, key, previous, last)))
        }
        (Action::Delete(_), None) => Ok(None),
    }
}
