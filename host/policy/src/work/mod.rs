//! The Works of a binding: for which clusters, with how many replicas, and what each of them holds. Order of steps for one
//! cluster: revise replicas (interpreter), [`set_completions`], overrides ([`crate::overrides::apply`]), then [`build`] and
//! [`merge`].

mod managed;
mod prune;
mod targets;

use serde_json::{Map, Value, json};
use windlass_api::labels::{
    ANNOTATION_APPLIED_CLUSTER_OVERRIDES, ANNOTATION_APPLIED_OVERRIDES, ANNOTATION_BINDING_NAME,
    ANNOTATION_BINDING_NAMESPACE, ANNOTATION_CLUSTER_BINDING_NAME, ANNOTATION_CONFLICT_RESOLUTION,
    ANNOTATION_TEMPLATE_GENERATION, ANNOTATION_TEMPLATE_UID, ANNOTATION_WORK_NAME, ANNOTATION_WORK_NAMESPACE,
    CONFLICT_ABORT, CONFLICT_OVERWRITE, FINALIZER_EXECUTION, LABEL_BINDING_ID, LABEL_CLUSTER_BINDING_ID,
    LABEL_MANAGED, VALUE_TRUE,
};
use windlass_api::names;
use windlass_object::Meta;
use windlass_object::path::{bool_at, list_at, str_at};

use crate::overrides::{Overridden, annotation};

pub use managed::record_managed_keys;
pub use prune::prune;
pub use targets::{
    Target, completions, direct_purges_pending, expected_clusters, is_workload, orphans, set_completions,
    targets,
};

/// Why a Work can't be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// It is being deleted.
    #[error("work {work} is being deleted; it is made again when it is gone")]
    Deleting {
        /// Namespace and name.
        work: String,
    },
    /// It belongs to another binding.
    #[error(
        "work {work} belongs to binding {other}, not to {binding}: names of works hold neither group nor version; \
         rename one of the two templates"
    )]
    OtherBinding {
        /// Namespace and name.
        work: String,
        /// Whose it is.
        other: String,
        /// Who wants it.
        binding: String,
    },
}

/// The label that holds a binding's id, on the binding, its Works and their manifests.
pub fn binding_label(binding: &Value) -> &'static str {
    if binding.namespace().is_empty() { LABEL_CLUSTER_BINDING_ID } else { LABEL_BINDING_ID }
}

/// The Work for one cluster. `overridden` holds the template's copy as that cluster gets it. `inject_state` is gate
/// `StatefulFailoverInjection`.
pub fn build(binding: &Value, cluster: &str, overridden: &Overridden, inject_state: bool) -> Value {
    let mut manifest = overridden.object.clone();
    let namespace = names::execution_namespace(cluster);
    let name = names::work(manifest.kind(), manifest.name(), manifest.namespace());
    let id = binding.label(binding_label(binding)).unwrap_or_default().to_owned();
    let conflict = conflict_resolution(&manifest, binding);
    let mut annotations: Vec<(&str, String)> = binding_annotations(binding);
    let generation = manifest.generation();
    if generation > 0 {
        manifest.set_annotation(ANNOTATION_TEMPLATE_GENERATION, &generation.to_string());
    }
    manifest.set_label(binding_label(binding), &id);
    for (key, value) in &annotations {
        manifest.set_annotation(key, value);
    }
    if inject_state {
        for (key, value) in preserved_state(binding, cluster) {
            manifest.set_label(key, value);
        }
    }
    manifest.set_label(LABEL_MANAGED, VALUE_TRUE);
    let uid = manifest.uid().to_owned();
    manifest.set_annotation(ANNOTATION_TEMPLATE_UID, &uid);
    manifest.set_annotation(ANNOTATION_WORK_NAME, &name);
    manifest.set_annotation(ANNOTATION_WORK_NAMESPACE, &namespace);
    manifest.set_annotation(ANNOTATION_CONFLICT_RESOLUTION, conflict);
    prune(&mut manifest);
    annotations.push((ANNOTATION_CONFLICT_RESOLUTION, conflict.to_owned()));
    let applied = [
        (ANNOTATION_APPLIED_CLUSTER_OVERRIDES, &overridden.cluster_rules),
        (ANNOTATION_APPLIED_OVERRIDES, &overridden.rules),
    ];
    annotations.extend(applied.into_iter().filter_map(|(key, rules)| Some((key, annotation(rules)?))));
    let annotations: Map<String, Value> =
        annotations.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    let labels: Map<String, Value> = [(binding_label(binding).to_owned(), id.into())].into_iter().collect();
    let mut work = json!({
        "apiVersion": "work.karmada.io/v1alpha1",
        "kind": "Work",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "annotations": annotations,
            "finalizers": [FINALIZER_EXECUTION],
        },
        "spec": {
            "workload": { "manifests": [manifest] },
            "suspendDispatching": is_suspended(binding, cluster),
            "preserveResourcesOnDeletion": bool_at(binding, &["spec", "preserveResourcesOnDeletion"]),
        },
    });
    record_managed_keys(&mut work);
    work
}

