//! The window of recent events: by revision, by resource, and with trees kept at intervals so that an old snapshot is quickly rebuilt.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::snapshot::Tree;
use crate::{Compacted, Event};

/// Distance of kept trees in events: bounds the work of rebuilding an old snapshot.
const CHECKPOINT_EVERY: usize = 2048;
/// Newest events that keep their encodings: enough for watchers that are a little behind, little enough for memory.
pub(crate) const FRAMES_KEPT: usize = 1024;
/// Newest events that keep what they wrote parsed: those that watchers and the next writer are about to read. Parsed, an object takes
/// ten times its bytes.
pub(crate) const VALUES_KEPT: usize = 128;

/// Events after the compacted revision, in order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    compacted: u64,
    weight: usize,
    events: VecDeque<Arc<Event>>,
    /// The same events by the `/group/resource/` part of their keys.
    buckets: HashMap<Box<str>, VecDeque<Arc<Event>>>,
    checkpoints: VecDeque<(u64, Tree)>,
    since_checkpoint: usize,
}

impl Log {
    /// An empty log that starts after a revision.
    pub(crate) fn starting_after(compacted: u64) -> Self {
        Self { compacted, ..Self::default() }
    }

    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// The events themselves, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.events.iter()
    }

    /// Takes an event in; hands out what an older one no longer holds, to be freed where no lock is held.
    pub(crate) fn push(&mut self, event: Arc<Event>) -> Option<Arc<Value>> {
        self.weight += event.weight();
        let bucket = resource_part(&event.key);
        match self.buckets.get_mut(bucket) {
            Some(events) => events.push_back(event.clone()),
            None => {
                self.buckets.insert(bucket.into(), VecDeque::from([event.clone()]));
            }
        }
        self.events.push_back(event);
        self.since_checkpoint += 1;
        let behind =
            |kept: usize| self.events.len().checked_sub(kept + 1).and_then(|index| self.events.get(index));
        if let Some(old) = behind(FRAMES_KEPT) {
            old.forget_frames();
        }
        behind(VALUES_KEPT).and_then(|old| old.forget_value())
    }

    /// Keeps a tree if the last kept one is far enough back.
    pub(crate) fn checkpoint(&mut self, revision: u64, tree: &Tree) {
        if self.since_checkpoint >= CHECKPOINT_EVERY {
            self.since_checkpoint = 0;
            self.checkpoints.push_back((revision, tree.clone()));
        }
    }

    /// Forgets everything up to a revision; hands out what is gone, to be freed where no lock is held.
    pub(crate) fn compact(&mut self, revision: u64) -> Vec<Arc<Event>> {
        let mut gone = Vec::new();
        self.compacted = self.compacted.max(revision);
        while let Some(event) = self.events.pop_front_if(|event| event.revision <= revision) {
            self.weight = self.weight.saturating_sub(event.weight());
            let bucket = resource_part(&event.key);
            if let Some(events) = self.buckets.get_mut(bucket) {
                events.pop_front();
                if events.is_empty() {
                    self.buckets.remove(bucket);
                }
            }
            gone.push(event);
        }
        while self.checkpoints.pop_front_if(|(at, _)| *at <= revision).is_some() {}
        gone
    }

    /// Fails if events after this revision are gone.
    pub(crate) fn check(&self, requested: u64) -> Result<(), Compacted> {
        if requested < self.compacted {
            Err(Compacted { requested, compacted: self.compacted })
        } else {
            Ok(())
        }
    }

    /// Events after a revision whose key starts with a prefix.
    pub(crate) fn after(&self, revision: u64, prefix: &str) -> Result<VecDeque<Arc<Event>>, Compacted> {
        self.check(revision)?;
        let bucket = resource_part(prefix);
        let none = VecDeque::new();
        let events =
            if is_resource_part(bucket) { self.buckets.get(bucket).unwrap_or(&none) } else { &self.events };
        let start = events.partition_point(|event| event.revision <= revision);
        Ok(events.range(start..).filter(|event| event.key.starts_with(prefix)).cloned().collect())
    }

    /// The nearest tree not older than a revision, and the events that lie between, oldest first. `now` is the present tree.
    pub(crate) fn base_for(&self, revision: u64, now: &Tree) -> Result<(Tree, Vec<Arc<Event>>), Compacted> {
        self.check(revision)?;
        let kept = self.checkpoints.get(self.checkpoints.partition_point(|(at, _)| *at < revision));
        let (upto, tree) = kept.map_or((u64::MAX, now), |(at, tree)| (*at, tree));
        let start = self.events.partition_point(|event| event.revision <= revision);
        let end = self.events.partition_point(|event| event.revision <= upto);
        Ok((tree.clone(), self.events.range(start..end.max(start)).cloned().collect()))
    }
}

/// Takes events back from a tree, newest first.
pub(crate) fn undo(tree: &mut Tree, events: &[Arc<Event>]) {
    for event in events.iter().rev() {
        match &event.previous {
            Some(previous) => tree.insert_mut(event.key.clone(), previous.clone()),
            None => {
                tree.remove_mut(event.key.as_ref());
            }
        }
    }
}

/// The part of a key up to its third slash, or as far as there are slashes.
pub(crate) fn resource_part(key: &str) -> &str {
    let end = key.match_indices('/').take(3).last().map_or(0, |(at, _)| at + 1);
    key.get(..end).unwrap_or_default()
}

fn is_resource_part(part: &str) -> bool {
    part.matches('/').count() == 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_parts() {
        assert_eq!(resource_part("/apps/deployments/default/web"), "/apps/deployments/");
        assert_eq!(resource_part("//pods/default/web"), "//pods/");
        assert_eq!(resource_part("//pods"), "//");
        assert_eq!(resource_part("plain"), "");
        assert!(is_resource_part("//pods/") && !is_resource_part("//"));
    }
}
