//! The last decision about each binding, with reasons, for those who ask why.

use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Decisions that are remembered; with more bindings the oldest are forgotten. A decision among three clusters takes
/// about a kilobyte.
const REMEMBERED: usize = 4096;

#[derive(Default)]
struct Memory {
    by_key: HashMap<String, (u64, Arc<Value>)>,
    serial: u64,
}

/// The memory. Clones are handles to the same.
#[derive(Clone, Default)]
pub struct Decisions {
    memory: Arc<Mutex<Memory>>,
}

impl Decisions {
    /// The last decision about a binding, `namespace/name` or `name`: every pass with refused clusters and why,
    /// scores, groups and the result.
    pub fn get(&self, binding: &str) -> Option<Arc<Value>> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.by_key.get(binding).map(|(_, decision)| decision.clone())
    }

    pub(super) fn remember(&self, binding: &str, decision: Value) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.serial += 1;
        let serial = memory.serial;
        memory.by_key.insert(binding.to_owned(), (serial, Arc::new(decision)));
        if memory.by_key.len() > REMEMBERED {
            let bound = serial.saturating_sub(REMEMBERED as u64 / 2);
            memory.by_key.retain(|_, (age, _)| *age > bound);
        }
    }

    pub(super) fn forget(&self, binding: &str) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).by_key.remove(binding);
    }
}
