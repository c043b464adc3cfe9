//! The scheduler's queue as a state machine: bindings to look at by priority, bindings that wait out a pause, and bindings
//! that wait for clusters. It has no clock and no threads: the caller says what time it is and when to wait.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use crate::pass::Retry;

/// The pause after the first failure; it doubles with each further one.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);

/// The longest pause, so that a binding is not forgotten.
const MAX_BACKOFF: Duration = Duration::from_secs(10);

/// After how long a binding that waits for clusters is tried anyway, in case a change was missed.
const MAX_UNSCHEDULABLE: Duration = Duration::from_secs(5 * 60);

/// How often those are looked for.
const UNSCHEDULABLE_FLUSH: Duration = Duration::from_secs(30);

/// A point in time: how long after an origin of the caller's choice.
pub type Moment = Duration;

/// One binding in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `namespace/name`, or `name`.
    pub key: String,
    /// `spec.schedulePriority.priority`.
    pub priority: i32,
    /// When it was last put among the active.
    pub timestamp: Moment,
    /// When it was first put there since the last event.
    pub first_attempt: Moment,
    /// How often it was popped since the last event.
    pub attempts: u32,
}

impl Entry {
    fn order(&self) -> Order {
        (Reverse(self.priority), self.timestamp, self.key.clone())
    }

    fn expiry(&self) -> Moment {
        self.timestamp.saturating_add(backoff(self.attempts))
    }
}

type Order = (Reverse<i32>, Moment, String);

/// The pause after so many attempts.
pub fn backoff(attempts: u32) -> Duration {
    match attempts.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => {
            FIRST_BACKOFF.saturating_mul(2u32.saturating_pow(doublings.min(16))).min(MAX_BACKOFF)
        }
    }
}

/// Bindings waiting to be scheduled.
#[derive(Debug, Default)]
pub struct Queue {
    /// Waiting keys. Those being processed are here, too, when they were pushed meanwhile, but not in `active`.
    dirty: HashMap<String, Entry>,
    active: BTreeSet<Order>,
    processing: HashMap<String, Entry>,
    backoff: BTreeMap<String, Entry>,
    unschedulable: BTreeMap<String, Entry>,
    next_flush: Moment,
}

/// How many bindings are where, for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lengths {
    /// To be popped.
    pub active: usize,
    /// Waiting out a pause.
    pub backoff: usize,
    /// Waiting for clusters.
    pub unschedulable: usize,
}

