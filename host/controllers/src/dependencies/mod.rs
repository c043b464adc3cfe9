//! The dependencies controller: what a workload needs (its ConfigMaps, Secrets, ServiceAccounts, …) goes where the
//! workload goes, if its policy says `propagateDeps`. For each dependency there is a binding attached to the
//! workload's own: `spec.requiredBy` tells for whom, and where. Owns attached bindings but for what a policy of their
//! own says, and on workloads' bindings the record of dependencies and a finalizer.

mod dependents;
mod writer;

pub(crate) use dependents::Dependents;

use crate::context::{Context, TemplateError, compute};
use serde_json::Value;
use std::sync::Arc;
use windlass_api::labels::{DEPENDED_BY_PREFIX, FINALIZER_DEPENDENCIES, LABEL_BINDING_ID};
use windlass_api::{events, names};
use windlass_interpret::Operation;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_object::path::{bool_at, get, list_at, str_at};
use windlass_policy::dependencies;
use windlass_runtime::events::Recorder;
use windlass_runtime::{Action, Change, Handle, ObjectKey, Queue};

/// Index of bindings: by the permanent ids of the bindings that they are attached to.
const BY_REFERRER: &str = "referrer";

#[derive(Clone)]
struct Controller {
    context: Context,
    recorder: Recorder,
}

