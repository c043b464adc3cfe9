//! Works that failed because their member didn't answer. A member may be back before anybody has called it not ready:
//! then no change of its Cluster tells, and they would wait out their pauses.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_runtime::{ObjectKey, Queue};

/// Works by member. Clones are handles to the same.
#[derive(Clone, Default)]
pub(crate) struct Unanswered(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    queue: Option<Queue<ObjectKey>>,
    works: HashMap<String, HashSet<ObjectKey>>,
}

impl Unanswered {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names the queue that Works go back to.
    pub(crate) fn back_to(&self, queue: &Queue<ObjectKey>) {
        self.waiting().queue = Some(queue.clone());
    }

    /// A member didn't answer for this Work.
    pub(crate) fn failed(&self, member: &str, work: &ObjectKey) {
        self.waiting().works.entry(member.to_owned()).or_default().insert(work.clone());
    }

    /// A member has answered: what waits for it goes on at once.
    pub(crate) fn answered(&self, member: &str) {
        let mut waiting = self.waiting();
        let Some(works) = waiting.works.remove(member) else { return };
        if let Some(queue) = &waiting.queue {
            works.into_iter().for_each(|work| queue.add(work));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn works_wait_for_their_own_member() {
        let (unanswered, queue) = (Unanswered::default(), Queue::new("test"));
        let work = |member: &str| ObjectKey::new(format!("karmada-es-{member}"), "a");
        unanswered.back_to(&queue);
        for member in ["m1", "m2", "m1"] {
            unanswered.failed(member, &work(member));
        }
        unanswered.answered("m1");
        assert_eq!((queue.len(), queue.get().await), (1, Some(work("m1"))));
        unanswered.answered("m1");
        unanswered.answered("m3");
        assert!(queue.is_empty());
    }
}
