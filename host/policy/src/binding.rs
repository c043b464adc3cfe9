//! The binding of a template: what a policy and the interpreter say of it, and how that meets the binding that exists.

use serde_json::{Map, Value, json};
use windlass_api::labels::{
    ANNOTATION_CLUSTER_POLICY_NAME, FINALIZER_BINDING, FINALIZER_CLUSTER_BINDING, LABEL_CLUSTER_POLICY_ID,
};
use windlass_api::names;
use windlass_object::Meta;
use windlass_object::meta::controller_of;
use windlass_object::path::{get, str_at};

use crate::claim::{Claim, Scope};

/// What has to be found out before a binding can be built.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// From the interpreter; 0 if nobody can tell.
    pub replicas: i64,
    /// `ReplicaRequirements`, from the interpreter.
    pub requirements: Option<Value>,
    /// `Component`s, from the interpreter, with gate `MultiplePodTemplatesScheduling`.
    pub components: Vec<Value>,
    /// Value of the policy's priority class, with gate `PriorityBasedScheduling`.
    pub priority: Option<i64>,
    /// Gate `WorkloadAffinity`.
    pub affinity_groups: bool,
}

/// Why a binding can't be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// Another object of the same name has it.
    #[error(
        "binding {binding} belongs to {owner}, not to {template}: names of bindings hold neither group nor version; \
         rename one of the two, or wait until the other is gone"
    )]
    OtherOwner {
        /// The binding.
        binding: String,
        /// Who owns it.
        owner: String,
        /// Who wants it.
        template: String,
    },
    /// It is being deleted.
    #[error("binding {binding} is being deleted; it is made again when it is gone")]
    Deleting {
        /// The binding.
        binding: String,
    },
}

/// Spec fields that every apply sets to what policy and interpreter say, or removes.
const REFRESHED: [&str; 12] = [
    "resource",
    "replicas",
    "replicaRequirements",
    "components",
    "propagateDeps",
    "schedulerName",
    "placement",
    "failover",
    "conflictResolution",
    "preserveResourcesOnDeletion",
    "schedulePriority",
    "workloadAffinityGroups",
];

/// The binding as it would be made now: a ResourceBinding in the template's namespace, or a ClusterResourceBinding.
pub fn desired(template: &Value, policy: &Value, facts: &Facts) -> Value {
    let namespaced = !template.namespace().is_empty();
    let claim = Claim::by(policy);
    let mut metadata = json!({
        "name": names::binding(template.kind(), template.name()),
        "labels": pairs(&claim.labels()),
        "annotations": pairs(&claim.annotations()),
        "finalizers": [if namespaced { FINALIZER_BINDING } else { FINALIZER_CLUSTER_BINDING }],
        "ownerReferences": [{
            "apiVersion": template.api_version(),
            "kind": template.kind(),
            "name": template.name(),
            "uid": template.uid(),
            "controller": true,
            "blockOwnerDeletion": true,
        }],
    });
    if let Some(fields) = metadata.as_object_mut()
        && namespaced
    {
        fields.insert("namespace".to_owned(), template.namespace().into());
    }
    json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": if namespaced { "ResourceBinding" } else { "ClusterResourceBinding" },
        "metadata": metadata,
        "spec": spec(template, policy, facts),
    })
}

/// The binding to write, given the one that exists; nothing if that says it all. A new one is returned as it is.
///
/// # Errors
/// The existing binding belongs to another object, or is being deleted.
pub fn merge(existing: Option<&Value>, desired: Value) -> Result<Option<Value>, BindingError> {
    let Some(existing) = existing else { return Ok(Some(desired)) };
    check_owner(existing, &desired)?;
    let mut merged = existing.clone();
    for (key, value) in desired.labels() {
        merged.set_label(key, value);
    }
    for (key, value) in desired.annotations() {
        merged.set_annotation(key, value);
    }
    if Claim::on(&desired).is_some_and(|claim| claim.scope == Scope::Namespaced) {
        merged.remove_label(LABEL_CLUSTER_POLICY_ID);
        merged.remove_annotation(ANNOTATION_CLUSTER_POLICY_NAME);
    }
    for finalizer in desired.finalizers() {
        merged.add_finalizer(finalizer);
    }
    merged
        .metadata_mut()
        .insert("ownerReferences".to_owned(), Value::Array(desired.owner_references().to_vec()));
    let suspension =
        suspension(get(&desired, &["spec", "suspension"]), get(existing, &["spec", "suspension"]));
    if let Some(spec) = merged.get_mut("spec").and_then(Value::as_object_mut) {
        for field in REFRESHED {
            set(spec, field, get(&desired, &["spec", field]).cloned());
        }
        set(spec, "suspension", suspension);
    } else if let (Some(fields), Some(spec)) = (merged.as_object_mut(), desired.get("spec")) {
        fields.insert("spec".to_owned(), spec.clone());
    }
    Ok((merged != *existing).then_some(merged))
}

