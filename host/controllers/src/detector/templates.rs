//! One template: detect, claim, interpret, write the binding.

use super::inbox::Cause;
use super::{Detector, Error, TemplateKey};
use crate::context::compute;
use crate::kinds::{BINDINGS, BY_ID, CLUSTER_BINDINGS, PRIORITY_CLASSES};
use crate::patches::put;
use serde_json::Value;
use std::sync::Arc;
use windlass_api::labels::ANNOTATION_TEMPLATE_GENERATION;
use windlass_api::{events, names};
use windlass_interpret::Replica;
use windlass_object::meta::Meta;
use windlass_object::path::str_at;
use windlass_policy::binding::{self, Facts};
use windlass_policy::{Catalog, Claim, Detection, Patch, Scope, claim, detect, work};
use windlass_runtime::objects::code;
use windlass_runtime::{Action, ObjectKey, Objects};

/// The policies of a moment, held so that a catalog can borrow them.
struct Policies {
    policies: Vec<Arc<Value>>,
    cluster_policies: Vec<Arc<Value>>,
    overrides: Vec<Arc<Value>>,
    cluster_overrides: Vec<Arc<Value>>,
}

/// What a binding's write rests on: that it is the one that was read, with what we last put into it. What the scheduler
/// and others write is no conflict.
const GUARDS: [&str; 2] = ["/metadata/uid", "/spec/resource/resourceVersion"];

impl Detector {
    pub(super) async fn template(self, key: TemplateKey) -> Result<Action, Error> {
        let cause = self.templates.take(&key);
        let outcome = self.look(&key, cause).await;
        if outcome.is_err() {
            self.templates.note(&key, cause);
        }
        outcome
    }

    async fn look(&self, key: &TemplateKey, cause: Cause) -> Result<Action, Error> {
        let Some(template) = self.read(key).await? else {
            self.waiting().remove(key);
            return Ok(Action::Done);
        };
        if template.is_deleting() {
            return Ok(Action::Done);
        }
        let held = self.policies_for(&key.namespace);
        let [policies, cluster_policies, overrides, cluster_overrides] = held.borrow();
        let catalog = Catalog {
            policies: &policies,
            cluster_policies: &cluster_policies,
            overrides: &overrides,
            cluster_overrides: &cluster_overrides,
        };
        match detect::detect(&template, &catalog) {
            Detection::TakenAway => {
                self.waiting().remove(key);
                Ok(Action::Done)
            }
            Detection::StaleClaim { claim, release } | Detection::NoLongerSelected { claim, release } => {
                self.release(&template, &claim, release).await?;
                Ok(Action::Done)
            }
            Detection::PolicyDeleting(claim) => {
                Err(Error::PolicyDeleting(names::namespaced(&claim.namespace, &claim.name)))
            }
            Detection::MissingOverride { policy, name } => Err(Error::MissingOverride {
                policy: names::namespaced(policy.namespace(), policy.name()),
                name,
            }),
            Detection::NoMatch => {
                self.waiting().insert(key.clone());
                Ok(Action::Done)
            }
            Detection::Apply { policy, claim, lazy } => {
                self.waiting().remove(key);
                // Our own change has nothing new for a binding that was made after it.
                if cause == Cause::Own && claim.is_none() && self.is_bound(&template) {
                    return Ok(Action::Done);
                }
                let is_own = match cause {
                    Cause::Foreign => false,
                    Cause::Unknown => !is_ahead(&template, &self.works_of(&template)),
                    Cause::Own => true,
                };
                let applied = self.apply(&template, policy, claim, lazy && is_own).await;
                if let Err(error) = &applied {
                    let message = format!("Apply policy({}) failed: {error}", policy.name());
                    self.recorder.warning(&*template, events::APPLY_POLICY_FAILED, message);
                }
                applied
            }
        }
    }

    async fn read(&self, key: &TemplateKey) -> Result<Option<Arc<Value>>, Error> {
        if let Some(found) = self.watches.get(&key.gvk, &key.namespace, &key.name) {
            return Ok(Some(found));
        }
        let table = self.context.apis.table();
        let Some(served) = table.resolve(&key.gvk) else { return Ok(None) };
        let found = self.context.objects(&served.gvr).get(&key.namespace, &key.name).await?;
        Ok(found.map(Arc::new))
    }

