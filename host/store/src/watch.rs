//! A stream of events from a revision on: first what the log holds, then what happens, without a gap between.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::Stream;
use tokio::sync::mpsc::Receiver;

use crate::Event;
use crate::keyspace::Core;

/// A running watch. It ends when its reader falls too far behind or the database closes; a new one resumes after the last revision seen.
#[derive(Debug)]
pub struct Watch {
    core: Arc<Core>,
    prefix: Box<str>,
    id: u64,
    backlog: VecDeque<Arc<Event>>,
    live: Receiver<Arc<Event>>,
    reached: u64,
}

impl Watch {
    pub(crate) fn new(
        core: Arc<Core>,
        prefix: &str,
        after: u64,
        backlog: VecDeque<Arc<Event>>,
        (id, live): (u64, Receiver<Arc<Event>>),
    ) -> Self {
        Self { core, prefix: prefix.into(), id, backlog, live, reached: after }
    }

    /// The next event; nothing at the end of the stream.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        let event = match self.backlog.pop_front() {
            Some(event) => event,
            None => self.live.recv().await?,
        };
        self.reached = event.revision;
        Some(event)
    }

    /// The next event if there is one already.
    pub fn try_next(&mut self) -> Option<Arc<Event>> {
        let event = self.backlog.pop_front().or_else(|| self.live.try_recv().ok())?;
        self.reached = event.revision;
        Some(event)
    }

    /// The latest revision up to which this watch has handed out everything: what a bookmark may say.
    pub fn progress(&mut self) -> u64 {
        // Events are sent under the lock that moves the revision, so an empty channel now means that all of them were taken.
        let revision = self.core.revision();
        if self.backlog.is_empty() && self.live.is_empty() && !self.live.is_closed() {
            self.reached = self.reached.max(revision);
        }
        self.reached
    }
}

impl Stream for Watch {
    type Item = Arc<Event>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Arc<Event>>> {
        let event = match self.backlog.pop_front() {
            Some(event) => Some(event),
            None => std::task::ready!(self.live.poll_recv(context)),
        };
        if let Some(event) = &event {
            self.reached = event.revision;
        }
        Poll::Ready(event)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.core.unwatch(&self.prefix, self.id);
    }
}
