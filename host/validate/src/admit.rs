//! The one entrance: by kind and operation.

use serde_json::Value;
use windlass_object::gvk::Gvk;
use windlass_object::meta::Meta;

use crate::denied::{Denied, Warning};
use crate::{
    binding, cluster, multi_cluster_service, overrides, propagation, protection, taint_policy, work,
};

/// What is done to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is new.
    Create,
    /// It is there already.
    Update,
    /// It goes.
    Delete,
}

/// Feature gates that admission depends on, with the reference's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gates {
    /// Clusters get the default resource models, and theirs are standardized.
    pub customized_cluster_resource_modeling: bool,
    /// Names of a binding's components are checked.
    pub multiple_pod_templates_scheduling: bool,
    /// ClusterTaintPolicies may add NoExecute taints.
    pub allow_no_execute_taint_policy: bool,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            customized_cluster_resource_modeling: true,
            multiple_pod_templates_scheduling: false,
            allow_no_execute_taint_policy: false,
        }
    }
}

/// Admits a write with the default gates: sets defaults, ids and finalizers in `object`, then checks it.
/// `old` is the stored object on update and delete; `object` isn't looked at on delete. Kinds that have no rules are admitted as they are.
///
/// Writes of subresources (`/status`) are not for admission.
pub fn admit(
    operation: Operation,
    gvk: &Gvk,
    object: &mut Value,
    old: Option<&Value>,
) -> Result<Vec<Warning>, Denied> {
    admit_with(Gates::default(), operation, gvk, object, old)
}

/// As `admit`, with other gates.
pub fn admit_with(
    gates: Gates,
    operation: Operation,
    gvk: &Gvk,
    object: &mut Value,
    old: Option<&Value>,
) -> Result<Vec<Warning>, Denied> {
    if operation == Operation::Delete {
        return protection::check(old.unwrap_or(object)).map(|()| Vec::new());
    }
    let write = Write { operation, old: old.filter(|_| operation == Operation::Update) };
    let (webhook, result) = match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("cluster.karmada.io", "Cluster") => (None, cluster::admit(gates, &write, object)),
        ("policy.karmada.io", "PropagationPolicy") => {
            (Some("propagationpolicy.karmada.io"), propagation::admit(&write, object, true))
        }
        ("policy.karmada.io", "ClusterPropagationPolicy") => {
            (Some("clusterpropagationpolicy.karmada.io"), propagation::admit(&write, object, false))
        }
        ("policy.karmada.io", "OverridePolicy") => {
            (Some("overridepolicy.karmada.io"), overrides::admit(&write, object, true))
        }
        ("policy.karmada.io", "ClusterOverridePolicy") => {
            (Some("clusteroverridepolicy.karmada.io"), overrides::admit(&write, object, false))
        }
        ("work.karmada.io", "ResourceBinding") => {
            (Some("resourcebinding.karmada.io"), binding::admit(gates, &write, object, true))
        }
        ("work.karmada.io", "ClusterResourceBinding") => {
            (Some("clusterresourcebinding.karmada.io"), binding::admit(gates, &write, object, false))
        }
        ("work.karmada.io", "Work") => (Some("work.karmada.io"), work::admit(object)),
        ("policy.karmada.io", "ClusterTaintPolicy") => {
            (Some("clustertaintpolicy.karmada.io"), taint_policy::admit(gates, &write, object))
        }
        ("networking.karmada.io", "MultiClusterService") => {
            (Some("multiclusterservice.karmada.io"), multi_cluster_service::admit(&write, object))
        }
        _ => return Ok(Vec::new()),
    };
    result.map_err(|denied| Denied { webhook, ..denied })
}

/// A creation or an update.
pub(crate) struct Write<'a> {
    pub(crate) operation: Operation,
    pub(crate) old: Option<&'a Value>,
}

impl Write<'_> {
    pub(crate) fn is_create(&self) -> bool {
        self.operation == Operation::Create
    }

    /// Whether the rules on `spec` don't apply: the object is being deleted, or its spec stays as it was. An object
    /// that was stored under older rules must be able to lose its finalizers.
    pub(crate) fn spec_is_exempt(&self, object: &Value) -> bool {
        object.is_deleting() || self.old.is_some_and(|old| old.get("spec") == object.get("spec"))
    }
}
