//! One policy that was made, changed or deleted: claims to take back, templates to look at.

use super::inbox::Cause;
use super::templates::write;
use super::{Detector, Error, PolicyKey, TemplateKey, preemption};
use crate::kinds::{BINDINGS, BY_ID, CLUSTER_BINDINGS, CLUSTER_POLICIES, POLICIES};
use serde_json::Value;
use std::sync::Arc;
use windlass_api::labels::{FINALIZER_CLUSTER_POLICY, FINALIZER_POLICY};
use windlass_object::meta::Meta;
use windlass_policy::detect::{self, Claimed, Release};
use windlass_policy::matching::is_lazy;
use windlass_policy::{Claim, Scope};
use windlass_runtime::{Action, queue};

impl Detector {
    /// Policies bring themselves; overrides bring what depends on them.
    pub(super) fn watch_policies(&self) {
        let kinds = &self.context.kinds;
        for handle in [&kinds.policies, &kinds.cluster_policies] {
            let (queue, peers) = (self.policies.clone(), handle.clone());
            handle.on_change(move |change| {
                if !change.is_of_spec() || change.new.is_none() {
                    return;
                }
                queue.add(PolicyKey {
                    namespace: change.key.namespace.clone(),
                    name: change.key.name.clone(),
                });
                preemption::heirs(change, &peers).into_iter().for_each(|key| queue.add(key));
            });
        }
        for (overrides, policies) in
            [(&kinds.overrides, &kinds.policies), (&kinds.cluster_overrides, &kinds.cluster_policies)]
        {
            let (queue, policies) = (self.policies.clone(), policies.clone());
            overrides.on_change(move |change| {
                if change.old.is_some() {
                    return;
                }
                for policy in policies.list() {
                    let depends = policy.pointer("/spec/dependentOverrides").and_then(Value::as_array);
                    if depends.into_iter().flatten().any(|name| name.as_str() == Some(&change.key.name)) {
                        let (namespace, name) = (policy.namespace().to_owned(), policy.name().to_owned());
                        queue.add(PolicyKey { namespace, name });
                    }
                }
            });
        }
    }

    pub(super) async fn policy(self, key: PolicyKey) -> Result<Action, Error> {
        let handle = match key.namespace.as_str() {
            "" => &self.context.kinds.cluster_policies,
            _ => &self.context.kinds.policies,
        };
        let Some(policy) = handle.get(&key.namespace, &key.name) else {
            self.idle().remove(&key);
            return Ok(Action::Done);
        };
        let id = Claim::by(&policy).id;
        let templates = self.watches.claimed(&id);
        let bindings: Vec<Option<Arc<Value>>> =
            templates.iter().map(|template| self.binding_of(template)).collect();
        let mut claimed: Vec<Claimed<'_>> = templates
            .iter()
            .zip(&bindings)
            .map(|(template, binding)| Claimed { template: Some(template), binding: binding.as_deref() })
            .collect();
        // Bindings whose template is gone, or has been released already.
        let kinds = &self.context.kinds;
        let mut orphans = kinds.bindings.by_index(BY_ID, &id);
        orphans.extend(kinds.cluster_bindings.by_index(BY_ID, &id));
        orphans.retain(|binding| !bindings.iter().flatten().any(|known| known.uid() == binding.uid()));
        claimed.extend(orphans.iter().map(|binding| Claimed { template: None, binding: Some(binding) }));

        if policy.is_deleting() {
            let releases = detect::on_policy_deletion(&policy, &claimed);
            self.release_all(&releases).await?;
            return self.let_go(&policy).await;
        }
        let waiting: Vec<(TemplateKey, Arc<Value>)> = self
            .waiting()
            .iter()
            .filter_map(|key| Some((key.clone(), self.watches.get(&key.gvk, &key.namespace, &key.name)?)))
            .filter(|(key, _)| policy.namespace().is_empty() || key.namespace == policy.namespace())
            .collect();
        let waiting: Vec<&Value> = waiting.iter().map(|(_, template)| template.as_ref()).collect();
        let change = detect::on_policy_change(&policy, &claimed, &waiting);
        if self.has_found_objects(&key, &policy, &change) {
            self.preempt(&policy).await?;
            return Ok(Action::Done);
        }
        let cause = if is_lazy(&policy) { Cause::Unknown } else { Cause::Foreign };
        for template in change.requeue.iter().chain(&change.wake) {
            self.templates.add(TemplateKey::of(template), cause, queue::INITIAL);
        }
        self.release_all(&change.releases).await?;
        let preempted = self.preempt(&policy).await?;
        if change.requeue.is_empty() && change.wake.is_empty() && preempted == 0 {
            return Ok(self.without_objects(&key, &policy));
        }
        self.idle().remove(&key);
        Ok(Action::Done)
    }

    async fn release_all(&self, releases: &[Release<'_>]) -> Result<(), Error> {
        for release in releases {
            let object = release.object;
            let objects = match (object.api_version(), object.kind()) {
                ("work.karmada.io/v1alpha2", "ResourceBinding") => self.context.objects(&BINDINGS),
                ("work.karmada.io/v1alpha2", "ClusterResourceBinding") => {
                    self.context.objects(&CLUSTER_BINDINGS)
                }
                _ => self.objects_of(object)?,
            };
            write(&objects, object, &release.patch).await?;
        }
        Ok(())
    }

    async fn let_go(&self, policy: &Value) -> Result<Action, Error> {
        let (gvr, finalizer) = match Scope::of(policy) {
            Scope::Namespaced => (&*POLICIES, FINALIZER_POLICY),
            Scope::Cluster => (&*CLUSTER_POLICIES, FINALIZER_CLUSTER_POLICY),
        };
        if let Some(patch) = crate::finalizers::release(policy, &[finalizer]) {
            self.context.objects(gvr).patch_json(policy.namespace(), policy.name(), &patch).await?;
        }
        Ok(Action::Done)
    }
}
