//! The execution controller: carries Works into their members, keeps what is there as the Work has it,
//! and reports back. The only writer to members, and the only writer of a Work's status.
//!
//! One pass does it all: read the live object, create, update or leave it, then write conditions and the
//! manifest's status in one patch, if they differ. Changes in a member bring the Work back, so that
//! drift is put right and statuses are carried up on the same path; our own changes are known, and cost no pass.

mod apply;
mod known;
mod lanes;
mod plan;
mod watches;

use crate::context::{Context, compute};
use crate::kinds::{BY_CLUSTER, WORKS, is_ready};
use apply::{Applied, Before, Cause, Failure, Target};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use windlass_api::labels::FINALIZER_EXECUTION;
use windlass_api::{Cluster, events, names};
use windlass_interpret::Operation;
use windlass_members::Member;
use windlass_object::condition;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_object::time;
use windlass_runtime::events::{Recorder, Reference};
use windlass_runtime::{Action, ObjectKey, Queue};

/// What a member reports right after a write is gathered for so long, and written with the conditions.
const GATHER: Duration = Duration::from_millis(25);

/// How often the statuses of a Work's copies are told while they change: a workload that starts tells of each pod.
const RESPITE: Duration = Duration::from_millis(300);

/// The pauses of a Work that fails: the first, and the longest. Nobody tells when a member would take what it refuses.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_secs(60)];

/// How often it is looked whether an object that is in a Work's way is gone. It isn't ours, so it isn't watched.
const BLOCKED: Duration = Duration::from_secs(3);

/// How long a member may take over one object. One that doesn't answer at all would keep a worker for ever.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Controller {
    context: Context,
    recorder: Recorder,
    watches: Arc<watches::Watches>,
    queue: Queue<ObjectKey>,
    lanes: lanes::Lanes,
    known: known::Known,
}

