//! Bindings of what a workload depends on: attached to the workload's own binding, they go where it goes. The workload's
//! binding is called independent here; an attached one has no placement unless a policy of its own selects its object.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use windlass_api::labels::{FINALIZER_BINDING, LABEL_BINDING_ID};
use windlass_api::names;
use windlass_object::meta::controller_of;
use windlass_object::path::{bool_at, get, list_at, str_at};
use windlass_object::{LabelSelector, Meta};

use crate::binding::BindingError;

/// What referrers of one attached binding disagree about: names of spec fields.
pub type Disagreements = Vec<&'static str>;

/// The binding of a dependent object as one independent binding wants it.
pub fn attached(dependent: &Value, independent: &Value) -> Value {
    let label = names::depended_by_label(independent.namespace(), independent.name());
    let id = independent.label(LABEL_BINDING_ID).unwrap_or_default();
    let labels: Map<String, Value> = [(label, id.into())].into_iter().collect();
    json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {
            "name": names::binding(dependent.kind(), dependent.name()),
            "namespace": independent.namespace(),
            "labels": labels,
            "finalizers": [FINALIZER_BINDING],
            "ownerReferences": [{
                "apiVersion": dependent.api_version(), "kind": dependent.kind(), "name": dependent.name(),
                "uid": dependent.uid(), "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "resource": {
                "apiVersion": dependent.api_version(), "kind": dependent.kind(),
                "namespace": dependent.namespace(), "name": dependent.name(), "uid": dependent.uid(),
                "resourceVersion": dependent.resource_version(),
            },
            "requiredBy": [snapshot(independent)],
        },
    })
}

/// Where an independent binding goes.
fn snapshot(independent: &Value) -> Value {
    let mut snapshot = json!({"namespace": independent.namespace(), "name": independent.name()});
    let clusters = list_at(independent, &["spec", "clusters"]);
    if let (Some(fields), false) = (snapshot.as_object_mut(), clusters.is_empty()) {
        fields.insert("clusters".to_owned(), clusters.to_vec().into());
    }
    snapshot
}

/// The attached binding to write, given the one that exists; nothing if that says it all. `referrer` finds an independent
/// binding by namespace and name; one that is gone has no say.
///
/// # Errors
/// The existing binding belongs to another object.
pub fn merge<'a>(
    existing: Option<&Value>,
    desired: Value,
    referrer: impl Fn(&str, &str) -> Option<&'a Value>,
) -> Result<(Option<Value>, Disagreements), BindingError> {
    let mut merged = existing.cloned().unwrap_or_else(|| desired.clone());
    if let Some(existing) = existing {
        let (owner, wanted) = (controller_of(existing), controller_of(&desired));
        let uid =
            |reference: Option<&Value>| reference.map(|r| str_at(r, &["uid"]).to_owned()).unwrap_or_default();
        if owner.is_some() && uid(owner) != uid(wanted) {
            return Err(BindingError::OtherOwner {
                binding: names::namespaced(existing.namespace(), existing.name()),
                owner: uid(owner),
                template: uid(wanted),
            });
        }
        for (key, value) in desired.labels() {
            merged.set_label(key, value);
        }
        for finalizer in desired.finalizers() {
            merged.add_finalizer(finalizer);
        }
        merged
            .metadata_mut()
            .insert("ownerReferences".to_owned(), Value::Array(desired.owner_references().to_vec()));
        let mut required = list_at(existing, &["spec", "requiredBy"]).to_vec();
        for new in list_at(&desired, &["spec", "requiredBy"]) {
            match required.iter_mut().find(|have| same_binding(have, new)) {
                Some(have) => *have = new.clone(),
                None => required.push(new.clone()),
            }
        }
        if let Some(spec) = spec_of(&mut merged) {
            spec.insert("requiredBy".to_owned(), required.into());
            if let Some(resource) = get(&desired, &["spec", "resource"]) {
                spec.insert("resource".to_owned(), resource.clone());
            }
        }
    }
    let disagreements = settle(&mut merged, referrer);
    Ok(((existing != Some(&merged)).then_some(merged), disagreements))
}

/// The attached binding without one referrer; nothing if it doesn't name it. With the last referrer its clusters go.
pub fn detach<'a>(
    attached: &Value,
    independent_namespace: &str,
    independent_name: &str,
    referrer: impl Fn(&str, &str) -> Option<&'a Value>,
) -> Option<Value> {
    let mut left = attached.clone();
    left.remove_label(&names::depended_by_label(independent_namespace, independent_name));
    let spec = spec_of(&mut left)?;
    if let Some(required) = spec.get_mut("requiredBy").and_then(Value::as_array_mut) {
        required.retain(|have| {
            str_at(have, &["namespace"]) != independent_namespace
                || str_at(have, &["name"]) != independent_name
        });
        if required.is_empty() {
            spec.remove("requiredBy");
        }
    }
    settle(&mut left, referrer);
    (left != *attached).then_some(left)
}

