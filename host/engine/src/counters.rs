//! How a plugin fares: counted as it is called, read at any time.

use crate::error::CallError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Counts of one plugin, over all its instances.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    calls: AtomicU64,
    invalid: AtomicU64,
    errors: AtomicU64,
    traps: AtomicU64,
    timeouts: AtomicU64,
    strikes: AtomicU64,
    instances: AtomicU64,
    syncs: AtomicU64,
    logs_dropped: AtomicU64,
    total_nanos: AtomicU64,
    max_nanos: AtomicU64,
    lowering_nanos: AtomicU64,
    memory: AtomicU64,
    last_error: Mutex<Option<String>>,
}

/// What a plugin did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Calls that were made, failed ones too.
    pub calls: u64,
    /// Calls whose input the plugin refused, with a text for the user.
    pub invalid: u64,
    /// Calls that failed, or gave an answer that breaks the interface's rules.
    pub errors: u64,
    /// Calls that crashed or reached a limit other than time.
    pub traps: u64,
    /// Calls that gave no answer in time.
    pub timeouts: u64,
    /// Errors, traps and timeouts since the last good answer.
    pub strikes: u64,
    /// Instances made.
    pub instances: u64,
    /// Changes of the cluster table that were told.
    pub syncs: u64,
    /// Log lines beyond the limit.
    pub logs_dropped: u64,
    /// Time spent in calls.
    pub total: Duration,
    /// The longest call.
    pub max: Duration,
    /// Of the time spent in calls what it took to put questions into the interface's records.
    pub lowering: Duration,
    /// Linear memory of the largest instance, in bytes.
    pub memory: u64,
    /// How the last failed call ended.
    pub last_error: Option<String>,
}

impl Counters {
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            calls: self.calls.load(Relaxed),
            invalid: self.invalid.load(Relaxed),
            errors: self.errors.load(Relaxed),
            traps: self.traps.load(Relaxed),
            timeouts: self.timeouts.load(Relaxed),
            strikes: self.strikes.load(Relaxed),
            instances: self.instances.load(Relaxed),
            syncs: self.syncs.load(Relaxed),
            logs_dropped: self.logs_dropped.load(Relaxed),
            total: Duration::from_nanos(self.total_nanos.load(Relaxed)),
            max: Duration::from_nanos(self.max_nanos.load(Relaxed)),
            lowering: Duration::from_nanos(self.lowering_nanos.load(Relaxed)),
            memory: self.memory.load(Relaxed),
            last_error: self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    pub(crate) fn instance(&self) {
        self.instances.fetch_add(1, Relaxed);
    }

    pub(crate) fn sync(&self) {
        self.syncs.fetch_add(1, Relaxed);
    }

    /// What a call had to do with the store that it ran in.
    pub(crate) fn store(&self, lowering: Duration, memory: usize) {
        let nanos = u64::try_from(lowering.as_nanos()).unwrap_or(u64::MAX);
        self.lowering_nanos.fetch_add(nanos, Relaxed);
        self.memory.fetch_max(memory as u64, Relaxed);
    }

    pub(crate) fn logs_dropped(&self, lines: u64) {
        self.logs_dropped.fetch_add(lines, Relaxed);
    }

    pub(crate) fn call<R>(&self, took: Duration, result: &Result<R, CallError>) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.calls.fetch_add(1, Relaxed);
        self.total_nanos.fetch_add(nanos, Relaxed);
        self.max_nanos.fetch_max(nanos, Relaxed);
        if let Err(error) = result {
            self.failure(error);
        }
    }

    /// An answer that a caller could use. That an instance starts and syncs is none: it does so after each trap.
    pub(crate) fn answered(&self) {
        self.strikes.store(0, Relaxed);
    }

    /// A failure that isn't a call's own, such as an answer that breaks the rules.
    pub(crate) fn failure(&self, error: &CallError) {
        let counter = match error {
            // The plugin works; the input doesn't.
            CallError::Invalid(_) | CallError::Unsupported => {
                self.invalid.fetch_add(1, Relaxed);
                return;
            }
            CallError::Internal(_) => &self.errors,
            CallError::Trapped(_) => &self.traps,
            CallError::Timeout => &self.timeouts,
        };
        counter.fetch_add(1, Relaxed);
        self.strikes.fetch_add(1, Relaxed);
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
    }
}
