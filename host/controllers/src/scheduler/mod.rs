//! The schedulers: decide which clusters a binding goes to, and write that into it. They own `spec.clusters`, the
//! annotations of the applied placement and affinity group, in the status what begins with `scheduler`, the condition
//! `Scheduled` and `lastScheduledTime`; and the status of SchedulerProfiles.
//!
//! What to do when is `windlass_schedule::driver`'s: here are its informers, its clock, and its writes. Decisions are made
//! one at a time by the plugins' one instance; their writes are many in flight.

mod apply;
mod decisions;
mod desk;
mod profiles;

pub use decisions::Decisions;
pub use profiles::{Build, SchedulerPlugins};

use crate::context::{Context, compute};
use crate::kinds::{BINDINGS, CLUSTER_BINDINGS};
use desk::Desk;
use profiles::Profiles;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use windlass_runtime::events::Recorder;
use windlass_runtime::{Change, Handle, ObjectKey, Objects};
use windlass_schedule::decide;
use windlass_schedule::driver::{Decision, Driver, Settings};
use windlass_schedule::queue::Key;

/// Decisions whose writes may be in flight at once.
const IN_FLIGHT: usize = 64;

#[derive(Clone)]
pub(super) struct Scheduler {
    context: Context,
    desk: Arc<Desk>,
    recorders: Arc<Mutex<HashMap<String, Recorder>>>,
}

/// Starts them; gives a way to ask why they decide as they do.
pub(crate) fn start(context: &Context, plugins: SchedulerPlugins) -> Decisions {
    let settings = Settings {
        gates: context.options.gates,
        empty_workload_propagation: context.options.empty_workload_propagation,
    };
    let scheduler = Scheduler {
        desk: Arc::new(Desk::new(Driver::new(settings))),
        recorders: Arc::default(),
        context: context.clone(),
    };
    let profiles = Profiles::start(&scheduler, plugins);
    for handle in [&context.kinds.bindings, &context.kinds.cluster_bindings] {
        let listener = scheduler.clone();
        handle.on_change(move |change| listener.on_binding(change));
    }
    let listener = scheduler.clone();
    context.kinds.clusters.on_change(move |change| listener.on_cluster(change));
    let decisions = Decisions::of(scheduler.clone());
    context.shutdown.clone().spawn(scheduler.run(profiles));
    decisions
}

/// A binding's key: `namespace/name`, or `name`.
fn key_of(key: &ObjectKey) -> Key {
    windlass_api::names::namespaced(&key.namespace, &key.name).into()
}

impl Scheduler {
    fn on_binding(&self, change: &Change) {
        let key = key_of(&change.key);
        self.desk.with(|driver, now| driver.on_binding(&key, change.new.as_ref(), now));
    }

    fn on_cluster(&self, change: &Change) {
        // Filters are asked.
        let moved = compute(|| {
            self.desk.with(|driver, now| match &change.new {
                Some(cluster) => driver.on_cluster(cluster, now),
                None => driver.on_cluster_gone(&change.key.name, now),
            })
        });
        if moved > 0 {
            tracing::debug!(cluster = change.key.name, bindings = moved, "reconsidered");
        }
    }

    /// Looks at every binding of these schedulers again.
    fn reconsider(&self, schedulers: &[String]) {
        for handle in [&self.context.kinds.bindings, &self.context.kinds.cluster_bindings] {
            for binding in handle.list() {
                if schedulers.iter().any(|name| name == decide::scheduler_of(&binding)) {
                    let key = key_of(&ObjectKey::of(&binding));
                    self.desk.with(|driver, now| driver.reconsider(&key, &binding, now));
                }
            }
        }
    }

    async fn run(self, profiles: Profiles) {
        let token = self.context.shutdown.token();
        let read = async {
            profiles.synced().await;
            self.context.kinds.synced().await;
            self.context.apis.ready().await;
        };
        tokio::select! {
            () = token.cancelled() => return,
            () = read => {}
        }
        let slots = Arc::new(Semaphore::new(IN_FLIGHT));
        loop {
            let Ok(slot) = slots.clone().acquire_owned().await else { return };
            let key = tokio::select! {
                () = token.cancelled() => return,
                entry = self.desk.next() => entry.key,
            };
            let shown = self.find(&key);
            let decision = compute(|| self.desk.with(|driver, now| driver.decide(&key, shown, now)));
            if matches!(decision, Decision::Nothing) {
                self.finish(&key, windlass_schedule::pass::Retry::No);
                continue;
            }
            let scheduler = self.clone();
            self.context.shutdown.spawn(async move {
                let retry = scheduler.carry_out(&key, decision).await;
                scheduler.finish(&key, retry);
                drop(slot);
            });
        }
    }

    fn finish(&self, key: &Key, retry: windlass_schedule::pass::Retry) {
        self.desk.with(|driver, now| driver.finish(key, retry, now));
    }

    /// The informer on bindings of this key's kind, and the binding's place in it.
    fn place_of(&self, key: &str) -> (&Handle, ObjectKey) {
        let kinds = &self.context.kinds;
        match key.split_once('/') {
            Some((namespace, name)) => (&kinds.bindings, ObjectKey::new(namespace, name)),
            None => (&kinds.cluster_bindings, ObjectKey::new("", key)),
        }
    }

    /// The binding of a key: as watched, or as this process has written it since.
    fn find(&self, key: &str) -> Option<Arc<Value>> {
        let (handle, place) = self.place_of(key);
        self.context.ahead.get(handle, &place)
    }

    /// Remembers the server's answer to a write.
    fn note(&self, key: &str, answer: Value) -> Arc<Value> {
        self.context.ahead.note(self.place_of(key).0, answer)
    }

    fn objects(&self, key: &str) -> Objects {
        self.context.objects(if key.contains('/') { &BINDINGS } else { &CLUSTER_BINDINGS })
    }

    /// Events name the scheduler that they come from.
    fn recorder(&self, scheduler: &str) -> Recorder {
        let mut recorders = self.recorders.lock().unwrap_or_else(PoisonError::into_inner);
        let recorder =
            recorders.entry(scheduler.to_owned()).or_insert_with(|| self.context.recorder(scheduler));
        recorder.clone()
    }
}