impl Queue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something happened to a binding: it is to be looked at, with attempts counted anew. A key that waits already keeps
    /// its priority and its place.
    pub fn push(&mut self, key: &str, priority: i32, now: Moment) {
        let entry = Entry { key: key.to_owned(), priority, timestamp: now, first_attempt: now, attempts: 0 };
        self.activate(entry, now);
    }

    /// The most urgent binding. It must be handed back by [`Queue::finish`].
    pub fn pop(&mut self) -> Option<Entry> {
        let (_, _, key) = self.active.pop_first()?;
        let mut entry = self.dirty.remove(&key)?;
        entry.attempts += 1;
        self.processing.insert(key, entry.clone());
        Some(entry)
    }

    /// A binding was handled. If something happened to it meanwhile it is active again, else it waits as told.
    pub fn finish(&mut self, key: &str, retry: Retry, now: Moment) {
        let Some(mut entry) = self.processing.remove(key) else { return };
        if self.dirty.remove(key).is_some() {
            entry.timestamp = now;
            self.active.insert(entry.order());
            self.dirty.insert(key.to_owned(), entry);
            return;
        }
        match retry {
            Retry::No => {
                self.backoff.remove(key);
            }
            Retry::Backoff => {
                if !self.unschedulable.contains_key(key) {
                    self.backoff.insert(key.to_owned(), entry);
                }
            }
            Retry::OnClusterChange => {
                if !self.backoff.contains_key(key) {
                    self.unschedulable.insert(key.to_owned(), entry);
                }
            }
        }
    }

    /// A binding is gone.
    pub fn forget(&mut self, key: &str) {
        if let Some(entry) = self.dirty.remove(key) {
            self.active.remove(&entry.order());
        }
        self.backoff.remove(key);
        self.unschedulable.remove(key);
    }

    /// A cluster changed: those that wait for one and are `concerned` are active again, keeping their attempts.
    pub fn wake(&mut self, concerned: impl Fn(&str) -> bool, now: Moment) -> usize {
        let keys: Vec<String> = self.unschedulable.keys().filter(|key| concerned(key)).cloned().collect();
        self.move_all(keys, now)
    }

    /// Moves those whose wait is over. To be called when [`Queue::next_tick`] says so.
    pub fn tick(&mut self, now: Moment) -> usize {
        let mut due: Vec<String> = self
            .backoff
            .values()
            .filter(|entry| entry.expiry() <= now)
            .map(|entry| entry.key.clone())
            .collect();
        if now >= self.next_flush {
            self.next_flush = now + UNSCHEDULABLE_FLUSH;
            let long = |entry: &&Entry| now.saturating_sub(entry.timestamp) > MAX_UNSCHEDULABLE;
            due.extend(self.unschedulable.values().filter(long).map(|entry| entry.key.clone()));
        }
        self.move_all(due, now)
    }

    /// When [`Queue::tick`] may have something to do; nothing if nobody waits.
    pub fn next_tick(&self) -> Option<Moment> {
        let backoff = self.backoff.values().map(Entry::expiry).min();
        let flush = (!self.unschedulable.is_empty()).then_some(self.next_flush);
        backoff.into_iter().chain(flush).min()
    }

    /// How many bindings are where.
    pub fn lengths(&self) -> Lengths {
        Lengths {
            active: self.active.len(),
            backoff: self.backoff.len(),
            unschedulable: self.unschedulable.len(),
        }
    }

    /// All at one time, so that among them priority and age decide, not the end of their waits.
    fn move_all(&mut self, keys: Vec<String>, now: Moment) -> usize {
        let mut entries: Vec<Entry> = keys
            .iter()
            .filter_map(|key| self.backoff.get(key).or_else(|| self.unschedulable.get(key)).cloned())
            .collect();
        entries.sort_by_key(Entry::order);
        let count = entries.len();
        for (nanos, entry) in (0..).zip(entries) {
            // Equal priorities keep their order: each is a little younger than the one before.
            self.activate(entry, now + Duration::from_nanos(nanos));
        }
        count
    }

    fn activate(&mut self, mut entry: Entry, now: Moment) {
        self.backoff.remove(&entry.key);
        self.unschedulable.remove(&entry.key);
        if self.dirty.contains_key(&entry.key) {
            return;
        }
        entry.timestamp = now;
        if !self.processing.contains_key(&entry.key) {
            self.active.insert(entry.order());
        }
        self.dirty.insert(entry.key.clone(), entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Duration::from_secs(seconds)
    }

    fn popped(queue: &mut Queue) -> Vec<String> {
        std::iter::from_fn(|| queue.pop()).map(|entry| entry.key).collect()
    }

    #[test]
    fn pauses_double() {
        let pauses: Vec<u64> = (0..8).map(|attempts| backoff(attempts).as_secs()).collect();
        assert_eq!(pauses, [0, 1, 2, 4, 8, 10, 10, 10]);
    }

    #[test]
    fn priority_then_age() {
        let mut queue = Queue::new();
        queue.push("old", 0, at(1));
        queue.push("young", 0, at(2));
        queue.push("high", 5, at(3));
        queue.push("young", 9, at(4));
        assert_eq!(popped(&mut queue), ["high", "old", "young"]);
    }

    #[test]
    fn a_flush_sorts_by_priority() {
        let mut queue = Queue::new();
        for (key, priority, time) in [("low", 1, 0), ("high", 10, 1), ("later", 99, 60)] {
            queue.push(key, priority, at(time));
            let entry = queue.pop().unwrap();
            queue.finish(&entry.key, Retry::Backoff, at(time));
        }
        assert_eq!(queue.next_tick(), Some(at(1)));
        assert_eq!(queue.tick(at(30)), 2);
        assert_eq!(popped(&mut queue), ["high", "low"]);
        assert_eq!(queue.lengths().backoff, 1);
    }

    #[test]
    fn waits_for_clusters() {
        let mut queue = Queue::new();
        for (key, priority, time) in [("medium", 5, 0), ("high", 9, 0), ("low", 1, 0), ("fresh", 9, 300)] {
            queue.push(key, priority, at(time));
            let entry = queue.pop().unwrap();
            queue.finish(&entry.key, Retry::OnClusterChange, at(time));
        }
        assert_eq!(queue.tick(at(301)), 3);
        assert_eq!(popped(&mut queue), ["high", "medium", "low"]);
        assert_eq!(queue.wake(|key| key == "fresh", at(302)), 1);
        let entry = queue.pop().unwrap();
        assert_eq!((entry.key.as_str(), entry.attempts), ("fresh", 2));
    }

    #[test]
    fn a_push_during_processing_runs_again_at_once() {
        let mut queue = Queue::new();
        queue.push("a", 0, at(0));
        assert_eq!(queue.pop().unwrap().attempts, 1);
        queue.push("a", 7, at(1));
        assert!(queue.pop().is_none());
        queue.finish("a", Retry::Backoff, at(2));
        let again = queue.pop().unwrap();
        assert_eq!((again.attempts, again.priority), (2, 0));
        queue.finish("a", Retry::Backoff, at(3));
        queue.push("a", 0, at(4));
        assert_eq!(queue.pop().unwrap().attempts, 1);
        assert_eq!(queue.lengths(), Lengths::default());
    }
}