/// Settles what the referrers want, unless the object's own policy says it.
fn settle<'a>(attached: &mut Value, referrer: impl Fn(&str, &str) -> Option<&'a Value>) -> Disagreements {
    if get(attached, &["spec", "placement"]).is_some_and(|placement| !placement.is_null()) {
        return Vec::new();
    }
    let required = list_at(attached, &["spec", "requiredBy"]);
    let referrers: Vec<&Value> = required
        .iter()
        .filter_map(|have| referrer(str_at(have, &["namespace"]), str_at(have, &["name"])))
        .collect();
    let nobody = required.is_empty();
    let overwrite =
        vote(&referrers, |binding| str_at(binding, &["spec", "conflictResolution"]) == "Overwrite");
    let preserve = vote(&referrers, |binding| bool_at(binding, &["spec", "preserveResourcesOnDeletion"]));
    let Some(spec) = spec_of(attached) else { return Vec::new() };
    if nobody {
        spec.remove("conflictResolution");
        spec.remove("preserveResourcesOnDeletion");
        return Vec::new();
    }
    let resolution = if overwrite.any { "Overwrite" } else { "Abort" };
    spec.insert("conflictResolution".to_owned(), resolution.into());
    spec.insert("preserveResourcesOnDeletion".to_owned(), preserve.any.into());
    [(overwrite, "conflictResolution"), (preserve, "preserveResourcesOnDeletion")]
        .into_iter()
        .filter_map(|(vote, field)| vote.mixed.then_some(field))
        .collect()
}

struct Vote {
    any: bool,
    mixed: bool,
}

fn vote(referrers: &[&Value], says: impl Fn(&Value) -> bool) -> Vote {
    let yes = referrers.iter().filter(|binding| says(binding)).count();
    Vote { any: yes > 0, mixed: yes > 0 && yes < referrers.len() }
}

/// Attached bindings that nothing in `dependencies` means any more. `template` finds an attached binding's object, for
/// selectors.
pub fn orphans<'a, 'b>(
    attached: &[&'a Value],
    dependencies: &[Value],
    template: impl Fn(&Value) -> Option<&'b Value>,
) -> Vec<&'a Value> {
    attached
        .iter()
        .copied()
        .filter(|binding| {
            let resource = get(binding, &["spec", "resource"]).unwrap_or(&Value::Null);
            !dependencies.iter().any(|dependency| {
                same_kind(dependency, resource)
                    && means(dependency, str_at(resource, &["name"]), || template(resource))
            })
        })
        .collect()
}

/// Whether a dependency means an object.
pub fn means_object(dependency: &Value, object: &Value) -> bool {
    str_at(dependency, &["apiVersion"]) == object.api_version()
        && str_at(dependency, &["kind"]) == object.kind()
        && str_at(dependency, &["namespace"]) == object.namespace()
        && means(dependency, object.name(), || Some(object))
}

/// By name if it has one, else by labels.
fn means<'a>(dependency: &Value, name: &str, object: impl Fn() -> Option<&'a Value>) -> bool {
    let wanted = str_at(dependency, &["name"]);
    if !wanted.is_empty() {
        return wanted == name;
    }
    let selector =
        get(dependency, &["labelSelector"]).and_then(|selector| LabelSelector::from_json(selector).ok());
    match (selector, object()) {
        (Some(selector), Some(object)) => selector.matches(|key| object.label(key)),
        _ => false,
    }
}

/// The value of the annotation that records dependencies: in a fixed order, so that it changes only when they do.
pub fn record(dependencies: &[Value]) -> String {
    let sorted: BTreeMap<String, &Value> =
        dependencies.iter().map(|entry| (entry.to_string(), entry)).collect();
    Value::Array(sorted.into_values().cloned().collect()).to_string()
}

fn same_kind(a: &Value, b: &Value) -> bool {
    ["apiVersion", "kind", "namespace"].iter().all(|key| str_at(a, &[key]) == str_at(b, &[key]))
}

fn same_binding(a: &Value, b: &Value) -> bool {
    ["namespace", "name"].iter().all(|key| str_at(a, &[key]) == str_at(b, &[key]))
}

fn spec_of(binding: &mut Value) -> Option<&mut Map<String, Value>> {
    binding.get_mut("spec")?.as_object_mut()
}
