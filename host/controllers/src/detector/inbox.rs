//! Templates that are to be looked at: each once, by one worker at a time, with what is known of why.

use super::TemplateKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass_runtime::Queue;

/// Who has changed a template since it was looked at. Only [`Cause::Foreign`] activates a lazy policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// Only Windlass itself.
    Own,
    /// Nobody knows: it was there at the start, or its lazy policy has changed.
    Unknown,
    /// A user, or a policy.
    Foreign,
}

/// The queue of templates. Clones are handles to the same.
#[derive(Clone)]
pub(super) struct Inbox {
    queue: Queue<TemplateKey>,
    causes: Arc<Mutex<HashMap<TemplateKey, Cause>>>,
}

impl Inbox {
    pub(super) fn new(queue: Queue<TemplateKey>) -> Self {
        Self { queue, causes: Arc::default() }
    }

    fn causes(&self) -> MutexGuard<'_, HashMap<TemplateKey, Cause>> {
        self.causes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a template. Of two causes the stronger one counts.
    pub(super) fn add(&self, key: TemplateKey, cause: Cause, priority: i32) {
        self.note(&key, cause);
        self.queue.add_with_priority(key, priority);
    }

    /// Why a template comes; the next one to ask finds nothing.
    pub(super) fn take(&self, key: &TemplateKey) -> Cause {
        self.causes().remove(key).unwrap_or(Cause::Foreign)
    }

    /// The template wasn't done with, and comes for the same reason again.
    pub(super) fn note(&self, key: &TemplateKey, cause: Cause) {
        let mut causes = self.causes();
        let held = causes.entry(key.clone()).or_insert(cause);
        *held = cause.max(*held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_user_s_change_counts_more_than_our_own() {
        let queue = Queue::new("test");
        let inbox = Inbox::new(queue.clone());
        let key = TemplateKey { name: "a".into(), ..TemplateKey::default() };
        for (causes, expected) in [
            (&[Cause::Own][..], Cause::Own),
            (&[Cause::Own, Cause::Foreign, Cause::Own], Cause::Foreign),
            (&[Cause::Unknown, Cause::Own], Cause::Unknown),
            (&[], Cause::Foreign),
        ] {
            causes.iter().for_each(|cause| inbox.add(key.clone(), *cause, 0));
            assert!(queue.len() <= 1, "one entry, whatever the cause");
            assert_eq!(inbox.take(&key), expected, "{causes:?}");
        }
    }
}
