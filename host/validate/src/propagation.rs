//! PropagationPolicy and ClusterPropagationPolicy: defaults, permanent id, finalizer; rules (spec 02 §5).

use serde_json::{Value, json};
use windlass_api::PropagationSpec;
use windlass_api::labels::{
    FINALIZER_CLUSTER_POLICY, FINALIZER_POLICY, LABEL_CLUSTER_POLICY_ID, LABEL_POLICY_ID,
};
use windlass_api::placement::ReplicaSchedulingType;
use windlass_api::policy::PreemptionBehavior;
use windlass_object::meta::Meta;
use windlass_object::path;

use crate::admit::Write;
use crate::denied::{Denied, Warning};
use crate::fields::{self, Errors};
use crate::{failover, permanent_id, placement};

pub(crate) fn admit(write: &Write<'_>, object: &mut Value, namespaced: bool) -> Result<Vec<Warning>, Denied> {
    let (label, finalizer) = match namespaced {
        true => (LABEL_POLICY_ID, FINALIZER_POLICY),
        false => (LABEL_CLUSTER_POLICY_ID, FINALIZER_CLUSTER_POLICY),
    };
    let namespace = if namespaced { object.namespace().to_owned() } else { String::new() };
    set_defaults(object, &namespace);
    if write.is_create() {
        permanent_id::renew(object, label);
        object.add_finalizer(finalizer);
    } else {
        keep_scheduler(write, object)?;
        permanent_id::keep(write, object, label)?;
    }
    if write.spec_is_exempt(object) {
        return Ok(Vec::new());
    }
    let spec: PropagationSpec = fields::spec(object)?;
    let mut errors = Errors::default();
    check(&spec, &namespace, &mut errors);
    errors.into_result()?;
    Ok(warnings(&spec))
}

/// Gives selectors without a namespace that of their policy; nothing for cluster-scoped policies.
pub(crate) fn default_namespaces(object: &mut Value, namespace: &str) {
    if namespace.is_empty() {
        return;
    }
    let selectors = path::get_mut(object, &["spec", "resourceSelectors"]).and_then(Value::as_array_mut);
    for selector in selectors.into_iter().flatten() {
        if path::str_at(selector, &["namespace"]).is_empty() {
            path::set(selector, &["namespace"], namespace.into());
        }
    }
}

/// Checks that selectors of a namespaced policy stay in its namespace.
pub(crate) fn check_namespaces(
    selectors: &[windlass_api::ResourceSelector],
    namespace: &str,
    errors: &mut Errors,
) {
    if namespace.is_empty() {
        return;
    }
    for (i, selector) in selectors.iter().enumerate() {
        if selector.namespace != namespace {
            let detail = format!("must be the policy's own namespace {namespace:?}");
            errors.invalid(&format!("spec.resourceSelectors[{i}].namespace"), &selector.namespace, detail);
        }
    }
}

fn set_defaults(object: &mut Value, namespace: &str) {
    default_namespaces(object, namespace);
    let constraints =
        path::get_mut(object, &["spec", "placement", "spreadConstraints"]).and_then(Value::as_array_mut);
    for constraint in constraints.into_iter().flatten() {
        let by_field = path::str_at(constraint, &["spreadByField"]);
        if by_field.is_empty() && path::str_at(constraint, &["spreadByLabel"]).is_empty() {
            path::set(constraint, &["spreadByField"], "cluster".into());
        }
        if path::i64_at(constraint, &["minGroups"]).unwrap_or_default() == 0 {
            path::set(constraint, &["minGroups"], 1.into());
        }
    }
    let selectors = path::list_at(object, &["spec", "resourceSelectors"]);
    let imports = selectors
        .iter()
        .any(|s| s.kind() == "ServiceImport" && s.api_version() == "multicluster.x-k8s.io/v1alpha1");
    if imports {
        path::set(object, &["spec", "propagateDeps"], true.into());
    }
    let strategy = ["spec", "placement", "replicaScheduling"];
    if let Some(scheduling) = path::get_mut(object, &strategy).filter(|s| s.is_object()) {
        let type_ = path::str_at(scheduling, &["replicaSchedulingType"]);
        let divided = type_.is_empty() || type_ == ReplicaSchedulingType::Divided.as_str();
        if divided && path::str_at(scheduling, &["replicaDivisionPreference"]).is_empty() {
            path::set(scheduling, &["replicaDivisionPreference"], "Weighted".into());
        }
    }
    failover::set_defaults(object);
}

fn keep_scheduler(write: &Write<'_>, object: &Value) -> Result<(), Denied> {
    let name = |object: &Value| match path::str_at(object, &["spec", "schedulerName"]) {
        "" => windlass_api::labels::DEFAULT_SCHEDULER.to_owned(),
        name => name.to_owned(),
    };
    let Some(old) = write.old else { return Ok(()) };
    let (before, after) = (name(old), name(object));
    if before != after {
        return Err(Denied::forbidden(format!(
            "spec.schedulerName is {before:?} and can't be changed to {after:?}; make a new policy instead"
        )));
    }
    Ok(())
}

fn check(spec: &PropagationSpec, namespace: &str, errors: &mut Errors) {
    placement::check(&spec.placement, "spec.placement", errors);
    failover::check(spec, errors);
    check_namespaces(&spec.resource_selectors, namespace, errors);
    if spec.preemption == Some(PreemptionBehavior::Always) {
        for (i, selector) in spec.resource_selectors.iter().enumerate() {
            if selector.name.is_empty() {
                let path = format!("spec.resourceSelectors[{i}].name");
                errors.invalid(&path, "", "a name is needed with preemption Always");
            }
        }
    }
    if let Some(suspension) = &spec.suspension
        && suspension.dispatching == Some(true)
        && suspension.dispatching_on_clusters.as_ref().is_some_and(|c| !c.cluster_names.is_empty())
    {
        let detail =
            "dispatching to all clusters is stopped; dispatchingOnClusters.clusterNames must be empty then";
        errors.invalid("spec.suspension", json!({ "dispatching": true }), detail);
    }
}

fn warnings(spec: &PropagationSpec) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if spec.association {
        warnings.push(Warning("spec.association has no effect; use spec.propagateDeps".into()));
    }
    for (i, toleration) in spec.placement.cluster_tolerations.iter().enumerate() {
        let exists = toleration.operator.as_deref() == Some("Exists");
        if exists && toleration.value.as_deref().is_some_and(|v| !v.is_empty()) {
            warnings.push(Warning(format!(
                "spec.placement.clusterTolerations[{i}]: the value has no effect with Exists"
            )));
        }
    }
    warnings
}
