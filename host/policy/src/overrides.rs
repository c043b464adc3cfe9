//! How one cluster's copy of an object differs from its template: which override policies apply, in which order, carried
//! out by transformers, and recorded rule by rule.

mod record;

use serde_json::Value;
use windlass_object::Meta;
use windlass_object::patch::{PatchError, apply_json_patch};
use windlass_object::path::{get, list_at};
use windlass_schedule::records::ClusterAffinity;

use crate::matching::{Level, policy_level};
use crate::transform::{ClusterFacts, Transform, TransformError};

pub use record::annotation;

/// The lists of a rule, in the order in which they are carried out.
pub const OVERRIDERS: [&str; 7] = [
    "imageOverrider",
    "commandOverrider",
    "argsOverrider",
    "labelsOverrider",
    "annotationsOverrider",
    "fieldOverrider",
    "plaintext",
];

/// One rule that applies to one cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<'a> {
    /// The policy.
    pub policy: &'a Value,
    /// Which of its rules; 0 for the deprecated form.
    pub rule: usize,
    /// The rule's `overriders`.
    pub overriders: &'a Value,
}

impl<'a> Step<'a> {
    /// Lists with elements, in the order in which they are carried out.
    pub fn lists(&self) -> impl Iterator<Item = (&'static str, &'a [Value])> {
        let overriders = self.overriders;
        OVERRIDERS
            .into_iter()
            .map(move |name| (name, list_at(overriders, &[name])))
            .filter(|(_, elements)| !elements.is_empty())
    }
}

/// The rules of policies of one kind for an object in a cluster. The least precise policy comes first, so that the most
/// precise has the last word; of equals the larger name.
pub fn plan<'a>(object: &Value, policies: &[&'a Value], cluster: &ClusterFacts) -> Vec<Step<'a>> {
    let mut chosen: Vec<(Level, &Value)> = policies
        .iter()
        .map(|policy| (level(policy, object), *policy))
        .filter(|(l, _)| *l > Level::None)
        .collect();
    chosen.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.name().cmp(y.name())));
    chosen.into_iter().flat_map(|(_, policy)| rules(policy, cluster)).collect()
}

/// Whether an override policy selects an object; one without selectors selects every object in its reach.
pub fn selects(policy: &Value, object: &Value) -> bool {
    level(policy, object) > Level::None
}

fn level(policy: &Value, object: &Value) -> Level {
    if list_at(policy, &["spec", "resourceSelectors"]).is_empty() {
        Level::All
    } else {
        policy_level(policy, object)
    }
}

fn rules<'a>(policy: &'a Value, cluster: &ClusterFacts) -> Vec<Step<'a>> {
    let means = |target: Option<&Value>| {
        target.filter(|t| !t.is_null()).is_none_or(|t| ClusterAffinity::from_value(t).matches(cluster))
    };
    let rules = list_at(policy, &["spec", "overrideRules"]);
    if rules.is_empty() {
        let deprecated =
            get(policy, &["spec", "overriders"]).filter(|_| means(get(policy, &["spec", "targetCluster"])));
        return deprecated.map(|overriders| Step { policy, rule: 0, overriders }).into_iter().collect();
    }
    (0..)
        .zip(rules)
        .filter(|(_, rule)| means(rule.get("targetCluster")))
        .filter_map(|(index, rule)| Some(Step { policy, rule: index, overriders: rule.get("overriders")? }))
        .collect()
}

/// A rule that was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedRule {
    /// Name of the policy.
    pub policy: String,
    /// Kind of the policy.
    pub kind: String,
    /// Which of its rules.
    pub rule: usize,
    /// The rule's `overriders`.
    pub overriders: Value,
    /// What it did: a JSON Patch for each list, so that a field can be traced to its rule.
    pub patches: Vec<(&'static str, Value)>,
}

/// An object as it is meant for one cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Overridden {
    /// The object.
    pub object: Value,
    /// Rules of ClusterOverridePolicies, as carried out.
    pub cluster_rules: Vec<AppliedRule>,
    /// Rules of OverridePolicies, as carried out.
    pub rules: Vec<AppliedRule>,
}

/// Why an object can't be overridden for a cluster. Nothing of it is used then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{kind} {policy}, rule {rule}, {overrider} for cluster {cluster}: {source}")]
pub struct OverrideError {
    /// Kind of the policy.
    pub kind: String,
    /// Namespace and name of the policy.
    pub policy: String,
    /// Which of its rules.
    pub rule: usize,
    /// Which list.
    pub overrider: &'static str,
    /// The cluster.
    pub cluster: String,
    /// What went wrong.
    pub source: Box<StepError>,
}

/// What went wrong with one list of one rule.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The transformer refused or failed.
    #[error(transparent)]
    Transform(#[from] TransformError),
    /// Its patch doesn't fit.
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// The result is no object any more.
    #[error("the result has no kind; an override may change an object, not remove it")]
    NoKind,
}

/// Applies cluster-wide policies, then the namespace's, to an object for a cluster. `policies` are those of the object's
/// namespace; for a cluster-scoped object there are none.
///
/// # Errors
/// The first rule that can't be carried out.
pub fn apply(
    object: Value,
    cluster_policies: &[&Value],
    policies: &[&Value],
    cluster: &ClusterFacts,
    transform: &dyn Transform,
) -> Result<Overridden, OverrideError> {
    let (object, cluster_rules) = carry_out(object, cluster_policies, cluster, transform)?;
    let policies = if object.namespace().is_empty() { &[] } else { policies };
    let (object, rules) = carry_out(object, policies, cluster, transform)?;
    Ok(Overridden { object, cluster_rules, rules })
}

fn carry_out(
    mut object: Value,
    policies: &[&Value],
    cluster: &ClusterFacts,
    transform: &dyn Transform,
) -> Result<(Value, Vec<AppliedRule>), OverrideError> {
    let mut applied = Vec::new();
    for step in plan(&object, policies, cluster) {
        let mut patches = Vec::new();
        for (overrider, elements) in step.lists() {
            let patch = one_list(&mut object, overrider, elements, cluster, transform).map_err(|source| {
                OverrideError {
                    kind: kind_of(step.policy).to_owned(),
                    policy: windlass_api::names::namespaced(step.policy.namespace(), step.policy.name()),
                    rule: step.rule,
                    overrider,
                    cluster: cluster.name.clone(),
                    source: Box::new(source),
                }
            })?;
            patches.push((overrider, patch));
        }
        applied.push(AppliedRule {
            policy: step.policy.name().to_owned(),
            kind: kind_of(step.policy).to_owned(),
            rule: step.rule,
            overriders: step.overriders.clone(),
            patches,
        });
    }
    Ok((object, applied))
}

fn one_list(
    object: &mut Value,
    overrider: &str,
    elements: &[Value],
    cluster: &ClusterFacts,
    transform: &dyn Transform,
) -> Result<Value, StepError> {
    let patch = transform.transform(object, overrider, elements, cluster)?;
    apply_json_patch(object, &patch)?;
    if object.kind().is_empty() {
        return Err(StepError::NoKind);
    }
    Ok(patch)
}

/// Objects out of a typed cache carry no kind; the scope tells.
fn kind_of(policy: &Value) -> &str {
    match (policy.kind(), policy.namespace()) {
        ("", "") => "ClusterOverridePolicy",
        ("", _) => "OverridePolicy",
        (kind, _) => kind,
    }
}
