//! The binding status controller: adds up what the Works of a binding say, and carries the sum to the
//! binding and its template. Owns `status.aggregatedStatus` and the condition `FullyApplied` of bindings,
//! and the status of templates whose kind an interpreter can aggregate.

mod plan;

use crate::context::{Context, TemplateError, compute};
use crate::kinds::{BINDINGS, BY_ID, CLUSTER_BINDINGS};
use crate::status::patch_knowing;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windlass_api::labels::{
    ANNOTATION_BINDING_NAME, ANNOTATION_BINDING_NAMESPACE, ANNOTATION_CLUSTER_BINDING_NAME,
};
use windlass_api::{AggregatedStatusItem, events};
use windlass_interpret::Operation;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_object::path::{get, list_at};
use windlass_object::time;
use windlass_policy::{status, work};
use windlass_runtime::events::Recorder;
use windlass_runtime::objects::{code, words};
use windlass_runtime::{Action, ObjectKey, Queue};

/// Works report at about the same time: what comes within this is added up once.
const GATHER: Duration = Duration::from_millis(100);

#[derive(Clone)]
struct Controller {
    context: Context,
    recorder: Recorder,
    /// Since when there is something to tell of a binding.
    untold: Arc<Mutex<HashMap<ObjectKey, plan::Untold>>>,
}

