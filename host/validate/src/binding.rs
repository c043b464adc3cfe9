//! Bindings: permanent id, recorded dependencies, component names, eviction tasks.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_api::labels::{ANNOTATION_DEPENDENCIES, LABEL_BINDING_ID, LABEL_CLUSTER_BINDING_ID};
use windlass_api::{DependentObjectReference, ResourceBindingSpec};
use windlass_object::meta::Meta;

use crate::admit::{Gates, Write};
use crate::denied::{Denied, Warning};
use crate::fields::{self, Errors};
use crate::permanent_id;

pub(crate) fn admit(
    gates: Gates,
    write: &Write<'_>,
    object: &mut Value,
    namespaced: bool,
) -> Result<Vec<Warning>, Denied> {
    if write.is_create() {
        permanent_id::ensure(object, if namespaced { LABEL_BINDING_ID } else { LABEL_CLUSTER_BINDING_ID });
    }
    if !namespaced {
        return Ok(Vec::new());
    }
    let mut errors = Errors::default();
    if let Some(text) = object.annotation(ANNOTATION_DEPENDENCIES)
        && let Err(error) = serde_json::from_str::<Vec<DependentObjectReference>>(text)
    {
        let detail = format!("must be a JSON list of object references: {error}");
        errors.invalid(&format!("metadata.annotations.{ANNOTATION_DEPENDENCIES}"), text, detail);
    }
    if !write.spec_is_exempt(object) {
        let spec: ResourceBindingSpec = fields::spec(object)?;
        check_spec(gates, &spec, &mut errors);
    }
    errors.into_result().map(|()| Vec::new())
}

fn check_spec(gates: Gates, spec: &ResourceBindingSpec, errors: &mut Errors) {
    for (i, task) in spec.graceful_eviction_tasks.iter().enumerate() {
        if task.grace_period_seconds.is_some() && task.suppress_deletion.is_some() {
            let path = format!("spec.gracefulEvictionTasks[{i}].gracePeriodSeconds");
            errors.invalid(&path, task.grace_period_seconds, "excludes suppressDeletion: set one of the two");
        }
    }
    if gates.multiple_pod_templates_scheduling {
        let mut names = BTreeSet::new();
        for (i, component) in spec.components.iter().enumerate() {
            let path = format!("spec.components[{i}].name");
            if component.name.is_empty() {
                errors.invalid(&path, &component.name, "a component needs a name");
            } else if !names.insert(&component.name) {
                errors.duplicate(&path, &component.name);
            }
        }
    }
}
