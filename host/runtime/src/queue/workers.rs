//! Workers: take a key, reconcile, decide from the outcome when it comes back.

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use tokio::time::Instant;

use super::Queue;

/// When a key that was reconciled well comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// When something changes.
    Done,
    /// After this time, for this reason.
    After(Duration, &'static str),
}

/// Runs `workers` workers over the queue; returns once it is shut down and all work in hand is finished.
///
/// An error, and a panic too, brings the key back after a pause that doubles with each failure.
pub async fn run<K, F, Fut, E>(queue: Queue<K>, workers: usize, reconcile: F)
where
    K: Clone + Eq + Hash + Debug + Send,
    F: Fn(K) -> Fut,
    Fut: Future<Output = Result<Action, E>>,
    E: Display,
{
    let (queue, reconcile) = (&queue, &reconcile);
    join_all((0..workers.max(1)).map(|_| async move {
        while let Some(key) = queue.get().await {
            work(queue, key, reconcile).await;
        }
    }))
    .await;
}

async fn work<K, F, Fut, E>(queue: &Queue<K>, key: K, reconcile: &F)
where
    K: Clone + Eq + Hash + Debug + Send,
    F: Fn(K) -> Fut,
    Fut: Future<Output = Result<Action, E>>,
    E: Display,
{
    let began = Instant::now();
    let outcome = AssertUnwindSafe(async { reconcile(key.clone()).await }).catch_unwind().await;
    let failed = match outcome {
        Ok(Ok(Action::Done)) => {
            queue.forget(&key);
            false
        }
        Ok(Ok(Action::After(delay, reason))) => {
            tracing::debug!(queue = queue.name(), ?key, ?delay, reason, "comes back");
            queue.forget(&key);
            queue.add_after(key.clone(), delay);
            false
        }
        Ok(Err(error)) => {
            tracing::warn!(queue = queue.name(), ?key, failures = queue.failures(&key) + 1, %error, "reconcile failed");
            queue.add_rate_limited(key.clone());
            true
        }
        Err(_) => {
            tracing::error!(queue = queue.name(), ?key, "reconcile panicked");
            queue.add_rate_limited(key.clone());
            true
        }
    };
    queue.observe(|m, name| m.worked(name, began.elapsed(), failed));
    queue.done(&key);
}
