//! The scheduler's queue with a clock: the state machine of `windlass_schedule::queue`, and somebody who waits at it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;
use windlass_schedule::pass::Retry;
use windlass_schedule::queue::{Moment, Queue};

/// Bindings that wait to be scheduled.
pub(super) struct Waiting {
    queue: Mutex<Queue>,
    changed: Notify,
    origin: Instant,
}

impl Waiting {
    pub(super) fn new() -> Self {
        Self { queue: Mutex::new(Queue::new()), changed: Notify::new(), origin: Instant::now() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Moment {
        self.origin.elapsed()
    }

    /// Something happened to a binding.
    pub(super) fn push(&self, key: &str, priority: i32) {
        self.queue().push(key, priority, self.now());
        self.changed.notify_one();
    }

    /// A binding is gone.
    pub(super) fn forget(&self, key: &str) {
        self.queue().forget(key);
    }

    /// A cluster changed: those that wait for one try again.
    pub(super) fn wake(&self) {
        self.queue().wake(|_| true, self.now());
        self.changed.notify_one();
    }

    /// A binding was handled.
    pub(super) fn finish(&self, key: &str, retry: Retry) {
        self.queue().finish(key, retry, self.now());
        self.changed.notify_one();
    }

    /// Waits for the most urgent binding.
    pub(super) async fn next(&self) -> String {
        loop {
            let changed = self.changed.notified();
            let tick = {
                let mut queue = self.queue();
                queue.tick(self.now());
                if let Some(entry) = queue.pop() {
                    return entry.key;
                }
                queue.next_tick()
            };
            match tick {
                Some(tick) => {
                    tokio::select! {
                        () = changed => {}
                        () = tokio::time::sleep_until(self.origin + tick) => {}
                    }
                }
                None => changed.await,
            }
        }
    }
}
