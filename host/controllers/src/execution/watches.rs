//! Informers on what we have put into members; each change brings back the Work that it belongs to.

use crate::ahead::Ahead;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use windlass_api::labels::{ANNOTATION_WORK_NAME, ANNOTATION_WORK_NAMESPACE, LABEL_MANAGED, VALUE_TRUE};
use windlass_members::Member;
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_runtime::{Change, Handle, ObjectKey, Queue, Scope};

/// An informer on a member's objects, and what we have written there that it doesn't show yet.
#[derive(Clone)]
pub(super) struct Copies {
    handle: Handle,
    ahead: Ahead,
}

impl Copies {
    /// An object as watched, or as we have written it since.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.ahead.get(&self.handle, &ObjectKey::new(namespace, name))
    }

    /// Remembers the member's answer to a write.
    pub(super) fn note(&self, answer: Value, made: bool) -> Arc<Value> {
        match made {
            true => self.ahead.made(&self.handle, answer),
            false => self.ahead.note(&self.handle, answer),
        }
    }

    /// Whether all managed objects have been read.
    pub(super) fn is_synced(&self) -> bool {
        self.handle.is_synced()
    }
}

/// The informer of one connection to a member.
type Known = (Weak<Member>, Copies);

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
    pub(super) fn of(&self, member: &Arc<Member>, gvr: &Gvr) -> Copies {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (member.name().to_owned(), gvr.clone());
        if let Some((held, copies)) = known.get(&key)
            && held.upgrade().is_some_and(|held| Arc::ptr_eq(&held, member))
        {
            return copies.clone();
        }
        let scope = Scope::new(gvr.clone()).labels(format!("{LABEL_MANAGED}={VALUE_TRUE}"));
        let handle = member.informers().watch(scope);
        let ahead = Ahead::default();
        ahead.follow(&handle);
        let queue = self.queue.clone();
        handle.on_change(move |change| {
            // What was there when the watch began counts, too: the Work may have been reported before that.
            if let Some(work) = work_of(change) {
                queue.add_after(work, super::GATHER);
            }
        });
        let copies = Copies { handle, ahead };
        known.insert(key, (Arc::downgrade(member), copies.clone()));
        copies
    }
}

fn work_of(change: &Change) -> Option<ObjectKey> {
    // What an object was decides whose it is: its annotations may have been edited away.
    let object = change.old.as_ref().or(change.new.as_ref())?;
    let namespace = object.annotation(ANNOTATION_WORK_NAMESPACE)?;
    Some(ObjectKey::new(namespace, object.annotation(ANNOTATION_WORK_NAME)?))
}
