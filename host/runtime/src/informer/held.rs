//! An object in little room: its JSON, and its parsed form for as long as somebody uses it, or used it
//! lately. Parsed, an object takes ten times the memory, and a control plane holds tens of thousands.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::Value;
use windlass_object::handover::Handed;

/// Objects of one informer that stay parsed after their last use: a few MB at most, and enough for
/// the steps that follow one change.
const LATELY: usize = 128;

/// An object at rest.
pub(super) struct Held {
    rest: Rest,
    parsed: Mutex<Weak<Value>>,
}

/// Where an object is read again.
enum Rest {
    /// In bytes of our own.
    Json(Box<[u8]>),
    /// At a server in this process, which keeps the bytes anyway.
    Handed(Arc<dyn Handed>),
}

/// What was used lately.
#[derive(Default)]
pub(super) struct Lately(Mutex<VecDeque<Arc<Value>>>);

impl Lately {
    fn used(&self, object: &Arc<Value>) {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if line.len() >= LATELY {
            line.pop_front();
        }
        line.push_back(object.clone());
    }
}

impl Held {
    /// Takes an object in; `handed` is where it comes from, if it lies there as it is kept here.
    pub(super) fn new(object: &Arc<Value>, handed: Option<Arc<dyn Handed>>, lately: &Lately) -> Arc<Self> {
        lately.used(object);
        let rest = match handed {
            Some(handed) => Rest::Handed(handed),
            // Writing a Value to memory cannot fail.
            None => Rest::Json(serde_json::to_vec(object.as_ref()).unwrap_or_default().into_boxed_slice()),
        };
        Arc::new(Self { rest, parsed: Mutex::new(Arc::downgrade(object)) })
    }

    /// The object, parsed if need be.
    pub(super) fn get(&self, lately: &Lately) -> Arc<Value> {
        let mut parsed = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = parsed.upgrade() {
            return object;
        }
        let object: Arc<Value> = Arc::new(match &self.rest {
            Rest::Json(json) => serde_json::from_slice(json).unwrap_or_default(),
            Rest::Handed(handed) => handed.slim(),
        });
        *parsed = Arc::downgrade(&object);
        lately.used(&object);
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_the_same_after_it_was_forgotten() {
        let lately = Lately::default();
        let object = Arc::new(json!({"metadata": {"name": "a"}, "n": 1.5, "list": [null, true]}));
        let held = Held::new(&object, None, &lately);
        assert!(Arc::ptr_eq(&held.get(&lately), &object), "still parsed");
        for _ in 0..LATELY {
            lately.used(&Arc::new(Value::Null));
        }
        let before = Arc::downgrade(&object);
        drop(object);
        assert!(before.upgrade().is_none(), "forgotten");
        assert_eq!(*held.get(&lately), json!({"metadata": {"name": "a"}, "n": 1.5, "list": [null, true]}));
    }
}
