//! The execution controller: carries Works into their members, keeps what is there as the Work has it,
//! and reports back. The only writer to members, and the only writer of a Work's status.
//!
//! One pass does it all: read the live object, create, update or leave it, then write conditions and the
//! manifest's status in one patch, if they differ. Changes in a member bring the Work back, so that
//! drift is put right and statuses are carried up on the same path.

mod apply;
mod lanes;
mod plan;
mod watches;

use crate::context::{Context, compute};
use crate::kinds::{BY_CLUSTER, WORKS, is_ready};
use apply::{Applied, Target};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// How long a member may take over one object. One that doesn't answer at all would keep a worker for ever.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Controller {
    context: Context,
    recorder: Recorder,
    watches: Arc<watches::Watches>,
    queue: Queue<ObjectKey>,
    lanes: lanes::Lanes,
    /// Generations that were applied, by the Work's uid, until its status says so.
    applied: Arc<Mutex<HashMap<String, i64>>>,
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
    let queue: Queue<ObjectKey> = Queue::new("execution");
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
        lanes: lanes::Lanes::new(queue.clone(), context.options.workers / 2),
        applied: Arc::default(),
    };
    // More than the members' lanes take, so that there are some left while a few members are slow.
    context.run(queue, context.options.workers * 2, move |key| controller.clone().reconcile(key));
}

impl Controller {
    async fn reconcile(self, key: ObjectKey) -> Result<Action, Error> {
        let Some(work) = self.context.kinds.works.get_key(&key) else { return Ok(Action::Done) };
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
            return self.delete(&work, &cluster).await;
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
            Ok(member) => self.sync(&work, &member).await,
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

    async fn sync(&self, work: &Arc<Value>, member: &Arc<Member>) -> Result<Action, Error> {
        let manifests = plan::manifests(work);
        let fresh = !plan::is_current(work) && self.applied().get(work.uid()) != Some(&work.generation());
        let mut errors = Vec::new();
        let mut live = Vec::new();
        let mut wrote = false;
        for manifest in manifests {
            let applied = match self.target(member, manifest) {
                Ok(target) => in_time(member, apply::apply(&self.context, &target, manifest, fresh)).await,
                Err(error) => Err(error),
            };
            match applied {
                Ok(Applied { object, written }) => {
                    wrote |= written;
                    live.push(object);
                }
                Err(error) => errors.push(error),
            }
        }
        if wrote && errors.is_empty() {
            self.applied().insert(work.uid().to_owned(), work.generation());
            return Ok(Action::After(GATHER, "the member's answer is gathered"));
        }
        let reported = self.report(work, Some(&errors), &live).await;
        if !matches!(reported, Err(Error::Control(_))) {
            self.applied().remove(work.uid());
            live.iter().for_each(|object| self.wake_waiting(member, object));
        }
        reported?;
        if errors.is_empty() { Ok(Action::Done) } else { Err(Error::Apply(errors.join("; "))) }
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

    fn applied(&self) -> MutexGuard<'_, HashMap<String, i64>> {
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn target(&self, member: &Arc<Member>, manifest: &Value) -> Result<Target, String> {
        let gvk: Gvk = manifest.gvk();
        let table = self.context.apis.table();
        let Some(served) = table.resolve(&gvk) else {
            return Err(format!(
                "the control plane does not serve {gvk}: is its CustomResourceDefinition there?"
            ));
        };
        let informer = self.watches.of(member, &served.gvr);
        Ok(Target { member: member.clone(), gvr: served.gvr.clone(), informer })
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
            self.context.objects(&WORKS).patch_status_json(work.namespace(), work.name(), &patch).await?;
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

    async fn delete(&self, work: &Value, cluster: &Value) -> Result<Action, Error> {
        if !work.finalizers().contains(&FINALIZER_EXECUTION) {
            return Ok(Action::Done);
        }
        if is_ready(cluster) {
            let member = self.member(cluster).await?;
            let mut errors = Vec::new();
            for manifest in plan::manifests(work) {
                let done = match self.target(&member, manifest) {
                    Ok(target) if plan::is_preserved(work) => {
                        in_time(&member, apply::let_go(&self.context, &target, manifest)).await
                    }
                    Ok(target) => in_time(&member, apply::delete(&target, manifest)).await,
                    // Without the kind there is no object.
                    Err(_) => Ok(()),
                };
                errors.extend(done.err());
            }
            if !errors.is_empty() {
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
        let Some(patch) = crate::finalizers::release(work, &[FINALIZER_EXECUTION]) else { return Ok(()) };
        let works = self.context.objects(&WORKS);
        match works.patch_json(work.namespace(), work.name(), &patch).await {
            Err(error) if !windlass_runtime::objects::is_not_found(&error) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// What a member is asked for must come within [`PATIENCE`].
async fn in_time<T>(member: &Member, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => Err(format!("cluster {} did not answer within {} s", member.name(), PATIENCE.as_secs())),
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
