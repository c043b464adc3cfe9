//! What happened to one key at one revision.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde_json::Value;

use crate::Entry;

/// A change of one key. Every event has a revision of its own, also within a transaction, so that a watch can resume after any of them.
#[derive(Debug)]
pub struct Event {
    /// The revision of this change.
    pub revision: u64,
    /// The key that changed.
    pub key: Arc<str>,
    /// What was stored before; nothing for a creation.
    pub previous: Option<Entry>,
    /// What is stored now; nothing for a deletion.
    pub new: Option<Entry>,
    /// For a deletion: the object's last state at this event's revision, with the deletion's final bytes if it had any.
    pub last: Option<Entry>,
    frames: Mutex<Vec<(u64, Bytes)>>,
    /// Keeps the new version parsed while the event is recent; see `VALUES_KEPT`.
    value: Mutex<Option<Arc<Value>>>,
}

/// Which way an event changed its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The key was absent before.
    Created,
    /// The key had another value before.
    Updated,
    /// The key is absent now.
    Deleted,
}

impl Event {
    pub(crate) fn put(revision: u64, key: Arc<str>, previous: Option<Entry>, new: Entry) -> Self {
        let (frames, value) = (Mutex::default(), Mutex::default());
        Self { revision, key, previous, new: Some(new), last: None, frames, value }
    }

    /// The same event, which holds the parsed form of what it wrote.
    pub(crate) fn holding(self, value: Option<Arc<Value>>) -> Self {
        Self { value: Mutex::new(value), ..self }
    }

    pub(crate) fn delete(revision: u64, key: Arc<str>, previous: Entry, last: Entry) -> Self {
        Self {
            revision,
            key,
            previous: Some(previous),
            new: None,
            last: Some(last),
            frames: Mutex::default(),
            value: Mutex::default(),
        }
    }

    /// Which way the key changed.
    pub fn change(&self) -> Change {
        match (&self.previous, &self.new) {
            (_, None) => Change::Deleted,
            (None, Some(_)) => Change::Created,
            (Some(_), Some(_)) => Change::Updated,
        }
    }

    /// The object that this event is about: as it is now, or as it was last if it is gone.
    pub fn object(&self) -> Option<&Entry> {
        self.new.as_ref().or(self.last.as_ref())
    }

    /// The event's encoding in a form that the caller numbers, made by the first watcher that needs it and shared by the others.
    /// Only recent events keep their encodings; see `FRAMES_KEPT`.
    pub fn frame(&self, form: u64, encode: impl FnOnce() -> Bytes) -> Bytes {
        let find = |frames: &Vec<(u64, Bytes)>| {
            frames.iter().find(|(known, _)| *known == form).map(|(_, frame)| frame.clone())
        };
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(frame) = find(&frames) {
            return frame;
        }
        let frame = encode();
        frames.push((form, frame.clone()));
        frame
    }

    pub(crate) fn forget_frames(&self) {
        *self.frames.lock().unwrap_or_else(PoisonError::into_inner) = Vec::new();
    }

    pub(crate) fn forget_value(&self) -> Option<Arc<Value>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// What the event adds to the memory of the log, roughly: its own version of the object.
    pub(crate) fn weight(&self) -> usize {
        self.object().map_or(0, |entry| entry.bytes().len()) + self.key.len()
    }
}