/// What a pass could not do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The member can't be reached by what its Cluster says.
    #[error(transparent)]
    Connect(#[from] windlass_members::ConnectError),
    /// Some manifests were not applied; the Work's condition says which and why.
    #[error("{0}")]
    Apply(String),
    /// What is in the member can't be understood; it is applied and reported nevertheless.
    #[error("{0}")]
    Interpret(String),
    /// The control plane said no.
    #[error("{}", windlass_runtime::objects::words(.0))]
    Control(#[from] kube::Error),
}

/// Starts it.
pub(crate) fn start(context: &Context) {
    let [first, longest] = PAUSES;
    let queue: Queue<ObjectKey> = Queue::with_backoff("execution", first, longest);
    context.unanswered.back_to(&queue);
    let keys = queue.clone();
    context.kinds.works.on_change(move |change| {
        if change.is_of_spec() {
            let priority = if change.initial { windlass_runtime::queue::INITIAL } else { 0 };
            keys.add_with_priority(change.key.clone(), priority);
        }
    });
    // A member that becomes ready gets at once what waited for it.
    let (keys, works) = (queue.clone(), context.kinds.works.clone());
    context.kinds.clusters.on_change(move |change| {
        let ready = |cluster: &Option<Arc<Value>>| cluster.as_ref().is_some_and(|c| is_ready(c));
        if ready(&change.old) != ready(&change.new) || change.new.is_none() {
            for work in works.by_index(BY_CLUSTER, &change.key.name) {
                keys.add_with_priority(ObjectKey::of(&work), windlass_runtime::queue::INITIAL);
            }
        }
    });
    let controller = Controller {
        context: context.clone(),
        recorder: context.recorder("execution-controller"),
        watches: Arc::new(watches::Watches::new(queue.clone())),
        queue: queue.clone(),
        lanes: lanes::Lanes::new(queue.clone(), context.options.workers / 2, context.backlog.clone()),
        known: known::Known::default(),
    };
    // More than the members' lanes take, so that there are some left while a few members are slow.
    context.run(queue, context.options.workers * 2, move |key| controller.clone().reconcile(key));
}

impl Controller {
    async fn reconcile(self, key: ObjectKey) -> Result<Action, Error> {
        let Some(work) = self.context.ahead.get(&self.context.kinds.works, &key) else {
            self.known.forget(&key);
            return Ok(Action::Done);
        };
        let Some(name) = names::cluster_of(&key.namespace) else { return Ok(Action::Done) };
        let cluster = self.context.kinds.clusters.get("", name);
        let Some(cluster) = cluster else {
            if work.is_deleting() {
                self.release(&work).await?;
            }
            return Ok(Action::Done);
        };
        if !plan::is_push(&cluster) {
            return Ok(Action::Done);
        }
        let Some(_turn) = self.lanes.enter(name, &key) else { return Ok(Action::Done) };
        if work.is_deleting() {
            return self.delete(&key, &work, &cluster).await;
        }
        if plan::is_suspended(&work) {
            self.report(&work, None, &[]).await?;
            return Ok(Action::Done);
        }
        if !is_ready(&cluster) {
            // What is known of the generation that was applied stays known.
            if !plan::is_current(&work) {
                let why = format!("cluster {name} is not ready; the work is applied as soon as it is");
                self.report(&work, Some(&[why]), &[]).await?;
            }
            return Ok(Action::Done);
        }
        match self.member(&cluster).await {
            Ok(member) => self.sync(&key, &work, &member).await,
            Err(error) => {
                if !plan::is_current(&work) {
                    self.report(&work, Some(&[error.to_string()]), &[]).await?;
                }
                Err(error)
            }
        }
    }

    async fn member(&self, cluster: &Value) -> Result<Arc<Member>, Error> {
        if let Some(member) = self.context.connector.get(cluster.name()) {
            return Ok(member);
        }
        let typed = Cluster::from_value(cluster).map_err(|error| Error::Apply(error.to_string()))?;
        Ok(self.context.connector.connect(&typed).await?)
    }

    async fn sync(&self, key: &ObjectKey, work: &Arc<Value>, member: &Arc<Member>) -> Result<Action, Error> {
        let manifests = plan::manifests(work);
        let targets: Vec<Result<Target, Failure>> =
            manifests.iter().map(|manifest| self.target(member, manifest)).collect();
        let watched = |(target, manifest): (&Result<Target, Failure>, &Value)| {
            target.as_ref().ok().and_then(|target| target.watched(manifest))
        };
        let watched: Vec<Option<Arc<Value>>> = targets.iter().zip(manifests).map(watched).collect();
        if plan::is_current(work) && self.known.is_as_reported(work, &watched) {
            return Ok(Action::Done);
        }
        let before = if plan::is_current(work) || self.known.is_applied(work) {
            Before::Same
        } else if plan::was_tried(work) {
            Before::Changed
        } else {
            Before::New
        };
        let mut failures = Vec::new();
        let mut live = Vec::new();
        let mut wrote = false;
        for (place, (manifest, (target, watched))) in
            manifests.iter().zip(targets.into_iter().zip(watched)).enumerate()
        {
            if let Some(held) = watched.filter(|held| self.known.is_as_applied(work, place, held)) {
                live.push(held);
                continue;
            }
            let applied = match target {
                Ok(target) => in_time(member, apply::apply(&self.context, &target, manifest, before)).await,
                Err(failure) => Err(failure),
            };
            match applied {
                Ok(Applied { object, written }) => {
                    wrote |= written;
                    live.push(object);
                }
                Err(failure) => failures.push(failure),
            }
        }
        if failures.is_empty() {
            self.known.applied(work, &live);
            if wrote && self.tells_more(manifests) {
                return Ok(Action::After(GATHER, "the member's answer is gathered"));
            }
            let left = RESPITE.saturating_sub(self.known.since_report(work).unwrap_or(RESPITE));
            if !wrote && !left.is_zero() {
                return Ok(Action::After(left, "its status has just been told"));
            }
        } else {
            self.known.forget(key);
        }
        self.finish(key, work, member, &failures, &live).await
    }

    /// Reports, and says what comes next.
    async fn finish(
        &self,
        key: &ObjectKey,
        work: &Value,
        member: &Member,
        failures: &[Failure],
        live: &[Arc<Value>],
    ) -> Result<Action, Error> {
        let errors: Vec<String> = failures.iter().map(|failure| failure.words.clone()).collect();
        let reported = self.report(work, Some(&errors), live).await;
        if !matches!(reported, Err(Error::Control(_))) {
            live.iter().for_each(|object| self.wake_waiting(member, object));
        }
        reported?;
        if failures.is_empty() {
            self.known.reported(work);
            return Ok(Action::Done);
        }
        if failures.iter().any(|failure| failure.cause == Cause::Unanswered) {
            self.context.unanswered.failed(member.name(), key);
        }
        if failures.iter().all(|failure| failure.cause == Cause::Blocked) {
            return Ok(Action::After(BLOCKED, "an object that is not ours is in the way"));
        }
        Err(Error::Apply(errors.join("; ")))
    }

    /// Whether members write statuses into objects of these kinds.
    fn tells_more(&self, manifests: &[Value]) -> bool {
        let table = self.context.apis.table();
        manifests.iter().any(|manifest| table.resolve(&manifest.gvk()).is_none_or(|served| served.has_status))
    }

    /// Works that failed for want of this object needn't wait out their pause.
    fn wake_waiting(&self, member: &Member, live: &Value) {
        if !matches!(live.kind(), "Namespace" | "CustomResourceDefinition") {
            return;
        }
        for work in self.context.kinds.works.by_index(BY_CLUSTER, member.name()) {
            if plan::waited_for(&work, live) {
                self.queue.add(ObjectKey::of(&work));
            }
        }
    }

    fn target(&self, member: &Arc<Member>, manifest: &Value) -> Result<Target, Failure> {
        let gvk: Gvk = manifest.gvk();
        let table = self.context.apis.table();
        let Some(served) = table.resolve(&gvk) else {
            return Err(Failure::other(format!(
                "the control plane does not serve {gvk}: is its CustomResourceDefinition there?"
            )));
        };
        let copies = self.watches.of(member, &served.gvr);
        Ok(Target { member: member.clone(), gvr: served.gvr.clone(), copies })
    }

    /// Writes the Work's status, if it differs. `errors`: `None` if nothing was tried.
    async fn report(
        &self,
        work: &Value,
        errors: Option<&[String]>,
        live: &[Arc<Value>],
    ) -> Result<(), Error> {
        let mut statuses = Vec::new();
        let mut failed = Vec::new();
        for object in live {
            match self.manifest_status(work, object, &mut failed) {
                Ok(status) => statuses.push(status),
                Err(error) => failed.push(error),
            }
        }
        let now = time::now();
        if let Some(patch) = plan::status_patch(work, errors, statuses, &now) {
            if let Some(message) = plan::dispatch_message(work) {
                self.recorder.normal(work, events::WORK_DISPATCHING, message);
            }
            self.tell(work, errors);
            let works = self.context.objects(&WORKS);
            let answer = works.patch_status_json(work.namespace(), work.name(), &patch).await?;
            self.context.ahead.note(&self.context.kinds.works, answer);
        }
        if failed.is_empty() { Ok(()) } else { Err(Error::Interpret(failed.join("; "))) }
    }

    /// Events tell of failures, and of their end. That all went well the first time, conditions say.
    fn tell(&self, work: &Value, errors: Option<&[String]>) {
        let held = condition::status(condition::of(work), windlass_api::conditions::APPLIED);
        let template = plan::template(work);
        match errors {
            Some([]) if held == Some("False") => {
                if let Some(template) = template {
                    let cluster = names::cluster_of(work.namespace()).unwrap_or_default();
                    let message =
                        format!("Successfully applied resource({}) to cluster {cluster}", template.name);
                    self.recorder.normal(template, events::SYNC_SUCCEED, message);
                }
            }
            Some(errors) if !errors.is_empty() => {
                let message = errors.join("; ");
                self.recorder.warning(work, events::SYNC_FAILED, message.clone());
                if let Some(template) = template {
                    self.recorder.warning(template, events::SYNC_FAILED, message);
                }
            }
            _ => {}
        }
    }

    /// The entry of one object. A status that can't be interpreted leaves the one that was told before.
    fn manifest_status(
        &self,
        work: &Value,
        object: &Value,
        failed: &mut Vec<String>,
    ) -> Result<Value, String> {
        let chain = &self.context.interpreters;
        let status = compute(|| chain.interpret_status(object)).unwrap_or_else(|error| {
            self.recorder.warning(work, events::REFLECT_STATUS_FAILED, error.to_string());
            failed.push(error.to_string());
            plan::held_status(work, object)
        });
        let status = status.map(|status| plan::with_observed_generation(object, status));
        let health = if chain.enabled(&object.gvk(), Operation::InterpretHealth) {
            match compute(|| chain.interpret_health(object)) {
                Ok(Some(health)) => health.as_str().to_owned(),
                Ok(None) => "Healthy".to_owned(),
                Err(error) => {
                    self.recorder.warning(work, events::INTERPRET_HEALTH_FAILED, error.to_string());
                    "Unknown".to_owned()
                }
            }
        } else {
            "Healthy".to_owned()
        };
        windlass_policy::status::manifest_status(work, object, status, &health)
            .map_err(|error| error.to_string())
    }

    async fn delete(&self, key: &ObjectKey, work: &Value, cluster: &Value) -> Result<Action, Error> {
        self.known.forget(key);
        if !work.finalizers().contains(&FINALIZER_EXECUTION) {
            return Ok(Action::Done);
        }
        if is_ready(cluster) {
            let member = self.member(cluster).await?;
            let mut failures = Vec::new();
            for manifest in plan::manifests(work) {
                let done = match self.target(&member, manifest) {
                    Ok(target) if plan::is_preserved(work) => {
                        in_time(&member, apply::let_go(&self.context, &target, manifest)).await
                    }
                    Ok(target) => in_time(&member, apply::delete(&target, manifest)).await,
                    // Without the kind there is no object.
                    Err(_) => Ok(()),
                };
                failures.extend(done.err());
            }
            if !failures.is_empty() {
                if failures.iter().any(|failure| failure.cause == Cause::Unanswered) {
                    self.context.unanswered.failed(member.name(), key);
                }
                let errors: Vec<String> = failures.into_iter().map(|failure| failure.words).collect();
                self.recorder.warning(work, events::SYNC_FAILED, errors.join("; "));
                return Err(Error::Apply(errors.join("; ")));
            }
        } else if !cluster.is_deleting() {
            // The change of the Cluster's condition brings it back.
            return Ok(Action::Done);
        }
        self.release(work).await?;
        Ok(Action::Done)
    }

    async fn release(&self, work: &Value) -> Result<(), Error> {
        let works = self.context.objects(&WORKS);
        Ok(crate::finalizers::take_off(&works, work, &[FINALIZER_EXECUTION]).await?)
    }
}

/// What a member is asked for must come within [`PATIENCE`].
async fn in_time<T>(member: &Member, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => {
            let words = format!("cluster {} did not answer within {} s", member.name(), PATIENCE.as_secs());
            Err(Failure { words, cause: Cause::Unanswered })
        }
    }
}

impl plan::Template {
    fn reference(&self) -> Reference {
        Reference {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
        }
    }
}

impl From<plan::Template> for Reference {
    fn from(template: plan::Template) -> Self {
        template.reference()
    }
}
