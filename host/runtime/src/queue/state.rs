//! The state of a queue, without tasks or clocks: what waits, what is worked on, what pauses.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// A key's place among the ready ones: higher priority first, then the order of coming.
type Place = (Reverse<i32>, u64);

pub(super) struct State<K> {
    ready: BTreeMap<Place, Ready<K>>,
    places: HashMap<K, Place>,
    /// Keys in work; Some if the key was added meanwhile, with its priority then.
    working: HashMap<K, Option<i32>>,
    paused: BTreeMap<(Instant, u64), K>,
    pauses: HashMap<K, (Instant, u64)>,
    failures: HashMap<K, u32>,
    counter: u64,
    shut_down: bool,
}

struct Ready<K> {
    key: K,
    since: Instant,
}

/// What a worker is to do.
pub(super) enum Next<K> {
    /// Work on this key.
    Key { key: K, waited: Duration, more: bool },
    /// Look again at this time.
    At(Instant),
    /// Wait for a key.
    Nothing,
    /// End.
    ShutDown,
}

impl<K: Clone + Eq + Hash> State<K> {
    pub(super) fn new() -> Self {
        Self {
            ready: BTreeMap::new(),
            places: HashMap::new(),
            working: HashMap::new(),
            paused: BTreeMap::new(),
            pauses: HashMap::new(),
            failures: HashMap::new(),
            counter: 0,
            shut_down: false,
        }
    }

    /// True if the key became ready, and wasn't before.
    pub(super) fn add(&mut self, key: K, priority: i32, now: Instant) -> bool {
        if self.shut_down {
            return false;
        }
        // What comes now need not come later.
        if let Some(pause) = self.pauses.remove(&key) {
            self.paused.remove(&pause);
        }
        if let Some(again) = self.working.get_mut(&key) {
            *again = Some(again.map_or(priority, |p| p.max(priority)));
            return false;
        }
        if let Some(place) = self.places.get_mut(&key) {
            if place.0.0 < priority {
                let ready = self.ready.remove(place);
                place.0 = Reverse(priority);
                if let Some(ready) = ready {
                    self.ready.insert(*place, ready);
                }
            }
            return false;
        }
        let place = (Reverse(priority), self.count());
        self.places.insert(key.clone(), place);
        self.ready.insert(place, Ready { key, since: now });
        true
    }

    pub(super) fn add_at(&mut self, key: K, time: Instant) {
        if self.shut_down || self.places.contains_key(&key) {
            return;
        }
        if let Some(pause) = self.pauses.get(&key) {
            if pause.0 <= time {
                return;
            }
            self.paused.remove(pause);
        }
        let pause = (time, self.count());
        self.paused.insert(pause, key.clone());
        self.pauses.insert(key, pause);
    }

    pub(super) fn next(&mut self, now: Instant) -> Next<K> {
        if self.shut_down {
            return Next::ShutDown;
        }
        while let Some(entry) = self.paused.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let key = entry.remove();
            self.pauses.remove(&key);
            self.add(key, 0, now);
        }
        if let Some((_, Ready { key, since })) = self.ready.pop_first() {
            self.places.remove(&key);
            self.working.insert(key.clone(), None);
            let more = !self.ready.is_empty() || !self.paused.is_empty();
            return Next::Key { key, waited: now.saturating_duration_since(since), more };
        }
        match self.paused.first_key_value() {
            Some(((time, _), _)) => Next::At(*time),
            None => Next::Nothing,
        }
    }

    /// True if the key is ready again.
    pub(super) fn done(&mut self, key: &K, now: Instant) -> bool {
        match self.working.remove(key) {
            Some(Some(priority)) => self.add(key.clone(), priority, now),
            _ => false,
        }
    }

    pub(super) fn fail(&mut self, key: &K) -> u32 {
        let failures = self.failures.entry(key.clone()).or_default();
        *failures = failures.saturating_add(1);
        *failures
    }

    pub(super) fn forget(&mut self, key: &K) {
        self.failures.remove(key);
    }

    pub(super) fn failures(&self, key: &K) -> u32 {
        self.failures.get(key).copied().unwrap_or_default()
    }

    pub(super) fn ready(&self) -> usize {
        self.ready.len()
    }

    pub(super) fn shut_down(&mut self) {
        self.shut_down = true;
        self.ready.clear();
        self.places.clear();
        self.paused.clear();
        self.pauses.clear();
    }

    fn count(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }
}
