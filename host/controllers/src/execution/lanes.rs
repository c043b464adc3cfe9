//! Turns at members: only so many Works of one member are worked on at a time, so that a slow one holds up itself and
//! not the others.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_runtime::{ObjectKey, Queue};

#[derive(Default)]
struct Lane {
    running: usize,
    /// Never without somebody running, who will call them.
    parked: VecDeque<ObjectKey>,
}

/// All members' lanes. Clones are handles to the same.
#[derive(Clone)]
pub(super) struct Lanes {
    queue: Queue<ObjectKey>,
    width: usize,
    lanes: Arc<Mutex<HashMap<String, Lane>>>,
    /// How many wait at all members.
    backlog: Arc<AtomicUsize>,
}

impl Lanes {
    /// Lanes of this width; who has waited goes back into the queue.
    pub(super) fn new(queue: Queue<ObjectKey>, width: usize, backlog: Arc<AtomicUsize>) -> Self {
        Self { queue, width: width.max(1), lanes: Arc::default(), backlog }
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<String, Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn at a member; nothing if its lane is full: then the key comes back when there is room.
    pub(super) fn enter(&self, member: &str, key: &ObjectKey) -> Option<Turn> {
        let mut lanes = self.lanes();
        let lane = lanes.entry(member.to_owned()).or_default();
        if lane.running >= self.width {
            if !lane.parked.contains(key) {
                lane.parked.push_back(key.clone());
                self.backlog.fetch_add(1, Ordering::Relaxed);
            }
            return None;
        }
        lane.running += 1;
        Some(Turn { lanes: self.clone(), member: member.to_owned() })
    }
}

/// A turn; it ends when this is dropped.
pub(super) struct Turn {
    lanes: Lanes,
    member: String,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut lanes = self.lanes.lanes();
        let Some(lane) = lanes.get_mut(&self.member) else { return };
        lane.running -= 1;
        // Who is called may be gone by now, and call nobody: the last one out calls all.
        let count = if lane.running == 0 { lane.parked.len() } else { lane.parked.len().min(1) };
        let called: Vec<ObjectKey> = lane.parked.drain(..count).collect();
        if lane.running == 0 && lane.parked.is_empty() {
            lanes.remove(&self.member);
        }
        drop(lanes);
        self.lanes.backlog.fetch_sub(called.len(), Ordering::Relaxed);
        called.into_iter().for_each(|key| self.lanes.queue.add(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_lane_parks_and_calls() {
        let queue = Queue::new("test");
        let lanes = Lanes::new(queue.clone(), 2, Arc::default());
        let key = |name: &str| ObjectKey::new("karmada-es-m1", name);
        let (first, second) = (lanes.enter("m1", &key("a")).unwrap(), lanes.enter("m1", &key("b")).unwrap());
        for name in ["c", "d", "e", "c"] {
            assert!(lanes.enter("m1", &key(name)).is_none());
        }
        assert!(lanes.enter("m2", &key("a")).is_some(), "another member's lane is free");
        assert_eq!(lanes.backlog.load(Ordering::Relaxed), 3);
        drop(first);
        assert_eq!((queue.len(), queue.get().await), (1, Some(key("c"))));
        // It finds nothing to do, and takes no turn: the others are called nevertheless.
        queue.done(&key("c"));
        drop(second);
        assert_eq!(queue.len(), 2);
        assert!(lanes.lanes().is_empty());
        assert_eq!(lanes.backlog.load(Ordering::Relaxed), 0);
    }
}