/// Why what a workload needs didn't follow it.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error(transparent)]
    Interpreter(#[from] windlass_interpret::Error),
    #[error("{}", windlass_runtime::objects::words(.0))]
    Server(#[from] kube::Error),
    /// Some dependencies are not bound; the others are.
    #[error("{0}")]
    Some(String),
}

/// Starts it.
pub(crate) fn start(context: &Context) {
    let queue: Queue<ObjectKey> = Queue::new("dependencies");
    let bindings = &context.kinds.bindings;
    bindings.add_index(BY_REFERRER, |binding| {
        let labels = binding.labels().filter(|(key, _)| key.starts_with(DEPENDED_BY_PREFIX));
        labels.map(|(_, id)| id.to_owned()).collect()
    });
    context.dependents.go_to(bindings, &queue);
    let keys = queue.clone();
    bindings.on_change(move |change| concerned(change).into_iter().for_each(|key| keys.add(key)));
    let controller =
        Controller { context: context.clone(), recorder: context.recorder("dependencies-distributor") };
    context.run(queue, 2, move |key| controller.clone().reconcile(key));
}

/// Bindings to look at when one has changed: itself, if anything depends on it; those it was attached to, if somebody
/// has deleted it.
fn concerned(change: &Change) -> Vec<ObjectKey> {
    let takes_along = |binding: &Option<Arc<Value>>| {
        binding.as_ref().is_some_and(|binding| bool_at(binding, &["spec", "propagateDeps"]))
    };
    match (&change.old, &change.new) {
        (Some(gone), None) => list_at(gone, &["spec", "requiredBy"])
            .iter()
            .map(|referrer| ObjectKey::new(str_at(referrer, &["namespace"]), str_at(referrer, &["name"])))
            .collect(),
        _ if change.is_of_spec() && (takes_along(&change.old) || takes_along(&change.new)) => {
            vec![change.key.clone()]
        }
        (None, Some(binding)) if binding.finalizers().contains(&FINALIZER_DEPENDENCIES) => {
            vec![change.key.clone()]
        }
        _ => Vec::new(),
    }
}

impl Controller {
    fn bindings(&self) -> &Handle {
        &self.context.kinds.bindings
    }

    async fn reconcile(self, key: ObjectKey) -> Result<Action, Error> {
        let Some(binding) = self.context.ahead.get(self.bindings(), &key) else { return Ok(Action::Done) };
        let attached = self.attached(&binding);
        if binding.is_deleting() || !bool_at(&binding, &["spec", "propagateDeps"]) {
            for held in &attached {
                self.detach(held, &binding).await?;
            }
            self.release(&binding).await?;
            return Ok(Action::Done);
        }
        let resource = get(&binding, &["spec", "resource"]).cloned().unwrap_or_default();
        let Some(template) = self.context.template(&resource).await?.filter(|found| !found.is_deleting())
        else {
            return Ok(Action::Done);
        };
        let Some(wanted) = self.dependencies(&template)? else { return Ok(Action::Done) };
        self.record(&binding, &wanted).await?;
        let held: Vec<&Value> = attached.iter().map(AsRef::as_ref).collect();
        let objects = self.objects_of(&held).await;
        let find = |resource: &Value| {
            objects
                .iter()
                .map(AsRef::as_ref)
                .find(|object: &&Value| object.uid() == str_at(resource, &["uid"]))
        };
        let mut changed = false;
        for orphan in dependencies::orphans(&held, &wanted, find) {
            changed |= self.detach(orphan, &binding).await?;
        }
        let mut errors = Vec::new();
        for dependency in &wanted {
            match self.follow(&binding, dependency).await {
                Ok(written) => changed |= written,
                Err(error) => errors.push(error.to_string()),
            }
        }
        if !errors.is_empty() {
            let message = errors.join("; ");
            self.recorder.warning(
                &*binding,
                events::SYNC_SCHEDULE_RESULT_TO_DEPENDENCIES_FAILED,
                message.clone(),
            );
            return Err(Error::Some(message));
        }
        if changed {
            let message = "Sync schedule results to dependencies succeed.";
            self.recorder.normal(&*binding, events::SYNC_SCHEDULE_RESULT_TO_DEPENDENCIES_SUCCEED, message);
        }
        Ok(Action::Done)
    }

    /// Bindings that are attached to this one.
    fn attached(&self, binding: &Value) -> Vec<Arc<Value>> {
        let id = binding.label(LABEL_BINDING_ID).unwrap_or_default();
        let label = names::depended_by_label(binding.namespace(), binding.name());
        let held = self.bindings().by_index(BY_REFERRER, id);
        held.into_iter()
            .map(|held| self.context.ahead.newest(self.bindings(), held))
            .filter(|held| held.label(&label) == Some(id) && !id.is_empty())
            .collect()
    }

    /// What the template needs; nothing if nobody can tell.
    fn dependencies(&self, template: &Value) -> Result<Option<Vec<Value>>, Error> {
        let chain = &self.context.interpreters;
        if !chain.enabled(&template.gvk(), Operation::InterpretDependency) {
            return Ok(None);
        }
        let found = compute(|| chain.interpret_dependency(template)).inspect_err(|error| {
            self.recorder.warning(template, events::GET_DEPENDENCIES_FAILED, error.to_string());
        })?;
        let values = found.unwrap_or_default();
        Ok(Some(values.iter().filter_map(|entry| serde_json::to_value(entry).ok()).collect()))
    }

    /// The objects that attached bindings are for.
    async fn objects_of(&self, attached: &[&Value]) -> Vec<Arc<Value>> {
        let mut found = Vec::new();
        for binding in attached {
            let Some(resource) = get(binding, &["spec", "resource"]) else { continue };
            // One that can't be read is kept: only what is known not to be needed goes.
            found.extend(self.context.template(resource).await.ok().flatten());
        }
        found
    }

    /// Binds what one dependency means; gives whether anything was written. What isn't there yet brings the binding
    /// back when it comes.
    async fn follow(&self, binding: &Value, dependency: &Value) -> Result<bool, Error> {
        let part = |key: &str| str_at(dependency, &[key]);
        if !part("name").is_empty() {
            let found = self.context.template(dependency).await?;
            return match found.filter(|found| !found.is_deleting()) {
                Some(found) => self.attach(&found, binding).await,
                None => Ok(false),
            };
        }
        let gvk = Gvk::from_api_version(part("apiVersion"), part("kind"));
        let table = self.context.apis.table();
        let Some(served) = table.resolve(&gvk) else { return Err(TemplateError::NotServed(gvk).into()) };
        let Some(handle) = self.context.template_informer(&served.gvr) else { return Ok(false) };
        let mut changed = false;
        for object in handle.list_in(part("namespace")) {
            if !object.is_deleting() && dependencies::means_object(dependency, &object) {
                changed |= self.attach(&object, binding).await?;
            }
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn binding(propagates: bool, generation: i64) -> Option<Arc<Value>> {
        Some(Arc::new(json!({
            "metadata": {"name": "a", "namespace": "b", "generation": generation},
            "spec": {"propagateDeps": propagates, "requiredBy": [{"namespace": "b", "name": "web"}]},
        })))
    }

    #[test]
    fn whom_a_change_concerns() {
        let change = |old, new| Change { key: ObjectKey::new("b", "a"), old, new, initial: false };
        let (own, referrer) = (vec![ObjectKey::new("b", "a")], vec![ObjectKey::new("b", "web")]);
        for (change, expected) in [
            (change(None, binding(true, 1)), own.clone()),
            (change(binding(true, 1), binding(true, 2)), own.clone()),
            (change(binding(true, 1), binding(false, 2)), own),
            (change(binding(true, 1), binding(true, 1)), Vec::new()),
            (change(None, binding(false, 1)), Vec::new()),
            (change(binding(false, 1), None), referrer),
        ] {
            assert_eq!(concerned(&change), expected, "{change:?}");
        }
    }
}
