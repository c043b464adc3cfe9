//! What the detector does with one template, one policy's change, or one policy's end. Plans only; the caller reads and
//! writes.

use serde_json::Value;
use windlass_api::labels::LABEL_CLAIMED_BY;
use windlass_object::Meta;
use windlass_object::path::list_at;

use crate::claim::{Claim, Scope, claim, release};
use crate::matching::{Level, choose, is_lazy, is_preempting, policy_level, priority};
use crate::patch::Patch;

/// The policies that a template may belong to.
#[derive(Debug, Clone, Copy)]
pub struct Catalog<'a> {
    /// PropagationPolicies of the template's namespace; none for a cluster-scoped template.
    pub policies: &'a [&'a Value],
    /// All ClusterPropagationPolicies.
    pub cluster_policies: &'a [&'a Value],
    /// OverridePolicies of the template's namespace.
    pub overrides: &'a [&'a Value],
    /// All ClusterOverridePolicies.
    pub cluster_overrides: &'a [&'a Value],
}

/// What to do with a template.
#[derive(Debug, Clone, PartialEq)]
pub enum Detection<'a> {
    /// Something else manages it; it waits for nothing.
    TakenAway,
    /// Its policy is gone: take back the claim, on the binding too.
    StaleClaim {
        /// Whose claim.
        claim: Claim,
        /// The change to the template.
        release: Option<Patch>,
    },
    /// Its policy no longer selects it: take back the claim, so that another policy may have it.
    NoLongerSelected {
        /// Whose claim.
        claim: Claim,
        /// The change to the template.
        release: Option<Patch>,
    },
    /// Its policy is being deleted: try again when it is gone.
    PolicyDeleting(Claim),
    /// An override policy that the policy depends on is missing: try again when it is there.
    MissingOverride {
        /// The policy.
        policy: &'a Value,
        /// The override policy's name.
        name: String,
    },
    /// This policy has it, or gets it: claim it, then write the binding.
    Apply {
        /// The policy.
        policy: &'a Value,
        /// The claim to write first, if it isn't there.
        claim: Option<Patch>,
        /// Whether a binding is written only after a user's change.
        lazy: bool,
    },
    /// No policy selects it: it waits for one.
    NoMatch,
}

/// Decides about one template.
pub fn detect<'a>(template: &Value, catalog: &Catalog<'a>) -> Detection<'a> {
    if template.label(LABEL_CLAIMED_BY).is_some_and(|by| !by.is_empty()) {
        return Detection::TakenAway;
    }
    if let Some(held) = Claim::on(template) {
        return detect_claimed(template, held, catalog);
    }
    let policy = choose(catalog.policies.iter().copied(), template)
        .filter(|_| !template.namespace().is_empty())
        .or_else(|| choose(catalog.cluster_policies.iter().copied(), template));
    match policy {
        Some(policy) => apply(template, policy, catalog),
        None => Detection::NoMatch,
    }
}

fn detect_claimed<'a>(template: &Value, held: Claim, catalog: &Catalog<'a>) -> Detection<'a> {
    let policies = match held.scope {
        Scope::Namespaced => catalog.policies,
        Scope::Cluster => catalog.cluster_policies,
    };
    let holder =
        policies.iter().find(|policy| policy.name() == held.name && policy.namespace() == held.namespace);
    let Some(policy) = holder else {
        let release = release(template, held.scope, &held.id);
        return Detection::StaleClaim { claim: held, release };
    };
    if policy.is_deleting() {
        return Detection::PolicyDeleting(held);
    }
    if policy_level(policy, template) == Level::None {
        let release = release(template, held.scope, &held.id);
        return Detection::NoLongerSelected { claim: held, release };
    }
    apply(template, policy, catalog)
}

fn apply<'a>(template: &Value, policy: &'a Value, catalog: &Catalog<'a>) -> Detection<'a> {
    if let Some(name) = missing_override(policy, catalog) {
        return Detection::MissingOverride { policy, name };
    }
    Detection::Apply { policy, claim: claim(template, policy), lazy: is_lazy(policy) }
}