    fn policies_for(&self, namespace: &str) -> Policies {
        let kinds = &self.context.kinds;
        let of = |handle: &windlass_runtime::Handle| {
            if namespace.is_empty() { Vec::new() } else { handle.list_in(namespace) }
        };
        Policies {
            policies: of(&kinds.policies),
            cluster_policies: kinds.cluster_policies.list(),
            overrides: of(&kinds.overrides),
            cluster_overrides: kinds.cluster_overrides.list(),
        }
    }

    async fn apply(
        &self,
        template: &Arc<Value>,
        policy: &Value,
        patch: Option<Patch>,
        activates_nothing: bool,
    ) -> Result<Action, Error> {
        let mut current = template.clone();
        if let Some(patch) = patch {
            current = self.claim(&current, &patch).await?;
        }
        if activates_nothing {
            return Ok(Action::Done);
        }
        let facts = self.facts(&current, policy).await?;
        let desired = binding::desired(&current, policy, &facts);
        if self.write_binding(desired).await? {
            let message =
                format!("Apply policy({}) succeed", names::namespaced(policy.namespace(), policy.name()));
            self.recorder.normal(&*current, events::APPLY_POLICY_SUCCEED, message);
        }
        Ok(Action::Done)
    }

    /// Writes a claim; gives the template as it is then.
    pub(super) async fn claim(&self, template: &Value, patch: &Patch) -> Result<Arc<Value>, Error> {
        let answer = write(&self.objects_of(template)?, template, patch).await?;
        Ok(match self.watches.of(&template.gvk()) {
            Some(handle) => self.context.ahead.note(&handle, answer),
            None => Arc::new(answer),
        })
    }

    fn works_of(&self, template: &Value) -> Vec<Arc<Value>> {
        let Some(binding) = self.binding_of(template) else { return Vec::new() };
        let id = binding.label(work::binding_label(&binding)).unwrap_or_default();
        self.context.kinds.works.by_index(BY_ID, id)
    }

    /// The template has its binding.
    fn is_bound(&self, template: &Value) -> bool {
        self.binding_of(template).is_some_and(|binding| {
            !binding.is_deleting()
                && str_at(&binding, &["spec", "resource", "uid"]) == template.uid()
                && Claim::on(&binding) == Claim::on(template)
        })
    }

    pub(super) fn objects_of(&self, object: &Value) -> Result<Objects, Error> {
        let gvk = object.gvk();
        let table = self.context.apis.table();
        match table.resolve(&gvk) {
            Some(served) => Ok(self.context.objects(&served.gvr)),
            None => Err(Error::Template(crate::context::TemplateError::NotServed(gvk))),
        }
    }

    fn replicas(&self, template: &Value) -> Result<Option<Replica>, Error> {
        let replica = compute(|| self.context.interpreters.interpret_replica(template));
        let told = replica.inspect_err(|error| {
            self.recorder.warning(template, events::GET_REPLICAS_FAILED, error.to_string());
        });
        Ok(told?)
    }

    async fn facts(&self, template: &Value, policy: &Value) -> Result<Facts, Error> {
        let gates = self.context.options.gates;
        let mut facts = Facts { affinity_groups: gates.workload_affinity, ..Facts::default() };
        let mut components = None;
        if gates.components {
            let told = compute(|| self.context.interpreters.interpret_component(template));
            components = told.inspect_err(|error| {
                self.recorder.warning(template, events::GET_COMPONENTS_FAILED, error.to_string());
            })?;
        }
        // What is made of components has no replicas of its own.
        if let Some(components) = components {
            facts.components =
                components.iter().filter_map(|component| serde_json::to_value(component).ok()).collect();
        } else if let Some(replica) = self.replicas(template)? {
            facts.replicas = i64::from(replica.replicas);
            facts.requirements =
                replica.requirements.and_then(|requirements| serde_json::to_value(requirements).ok());
        }
        let class = str_at(policy, &["spec", "schedulePriority", "priorityClassName"]);
        if !class.is_empty() && gates.priorities {
            let found = self.context.objects(&PRIORITY_CLASSES).get("", class).await?;
            let Some(found) = found else {
                let policy = names::namespaced(policy.namespace(), policy.name());
                return Err(Error::MissingPriorityClass { policy, class: class.to_owned() });
            };
            facts.priority = found.get("value").and_then(Value::as_i64);
        }
        Ok(facts)
    }

