//! What a plugin may use. Every limit has a name and a sentence: what it protects, and why this value.

use std::time::Duration;

/// Linear memory of one instance. Holds tens of thousands of clusters (1.2 KB each) or any object that etcd takes; more
/// would let a few instances starve the host.
pub const MEMORY: usize = 64 << 20;

/// Address space kept for one linear memory. With 4 GiB every 32-bit address is inside, so that compiled code needs no
/// bounds checks (they cost 29 %); it is address space, not memory.
pub const MEMORY_RESERVATION: u64 = 4 << 30;

/// Wasm stack of one call. Generous for recursive parsers, small against a thread's 2 MiB.
pub const STACK: usize = 512 << 10;

/// How long a call may take. Wall-clock, so generous: a busy core must not kill an innocent plugin.
pub const DEADLINE: Duration = Duration::from_secs(1);

/// How often running plugins look at the clock; a deadline is kept to about this.
pub const TICK: Duration = Duration::from_millis(10);

/// Bytes that a plugin may hand to the host in one call, results included. Several times the largest object that an
/// API server takes (1.5 MB), so only a plugin gone wild meets it.
pub const TRANSFER: usize = 16 << 20;

/// Elements of one table; guests use tables for function pointers, of which they have a few thousand at most.
pub const TABLE_ELEMENTS: usize = 20_000;

/// Core instances within one component: itself, the adapter's and shims, with room for composed ones.
pub const CORE_INSTANCES: usize = 20;

/// Linear memories within one component.
pub const MEMORIES: usize = 4;

/// Tables within one component.
pub const TABLES: usize = 8;

/// Instances that live at one time in the process: one per scheduler plugin and worker, and one per running call of an
/// interpreter or transformer. It bounds the pool's address space (4 TiB of the 128 that a process has).
pub const INSTANCES: u32 = 1_000;

/// Memory of a freed slot that stays resident for its next user; most instances touch less, and skip the page faults.
pub const KEEP_RESIDENT: usize = 256 << 10;

/// Freed slots that stay ready for the same component; more would hold memory for bursts that are over.
pub const WARM_SLOTS: u32 = 200;

/// Size of a component's file. Components of the heaviest language (Python) have 20 MB; compiling takes a second for
/// each 3 MB, during which a loader waits.
pub const COMPONENT: usize = 64 << 20;

/// Log lines that one call may write; a plugin that logs for each of a thousand clusters must not flood the host's log.
pub const LOG_LINES: u32 = 32;

/// Bytes of one log line that are kept.
pub const LOG_LINE: usize = 4 << 10;

/// Distinct reasons, descriptions and messages that reach users are cut to this length, for they end up in conditions.
pub const MESSAGE: usize = 4 << 10;

/// What may be chosen per plugin; the rest of the limits holds for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a call may take.
    pub deadline: Duration,
    /// Linear memory of one instance, at most [`MEMORY`].
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { deadline: DEADLINE, memory: MEMORY }
    }
}

/// Cuts a text that came from a plugin to [`MESSAGE`] bytes.
pub(crate) fn shorten(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        text.truncate(end);
        text.push('…');
    }
    text
}
