//! The scheduler: decides which clusters a binding goes to, and writes that into it. Owns `spec.clusters`,
//! the annotation of the applied placement, and in the status what begins with `scheduler`, the condition
//! `Scheduled` and `lastScheduledTime`.
//!
//! Decisions are made one at a time by the plugins' one instance; their writes are many in flight.

mod core;
mod decisions;
mod wait;

pub use core::SchedulerPlugins;
pub use decisions::Decisions;

use crate::context::{Context, compute};
use crate::kinds::{BINDINGS, CLUSTER_BINDINGS};
use core::Core;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use wait::Waiting;
use windlass_object::meta::Meta;
use windlass_object::path::{i64_at, str_at};
use windlass_object::time;
use windlass_runtime::events::{Recorder, Reference};
use windlass_runtime::objects::{code, words};
use windlass_runtime::{Change, Handle, ObjectKey, Objects};
use windlass_schedule::decide::{self, Trigger};
use windlass_schedule::pass::{Plan, Retry, Verdict};

/// Decisions whose writes may be in flight at once.
const IN_FLIGHT: usize = 64;

#[derive(Clone)]
struct Scheduler {
    context: Context,
    core: Arc<Mutex<Core>>,
    waiting: Arc<Waiting>,
    decisions: Decisions,
    recorder: Recorder,
}

/// Starts it; gives the memory of its last decisions, for explanations.
pub(crate) fn start(context: &Context, plugins: SchedulerPlugins) -> Decisions {
    let scheduler = Scheduler {
        core: Arc::new(Mutex::new(Core::new(plugins))),
        waiting: Arc::new(Waiting::new()),
        decisions: Decisions::default(),
        recorder: context.recorder(&context.options.scheduler_name),
        context: context.clone(),
    };
    for handle in [&context.kinds.bindings, &context.kinds.cluster_bindings] {
        let listener = scheduler.clone();
        handle.on_change(move |change| listener.on_binding(change));
    }
    let listener = scheduler.clone();
    context.kinds.clusters.on_change(move |change| listener.on_cluster(change));
    let decisions = scheduler.decisions.clone();
    let shutdown = context.shutdown.clone();
    shutdown.spawn(scheduler.run());
    decisions
}

fn key_of(object: &Value) -> String {
    windlass_api::names::namespaced(object.namespace(), object.name())
}

fn priority(binding: &Value) -> i32 {
    let found = i64_at(binding, &["spec", "schedulePriority", "priority"]).unwrap_or(0);
    i32::try_from(found).unwrap_or(0)
}

impl Scheduler {
    fn core(&self) -> std::sync::MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn on_binding(&self, change: &Change) {
        let Some(binding) = &change.new else {
            if let Some(old) = &change.old {
                let key = key_of(old);
                self.waiting.forget(&key);
                self.decisions.forget(&key);
            }
            return;
        };
        let relabelled = change
            .old
            .as_ref()
            .is_some_and(|old| old.pointer("/metadata/labels") != binding.pointer("/metadata/labels"));
        if (change.is_of_spec() || relabelled)
            && decide::is_handled(binding, &self.context.options.scheduler_name)
        {
            self.waiting.push(&key_of(binding), priority(binding));
        }
    }

    fn on_cluster(&self, change: &Change) {
        let effect = self.core().on_cluster(change);
        if !effect.matters() {
            return;
        }
        if !effect.moves() {
            // Room alone moves nothing that has its place.
            return self.waiting.wake();
        }
        let concerned: Vec<(String, i32)> =
            [&self.context.kinds.bindings, &self.context.kinds.cluster_bindings]
                .into_iter()
                .flat_map(Handle::list)
                .filter(|binding| effect.concerns(binding))
                .map(|binding| (key_of(&binding), priority(&binding)))
                .collect();
        for (key, priority) in &concerned {
            self.waiting.push(key, *priority);
        }
        self.waiting.wake();
    }

