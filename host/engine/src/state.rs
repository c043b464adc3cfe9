//! What the host keeps for one instance: its limits, and what it may still log in the call that runs.

use crate::limits::{self, Limits};
use std::time::Duration;
use wasmtime::{ResourceLimiter, Store, StoreLimits, StoreLimitsBuilder};

/// How much a log line matters; the same for all versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// Data of a store.
pub(crate) struct HostState {
    plugin: String,
    bounds: Bounds,
    lines_left: u32,
    dropped: u64,
    lowering: Duration,
}

/// The limits of a store, and how much of its memory is in use.
struct Bounds {
    limits: StoreLimits,
    memory: usize,
}

impl ResourceLimiter for Bounds {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let granted = self.limits.memory_growing(current, desired, maximum)?;
        if granted {
            self.memory += desired.saturating_sub(current);
        }
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.limits.table_growing(current, desired, maximum)
    }

    fn instances(&self) -> usize {
        self.limits.instances()
    }

    fn tables(&self) -> usize {
        self.limits.tables()
    }

    fn memories(&self) -> usize {
        self.limits.memories()
    }
}

impl HostState {
    /// A store for one instance of a plugin.
    pub(crate) fn store(engine: &wasmtime::Engine, plugin: &str, limits: Limits) -> Store<Self> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(limits.memory.min(limits::MEMORY))
            .table_elements(limits::TABLE_ELEMENTS)
            .instances(limits::CORE_INSTANCES)
            .tables(limits::TABLES)
            .memories(limits::MEMORIES)
            .build();
        let state = Self {
            plugin: plugin.to_owned(),
            bounds: Bounds { limits, memory: 0 },
            lines_left: 0,
            dropped: 0,
            lowering: Duration::ZERO,
        };
        let mut store = Store::new(engine, state);
        store.limiter(|state| &mut state.bounds);
        store.set_hostcall_fuel(limits::TRANSFER);
        store.epoch_deadline_trap();
        store
    }

    /// What a call may use, given anew before each.
    pub(crate) fn begin(store: &mut Store<Self>, limits: Limits) {
        // One tick more: the current one is partly over.
        let ticks = limits.deadline.as_nanos().div_ceil(limits::TICK.as_nanos()) + 1;
        store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX / 2));
        let state = store.data_mut();
        state.lines_left = limits::LOG_LINES;
        state.dropped = 0;
        state.lowering = Duration::ZERO;
    }

    /// Notes how long it took to put a question into the interface's records.
    pub(crate) fn lowered(&mut self, took: Duration) {
        self.lowering += took;
    }

    /// The time that the last call was noted to have taken for that.
    pub(crate) fn lowering(&self) -> Duration {
        self.lowering
    }

    /// Linear memory of the instance, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bounds.memory
    }

    /// Log lines of the last call that were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// A plugin's log line.
    pub(crate) fn log(&mut self, level: Level, message: String) {
        let Some(left) = self.lines_left.checked_sub(1) else {
            self.dropped += 1;
            return;
        };
        self.lines_left = left;
        let message = limits::shorten(message, limits::LOG_LINE);
        let plugin = self.plugin.as_str();
        match level {
            Level::Debug => tracing::debug!(target: "windlass::plugin", plugin, "{message}"),
            Level::Info => tracing::info!(target: "windlass::plugin", plugin, "{message}"),
            Level::Warn => tracing::warn!(target: "windlass::plugin", plugin, "{message}"),
            Level::Error => tracing::error!(target: "windlass::plugin", plugin, "{message}"),
        }
    }
}
