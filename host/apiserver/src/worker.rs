//! Does what the observer found to do: each task once at a time, several at once, again
//! after a while if it failed for a reason that may pass.

use crate::error::ApiError;
use crate::limits::{CLEANUP_CONCURRENCY, RETRY_MILLIS};
use crate::observer::Shared;
use crate::server::Server;
use crate::{accounts, cleanup, gc};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// Something to look at. Tasks say where, never what: what is to be done is read when they run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Task {
    /// An object with owners, by key: are they there?
    Collect(String),
    /// An object that goes after its dependents, by key.
    Foreground(String),
    /// An object that leaves its dependents, by key.
    Orphan(String),
    /// A namespace that is on its way out.
    Namespace(String),
    /// A namespace of a member that needs what every namespace has.
    Furnish(String),
    /// A CRD that is on its way out.
    Definition(String),
    /// A CRD whose names may be free now.
    Accept(String),
    /// The token Secrets of a namespace.
    Tokens(String),
}

/// Where a task stands.
enum Stage {
    /// It waits or runs.
    Busy,
    /// It runs and must run again.
    Again,
}

/// Starts the worker of a server.
pub(crate) fn start(server: &Server, shared: &Shared) -> UnboundedSender<Task> {
    let (sender, receiver) = unbounded_channel();
    let (server, shared, again) = (server.clone(), shared.clone(), sender.clone());
    tokio::spawn(async move { run(server, shared, again, receiver).await });
    sender
}

async fn run(
    server: Server,
    shared: Shared,
    again: UnboundedSender<Task>,
    mut tasks: UnboundedReceiver<Task>,
) {
    let stopping = server.stopping();
    let mut stages: HashMap<Task, Stage> = HashMap::new();
    let mut queue: VecDeque<Task> = VecDeque::new();
    let mut running: JoinSet<(Task, Result<(), ApiError>)> = JoinSet::new();
    loop {
        while running.len() < CLEANUP_CONCURRENCY
            && let Some(task) = queue.pop_front()
        {
            let (server, shared) = (server.clone(), shared.clone());
            running.spawn(async move {
                let outcome = perform(&server, &shared, &task).await;
                (task, outcome)
            });
        }
        tokio::select! {
            () = stopping.cancelled() => return,
            task = tasks.recv() => {
                let Some(task) = task else { return };
                match stages.get_mut(&task) {
                    Some(stage) => *stage = Stage::Again,
                    None => {
                        stages.insert(task.clone(), Stage::Busy);
                        queue.push_back(task);
                    }
                }
            }
            Some(done) = running.join_next(), if !running.is_empty() => {
                let Ok((task, outcome)) = done else {
                    // A panic lost the task's name; nothing else may stand still for it.
                    tracing::error!(server = server.name(), "a clean-up task panicked");
                    continue;
                };
                let rerun = matches!(stages.remove(&task), Some(Stage::Again));
                match outcome {
                    Err(error) => {
                        tracing::debug!(server = server.name(), ?task, %error, "clean-up will be tried again");
                        let again = again.clone();
                        tokio::spawn(async move {
                            tokio::time::sleep(Duration::from_millis(RETRY_MILLIS)).await;
                            // Fails when the server has stopped, which ends all work.
                            let _ = again.send(task);
                        });
                    }
                    Ok(()) if rerun => {
                        stages.insert(task.clone(), Stage::Busy);
                        queue.push_back(task);
                    }
                    Ok(()) => {}
                }
            }
        }
    }
}

async fn perform(server: &Server, shared: &Shared, task: &Task) -> Result<(), ApiError> {
    match task {
        Task::Collect(key) => gc::collect(server, shared, key).await,
        Task::Foreground(key) => gc::foreground(server, shared, key).await,
        Task::Orphan(key) => gc::orphan(server, shared, key).await,
        Task::Namespace(name) => cleanup::namespace(server, name).await,
        Task::Definition(name) => cleanup::definition(server, name).await,
        Task::Accept(name) => cleanup::accept(server, name).await,
        Task::Furnish(name) => accounts::furnish(server, name).await,
        Task::Tokens(namespace) => accounts::tokens(server, namespace).await,
    }
}
