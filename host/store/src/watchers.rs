//! Who wants to hear of which keys: an index by the slash-bounded part of the prefix, so that an event visits only watchers that it may concern.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::Event;

/// All live watchers of a keyspace.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    next: u64,
    by_part: HashMap<Box<str>, Vec<Watcher>>,
}

#[derive(Debug)]
struct Watcher {
    id: u64,
    prefix: Box<str>,
    /// Only later events are sent: a watcher may have asked for a revision that is still to come.
    after: u64,
    sender: Sender<Arc<Event>>,
}

impl Watchers {
    /// Adds a watcher; returns its number and the end to listen at.
    pub(crate) fn add(&mut self, prefix: &str, after: u64, capacity: usize) -> (u64, Receiver<Arc<Event>>) {
        self.next += 1;
        let (sender, receiver) = channel(capacity.max(1));
        let watcher = Watcher { id: self.next, prefix: prefix.into(), after, sender };
        self.by_part.entry(slash_part(prefix).into()).or_default().push(watcher);
        (self.next, receiver)
    }

    /// Removes a watcher, if it is still there.
    pub(crate) fn remove(&mut self, prefix: &str, id: u64) {
        let part = slash_part(prefix);
        if let Some(watchers) = self.by_part.get_mut(part) {
            watchers.retain(|watcher| watcher.id != id);
            if watchers.is_empty() {
                self.by_part.remove(part);
            }
        }
    }

    /// Sends an event to those whom it concerns. One whose channel is full or gone is removed: its stream ends after what it already has.
    pub(crate) fn send(&mut self, event: &Arc<Event>) {
        if self.by_part.is_empty() {
            return;
        }
        let key: &str = &event.key;
        self.send_part("", event);
        for (slash, _) in key.match_indices('/') {
            self.send_part(key.get(..=slash).unwrap_or_default(), event);
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_part.values().map(Vec::len).sum()
    }

    fn send_part(&mut self, part: &str, event: &Arc<Event>) {
        let Some(watchers) = self.by_part.get_mut(part) else { return };
        watchers.retain(|watcher| {
            let concerned = event.revision > watcher.after && event.key.starts_with(watcher.prefix.as_ref());
            !concerned || watcher.sender.try_send(event.clone()).is_ok()
        });
        if watchers.is_empty() {
            self.by_part.remove(part);
        }
    }
}

/// A prefix up to and with its last slash.
fn slash_part(prefix: &str) -> &str {
    prefix.rfind('/').and_then(|slash| prefix.get(..=slash)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::Entry;

    fn event(revision: u64, key: &str) -> Arc<Event> {
        Arc::new(Event::put(revision, key.into(), None, Entry::new(revision, revision, Bytes::new())))
    }

    #[test]
    fn an_event_reaches_every_matching_prefix_once() {
        let mut watchers = Watchers::default();
        let prefixes = ["", "/", "//pods/", "//pods/ns/", "//pods/ns/a", "//po", "/apps/", "//pods/other/"];
        let mut ends: Vec<_> = prefixes.iter().map(|prefix| watchers.add(prefix, 0, 4).1).collect();
        watchers.send(&event(1, "//pods/ns/ab"));
        let heard: Vec<usize> =
            ends.iter_mut().map(|end| std::iter::from_fn(|| end.try_recv().ok()).count()).collect();
        assert_eq!(heard, [1, 1, 1, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_slow_watcher_is_dropped_and_the_rest_stays() {
        let mut watchers = Watchers::default();
        let (_, mut slow) = watchers.add("/", 0, 1);
        let (id, mut quick) = watchers.add("/", 1, 4);
        for revision in 1..=3 {
            watchers.send(&event(revision, "/a"));
        }
        assert_eq!(watchers.len(), 1);
        assert_eq!(slow.blocking_recv().unwrap().revision, 1);
        assert!(slow.blocking_recv().is_none());
        assert_eq!(quick.blocking_recv().unwrap().revision, 2);
        watchers.remove("/", id);
        assert_eq!(watchers.len(), 0);
    }
}