    /// Whether anything was written.
    async fn write_binding(&self, desired: Value) -> Result<bool, Error> {
        let (handle, gvr) = match desired.namespace() {
            "" => (&self.context.kinds.cluster_bindings, &*CLUSTER_BINDINGS),
            _ => (&self.context.kinds.bindings, &*BINDINGS),
        };
        let objects = self.context.objects(gvr);
        let merge = |held: Option<&Value>| Ok::<_, Error>(binding::merge(held, desired.clone())?);
        let key = ObjectKey::of(&desired);
        Ok(put(&self.context.ahead, (handle, &objects), &key, &GUARDS, merge).await?.is_some())
    }

    /// Takes a claim back: first on the binding, so that a half-done release is found again.
    async fn release(&self, template: &Value, held: &Claim, patch: Option<Patch>) -> Result<(), Error> {
        if let Some(binding) = self.binding_of(template)
            && let Some(patch) = claim::release(&binding, held.scope, &held.id)
        {
            let gvr = if binding.namespace().is_empty() { &*CLUSTER_BINDINGS } else { &*BINDINGS };
            write(&self.context.objects(gvr), &binding, &patch).await?;
        }
        if let Some(patch) = patch {
            write(&self.objects_of(template)?, template, &patch).await?;
        }
        let kind = match held.scope {
            Scope::Namespaced => "PropagationPolicy",
            Scope::Cluster => "ClusterPropagationPolicy",
        };
        tracing::info!(
            kind = template.kind(),
            namespace = template.namespace(),
            name = template.name(),
            policy = held.name,
            "released from its {kind}"
        );
        Ok(())
    }

    pub(super) fn binding_of(&self, template: &Value) -> Option<Arc<Value>> {
        let kinds = &self.context.kinds;
        let handle = if template.namespace().is_empty() { &kinds.cluster_bindings } else { &kinds.bindings };
        let name = names::binding(template.kind(), template.name());
        self.context.ahead.get(handle, &ObjectKey::new(template.namespace(), name))
    }
}

impl Policies {
    fn borrow(&self) -> [Vec<&Value>; 4] {
        let all = [&self.policies, &self.cluster_policies, &self.overrides, &self.cluster_overrides];
        all.map(|list| list.iter().map(AsRef::as_ref).collect())
    }
}

/// Whether a template's spec has been changed since its Works were made of it: by a user, while nobody was looking.
fn is_ahead(template: &Value, works: &[Arc<Value>]) -> bool {
    let made_of = |work: &Arc<Value>| {
        let manifest = work.pointer("/spec/workload/manifests/0")?;
        manifest.annotation(ANNOTATION_TEMPLATE_GENERATION)?.parse::<i64>().ok()
    };
    works.iter().filter_map(made_of).any(|generation| generation < template.generation())
}

/// Carries a patch out; an object that is gone, or is another's by now, is no error.
pub(super) async fn write(objects: &Objects, object: &Value, patch: &Patch) -> Result<Value, kube::Error> {
    let (namespace, name) = (object.namespace(), object.name());
    let written = match patch {
        Patch::Merge(patch) => objects.patch_merge(namespace, name, patch).await,
        Patch::Json(patch) => objects.patch_json(namespace, name, patch).await,
    };
    match written {
        Err(error) if matches!(code(&error), Some(404 | 422)) && matches!(patch, Patch::Json(_)) => {
            Ok(object.clone())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_users_changed_while_nobody_looked() {
        let work = |generation: &str| {
            let manifest = json!({"metadata": {"annotations": {ANNOTATION_TEMPLATE_GENERATION: generation}}});
            Arc::new(json!({"spec": {"workload": {"manifests": [manifest]}}}))
        };
        let template = json!({"metadata": {"generation": 3}});
        for (works, expected) in [
            (vec![], false),
            (vec![work("3")], false),
            (vec![work("3"), work("2")], true),
            (vec![work("odd")], false),
        ] {
            assert_eq!(is_ahead(&template, &works), expected, "{works:?}");
        }
        // Kinds without generations don't tell.
        assert!(!is_ahead(&json!({"metadata": {}}), &[work("1")]));
    }
}
