//! The scheduler's queue as a state machine: bindings to look at by priority, bindings that wait out a pause, and bindings
//! that wait for room. It has no clock and no threads: the caller says what time it is and when to wait.

mod limiter;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::pass::Retry;
use limiter::Limiter;

/// The pause after the first failure; it doubles with each further one.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);

/// The longest pause, so that a binding is not forgotten.
const MAX_BACKOFF: Duration = Duration::from_secs(10);

/// How often it is looked for pauses that are over; those that end within one period are sorted by priority.
const BACKOFF_FLUSH: Duration = Duration::from_secs(1);

/// After how long a binding that waits for room is tried anyway, in case a change was missed.
const MAX_UNSCHEDULABLE: Duration = Duration::from_secs(5 * 60);

/// How often those are looked for.
const UNSCHEDULABLE_FLUSH: Duration = Duration::from_secs(30);

/// A point in time: how long after an origin of the caller's choice.
pub type Moment = Duration;

/// Which binding: `namespace/name`, or `name`.
pub type Key = Arc<str>;

/// One binding in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Which one.
    pub key: Key,
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

type Order = (Reverse<i32>, Moment, Key);

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
    dirty: HashMap<Key, Entry>,
    active: BTreeSet<Order>,
    processing: HashMap<Key, Entry>,
    backoff: Waiting,
    unschedulable: Waiting,
    /// Instead of the pauses, without priorities (gate `PriorityBasedScheduling` off).
    limiter: Option<Limiter>,
}

/// Entries by key, and by the moment in which each may be due.
#[derive(Debug, Default)]
struct Waiting {
    by_key: HashMap<Key, (Moment, Entry)>,
    by_moment: BTreeSet<(Moment, Key)>,
}

impl Waiting {
    fn insert(&mut self, due: Moment, entry: Entry) {
        self.remove(&entry.key);
        self.by_moment.insert((due, entry.key.clone()));
        self.by_key.insert(entry.key.clone(), (due, entry));
    }

    fn remove(&mut self, key: &str) -> Option<Entry> {
        let (due, entry) = self.by_key.remove(key)?;
        self.by_moment.remove(&(due, entry.key.clone()));
        Some(entry)
    }

    fn first(&self) -> Option<Moment> {
        self.by_moment.first().map(|(due, _)| *due)
    }

    fn due(&self, now: Moment) -> impl Iterator<Item = &Key> {
        self.by_moment.iter().take_while(move |(due, _)| *due <= now).map(|(_, key)| key)
    }
}

/// How many bindings are where, for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lengths {
    /// To be popped.
    pub active: usize,
    /// Waiting out a pause.
    pub backoff: usize,
    /// Waiting for room.
    pub unschedulable: usize,
}

impl Queue {
    /// An empty queue, by priority.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty queue without priorities: every failure waits longer than the one before, and all failures together are
    /// limited in their rate.
    pub fn without_priorities() -> Self {
        Self { limiter: Some(Limiter::default()), ..Self::default() }
    }

    /// Something happened to a binding: it is to be looked at, with attempts counted anew. A key that waits already keeps
    /// its priority and its place.
    pub fn push(&mut self, key: &Key, priority: i32, now: Moment) {
        let priority = if self.limiter.is_some() { 0 } else { priority };
        let entry = Entry { key: key.clone(), priority, timestamp: now, first_attempt: now, attempts: 0 };
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
        let pause = self.limiter.as_mut().and_then(|limiter| match retry {
            Retry::No => {
                limiter.forget(key);
                None
            }
            Retry::Backoff | Retry::Unschedulable => Some(limiter.pause(&entry.key, now)),
        });
        if self.dirty.remove(key).is_some() {
            entry.timestamp = now;
            self.active.insert(entry.order());
            self.dirty.insert(entry.key.clone(), entry);
            return;
        }
        match (retry, pause) {
            (Retry::No, _) => drop(self.backoff.remove(key)),
            (_, Some(pause)) => self.backoff.insert(now.saturating_add(pause), entry),
            (Retry::Backoff, None) => self.backoff.insert(ceil(entry.expiry(), BACKOFF_FLUSH), entry),
            (Retry::Unschedulable, None) => {
                // Longer than that, not just as long.
                let due = entry.timestamp.saturating_add(MAX_UNSCHEDULABLE + Duration::from_nanos(1));
                self.unschedulable.insert(ceil(due, UNSCHEDULABLE_FLUSH), entry);
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
        if let Some(limiter) = &mut self.limiter {
            limiter.forget(key);
        }
    }

    /// There may be room now for these: those of them that wait for it are active again, keeping their attempts.
    pub fn wake<'a>(&mut self, keys: impl IntoIterator<Item = &'a Key>, now: Moment) -> usize {
        let waiting: HashSet<&Key> =
            keys.into_iter().filter(|key| self.unschedulable.by_key.contains_key(*key)).collect();
        let keys = waiting.into_iter().cloned().collect();
        self.move_all(keys, now)
    }

    /// Moves those whose wait is over. To be called when [`Queue::next_tick`] says so.
    pub fn tick(&mut self, now: Moment) -> usize {
        let due = self.backoff.due(now).chain(self.unschedulable.due(now)).cloned().collect();
        self.move_all(due, now)
    }

    /// When [`Queue::tick`] may have something to do; nothing if nobody waits.
    pub fn next_tick(&self) -> Option<Moment> {
        self.backoff.first().into_iter().chain(self.unschedulable.first()).min()
    }

    /// Whether a binding was popped and not handed back.
    pub fn is_processing(&self, key: &str) -> bool {
        self.processing.contains_key(key)
    }

    /// Where a binding is: `active`, `processing`, `backoff`, `unschedulable`; for tests and diagnostics.
    pub fn place(&self, key: &str) -> Option<&'static str> {
        if self.processing.contains_key(key) {
            Some("processing")
        } else if self.dirty.contains_key(key) {
            Some("active")
        } else if self.backoff.by_key.contains_key(key) {
            Some("backoff")
        } else if self.unschedulable.by_key.contains_key(key) {
            Some("unschedulable")
        } else {
            None
        }
    }

    /// How many bindings are where.
    pub fn lengths(&self) -> Lengths {
        Lengths {
            active: self.active.len(),
            backoff: self.backoff.by_key.len(),
            unschedulable: self.unschedulable.by_key.len(),
        }
    }

    /// All at one time, so that among them priority and age decide, not the end of their waits.
    fn move_all(&mut self, keys: Vec<Key>, now: Moment) -> usize {
        let mut entries: Vec<Entry> = keys
            .iter()
            .filter_map(|key| self.backoff.remove(key).or_else(|| self.unschedulable.remove(key)))
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

/// The first multiple of `period` that is not before `moment`.
fn ceil(moment: Moment, period: Duration) -> Moment {
    let periods = moment.as_nanos().div_ceil(period.as_nanos());
    period.saturating_mul(u32::try_from(periods).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
