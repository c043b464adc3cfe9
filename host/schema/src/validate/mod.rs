//! Is an object of a built-in kind valid, in the words that kubectl's users know? The rules that people meet: required
//! fields, names, enumerations, bounds, what refers to what, and what may not change. Rules that only a kubelet or a cloud
//! cares for are left out. Objects must be canonical, defaults included.

mod check;
mod config;
mod definition;
mod extend;
mod meta;
mod names;
mod network;
mod pod;
mod rbac;
mod scaling;
#[cfg(test)]
mod tests;
mod volumes;
mod workload;

use crate::field_error::FieldError;
use serde_json::Value;
use windlass_object::Gvk;

pub use names::{name, prefix};

pub(crate) use check::look;

use check::Check;

/// Faults beyond this many are not told: nobody reads them.
const MAX_ERRORS: usize = 50;

/// Everything wrong with a new object, or with its change from `old`. An update of `status` alone should not come here.
pub fn builtin(gvk: &Gvk, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut check = Check::default();
    meta::metadata(gvk, new, &mut check);
    if let Some(old) = old {
        meta::metadata_update(new, old, &mut check);
    }
    specific(gvk, new, old, &mut check);
    let mut errors = check.finish();
    errors.truncate(MAX_ERRORS);
    errors
}

fn specific(gvk: &Gvk, new: &Value, old: Option<&Value>, check: &mut Check) {
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Pod") => pod::pod(new, old, check),
        ("", "PodTemplate") => pod::spec(check, "template.spec", look(new, &["template", "spec"])),
        ("", "ReplicationController") => workload::replication_controller(new, check),
        ("apps", "Deployment") => workload::deployment(new, old, check),
        ("apps", "StatefulSet") => workload::stateful_set(new, old, check),
        ("apps", "DaemonSet") => workload::daemon_set(new, old, check),
        ("apps", "ReplicaSet") => workload::replica_set(new, old, check),
        ("batch", "Job") => workload::job(new, old, check),
        ("batch", "CronJob") => workload::cron_job(new, check),
        ("", "Service") => network::service(new, old, check),
        ("", "Endpoints") => network::endpoints(new, check),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(new, old, check),
        ("networking.k8s.io", "Ingress") => network::ingress(new, check),
        ("networking.k8s.io", "IngressClass") => network::ingress_class(new, old, check),
        ("networking.k8s.io", "NetworkPolicy") => network::network_policy(new, check),
        ("", "ConfigMap") => config::config_map(new, old, check),
        ("", "Secret") => config::secret(new, old, check),
        ("", "Namespace" | "ServiceAccount" | "LimitRange" | "ResourceQuota") => {
            config::small(&gvk.kind, new, check)
        }
        ("scheduling.k8s.io", "PriorityClass") => config::priority_class(new, old, check),
        ("coordination.k8s.io", "Lease") => config::lease(new, check),
        ("node.k8s.io", "RuntimeClass") => check.immutable("handler", new, old, &["handler"]),
        ("", "PersistentVolumeClaim") => volumes::claim(new, old, check),
        ("", "PersistentVolume") => volumes::volume(new, old, check),
        ("storage.k8s.io", "StorageClass") => volumes::storage_class(new, old, check),
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => rbac::role(gvk.kind == "Role", new, check),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            rbac::binding(gvk.kind == "RoleBinding", new, old, check)
        }
        ("autoscaling", "HorizontalPodAutoscaler") => scaling::autoscaler(new, check),
        ("policy", "PodDisruptionBudget") => scaling::budget(new, check),
        ("autoscaling", "Scale") => check.not_negative("spec.replicas", look(new, &["spec", "replicas"])),
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => extend::webhooks(new, check),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => extend::crd(new, old, check),
        ("apiregistration.k8s.io", "APIService") => extend::api_service(new, check),
        ("certificates.k8s.io", "CertificateSigningRequest") => extend::signing_request(new, check),
        _ => {}
    }
}
