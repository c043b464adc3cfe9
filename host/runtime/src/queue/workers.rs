//! Workers: take a key, reconcile, decide from the outcome when it comes back.

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Queue;
use crate::shutdown::Shutdown;

/// When a key that was reconciled well comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// When something changes.
    Done,
    /// After this time, for this reason.
    After(Duration, &'static str),
}

/// Runs `workers` workers, each a task of its own, over the queue; returns once it is shut down and all work in hand
/// is finished. Dropping the future aborts the workers.
///
/// An error, and a panic too, brings the key back after a pause that doubles with each failure.
pub async fn run<K, F, Fut, E>(queue: Queue<K>, workers: usize, reconcile: F)
where
    K: Clone + Eq + Hash + Debug + Send + Sync + 'static,
    F: Fn(K) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, E>> + Send + 'static,
    E: Display + Send + 'static,
{
    let reconcile = Arc::new(reconcile);
    let mut tasks = JoinSet::new();
    for _ in 0..workers.max(1) {
        let (queue, reconcile) = (queue.clone(), reconcile.clone());
        tasks.spawn(async move {
            while let Some(key) = queue.get().await {
                work(&queue, key, &*reconcile).await;
            }
        });
    }
    while tasks.join_next().await.is_some() {}
}

/// Runs workers as `run` does, in the background, until shutdown; the process waits for the work in hand.
pub fn spawn<K, F, Fut, E>(shutdown: &Shutdown, queue: Queue<K>, workers: usize, reconcile: F)
where
    K: Clone + Eq + Hash + Debug + Send + Sync + 'static,
    F: Fn(K) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, E>> + Send + 'static,
    E: Display + Send + 'static,
{
    let token = shutdown.token();
    shutdown.spawn(async move {
        let mut running = std::pin::pin!(run(queue.clone(), workers, reconcile));
        tokio::select! {
            () = &mut running => return,
            () = token.cancelled() => queue.shut_down(),
        }
        running.await;
    });
}

async fn work<K, F, Fut, E>(queue: &Queue<K>, key: K, reconcile: &F)
where
    K: Clone + Eq + Hash + Debug + Send + Sync,
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