/// The policy's part of a binding's suspension, with `scheduling` kept, which belongs to others.
fn suspension(policy: Option<&Value>, before: Option<&Value>) -> Option<Value> {
    let mut merged = policy.and_then(Value::as_object).cloned().unwrap_or_default();
    let scheduling = before.and_then(|before| before.get("scheduling"));
    if let Some(scheduling) = scheduling {
        merged.insert("scheduling".to_owned(), scheduling.clone());
    }
    (policy.is_some() || scheduling.is_some()).then_some(Value::Object(merged))
}

fn check_owner(existing: &Value, desired: &Value) -> Result<(), BindingError> {
    let binding = names::namespaced(existing.namespace(), existing.name());
    let (owner, template) = (controller_of(existing), controller_of(desired));
    let part = |reference: Option<&Value>, key: &str| -> String {
        reference.map(|reference| str_at(reference, &[key])).unwrap_or_default().to_owned()
    };
    if owner.is_some() && part(owner, "uid") != part(template, "uid") {
        let describe = |reference: Option<&Value>| {
            let [version, kind, name, uid] =
                ["apiVersion", "kind", "name", "uid"].map(|key| part(reference, key));
            format!("{version} {kind} {name} ({uid})")
        };
        return Err(BindingError::OtherOwner {
            binding,
            owner: describe(owner),
            template: describe(template),
        });
    }
    if existing.is_deleting() {
        return Err(BindingError::Deleting { binding });
    }
    Ok(())
}

fn spec(template: &Value, policy: &Value, facts: &Facts) -> Value {
    let mut spec = Map::new();
    let mut resource = json!({
        "apiVersion": template.api_version(),
        "kind": template.kind(),
        "name": template.name(),
        "uid": template.uid(),
        "resourceVersion": template.resource_version(),
    });
    if let Some(fields) = resource.as_object_mut() {
        fields.insert("namespace".to_owned(), template.namespace().into());
        fields.retain(|_, value| value.as_str().is_none_or(|text| !text.is_empty()));
    }
    spec.insert("resource".to_owned(), resource);
    set(&mut spec, "replicas", (facts.replicas != 0).then(|| facts.replicas.into()));
    set(&mut spec, "replicaRequirements", facts.requirements.clone());
    let components = (!facts.components.is_empty()).then(|| facts.components.clone().into());
    set(&mut spec, "components", components);
    set(
        &mut spec,
        "placement",
        Some(get(policy, &["spec", "placement"]).cloned().unwrap_or_else(|| json!({}))),
    );
    for field in
        ["schedulerName", "failover", "conflictResolution", "preserveResourcesOnDeletion", "suspension"]
    {
        set(&mut spec, field, get(policy, &["spec", field]).filter(|value| !value.is_null()).cloned());
    }
    let propagate = get(policy, &["spec", "propagateDeps"]).filter(|value| **value == Value::Bool(true));
    set(&mut spec, "propagateDeps", propagate.cloned());
    // A cluster-scoped template's priority matters as much as any other's: it is set on both kinds of binding.
    set(&mut spec, "schedulePriority", facts.priority.map(|priority| json!({ "priority": priority })));
    if facts.affinity_groups {
        set(&mut spec, "workloadAffinityGroups", affinity_groups(template, policy));
    }
    Value::Object(spec)
}

/// The groups that the template's labels put it in.
fn affinity_groups(template: &Value, policy: &Value) -> Option<Value> {
    let mut groups = Map::new();
    for (term, group) in [("affinity", "affinityGroup"), ("antiAffinity", "antiAffinityGroup")] {
        let key = str_at(policy, &["spec", "placement", "workloadAffinity", term, "groupByLabelKey"]);
        if let Some(value) = template.label(key).filter(|_| !key.is_empty()) {
            groups.insert(group.to_owned(), format!("{key}={value}").into());
        }
    }
    (!groups.is_empty()).then_some(Value::Object(groups))
}

fn set(fields: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            fields.insert(key.to_owned(), value);
        }
        None => {
            fields.remove(key);
        }
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Value {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect::<Map<_, _>>().into()
}
