//! The binding status controller: adds up what the Works of a binding say, and carries the sum to the
//! binding and its template. Owns `status.aggregatedStatus` and the condition `FullyApplied` of bindings,
//! and the status of templates whose kind an interpreter can aggregate.

use crate::context::{Context, TemplateError, compute};
use crate::kinds::{BINDINGS, BY_ID, CLUSTER_BINDINGS};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
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
    let controller =
        Controller { context: context.clone(), recorder: context.recorder("binding-status-controller") };
    context.run(queue, context.options.workers, move |key| controller.clone().reconcile(key));
}

/// Somebody has decided about it.
fn is_scheduled(binding: &Value) -> bool {
    get(binding, &["status", "lastScheduledTime"]).is_some()
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
        let Some(binding) = handle.get_key(&key).filter(|binding| !binding.is_deleting()) else {
            return Ok(Action::Done);
        };
        if !is_scheduled(&binding) {
            return Ok(Action::Done);
        }
        let id = binding.label(work::binding_label(&binding)).unwrap_or_default();
        let works = self.context.kinds.works.by_index(BY_ID, id);
        let works: Vec<&Value> = works.iter().map(AsRef::as_ref).collect();
        let items = status::aggregate(&binding, &works).inspect_err(|error| {
            self.recorder.warning(&*binding, events::AGGREGATE_STATUS_FAILED, error.to_string());
        })?;
        let now = time::now();
        let objects = self.context.objects(gvr);
        crate::status::write(&objects, &binding, |binding| {
            status::binding_status(binding, &works, &now).ok().flatten()
        })
        .await?;
        self.template(&binding, &items).await?;
        Ok(Action::Done)
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
        let Some(mut template) = self.context.template(resource).await? else { return Ok(()) };
        let Some(served) = self.context.apis.table().resolve(&gvk).cloned() else { return Ok(()) };
        let items: Vec<AggregatedStatusItem> =
            items.iter().filter_map(|item| serde_json::from_value(item.clone()).ok()).collect();
        let objects = self.context.objects(&served.gvr);
        // The cache may be behind: then the guard refuses, and the object is read anew.
        for attempt in 0..3 {
            if template.is_deleting() {
                return Ok(());
            }
            let fresh = match compute(|| chain.aggregate_status(&template, &items)) {
                Ok(fresh) => fresh,
                Err(error) => {
                    self.recorder.warning(&*template, events::AGGREGATE_STATUS_FAILED, error.to_string());
                    return Err(error.into());
                }
            };
            let Some(fresh) = fresh.and_then(|object| object.get("status").cloned()) else { return Ok(()) };
            if template.get("status") == Some(&fresh) {
                return Ok(());
            }
            let mut patch = vec![json!({"op": "test", "path": "/metadata/uid", "value": template.uid()})];
            if let Some(held) = template.get("status") {
                patch.push(json!({"op": "test", "path": "/status", "value": held}));
            }
            patch.push(json!({"op": "add", "path": "/status", "value": fresh}));
            let written =
                objects.patch_status_json(template.namespace(), template.name(), &Value::Array(patch)).await;
            match written {
                Ok(_) => return Ok(()),
                Err(error) if matches!(code(&error), Some(409 | 422)) && attempt < 2 => {
                    match objects.get(text("namespace"), text("name")).await? {
                        Some(live) if live.uid() == template.uid() => template = Arc::new(live),
                        _ => return Ok(()),
                    }
                }
                Err(error) if code(&error) == Some(404) => return Ok(()),
                Err(error) => {
                    self.recorder.warning(&*template, events::AGGREGATE_STATUS_FAILED, words(&error));
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }
}