/// The first of `spec.dependentOverrides` that doesn't exist.
pub fn missing_override(policy: &Value, catalog: &Catalog<'_>) -> Option<String> {
    let existing = match Scope::of(policy) {
        Scope::Namespaced => catalog.overrides,
        Scope::Cluster => catalog.cluster_overrides,
    };
    list_at(policy, &["spec", "dependentOverrides"])
        .iter()
        .filter_map(Value::as_str)
        .find(|name| !existing.iter().any(|have| have.name() == *name))
        .map(str::to_owned)
}

/// A template with the binding made for it, either of which may be gone.
#[derive(Debug, Clone, Copy)]
pub struct Claimed<'a> {
    /// The template.
    pub template: Option<&'a Value>,
    /// Its ResourceBinding or ClusterResourceBinding.
    pub binding: Option<&'a Value>,
}

/// The claims to take back from one pair; the binding's goes first, so that a half-done release is found again by the
/// template's label.
#[derive(Debug, Clone, PartialEq)]
pub struct Release<'a> {
    /// The object as it was read.
    pub object: &'a Value,
    /// Its change.
    pub patch: Patch,
}

/// What follows from a policy that was made or changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicyChange<'a> {
    /// Claims on what it no longer selects.
    pub releases: Vec<Release<'a>>,
    /// Templates that it has, to be looked at again.
    pub requeue: Vec<&'a Value>,
    /// Waiting templates that it selects, to be looked at again. If an override policy is missing the caller retries
    /// instead.
    pub wake: Vec<&'a Value>,
}

/// Works out what follows from a policy that was made or changed. `claimed` are the pairs that carry its id, `waiting` the
/// templates that no policy selected so far.
pub fn on_policy_change<'a>(
    policy: &Value,
    claimed: &[Claimed<'a>],
    waiting: &[&'a Value],
) -> PolicyChange<'a> {
    let mut change = PolicyChange::default();
    let (scope, id) = (Scope::of(policy), Claim::by(policy).id);
    for pair in claimed {
        let Some(template) = pair.template else { continue };
        if policy_level(policy, template) > Level::None {
            change.requeue.push(template);
        } else {
            change.releases.extend(release_pair(pair, scope, &id));
        }
    }
    change.wake =
        waiting.iter().copied().filter(|template| policy_level(policy, template) > Level::None).collect();
    change
}

/// Works out the claims to take back before a policy's finalizer may go. The bindings stay, with their clusters.
pub fn on_policy_deletion<'a>(policy: &Value, claimed: &[Claimed<'a>]) -> Vec<Release<'a>> {
    let (scope, id) = (Scope::of(policy), Claim::by(policy).id);
    claimed.iter().flat_map(|pair| release_pair(pair, scope, &id)).collect()
}

fn release_pair<'a>(pair: &Claimed<'a>, scope: Scope, id: &str) -> Vec<Release<'a>> {
    [pair.binding, pair.template]
        .into_iter()
        .flatten()
        .filter_map(|object| Some(Release { object, patch: release(object, scope, id)? }))
        .collect()
}

/// Whether a policy with `preemption: Always` takes a template from `holder`, the policy that has it now. An unclaimed
/// template is left to [`detect`].
pub fn preempts(policy: &Value, template: &Value, holder: Option<&Value>) -> bool {
    if !is_preempting(policy) || template.is_deleting() || policy_level(policy, template) == Level::None {
        return false;
    }
    let Some(held) = Claim::on(template) else { return false };
    let higher = || holder.is_some_and(|holder| priority(policy) > priority(holder));
    match (Scope::of(policy), held.scope) {
        (Scope::Namespaced, Scope::Cluster) => true,
        (Scope::Cluster, Scope::Namespaced) => false,
        _ => held != Claim::by(policy) && higher(),
    }
}

/// The policies that may preempt templates of one whose priority fell from `before` to `now`, highest first.
pub fn heirs<'a>(policies: &[&'a Value], before: i64, now: i64) -> Vec<&'a Value> {
    let mut heirs: Vec<&Value> = policies
        .iter()
        .copied()
        .filter(|policy| is_preempting(policy) && (now + 1..before).contains(&priority(policy)))
        .collect();
    heirs.sort_by(|a, b| priority(b).cmp(&priority(a)).then_with(|| a.name().cmp(b.name())));
    heirs
}
