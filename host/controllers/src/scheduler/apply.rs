//! Carries decisions out: the result in one patch, the status in another, and what is told.

use super::Scheduler;
use serde_json::Value;
use std::sync::Arc;
use windlass_object::meta::Meta;
use windlass_object::patch::apply_merge_patch;
use windlass_object::path::str_at;
use windlass_object::time;
use windlass_runtime::events::Reference;
use windlass_runtime::objects::{code, words};
use windlass_schedule::decide::scheduler_of;
use windlass_schedule::driver::{Decision, Written};
use windlass_schedule::pass::{self, Event, Plan, Retry, Verdict};
use windlass_schedule::queue::Key;

/// What came of the patch of a result.
enum Outcome {
    /// It is there, in this object.
    There(Arc<Value>),
    /// The binding has changed, or is gone: it will be decided anew.
    Overtaken,
    /// It couldn't be written.
    Refused(kube::Error),
}

impl Scheduler {
    /// Does what was decided; gives when to try again.
    pub(super) async fn carry_out(&self, key: &Key, decision: Decision) -> Retry {
        let outcome = match decision {
            Decision::Nothing => Ok(Retry::No),
            Decision::Failed(retry) => Ok(retry),
            Decision::Settled(binding) => self.settle(key, &binding).await,
            Decision::Placed(binding, plan, _) => self.place(key, binding, &plan).await,
        };
        outcome.unwrap_or_else(|error| {
            tracing::warn!(
                binding = &**key,
                error = words(&error),
                "the result of scheduling was not written"
            );
            Retry::Backoff
        })
    }

    async fn settle(&self, key: &Key, binding: &Value) -> Result<Retry, kube::Error> {
        let (generation, now) = (binding.generation(), time::now());
        self.status(key, binding, |object| pass::settled_status(object, generation, &now)).await?;
        Ok(Retry::No)
    }

    async fn place(&self, key: &Key, binding: Arc<Value>, plan: &Plan) -> Result<Retry, kube::Error> {
        let mut verdict = plan.verdict.clone();
        let mut retry = verdict.retry();
        let mut current = binding.clone();
        let mut events = plan.events.clone();
        if let Some(patch) = &plan.result {
            match self.result(key, &binding, patch).await {
                Outcome::There(written) => current = written,
                Outcome::Overtaken => return Ok(Retry::No),
                Outcome::Refused(error) if is_namespace_terminating(&error) => return Ok(Retry::No),
                Outcome::Refused(error) => {
                    verdict = refused(&plan.verdict, &error);
                    retry = Retry::Backoff;
                    // What the last event tells has not come true.
                    events.pop();
                    events.push(pass::failed(words(&error)));
                }
            }
        }
        let (generation, now) = (current.generation(), time::now());
        let written =
            self.status(key, &current, |object| plan.status(object, &verdict, generation, &now)).await?;
        if written || plan.result.is_some() {
            self.tell(&binding, &events);
        }
        Ok(retry)
    }

    /// Writes a result over what it rests on.
    async fn result(&self, key: &Key, binding: &Value, patch: &Value) -> Outcome {
        let objects = self.objects(key);
        let (namespace, name) = (binding.namespace(), binding.name());
        let tell = |written: &Written| self.desk.with(|driver, now| driver.written(key, written, now));
        match objects.patch_json(namespace, name, patch).await {
            Ok(written) => {
                let written = self.note(key, written);
                tell(&Written::Accepted(written.clone()));
                Outcome::There(written)
            }
            Err(error) if code(&error) == Some(404) => {
                tell(&Written::Refused(None));
                Outcome::Overtaken
            }
            Err(error) if matches!(code(&error), Some(409 | 422)) => {
                let fresh = objects.get(namespace, name).await.ok().flatten().map(Arc::new);
                let same = |fresh: &Arc<Value>| {
                    fresh.uid() == binding.uid() && fresh.generation() == binding.generation()
                };
                if fresh.as_ref().is_some_and(same) {
                    // Nobody was faster: the result itself is not wanted.
                    tell(&Written::Failed);
                    return Outcome::Refused(error);
                }
                tell(&Written::Refused(fresh));
                Outcome::Overtaken
            }
            Err(error) => {
                tell(&Written::Failed);
                Outcome::Refused(error)
            }
        }
    }

    /// Brings a status to what `plan` (a merge patch) makes of the object, in one patch over the conditions that were
    /// read; again on what there is now if somebody else was faster. Gives whether anything was written.
    async fn status(
        &self,
        key: &Key,
        binding: &Value,
        plan: impl Fn(&Value) -> Option<Value>,
    ) -> Result<bool, kube::Error> {
        let fresh = |object: &Value| {
            let merge = plan(object)?;
            let mut status = object.get("status").cloned().unwrap_or_else(|| serde_json::json!({}));
            if let Some(changes) = merge.get("status") {
                apply_merge_patch(&mut status, changes);
            }
            Some(status)
        };
        let answer = crate::status::written(&self.objects(key), binding, crate::status::patch, fresh).await?;
        let written = answer.map(|answer| self.note(key, answer));
        if let Some(written) = &written {
            self.desk.with(|driver, _| driver.answered(key, written));
        }
        Ok(written.is_some())
    }

    fn tell(&self, binding: &Value, events: &[Event]) {
        let recorder = self.recorder(scheduler_of(binding));
        for event in events {
            if event.warning {
                recorder.warning(binding, event.reason, event.message.clone());
                // Where its user looks. What went well is told once: an event is a write.
                recorder.warning(template(binding), event.reason, event.message.clone());
            } else {
                recorder.normal(binding, event.reason, event.message.clone());
            }
        }
    }
}

/// What a refused write makes of a verdict: what was not written is not true, but that no cluster fits is.
fn refused(verdict: &Verdict, error: &kube::Error) -> Verdict {
    match (verdict, error) {
        (Verdict::NoClusterFit(text), _) => Verdict::NoClusterFit(format!("{text}; {}", words(error))),
        (_, kube::Error::Api(status)) if status.code == 403 && status.reason == "QuotaExceeded" => {
            Verdict::QuotaExceeded(words(error))
        }
        _ => Verdict::SchedulerError(words(error)),
    }
}

/// Whether the server says that the namespace is on its way out: nothing is to be placed there any more.
fn is_namespace_terminating(error: &kube::Error) -> bool {
    let kube::Error::Api(status) = error else { return false };
    let causes = status.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
    causes.iter().any(|cause| cause.reason == "NamespaceTerminating")
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
