//! Work queues with the semantics of client-go's: a key is in the queue once, is worked on by one worker at a time,
//! and comes back if it was added meanwhile. On top: delays, backoff per key, priorities.

mod state;
mod workers;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::metrics::QueueMetrics;
use state::{Next, State};

pub use workers::{Action, run, spawn};

/// Priority of keys from initial lists and other mass changes: after everything that just happened.
pub const INITIAL: i32 = -100;

/// First pause of a key that failed; doubles with each failure.
const BASE_DELAY: Duration = Duration::from_millis(5);
/// Longest pause of a key that failed.
const MAX_DELAY: Duration = Duration::from_secs(1000);

/// A queue of keys. Cheap to clone.
#[derive(Clone)]
pub struct Queue<K> {
    inner: Arc<Inner<K>>,
}

struct Inner<K> {
    name: &'static str,
    base: Duration,
    max: Duration,
    state: Mutex<State<K>>,
    wake: Notify,
    metrics: Mutex<Option<QueueMetrics>>,
}

impl<K: Clone + Eq + Hash + Debug> Queue<K> {
    /// A queue whose failed keys pause for 5 ms to 1000 s.
    pub fn new(name: &'static str) -> Self {
        Self::with_backoff(name, BASE_DELAY, MAX_DELAY)
    }

    /// A queue with pauses of its own.
    pub fn with_backoff(name: &'static str, base: Duration, max: Duration) -> Self {
        let inner = Inner {
            name,
            base,
            max,
            state: Mutex::new(State::new()),
            wake: Notify::new(),
            metrics: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Reports depth, latency, work and retries there from now on.
    pub fn with_metrics(self, metrics: &QueueMetrics) -> Self {
        *self.inner.metrics.lock().unwrap_or_else(PoisonError::into_inner) = Some(metrics.clone());
        self
    }

    /// The queue's name.
    pub fn name(&self) -> &'static str {
        self.inner.name
    }

    /// Adds a key with ordinary priority (0). A key that waits already keeps its place, and the higher priority of
    /// both; a key that is worked on comes back afterwards.
    pub fn add(&self, key: K) {
        self.add_with_priority(key, 0);
    }

    /// Adds a key; the higher priority goes first.
    pub fn add_with_priority(&self, key: K, priority: i32) {
        if self.state().add(key, priority, Instant::now()) {
            self.observe(|m, name| m.added(name));
        }
        self.inner.wake.notify_one();
    }

    /// Adds a key after a pause. If it waits for a pause already, the earlier end counts.
    pub fn add_after(&self, key: K, delay: Duration) {
        if delay.is_zero() {
            return self.add(key);
        }
        self.state().add_at(key, Instant::now() + delay);
        self.inner.wake.notify_one();
    }

    /// Adds a key after the pause that its failures so far deserve, and counts one more.
    pub fn add_rate_limited(&self, key: K) {
        let failures = self.state().fail(&key);
        let factor = 2_u32.saturating_pow(failures.saturating_sub(1).min(31));
        let delay = self.inner.base.saturating_mul(factor).min(self.inner.max);
        self.observe(|m, name| m.retried(name));
        self.add_after(key, delay);
    }

    /// Forgets a key's failures.
    pub fn forget(&self, key: &K) {
        self.state().forget(key);
    }

    /// A key's failures since it was last forgotten.
    pub fn failures(&self, key: &K) -> u32 {
        self.state().failures(key)
    }

    /// The next key; it is the caller's until `done`. None after `shut_down`.
    pub async fn get(&self) -> Option<K> {
        loop {
            let notified = self.inner.wake.notified();
            let next = self.state().next(Instant::now());
            match next {
                Next::Key { key, waited, more } => {
                    if more {
                        self.inner.wake.notify_one();
                    }
                    self.observe(|m, name| m.taken(name, waited));
                    return Some(key);
                }
                Next::ShutDown => {
                    self.inner.wake.notify_one();
                    return None;
                }
                Next::At(time) => {
                    tokio::select! {
                        () = notified => {}
                        () = tokio::time::sleep_until(time) => {}
                    }
                }
                Next::Nothing => notified.await,
            }
        }
    }

    /// Gives a key back. If it was added meanwhile, it waits again.
    pub fn done(&self, key: &K) {
        if self.state().done(key, Instant::now()) {
            self.observe(|m, name| m.added(name));
        }
        self.inner.wake.notify_one();
    }

    /// Keys that are ready and wait for a worker.
    pub fn len(&self) -> usize {
        self.state().ready()
    }

    /// Whether no key is ready.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Hands out no more keys and takes no more; workers end when they have finished what they hold.
    pub fn shut_down(&self) {
        self.state().shut_down();
        self.inner.wake.notify_waiters();
        self.inner.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observe(&self, f: impl FnOnce(&QueueMetrics, &'static str)) {
        let metrics = self.inner.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(metrics) = metrics.as_ref() {
            f(metrics, self.inner.name);
        }
    }
}
