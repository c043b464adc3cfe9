//! Informers on what we have put into members; each change brings back the Work that it belongs to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use windlass_api::labels::{ANNOTATION_WORK_NAME, ANNOTATION_WORK_NAMESPACE, LABEL_MANAGED, VALUE_TRUE};
use windlass_members::Member;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_runtime::{Change, Handle, ObjectKey, Queue, Scope};

/// The informer of one connection to a member.
type Known = (Weak<Member>, Handle);

/// Informers by member and resource. They live as long as the connection.
pub(super) struct Watches {
    queue: Queue<ObjectKey>,
    known: Mutex<HashMap<(String, Gvr), Known>>,
}

impl Watches {
    pub(super) fn new(queue: Queue<ObjectKey>) -> Self {
        Self { queue, known: Mutex::default() }
    }

    /// The informer on managed objects of a resource in a member.
    pub(super) fn of(&self, member: &Arc<Member>, gvr: &Gvr) -> Handle {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (member.name().to_owned(), gvr.clone());
        if let Some((held, handle)) = known.get(&key)
            && held.upgrade().is_some_and(|held| Arc::ptr_eq(&held, member))
        {
            return handle.clone();
        }
        let scope = Scope::new(gvr.clone()).labels(format!("{LABEL_MANAGED}={VALUE_TRUE}"));
        let handle = member.informers().watch(scope);
        let queue = self.queue.clone();
        handle.on_change(move |change| {
            // What was there when the watch began counts, too: the Work may have been reported before that.
            if let Some(work) = work_of(change) {
                queue.add_after(work, super::GATHER);
            }
        });
        known.insert(key, (Arc::downgrade(member), handle.clone()));
        handle
    }
}

fn work_of(change: &Change) -> Option<ObjectKey> {
    // What an object was decides whose it is: its annotations may have been edited away.
    let object = change.old.as_ref().or(change.new.as_ref())?;
    let namespace = object.annotation(ANNOTATION_WORK_NAMESPACE)?;
    Some(ObjectKey::new(namespace, object.annotation(ANNOTATION_WORK_NAME)?))
}
