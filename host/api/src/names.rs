//! Names of generated objects. Clients compute them too, so the formulas are a contract.

use crate::labels;

/// Letters of a hash in a name: no vowels, nothing that looks like another.
const ALPHABET: [u8; 27] = *b"bcdfghjklmnpqrstvwxz2456789";

/// FNV-1a, 32 bits, in decimal digits, each mapped to the alphabet: at most ten letters.
pub fn hash(text: &str) -> String {
    let sum = text.bytes().fold(2_166_136_261_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(16_777_619));
    sum.to_string()
        .bytes()
        .filter_map(|digit| ALPHABET.get(usize::from(digit) % ALPHABET.len()))
        .map(|b| char::from(*b))
        .collect()
}

/// Namespace in the control plane that holds the Works of a cluster.
pub fn execution_namespace(cluster: &str) -> String {
    format!("{}{cluster}", labels::EXECUTION_NAMESPACE_PREFIX)
}

/// The cluster of an execution namespace; None if the namespace is none.
pub fn cluster_of(namespace: &str) -> Option<&str> {
    namespace.strip_prefix(labels::EXECUTION_NAMESPACE_PREFIX)
}

/// Whether templates of this namespace are never propagated.
pub fn is_reserved_namespace(namespace: &str) -> bool {
    namespace == labels::NAMESPACE_SYSTEM
        || namespace == labels::NAMESPACE_CLUSTER
        || namespace.starts_with(labels::EXECUTION_NAMESPACE_PREFIX)
}

/// Name of the binding of a template. Neither namespace nor group is part of it.
pub fn binding(kind: &str, name: &str) -> String {
    format!("{}-{kind}", name.replace(':', ".")).to_lowercase()
}

/// Name of the Work of an object; `namespace` is empty for cluster-scoped ones. The group is no part of it.
pub fn work(kind: &str, name: &str, namespace: &str) -> String {
    let name = name.replace(':', ".").to_lowercase();
    let key = match namespace {
        "" => format!("{name}-{kind}"),
        _ => format!("{namespace}-{name}-{kind}"),
    };
    format!("{name}-{}", hash(&key.to_lowercase()))
}

/// The hash that stands for a binding in the key of a depended-by label.
pub fn binding_reference_key(namespace: &str, name: &str) -> String {
    hash(&namespaced(namespace, name))
}

/// Key of the label on an attached binding that names the binding it is attached to.
pub fn depended_by_label(namespace: &str, name: &str) -> String {
    format!("{}{}", labels::DEPENDED_BY_PREFIX, binding_reference_key(namespace, name))
}

/// Name of a policy that the command line makes for one object.
pub fn policy(namespace: &str, name: &str, group: &str, version: &str, kind: &str) -> String {
    policy_for(namespace, name, &format!("{group}/{version}, Kind={kind}"))
}

fn policy_for(namespace: &str, name: &str, gvk: &str) -> String {
    format!("{}-{}", name.replace(':', "."), hash(&format!("{namespace}{gvk}"))).to_lowercase()
}

/// `namespace/name`, or the name alone.
pub fn namespaced(namespace: &str, name: &str) -> String {
    match namespace {
        "" => name.to_owned(),
        _ => format!("{namespace}/{name}"),
    }
}

/// Service account in a member that the control plane acts as.
pub fn service_account(cluster: &str) -> String {
    format!("karmada-{cluster}")
}

/// Role or cluster role of that service account.
pub fn role(service_account: &str) -> String {
    format!("karmada-controller-manager:{service_account}")
}

/// Secret with the impersonator's token.
pub fn impersonation_secret(cluster: &str) -> String {
    format!("{cluster}-impersonator")
}

/// EndpointSlice collected from a cluster for a ServiceExport.
pub fn imported_endpoint_slice(cluster: &str, name: &str) -> String {
    format!("imported-{cluster}-{name}")
}

/// EndpointSlice dispatched from a provider cluster for a MultiClusterService.
pub fn dispatched_endpoint_slice(provider: &str, name: &str) -> String {
    format!("{provider}-{name}")
}

/// Service derived from a ServiceImport.
pub fn derived_service(name: &str) -> String {
    format!("derived-{name}")
}

/// Service of a cluster's estimator.
pub fn estimator_service(prefix: &str, cluster: &str) -> String {
    format!("{prefix}-{cluster}")
}

/// Deployment of a cluster's estimator.
pub fn estimator_deployment(cluster: &str) -> String {
    format!("karmada-scheduler-estimator-{cluster}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_the_specification() {
        assert_eq!(hash("ns-foorand"), "b4978784");
        assert_eq!(hash("shop/web-deployment"), "8546649456");
        assert_eq!(policy_for("ns-foo", "system:foo", "rand"), "system.foo-b4978784");
        assert_eq!(binding("ClusterRole", "system::tom"), "system..tom-clusterrole");
        assert_eq!(binding("Pods", "pod"), binding("pods", "Pod"));
        assert_eq!(work("Pod", "pod", ""), "pod-6c46fd8b9d");
        assert_eq!(work("pods", "Pod", "default"), "pod-5fdddc94c5");
        assert_eq!(work("Pods", "work:pod", "default"), "work.pod-85bc474696");
        assert_eq!(work("Deployment", "nginx", "default"), "nginx-687f7fb96f");
        assert_eq!(work("ClusterRole", "system:node", ""), "system.node-799967cd8f");
        assert_eq!(work("ClusterRole", "system:foo:Bar", ""), "system.foo.bar-5964d7bd5d");
        assert_eq!(work("Namespace", "default", ""), "default-5b5ccb595b");
        assert_eq!(binding_reference_key("prod-xxx", "mytest-deployment"), "5d6cf9f4c6");
        assert_eq!(binding_reference_key("", "mytest-deployment"), "5f6fd649fc");
        assert_ne!(binding_reference_key("a", "b-c"), binding_reference_key("a-b", "c"));
    }

    #[test]
    fn execution_namespaces() {
        assert_eq!(cluster_of(&execution_namespace("m1")), Some("m1"));
        assert_eq!(cluster_of("default"), None);
        assert!(is_reserved_namespace("karmada-es-m1") && is_reserved_namespace("karmada-system"));
        assert!(!is_reserved_namespace("karmada"));
    }
}