    async fn run(self) {
        let token = self.context.shutdown.token();
        let read = async {
            self.context.kinds.synced().await;
            self.context.apis.ready().await;
        };
        tokio::select! {
            () = token.cancelled() => return,
            () = read => {}
        }
        let slots = Arc::new(Semaphore::new(IN_FLIGHT));
        loop {
            let key = tokio::select! {
                () = token.cancelled() => return,
                key = self.waiting.next() => key,
            };
            let Ok(slot) = slots.clone().acquire_owned().await else { return };
            let scheduler = self.clone();
            self.context.shutdown.spawn(async move {
                let retry = scheduler.schedule(&key).await;
                scheduler.waiting.finish(&key, retry);
                drop(slot);
            });
        }
    }

    /// The binding as watched, or as we have written it since.
    fn find(&self, key: &str) -> (Option<Arc<Value>>, &Handle, Objects) {
        let kinds = &self.context.kinds;
        let (handle, gvr, key) = match key.split_once('/') {
            Some((namespace, name)) => (&kinds.bindings, &*BINDINGS, ObjectKey::new(namespace, name)),
            None => (&kinds.cluster_bindings, &*CLUSTER_BINDINGS, ObjectKey::new("", key)),
        };
        (self.context.ahead.get(handle, &key), handle, self.context.objects(gvr))
    }

    async fn schedule(&self, key: &str) -> Retry {
        let (found, handle, objects) = self.find(key);
        let Some(binding) = found else { return Retry::No };
        if !decide::is_handled(&binding, &self.context.options.scheduler_name) {
            return Retry::No;
        }
        let empty = self.context.options.empty_workload_propagation;
        let plan = compute(|| {
            let mut core = self.core();
            match core.trigger(&binding) {
                trigger if trigger.schedules() => {
                    let plan = core.plan(&binding, empty);
                    self.decisions.remember(key, core.explain(&plan));
                    Ok(plan)
                }
                trigger => Err(trigger),
            }
        });
        let outcome = match plan {
            Ok(plan) => self.write(&binding, handle, &objects, &plan).await,
            Err(Trigger::Skip(Some(generation))) => {
                let seen = crate::status::write(&objects, &binding, |binding| {
                    let mut status = binding.get("status")?.clone();
                    status.as_object_mut()?.insert("schedulerObservedGeneration".into(), generation.into());
                    Some(status)
                });
                seen.await.map(|_| Retry::No)
            }
            Err(_) => Ok(Retry::No),
        };
        outcome.unwrap_or_else(|error| {
            tracing::warn!(binding = key, error = words(&error), "the result of scheduling was not written");
            Retry::Backoff
        })
    }

    async fn write(
        &self,
        binding: &Value,
        handle: &Handle,
        objects: &Objects,
        plan: &Plan,
    ) -> Result<Retry, kube::Error> {
        let mut verdict = plan.verdict.clone();
        let mut current = Arc::new(binding.clone());
        if let Some(patch) = &plan.result {
            match objects.patch_json(binding.namespace(), binding.name(), patch).await {
                Ok(written) => current = self.context.ahead.note(handle, written),
                // It changed meanwhile: the change brings it back.
                Err(error) if matches!(code(&error), Some(404 | 409 | 422)) => return Ok(Retry::No),
                Err(error) => verdict = Verdict::SchedulerError(words(&error)),
            }
        }
        let now = time::now();
        let written = crate::status::written(objects, &current, crate::status::patch, |object| {
            let merge = plan.status(object, &verdict, &now)?;
            let mut status = object.get("status").cloned().unwrap_or_else(|| serde_json::json!({}));
            windlass_object::patch::apply_merge_patch(&mut status, merge.get("status")?);
            Some(status)
        });
        let written = written.await?.map(|answer| self.context.ahead.note(handle, answer));
        if written.is_some() || plan.result.is_some() {
            for event in &plan.events {
                if event.warning {
                    self.recorder.warning(binding, event.reason, event.message.clone());
                    // Where its user looks. What went well is told once: an event is a write.
                    self.recorder.warning(template(binding), event.reason, event.message.clone());
                } else {
                    self.recorder.normal(binding, event.reason, event.message.clone());
                }
            }
        }
        Ok(verdict.retry())
    }
}

/// The object that a binding is for.
fn template(binding: &Value) -> Reference {
    let of = |field: &str| str_at(binding, &["spec", "resource", field]).to_owned();
    Reference {
        api_version: of("apiVersion"),
        kind: of("kind"),
        namespace: of("namespace"),
        name: of("name"),
        uid: of("uid"),
    }
}
