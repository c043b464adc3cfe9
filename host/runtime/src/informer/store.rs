//! The live copy: objects by key, indexes over them, and those who are told of changes.
//!
//! Lock order: `listeners`, then `objects`. The watch holds `listeners` from the change of the copy until all were
//! told, so that a new listener misses nothing and sees nothing twice. Callbacks may read the copy meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use windlass_object::handover::Handed;
use windlass_object::meta::Meta;

use super::held::{Held, Lately};
use super::key::ObjectKey;

/// A change of one object.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which object.
    pub key: ObjectKey,
    /// What it was; None if it is new.
    pub old: Option<Arc<Value>>,
    /// What it is; None if it is gone.
    pub new: Option<Arc<Value>>,
    /// Whether this is no change but the state at the start.
    pub initial: bool,
}

impl Change {
    /// The object as it is, or was if it is gone.
    pub fn object(&self) -> Option<&Arc<Value>> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// Whether the generation or the deletion timestamp differs: a change of what is wanted.
    pub fn is_of_spec(&self) -> bool {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                old.generation() != new.generation() || old.is_deleting() != new.is_deleting()
            }
            _ => true,
        }
    }
}

/// An object as it came, and where it lies in this process, if it does.
pub(super) type Arrived = (Arc<Value>, Option<Arc<dyn Handed>>);

type Callback = Box<dyn Fn(&Change) + Send + Sync>;
type IndexFn = Box<dyn Fn(&Value) -> Vec<String> + Send + Sync>;

#[derive(Default)]
struct Objects {
    by_key: BTreeMap<ObjectKey, Arc<Held>>,
    indexes: HashMap<&'static str, Index>,
}

struct Index {
    function: IndexFn,
    keys: HashMap<String, BTreeSet<ObjectKey>>,
}

#[derive(Default)]
struct Listeners {
    senders: Vec<mpsc::UnboundedSender<Change>>,
    callbacks: Vec<Callback>,
}

/// The live copy of a scope's objects.
pub(super) struct Store {
    listeners: Mutex<Listeners>,
    objects: RwLock<Objects>,
    lately: Lately,
    synced: watch::Sender<bool>,
    error: Mutex<Option<String>>,
}

impl Store {
    pub(super) fn new() -> Self {
        Self {
            listeners: Mutex::default(),
            objects: RwLock::default(),
            lately: Lately::default(),
            synced: watch::Sender::new(false),
            error: Mutex::default(),
        }
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<Value>> {
        let held = self.read(|o| o.by_key.get(key).cloned())?;
        Some(held.get(&self.lately))
    }

    pub(super) fn list(&self) -> Vec<Arc<Value>> {
        self.parsed(self.read(|o| o.by_key.values().cloned().collect()))
    }

    pub(super) fn list_in(&self, namespace: &str) -> Vec<Arc<Value>> {
        let start = ObjectKey::new(namespace, "");
        self.parsed(self.read(|o| {
            o.by_key
                .range(start..)
                .take_while(|(key, _)| key.namespace == namespace)
                .map(|(_, v)| v.clone())
                .collect()
        }))
    }

    /// Parses outside of all locks.
    fn parsed(&self, held: Vec<Arc<Held>>) -> Vec<Arc<Value>> {
        held.iter().map(|held| held.get(&self.lately)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.read(|o| o.by_key.len())
    }

    pub(super) fn add_index(&self, name: &'static str, function: IndexFn) {
        self.write(|objects| {
            if objects.indexes.contains_key(name) {
                return;
            }
            let mut index = Index { function, keys: HashMap::new() };
            for (key, held) in &objects.by_key {
                index.insert(key, &held.get(&self.lately));
            }
            objects.indexes.insert(name, index);
        });
    }

    pub(super) fn by_index(&self, name: &str, value: &str) -> Vec<Arc<Value>> {
        self.parsed(self.read(|o| {
            let keys = o.indexes.get(name).and_then(|index| index.keys.get(value));
            keys.into_iter().flatten().filter_map(|key| o.by_key.get(key).cloned()).collect()
        }))
    }

    pub(super) fn subscribe(&self) -> mpsc::UnboundedReceiver<Change> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        for change in self.initial() {
            // The receiver is in our hands: it can't be closed.
            let _ = sender.send(change);
        }
        listeners.senders.push(sender);
        receiver
    }

    pub(super) fn on_change(&self, callback: Callback) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        for change in self.initial() {
            callback(&change);
        }
        listeners.callbacks.push(callback);
    }

