//! Decisions that are being written. Until the caller tells how that went they count as if it had gone well, so that the
//! next binding doesn't wait; and the change that a write makes isn't taken for somebody else's.

use std::sync::Arc;

use serde_json::Value;
use windlass_object::Meta;

use super::{Driver, version};
use crate::assumptions::Assumption;
use crate::pass::{Plan, Retry};
use crate::queue::{Key, Moment};
use crate::request::Request;

/// How writing went.
#[derive(Debug, Clone)]
pub enum Written {
    /// The server has taken it, and answered this.
    Accepted(Arc<Value>),
    /// The object had changed: this is what it is now, or it is gone.
    Refused(Option<Arc<Value>>),
    /// The server could not be asked, or wanted something else than a newer object.
    Failed,
}

/// A decision on its way.
#[derive(Debug)]
pub(super) struct Flight {
    uid: String,
    /// The generation that the result makes, if one is written.
    makes: Option<i64>,
    /// The newest generation that was shown meanwhile and may be that one.
    shown: i64,
    /// What was assumed before.
    assumed: Option<Assumption>,
}

impl Flight {
    /// Whether a generation that is shown may come from the own write; it is remembered.
    pub(super) fn may_have_made(&mut self, uid: &str, generation: i64) -> bool {
        let may = self.uid == uid && self.makes == Some(generation);
        if may {
            self.shown = generation;
        }
        may
    }
}

impl Driver {
    /// A decision goes out.
    pub(super) fn depart(&mut self, key: &Key, binding: &Value, request: &Request, plan: &Plan, now: Moment) {
        let mut flight = Flight {
            uid: binding.uid().to_owned(),
            makes: plan.result.is_some().then(|| binding.generation() + 1),
            shown: 0,
            assumed: None,
        };
        if plan.result.is_some() {
            self.groups.assume(key, &plan.targets);
            if self.settings.gates.overcommit_protection && !request.namespace.is_empty() {
                flight.assumed = self.assumptions.store(key, request, &plan.targets, now);
            }
        }
        self.flights.insert(key.clone(), flight);
    }

    /// How the write of the result went. Those of the status are told by [`Driver::answered`].
    pub fn written(&mut self, key: &Key, written: &Written, now: Moment) {
        match written {
            Written::Accepted(object) => {
                let seen = self.seen.get(key).map_or(0, |seen| seen.version);
                self.groups.written(key, version(object), seen);
                self.keep(key, object);
            }
            Written::Refused(object) => {
                self.take_back(key);
                if let Some(object) = object {
                    self.keep(key, object);
                }
                self.push_again(key, now);
            }
            Written::Failed => self.take_back(key),
        }
    }

    /// A binding was handled: what happened to it meanwhile, or `retry`, says when it comes again.
    pub fn finish(&mut self, key: &Key, retry: Retry, now: Moment) {
        if let Some(flight) = self.flights.remove(key)
            && let Some(seen) = self.seen.get_mut(key)
            && flight.shown > seen.generation
        {
            // Shown meanwhile, and not the own write's after all.
            seen.generation = flight.shown;
            self.push_again(key, now);
        }
        self.queue.finish(key, retry, now);
        let waits = retry == Retry::Unschedulable && self.queue.place(key) == Some("unschedulable");
        self.needs.wait(key, waits);
    }

    /// The server's answer to a write of the status.
    pub fn answered(&mut self, key: &Key, object: &Arc<Value>) {
        self.keep(key, object);
    }

    /// Uses an answer of the server until it is shown.
    fn keep(&mut self, key: &Key, object: &Arc<Value>) {
        let Some(seen) = self.seen.get_mut(key).filter(|seen| seen.uid == object.uid()) else { return };
        seen.generation = seen.generation.max(object.generation());
        if version(object) > seen.version {
            self.newest.insert(key.clone(), object.clone());
        }
    }

    fn take_back(&mut self, key: &Key) {
        self.groups.refused(key);
        if let Some(flight) = self.flights.get_mut(key) {
            flight.makes = None;
            if self.settings.gates.overcommit_protection {
                self.assumptions.restore(key, flight.assumed.take());
            }
        }
    }

    fn push_again(&mut self, key: &Key, now: Moment) {
        if let Some(place) = self.needs.place(key) {
            self.queue.push(key, place.priority, now);
        }
    }
}
