//! Stopping a process: one signal to all tasks, a wait with a deadline for them to finish.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The process's stop signal and the tasks that must end before it does. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    token: CancellationToken,
    /// Whoever waits for tasks is to wait no longer.
    impatient: CancellationToken,
    tracker: TaskTracker,
}

impl Shutdown {
    /// A signal that wasn't given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The signal, to wait for or to derive others from.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// A part that can be stopped by itself and stops with the whole.
    pub fn child(&self) -> Self {
        Self {
            token: self.token.child_token(),
            impatient: self.impatient.clone(),
            tracker: self.tracker.clone(),
        }
    }

    /// Starts a task that the process waits for when it stops.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.spawn(future)
    }

    /// Gives the signal.
    pub fn cancel(&self) {
        self.token.cancel();
    }

    /// Whether the signal was given.
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits for the signal.
    pub async fn cancelled(&self) {
        self.token.cancelled().await;
    }

    /// Gives the signal and waits for all tasks; false if the deadline, or a second signal, came first.
    pub async fn drain(&self, deadline: Duration) -> bool {
        self.cancel();
        self.tracker.close();
        tokio::select! {
            () = self.tracker.wait() => true,
            () = self.impatient.cancelled() => false,
            () = tokio::time::sleep(deadline) => false,
        }
    }

    /// Gives the signal on SIGINT or SIGTERM; a second one ends the wait of `drain`.
    pub fn on_signals(&self) -> std::io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let tokens = [self.token.clone(), self.impatient.clone()];
        tokio::spawn(async move {
            for token in tokens {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                tracing::info!("told to stop; told again, the process waits for nothing");
                token.cancel();
            }
        });
        Ok(())
    }
}
