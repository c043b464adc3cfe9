//! What this process has just written, until the informers show it. A controller that reads its own writes neither
//! repeats them nor meets them as if somebody else had been faster.

use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windlass_object::gvk::Gvr;
use windlass_object::meta::Meta;
use windlass_runtime::{Change, Handle, ObjectKey};

/// An informer that is further behind has lost its watch: what it lists anew counts more than our memory.
const LAG: Duration = Duration::from_secs(10);

/// An object as the server answered, and when.
type Noted = (Arc<Value>, Instant);

/// Own writes that informers don't show yet. Clones are handles to the same.
#[derive(Clone, Default)]
pub(crate) struct Ahead(Arc<Mutex<HashMap<(Gvr, ObjectKey), Noted>>>);

impl Ahead {
    fn noted(&self) -> MutexGuard<'_, HashMap<(Gvr, ObjectKey), Noted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what this informer shows from now on.
    pub(crate) fn follow(&self, handle: &Handle) {
        let (ahead, gvr) = (self.clone(), handle.scope().gvr.clone());
        handle.on_change(move |change| ahead.shown(&gvr, change));
    }

    fn shown(&self, gvr: &Gvr, change: &Change) {
        let mut noted = self.noted();
        if noted.is_empty() {
            return;
        }
        let place = (gvr.clone(), change.key.clone());
        let Some((ours, _)) = noted.get(&place) else { return };
        let stays = match (&change.new, &change.old) {
            (Some(shown), _) => is_newer(ours, shown),
            // Its namesake's end is not its own.
            (None, Some(gone)) => gone.uid() != ours.uid(),
            (None, None) => false,
        };
        if !stays {
            noted.remove(&place);
        }
    }

    /// Remembers the server's answer to a change of an object that `handle` watches; gives it as informers have it.
    pub(crate) fn note(&self, handle: &Handle, answer: Value) -> Arc<Value> {
        self.remember(handle, answer, false)
    }

    /// As [`Self::note`], of an object that has just been made.
    pub(crate) fn made(&self, handle: &Handle, answer: Value) -> Arc<Value> {
        self.remember(handle, answer, true)
    }

    fn remember(&self, handle: &Handle, mut answer: Value, made: bool) -> Arc<Value> {
        // Informers don't show it either.
        answer.metadata_mut().remove("managedFields");
        let answer = Arc::new(answer);
        let place = (handle.scope().gvr.clone(), ObjectKey::of(&answer));
        // With the lock held: what is shown meanwhile is seen by one of the two.
        let mut noted = self.noted();
        let is_news = match handle.get_key(&place.1) {
            Some(shown) => is_newer(&answer, &shown),
            // Not shown yet; or gone again, before we heard that we had changed it.
            None => made || noted.contains_key(&place),
        };
        if is_news {
            noted.insert(place, (answer.clone(), Instant::now()));
        }
        answer
    }

    /// The newest that is known of an object: as watched, or as written.
    pub(crate) fn get(&self, handle: &Handle, key: &ObjectKey) -> Option<Arc<Value>> {
        let mut noted = self.noted();
        if !noted.is_empty() {
            let place = (handle.scope().gvr.clone(), key.clone());
            match noted.get(&place) {
                Some((ours, when)) if when.elapsed() < LAG => return Some(ours.clone()),
                Some(_) => drop(noted.remove(&place)),
                None => {}
            }
        }
        drop(noted);
        handle.get_key(key)
    }

    /// `held`, or what was written of that very object since.
    pub(crate) fn newest(&self, handle: &Handle, held: Arc<Value>) -> Arc<Value> {
        self.get(handle, &ObjectKey::of(&held)).filter(|found| found.uid() == held.uid()).unwrap_or(held)
    }
}

/// Whether `ours` is a later version than what is shown. Versions of one server are numbers that grow.
fn is_newer(ours: &Value, shown: &Value) -> bool {
    let version = |object: &Value| object.resource_version().parse::<u64>().ok();
    match (version(ours), version(shown)) {
        (Some(ours), Some(shown)) => ours > shown,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(uid: &str, version: &str) -> Arc<Value> {
        let metadata = json!({"name": "a", "namespace": "b", "uid": uid, "resourceVersion": version});
        Arc::new(json!({"metadata": metadata}))
    }

    #[test]
    fn what_is_shown_is_forgotten() {
        let (ahead, gvr) = (Ahead::default(), Gvr::new("", "v1", "configmaps"));
        let place = (gvr.clone(), ObjectKey::new("b", "a"));
        let change = |old: Option<Arc<Value>>, new: Option<Arc<Value>>| Change {
            key: ObjectKey::new("b", "a"),
            old,
            new,
            initial: false,
        };
        for (shown, stays) in [
            (change(None, Some(object("u", "9"))), true),
            (change(None, Some(object("u", "10"))), false),
            (change(None, Some(object("u", "11"))), false),
            (change(None, Some(object("u", "odd"))), false),
            (change(Some(object("before", "8")), None), true),
            (change(Some(object("u", "9")), None), false),
        ] {
            ahead.noted().insert(place.clone(), (object("u", "10"), Instant::now()));
            ahead.shown(&gvr, &shown);
            assert_eq!(ahead.noted().contains_key(&place), stays, "{shown:?}");
        }
    }
}
