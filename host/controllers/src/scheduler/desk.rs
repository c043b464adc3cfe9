//! The driver with a clock, for many who tell it something and one who waits for its next binding.

use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;
use windlass_schedule::driver::Driver;
use windlass_schedule::queue::{Entry, Moment};

/// The driver behind a lock. It is held for the time of a decision, never while anything is waited for.
pub(super) struct Desk {
    driver: Mutex<Driver>,
    changed: Notify,
    origin: Instant,
}

impl Desk {
    pub(super) fn new(driver: Driver) -> Self {
        Self { driver: Mutex::new(driver), changed: Notify::new(), origin: Instant::now() }
    }

    fn now(&self) -> Moment {
        self.origin.elapsed()
    }

    /// Tells or asks the driver something.
    pub(super) fn with<T>(&self, then: impl FnOnce(&mut Driver, Moment) -> T) -> T {
        let mut driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        let before = driver.lengths();
        let told = then(&mut driver, self.now());
        let changed = driver.lengths() != before;
        drop(driver);
        if changed {
            self.changed.notify_one();
        }
        told
    }

    /// Waits for the most urgent binding.
    pub(super) async fn next(&self) -> Entry {
        loop {
            let changed = self.changed.notified();
            let tick = {
                let mut driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(entry) = driver.pop(self.now()) {
                    return entry;
                }
                driver.next_tick()
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
