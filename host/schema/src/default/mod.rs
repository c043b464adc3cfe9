//! Defaults of built-in kinds that depend on more than the field's own absence, as kube-apiserver sets them when it
//! decodes an object. What admission, strategies and allocators add later (names, IPs, owners) is not done here.

mod admission;
mod autoscale;
mod core;
mod network;
mod pod;
mod workload;

use serde_json::{Map, Value};
use windlass_object::Gvk;

/// Sets the defaults of a built-in kind; other kinds are left alone. Doing it twice changes nothing.
pub fn apply(gvk: &Gvk, object: &mut Value) {
    let Some(object) = object.as_object_mut() else { return };
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Pod") => pod::pod(object),
        ("", "PodTemplate") => pod::template(object),
        ("", "ReplicationController") => workload::replication_controller(object),
        ("apps", "Deployment") => workload::deployment(object),
        ("apps", "StatefulSet") => workload::stateful_set(object),
        ("apps", "DaemonSet") => workload::daemon_set(object),
        ("apps", "ReplicaSet") => workload::replica_set(object),
        ("batch", "Job") => workload::job(object),
        ("batch", "CronJob") => workload::cron_job(object),
        ("", "Service") => network::service(object),
        ("", "Endpoints") => network::endpoints(object),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(object),
        ("networking.k8s.io", "NetworkPolicy") => network::network_policy(object),
        ("networking.k8s.io", "IngressClass") => network::ingress_class(object),
        ("", "Secret") => core::secret(object),
        ("", "Namespace") => core::namespace(object),
        ("", "Node") => core::node(object),
        ("", "PersistentVolumeClaim") => core::claim(object),
        ("", "PersistentVolume") => core::volume(object),
        ("", "LimitRange") => core::limit_range(object),
        ("", "ResourceQuota") => core::resource_quota(object),
        ("storage.k8s.io", "StorageClass") => core::storage_class(object),
        ("storage.k8s.io", "CSIDriver") => core::csi_driver(object),
        ("scheduling.k8s.io", "PriorityClass") => core::priority_class(object),
        ("authentication.k8s.io", "TokenRequest") => core::token_request(object),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => core::role_binding(object),
        ("autoscaling", "HorizontalPodAutoscaler") if gvk.version == "v1" => autoscale::v1(object),
        ("autoscaling", "HorizontalPodAutoscaler") => autoscale::v2(object),
        ("admissionregistration.k8s.io", kind) => admission::registration(kind, object),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => admission::flow_schema(object),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => admission::priority_level(object),
        ("resource.k8s.io", "ResourceClaim") => core::device_claim(object.made("spec")),
        ("resource.k8s.io", "ResourceClaimTemplate") => core::device_claim(object.made("spec").made("spec")),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => admission::crd(object),
        ("apiregistration.k8s.io", "APIService") => admission::api_service(object),
        _ => {}
    }
}

/// The few ways in which defaults touch a JSON object.
trait Fields {
    /// Sets a field that is absent.
    fn set(&mut self, name: &str, value: impl Into<Value>);
    /// Sets a field that is absent or has its type's zero value, which Go can't tell from absent.
    fn fill(&mut self, name: &str, value: impl Into<Value>);
    /// A field's text, empty if absent.
    fn text(&self, name: &str) -> &str;
    /// Whether a field has a value.
    fn has(&self, name: &str) -> bool;
    /// A struct that is there.
    fn inner(&mut self, name: &str) -> Option<&mut Map<String, Value>>;
    /// A struct, made if it is absent. A value of another type is replaced; decoding has refused those before.
    fn made(&mut self, name: &str) -> &mut Map<String, Value>;
    /// Calls `each` with every struct of a list.
    fn each(&mut self, name: &str, each: impl FnMut(&mut Map<String, Value>));
}

impl Fields for Map<String, Value> {
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        if !self.has(name) {
            self.insert(name.to_owned(), value.into());
        }
    }

    fn fill(&mut self, name: &str, value: impl Into<Value>) {
        let zero = match self.get(name) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Number(number)) => number.as_i64() == Some(0),
            Some(_) => false,
        };
        if zero {
            self.insert(name.to_owned(), value.into());
        }
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_null())
    }

    fn inner(&mut self, name: &str) -> Option<&mut Map<String, Value>> {
        self.get_mut(name)?.as_object_mut()
    }

    fn made(&mut self, name: &str) -> &mut Map<String, Value> {
        let slot = self.entry(name).or_insert(Value::Null);
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        match slot {
            Value::Object(map) => map,
            _ => unreachable!("it was made an object just now"),
        }
    }

    fn each(&mut self, name: &str, each: impl FnMut(&mut Map<String, Value>)) {
        if let Some(Value::Array(list)) = self.get_mut(name) {
            list.iter_mut().filter_map(Value::as_object_mut).for_each(each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_kinds_are_left_alone() {
        let mut object = json!({"spec": {"replicas": null}});
        apply(&Gvk::new("example.com", "v1", "Deployment"), &mut object);
        assert_eq!(object, json!({"spec": {"replicas": null}}));
    }
}