    pub(super) fn synced(&self) -> watch::Receiver<bool> {
        self.synced.subscribe()
    }

    pub(super) fn error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_error(&self, error: Option<String>) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    /// Takes over one changed or new object.
    pub(super) fn put(&self, (object, handed): Arrived) {
        let key = ObjectKey::of(&object);
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.write(|objects| objects.put(key.clone(), &object, handed, &self.lately));
        if old.as_ref().is_some_and(|old| same_version(old, &object)) {
            return;
        }
        listeners.tell(Change { key, old, new: Some(object), initial: false });
    }

    /// Takes an object out; `last` is its last state, if the server told.
    pub(super) fn remove(&self, last: &Value) {
        let key = ObjectKey::of(last);
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(old) = self.write(|objects| objects.remove(&key, &self.lately)) else { return };
        listeners.tell(Change { key, old: Some(old), new: None, initial: false });
    }

    /// Takes over a whole list; what isn't in it is gone. The first time, this makes the copy synced.
    pub(super) fn replace(&self, list: Vec<Arrived>) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let initial = !*self.synced.borrow();
        let mut changes = Vec::new();
        self.write(|objects| {
            let mut gone: BTreeSet<ObjectKey> = objects.by_key.keys().cloned().collect();
            for (object, handed) in list {
                let key = ObjectKey::of(&object);
                gone.remove(&key);
                let old = objects.put(key.clone(), &object, handed, &self.lately);
                if !old.as_ref().is_some_and(|old| same_version(old, &object)) {
                    changes.push(Change { key, old, new: Some(object), initial });
                }
            }
            for key in gone {
                let old = objects.remove(&key, &self.lately);
                changes.push(Change { key, old, new: None, initial: false });
            }
        });
        for change in changes {
            listeners.tell(change);
        }
        drop(listeners);
        self.synced.send_replace(true);
    }

    /// Drops channels that nobody reads any more.
    pub(super) fn sweep(&self) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).senders.retain(|s| !s.is_closed());
    }

    fn initial(&self) -> Vec<Change> {
        let all: Vec<_> =
            self.read(|o| o.by_key.iter().map(|(key, held)| (key.clone(), held.clone())).collect());
        let change = |(key, held): (ObjectKey, Arc<Held>)| Change {
            key,
            old: None,
            new: Some(held.get(&self.lately)),
            initial: true,
        };
        all.into_iter().map(change).collect()
    }

    fn read<T>(&self, f: impl FnOnce(&Objects) -> T) -> T {
        f(&self.objects.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, f: impl FnOnce(&mut Objects) -> T) -> T {
        f(&mut self.objects.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listeners {
    fn tell(&self, change: Change) {
        for callback in &self.callbacks {
            callback(&change);
        }
        let Some((last, others)) = self.senders.split_last() else { return };
        for sender in others {
            // A closed channel is swept later.
            let _ = sender.send(change.clone());
        }
        let _ = last.send(change);
    }
}

impl Objects {
    fn put(
        &mut self,
        key: ObjectKey,
        object: &Arc<Value>,
        handed: Option<Arc<dyn Handed>>,
        lately: &Lately,
    ) -> Option<Arc<Value>> {
        let held = Held::new(object, handed, lately);
        let old = self.by_key.insert(key.clone(), held).map(|held| held.get(lately));
        for index in self.indexes.values_mut() {
            if let Some(old) = &old {
                index.remove(&key, old);
            }
            index.insert(&key, object);
        }
        old
    }

    fn remove(&mut self, key: &ObjectKey, lately: &Lately) -> Option<Arc<Value>> {
        let old = self.by_key.remove(key)?.get(lately);
        for index in self.indexes.values_mut() {
            index.remove(key, &old);
        }
        Some(old)
    }
}

impl Index {
    fn insert(&mut self, key: &ObjectKey, object: &Value) {
        for value in (self.function)(object) {
            self.keys.entry(value).or_default().insert(key.clone());
        }
    }

    fn remove(&mut self, key: &ObjectKey, object: &Value) {
        for value in (self.function)(object) {
            if let Some(keys) = self.keys.get_mut(&value) {
                keys.remove(key);
                if keys.is_empty() {
                    self.keys.remove(&value);
                }
            }
        }
    }
}

fn same_version(a: &Value, b: &Value) -> bool {
    !a.resource_version().is_empty() && a.resource_version() == b.resource_version() && a.uid() == b.uid()
}
