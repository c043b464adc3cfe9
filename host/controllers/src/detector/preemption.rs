//! Policies with `preemption: Always`: they take templates from policies of lower priority.

use super::{Detector, Error, PolicyKey};
use serde_json::Value;
use std::sync::Arc;
use windlass_api::events;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;
use windlass_object::path::{list_at, str_at};
use windlass_policy::matching::{Level, is_preempting, priority, selector_level};
use windlass_policy::{Claim, Scope, claim, detect};
use windlass_runtime::{Change, Handle};

/// Policies that may have what a policy of their kind no longer deserves: its priority has just fallen below theirs.
pub(super) fn heirs(change: &Change, peers: &Handle) -> Vec<PolicyKey> {
    let (Some(old), Some(new)) = (&change.old, &change.new) else { return Vec::new() };
    let (before, now) = (priority(old), priority(new));
    if now >= before {
        return Vec::new();
    }
    let peers = if new.namespace().is_empty() { peers.list() } else { peers.list_in(new.namespace()) };
    let peers: Vec<&Value> = peers.iter().map(AsRef::as_ref).collect();
    let key = |policy: &Value| PolicyKey {
        namespace: policy.namespace().to_owned(),
        name: policy.name().to_owned(),
    };
    detect::heirs(&peers, before, now).into_iter().map(key).collect()
}

impl Detector {
    /// Claims what the policy takes from others; gives how many templates that were. Each claim brings its template back.
    pub(super) async fn preempt(&self, policy: &Value) -> Result<usize, Error> {
        if !is_preempting(policy) {
            return Ok(0);
        }
        let mut count = 0;
        for template in self.named(policy) {
            let holder = Claim::on(&template).and_then(|held| self.holder(&held));
            if !detect::preempts(policy, &template, holder.as_deref()) {
                continue;
            }
            let Some(patch) = claim::claim(&template, policy) else { continue };
            let name = windlass_api::names::namespaced(policy.namespace(), policy.name());
            let kind = Scope::of(policy).kind();
            if let Err(error) = self.claim(&template, &patch).await {
                let message = format!("{kind}({name}) preempted another policy in vain: {error}");
                self.recorder.warning(&*template, events::PREEMPT_POLICY_FAILED, message);
                return Err(error);
            }
            let from = holder.map(|holder| {
                let name = windlass_api::names::namespaced(holder.namespace(), holder.name());
                format!("{}({name})", Scope::of(&holder).kind())
            });
            let from = from.unwrap_or_else(|| "another policy".to_owned());
            let message = format!("{kind}({name}) preempted {from}");
            self.recorder.normal(&*template, events::PREEMPT_POLICY_SUCCEED, message);
            count += 1;
        }
        Ok(count)
    }

    /// Templates that the policy's selectors name.
    fn named(&self, policy: &Value) -> Vec<Arc<Value>> {
        let mut found = Vec::new();
        for selector in list_at(policy, &["spec", "resourceSelectors"]) {
            let part = |key: &str| str_at(selector, &[key]);
            let gvk = Gvk::from_api_version(part("apiVersion"), part("kind"));
            if part("name").is_empty() {
                continue;
            }
            match (part("namespace"), policy.namespace()) {
                ("", "") => {
                    let all = self.watches.of_kind(&gvk).unwrap_or_default();
                    found.extend(
                        all.into_iter().filter(|object| selector_level(selector, object) > Level::None),
                    );
                }
                ("", namespace) | (namespace, _) => {
                    found.extend(self.watches.get(&gvk, namespace, part("name")));
                }
            }
        }
        found
    }

    fn holder(&self, claim: &Claim) -> Option<Arc<Value>> {
        match claim.scope {
            Scope::Namespaced => self.context.kinds.policies.get(&claim.namespace, &claim.name),
            Scope::Cluster => self.context.kinds.cluster_policies.get("", &claim.name),
        }
    }
}