/// The Work to write, given the one that exists; nothing if that says it all. A new one is returned as it is.
///
/// # Errors
/// The existing Work is being deleted, or belongs to another binding.
pub fn merge(existing: Option<&Value>, desired: Value) -> Result<Option<Value>, WorkError> {
    let Some(existing) = existing else { return Ok(Some(desired)) };
    let work = names::namespaced(existing.namespace(), existing.name());
    if existing.is_deleting() {
        return Err(WorkError::Deleting { work });
    }
    let (other, binding) = (owner(existing), owner(&desired));
    if let (Some(other), Some(binding)) = (other, binding)
        && other != binding
    {
        return Err(WorkError::OtherBinding { work, other, binding });
    }
    let mut merged = existing.clone();
    for (key, value) in desired.labels() {
        merged.set_label(key, value);
    }
    for (key, value) in desired.annotations() {
        merged.set_annotation(key, value);
    }
    // Ours alone, so that they don't outlive the last override.
    for key in [ANNOTATION_APPLIED_OVERRIDES, ANNOTATION_APPLIED_CLUSTER_OVERRIDES] {
        if desired.annotation(key).is_none() {
            merged.remove_annotation(key);
        }
    }
    let missing: Vec<&str> = desired
        .finalizers()
        .into_iter()
        .filter(|finalizer| !existing.finalizers().contains(finalizer))
        .collect();
    if !missing.is_empty() {
        let mut finalizers: Vec<&str> = existing.finalizers().into_iter().chain(missing).collect();
        finalizers.sort_unstable();
        finalizers.dedup();
        merged.metadata_mut().insert("finalizers".to_owned(), finalizers.into());
    }
    if let (Some(fields), Some(spec)) = (merged.as_object_mut(), desired.get("spec")) {
        fields.insert("spec".to_owned(), spec.clone());
    }
    record_managed_keys(&mut merged);
    Ok((merged != *existing).then_some(merged))
}

/// The binding that a Work says it is of; nothing for Works of other origin.
fn owner(work: &Value) -> Option<String> {
    let name = work
        .annotation(ANNOTATION_BINDING_NAME)
        .or_else(|| work.annotation(ANNOTATION_CLUSTER_BINDING_NAME))?;
    Some(names::namespaced(work.annotation(ANNOTATION_BINDING_NAMESPACE).unwrap_or_default(), name))
}

/// Annotations that name the binding, on the Work and on its manifest.
pub fn binding_annotations(binding: &Value) -> Vec<(&'static str, String)> {
    if binding.namespace().is_empty() {
        return vec![(ANNOTATION_CLUSTER_BINDING_NAME, binding.name().to_owned())];
    }
    vec![
        (ANNOTATION_BINDING_NAMESPACE, binding.namespace().to_owned()),
        (ANNOTATION_BINDING_NAME, binding.name().to_owned()),
    ]
}

/// What to do with an object that is in the member already: the manifest's own word, else the binding's.
pub fn conflict_resolution(manifest: &Value, binding: &Value) -> &'static str {
    match manifest.annotation(ANNOTATION_CONFLICT_RESOLUTION) {
        Some(CONFLICT_OVERWRITE) => CONFLICT_OVERWRITE,
        Some(CONFLICT_ABORT) => CONFLICT_ABORT,
        _ if str_at(binding, &["spec", "conflictResolution"]) == "Overwrite" => CONFLICT_OVERWRITE,
        _ => CONFLICT_ABORT,
    }
}

/// Whether a binding's Work for this cluster is not to be dispatched now.
pub fn is_suspended(binding: &Value, cluster: &str) -> bool {
    bool_at(binding, &["spec", "suspension", "dispatching"])
        || list_at(binding, &["spec", "suspension", "dispatchingOnClusters", "clusterNames"])
            .iter()
            .any(|name| name.as_str() == Some(cluster))
}

/// Labels saved from a failed cluster, for the one cluster that takes over.
fn preserved_state<'a>(binding: &'a Value, cluster: &str) -> Vec<(&'a str, &'a str)> {
    let Some(task) = list_at(binding, &["spec", "gracefulEvictionTasks"]).last() else { return Vec::new() };
    let was_there =
        list_at(task, &["clustersBeforeFailover"]).iter().any(|name| name.as_str() == Some(cluster));
    if targets(binding).len() > 1 || str_at(task, &["purgeMode"]) != "Directly" || was_there {
        return Vec::new();
    }
    task.get("preservedLabelState")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
        .collect()
}
