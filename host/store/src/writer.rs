//! The one thread that writes: it gathers what is waiting into one durable commit, publishes it, and only then answers.
//! No lock is held while the journal syncs; readers and watchers go on meanwhile.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use tokio::sync::oneshot;

use crate::batch::Batch;
use crate::database::Registry;
use crate::journal::Journal;
use crate::keyspace::Core;
use crate::{Committed, Op, Options, WriteError};

/// Most transactions in one commit: bounds how long the first of them waits for the last.
const MAX_BATCH: usize = 1024;

/// What the writer is asked to do.
#[derive(Debug)]
pub(crate) enum Request {
    /// Carry out a transaction.
    Write { core: Arc<Core>, ops: Vec<Op>, reply: oneshot::Sender<Result<Committed, WriteError>> },
    /// Let a keyspace's log begin after a revision.
    Compact { core: Arc<Core>, revision: u64, reply: oneshot::Sender<Result<(), WriteError>> },
    /// Do what the timer does, now.
    Tick { reply: Sender<Result<(), WriteError>> },
    /// Finish and end; answered once the journal is closed.
    Close { reply: Sender<()> },
}

/// An answer that waits for the commit.
enum Pending {
    Write(oneshot::Sender<Result<Committed, WriteError>>, Result<Committed, WriteError>),
    Compact(oneshot::Sender<Result<(), WriteError>>),
    Tick(Sender<Result<(), WriteError>>),
}

pub(crate) struct Writer {
    requests: Receiver<Request>,
    journal: Option<Arc<Journal>>,
    registry: Arc<Registry>,
    options: Options,
    /// For each keyspace: its revision at past ticks, oldest first.
    marks: HashMap<u32, VecDeque<(Instant, u64)>>,
}

impl Writer {
    pub(crate) fn new(
        requests: Receiver<Request>,
        journal: Option<Arc<Journal>>,
        registry: Arc<Registry>,
        options: Options,
    ) -> Self {
        Self { requests, journal, registry, options, marks: HashMap::new() }
    }

    /// Works until it is told to close or nobody is left to ask.
    pub(crate) fn run(mut self) {
        let mut next_tick = Instant::now() + self.options.tick;
        let closer = loop {
            let wait = next_tick.saturating_duration_since(Instant::now());
            let closer = match self.requests.recv_timeout(wait) {
                Ok(request) => self.gather(request),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break None,
            };
            if closer.is_some() {
                break closer;
            }
            if Instant::now() >= next_tick {
                let mut batch = Batch::default();
                self.tick(&mut batch);
                self.finish(batch, Vec::new());
                next_tick = Instant::now() + self.options.tick;
            }
        };
        for core in self.registry.all() {
            core.close();
        }
        if let Some(Err(error)) = self.journal.as_ref().map(|journal| journal.settle()) {
            tracing::warn!(%error, "the store's log was left as it is; the next start reads it");
        }
        drop(self);
        if let Some(reply) = closer {
            // The one who asked may have gone.
            let _ = reply.send(());
        }
    }

    /// One commit of this request and those that wait behind it. Returns whom to answer if the database is to close.
    fn gather(&mut self, first: Request) -> Option<Sender<()>> {
        let mut batch = Batch::default();
        let mut pending = Vec::new();
        let mut closer = None;
        let mut next = Some(first);
        while let Some(request) = next {
            match request {
                Request::Write { core, ops, reply } => {
                    let outcome = batch.work(&core).map_or(Err(WriteError::Closed), |work| work.apply(ops));
                    pending.push(Pending::Write(reply, outcome));
                }
                Request::Compact { core, revision, reply } => {
                    if let Some(work) = batch.work(&core) {
                        work.compact(revision);
                    }
                    pending.push(Pending::Compact(reply));
                }
                Request::Tick { reply } => {
                    self.tick(&mut batch);
                    pending.push(Pending::Tick(reply));
                }
                Request::Close { reply } => {
                    closer = Some(reply);
                    break;
                }
            }
            next = if pending.len() < MAX_BATCH { self.requests.try_recv().ok() } else { None };
        }
        self.finish(batch, pending);
        closer
    }

    /// Commits, publishes, answers.
    fn finish(&self, mut batch: Batch, pending: Vec<Pending>) {
        batch.trim(&self.options);
        let committed = match &self.journal {
            Some(journal) if batch.changed().next().is_some() => journal.commit(batch.changed()),
            _ => Ok(()),
        };
        match committed {
            Ok(()) => {
                batch.publish();
                for answer in pending {
                    answer.send(None);
                }
            }
            Err(error) => {
                tracing::error!(%error, "the store's journal could not be written; nothing of the batch was published");
                // Refusals may rest on what this batch did not achieve, so they fail like the rest.
                let error = WriteError::Journal(error.to_string());
                for answer in pending {
                    answer.send(Some(error.clone()));
                }
            }
        }
    }

    /// Compacts by age: each keyspace's log begins where it stood `max_age` ago. One in which nothing happened since the last tick takes an
    /// empty revision, so that revisions handed out on an idle server expire as well.
    fn tick(&mut self, batch: &mut Batch) {
        let now = Instant::now();
        for core in self.registry.all() {
            let marks = self.marks.entry(core.id).or_default();
            let Some(work) = batch.work(&core) else { continue };
            if marks.back().is_some_and(|(_, revision)| *revision == work.revision) {
                work.bump();
            }
            marks.push_back((now, work.revision));
            let mut old = None;
            while let Some(mark) =
                marks.pop_front_if(|(at, _)| now.duration_since(*at) >= self.options.max_age)
            {
                old = Some(mark);
            }
            if let Some((at, revision)) = old {
                work.compact(revision);
                // Kept as the latest known, so that idleness is still seen with a maximal age below the tick.
                if marks.is_empty() {
                    marks.push_back((at, revision));
                }
            }
        }
    }
}

impl Pending {
    /// Answers; whoever asked may have gone, which is no matter.
    fn send(self, failure: Option<WriteError>) {
        match self {
            Self::Write(reply, outcome) => drop(reply.send(failure.map_or(outcome, Err))),
            Self::Compact(reply) => drop(reply.send(failure.map_or(Ok(()), Err))),
            Self::Tick(reply) => drop(reply.send(failure.map_or(Ok(()), Err))),
        }
    }
}
