//! Whether a policy selects a template, how precisely, and which of several policies gets it.

use std::cmp::Reverse;

use serde_json::Value;
use windlass_object::path::{i64_at, list_at, str_at};
use windlass_object::{LabelSelector, Meta};

/// How precisely a selector means an object; a policy's own level is the highest of its selectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    /// Not at all.
    #[default]
    None,
    /// Every object of the kind.
    All,
    /// By labels.
    Label,
    /// By name.
    Name,
}

/// How precisely one entry of `resourceSelectors` means an object.
pub fn selector_level(selector: &Value, object: &Value) -> Level {
    let field = |key: &str| selector.get(key).and_then(Value::as_str).unwrap_or_default();
    if field("apiVersion") != object.api_version() || field("kind") != object.kind() {
        return Level::None;
    }
    let namespace = field("namespace");
    if !namespace.is_empty() && namespace != object.namespace() {
        return Level::None;
    }
    let name = field("name");
    if !name.is_empty() {
        return if name == object.name() { Level::Name } else { Level::None };
    }
    match selector.get("labelSelector").filter(|selector| !selector.is_null()) {
        None => Level::All,
        Some(labels) => match LabelSelector::from_json(labels) {
            Ok(labels) if labels.matches(|key| object.label(key)) => Level::Label,
            _ => Level::None,
        },
    }
}

/// How precisely a policy means an object: the best of its `spec.resourceSelectors`.
pub fn policy_level(policy: &Value, object: &Value) -> Level {
    list_at(policy, &["spec", "resourceSelectors"])
        .iter()
        .map(|selector| selector_level(selector, object))
        .max()
        .unwrap_or_default()
}

/// `spec.priority`; 0 if absent.
pub fn priority(policy: &Value) -> i64 {
    i64_at(policy, &["spec", "priority"]).unwrap_or(0)
}

/// Whether `spec.activationPreference` is `Lazy`.
pub fn is_lazy(policy: &Value) -> bool {
    str_at(policy, &["spec", "activationPreference"]) == "Lazy"
}

/// Whether `spec.preemption` is `Always`.
pub fn is_preempting(policy: &Value) -> bool {
    str_at(policy, &["spec", "preemption"]) == "Always"
}

/// Of policies of one kind the one that gets an unclaimed object: the highest `spec.priority`, then the most precise, then
/// the first by name. Policies being deleted take no part.
pub fn choose<'a>(policies: impl IntoIterator<Item = &'a Value>, object: &Value) -> Option<&'a Value> {
    policies
        .into_iter()
        .filter(|policy| !policy.is_deleting())
        .map(|policy| (policy_level(policy, object), policy))
        .filter(|(level, _)| *level > Level::None)
        .max_by_key(|(level, policy)| (priority(policy), *level, Reverse(policy.name())))
        .map(|(_, policy)| policy)
}