/// Why a status was not carried up.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Works(#[from] status::StatusError),
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error(transparent)]
    Interpreter(#[from] windlass_interpret::Error),
    #[error("{}", windlass_runtime::objects::words(.0))]
    Server(#[from] kube::Error),
}

/// Starts it.
pub(crate) fn start(context: &Context) {
    let queue: Queue<ObjectKey> = Queue::new("binding-status");
    let keys = queue.clone();
    context.kinds.works.on_change(move |change| {
        let told = |work: &Option<Arc<Value>>| work.as_ref().and_then(|work| work.get("status").cloned());
        if (change.new.is_none() || told(&change.old) != told(&change.new))
            && let Some(binding) = change.object().and_then(|work| binding_of(work))
        {
            keys.add_after(binding, GATHER);
        }
    });
    for handle in [&context.kinds.bindings, &context.kinds.cluster_bindings] {
        let keys = queue.clone();
        handle.on_change(move |change| {
            // Works may have told before the binding is known to be scheduled: then this is what they waited for.
            let scheduled =
                |binding: &Option<Arc<Value>>| binding.as_ref().is_some_and(|binding| is_scheduled(binding));
            let matters = change.is_of_spec() || scheduled(&change.old) != scheduled(&change.new);
            if matters && change.new.is_some() {
                keys.add_after(change.key.clone(), GATHER);
            }
        });
    }
    let controller = Controller {
        context: context.clone(),
        recorder: context.recorder("binding-status-controller"),
        untold: Arc::default(),
    };
    context.run(queue, context.options.workers, move |key| controller.clone().reconcile(key));
}

/// Somebody has decided about it: the scheduler, or that of a binding that it is attached to.
fn is_scheduled(binding: &Value) -> bool {
    get(binding, &["status", "lastScheduledTime"]).is_some()
        || !list_at(binding, &["spec", "requiredBy"]).is_empty()
}

/// The binding that a Work belongs to.
pub(crate) fn binding_of(work: &Value) -> Option<ObjectKey> {
    if let Some(name) = work.annotation(ANNOTATION_BINDING_NAME) {
        return Some(ObjectKey::new(work.annotation(ANNOTATION_BINDING_NAMESPACE)?, name));
    }
    Some(ObjectKey::new("", work.annotation(ANNOTATION_CLUSTER_BINDING_NAME)?))
}

impl Controller {
    async fn reconcile(self, key: ObjectKey) -> Result<Action, Error> {
        let (handle, gvr) = match key.namespace.as_str() {
            "" => (&self.context.kinds.cluster_bindings, &*CLUSTER_BINDINGS),
            _ => (&self.context.kinds.bindings, &*BINDINGS),
        };
        let binding = self.context.ahead.get(handle, &key).filter(|binding| !binding.is_deleting());
        let Some(binding) = binding.filter(|binding| is_scheduled(binding)) else {
            self.untold().remove(&key);
            return Ok(Action::Done);
        };
        let id = binding.label(work::binding_label(&binding)).unwrap_or_default();
        let works = self.context.kinds.works.by_index(BY_ID, id);
        let works: Vec<&Value> = works.iter().map(AsRef::as_ref).collect();
        let items = status::aggregate(&binding, &works).inspect_err(|error| {
            self.recorder.warning(&*binding, events::AGGREGATE_STATUS_FAILED, error.to_string());
        })?;
        let now = time::now();
        let fresh = |binding: &Value| status::binding_status(binding, &works, &now).ok().flatten();
        if fresh(&binding).is_some() {
            let left = self.untold().entry(key.clone()).or_default().left(
                plan::patience(&binding, &works, self.context.backlog.load(Ordering::Relaxed)),
                Instant::now(),
            );
            if !left.is_zero() {
                return Ok(Action::After(left, "more is about to change"));
            }
        }
        self.untold().remove(&key);
        if let Some(answer) =
            crate::status::written(&self.context.objects(gvr), &binding, patch_knowing, fresh).await?
        {
            self.context.ahead.note(handle, answer);
        }
        self.template(&binding, &items).await?;
        Ok(Action::Done)
    }

    fn untold(&self) -> MutexGuard<'_, HashMap<ObjectKey, plan::Untold>> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn template(&self, binding: &Value, items: &[Value]) -> Result<(), Error> {
        let Some(resource) = get(binding, &["spec", "resource"]) else { return Ok(()) };
        let text = |field: &str| resource.get(field).and_then(Value::as_str).unwrap_or_default();
        let gvk = Gvk::from_api_version(text("apiVersion"), text("kind"));
        let chain = &self.context.interpreters;
        if list_at(binding, &["spec", "clusters"]).is_empty()
            || !chain.enabled(&gvk, Operation::AggregateStatus)
        {
            return Ok(());
        }
        let Some(template) = self.context.template(resource).await? else { return Ok(()) };
        let Some(served) = self.context.apis.table().resolve(&gvk).cloned() else { return Ok(()) };
        if template.is_deleting() {
            return Ok(());
        }
        let items: Vec<AggregatedStatusItem> =
            items.iter().filter_map(|item| serde_json::from_value(item.clone()).ok()).collect();
        let fresh = compute(|| chain.aggregate_status(&template, &items)).inspect_err(|error| {
            self.recorder.warning(&*template, events::AGGREGATE_STATUS_FAILED, error.to_string());
        })?;
        let Some(fresh) = fresh.and_then(|mut object| object.get_mut("status").map(Value::take)) else {
            return Ok(());
        };
        if template.get("status") == Some(&fresh) {
            return Ok(());
        }
        // Nobody else writes it, and what we wrote last is what it was made from.
        let patch = json!([
            {"op": "test", "path": "/metadata/uid", "value": template.uid()},
            {"op": "add", "path": "/status", "value": fresh},
        ]);
        let objects = self.context.objects(&served.gvr);
        match objects.patch_status_json(template.namespace(), template.name(), &patch).await {
            Ok(answer) => {
                if let Some(handle) = self.context.template_informer(&served.gvr) {
                    self.context.ahead.note(&handle, answer);
                }
                Ok(())
            }
            Err(error) if code(&error) == Some(404) => Ok(()),
            Err(error) => {
                let live = objects.get(template.namespace(), template.name()).await?;
                if live.is_none_or(|live| live.uid() != template.uid()) {
                    return Ok(());
                }
                self.recorder.warning(&*template, events::AGGREGATE_STATUS_FAILED, words(&error));
                Err(error.into())
            }
        }
    }
}
