//! How long failures wait when there are no priorities: each binding's pause doubles with every failure, and all failures
//! together are limited in their rate. The longer of both counts.

use std::collections::HashMap;
use std::time::Duration;

use super::{Key, Moment};

/// The pause after a binding's first failure.
const BASE: Duration = Duration::from_millis(5);

/// The longest pause of one binding.
const MAX: Duration = Duration::from_secs(1000);

/// Failures that are tried again per second, in the long run.
const RATE: u32 = 10;

/// Failures that may be tried again at once after a quiet time.
const BURST: u32 = 100;

/// Counts failures.
#[derive(Debug, Default)]
pub(super) struct Limiter {
    failures: HashMap<Key, u32>,
    /// When the bucket of tokens is full again; each failure takes one.
    full_at: Moment,
}

impl Limiter {
    /// How long a binding that failed now waits.
    pub(super) fn pause(&mut self, key: &Key, now: Moment) -> Duration {
        let failures = self.failures.entry(key.clone()).or_default();
        let own = BASE.saturating_mul(2u32.saturating_pow((*failures).min(20))).min(MAX);
        *failures += 1;
        let token = Duration::from_secs(1) / RATE;
        self.full_at = self.full_at.max(now) + token;
        let shared = (self.full_at - now).saturating_sub(token * BURST);
        own.max(shared)
    }

    /// A binding succeeded, or is gone.
    pub(super) fn forget(&mut self, key: &str) {
        self.failures.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_pause_counts() {
        let mut limiter = Limiter::default();
        let (a, now) = (Key::from("a"), Duration::from_secs(100));
        let own: Vec<u128> = (0..4).map(|_| limiter.pause(&a, now).as_millis()).collect();
        assert_eq!(own, [5, 10, 20, 40]);
        limiter.forget("a");
        assert_eq!(limiter.pause(&a, now).as_millis(), 5);
        for _ in 5..100 {
            limiter.pause(&Key::from("others"), now);
        }
        assert_eq!(limiter.pause(&Key::from("late"), now).as_millis(), 100, "the bucket is empty");
        assert_eq!(limiter.pause(&Key::from("later"), now + Duration::from_secs(60)).as_millis(), 5);
        let mut worn = Limiter::default();
        let last = (0..40).map(|n| worn.pause(&a, now * n)).last();
        assert_eq!(last, Some(MAX));
    }
}
