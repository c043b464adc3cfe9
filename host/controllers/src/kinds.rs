//! Addresses of the kinds that controllers read and write, and informers on them.

use serde_json::Value;
use std::sync::LazyLock;
use windlass_api::conditions;
use windlass_object::condition;
use windlass_object::gvk::Gvr;
use windlass_runtime::{Handle, Informers, Projection, Scope};

macro_rules! addresses {
    ($($(#[$doc:meta])* $name:ident = $group:literal / $version:literal / $resource:literal;)*) => {
        $($(#[$doc])* pub(crate) static $name: LazyLock<Gvr> = LazyLock::new(|| Gvr::new($group, $version, $resource));)*
    };
}

addresses! {
    /// Members.
    CLUSTERS = "cluster.karmada.io"/"v1alpha1"/"clusters";
    /// Policies of a namespace.
    POLICIES = "policy.karmada.io"/"v1alpha1"/"propagationpolicies";
    /// Policies of the whole control plane.
    CLUSTER_POLICIES = "policy.karmada.io"/"v1alpha1"/"clusterpropagationpolicies";
    /// Overrides of a namespace.
    OVERRIDES = "policy.karmada.io"/"v1alpha1"/"overridepolicies";
    /// Overrides of the whole control plane.
    CLUSTER_OVERRIDES = "policy.karmada.io"/"v1alpha1"/"clusteroverridepolicies";
    /// Bindings of namespaced templates.
    BINDINGS = "work.karmada.io"/"v1alpha2"/"resourcebindings";
    /// Bindings of cluster-scoped templates.
    CLUSTER_BINDINGS = "work.karmada.io"/"v1alpha2"/"clusterresourcebindings";
    /// Works.
    WORKS = "work.karmada.io"/"v1alpha1"/"works";
    /// Namespaces.
    NAMESPACES = ""/"v1"/"namespaces";
    /// Nodes of a member.
    NODES = ""/"v1"/"nodes";
    /// Pods of a member.
    PODS = ""/"v1"/"pods";
    /// Definitions of custom kinds.
    CRDS = "apiextensions.k8s.io"/"v1"/"customresourcedefinitions";
    /// Which plugins a scheduler runs.
    SCHEDULER_PROFILES = "plugins.windlass.io"/"v1alpha1"/"schedulerprofiles";
    /// Priority classes.
    PRIORITY_CLASSES = "scheduling.k8s.io"/"v1"/"priorityclasses";
}

/// Informers on our own kinds and on namespaces, shared by all controllers.
#[derive(Clone)]
pub struct Kinds {
    /// Members.
    pub clusters: Handle,
    /// PropagationPolicies.
    pub policies: Handle,
    /// ClusterPropagationPolicies.
    pub cluster_policies: Handle,
    /// OverridePolicies.
    pub overrides: Handle,
    /// ClusterOverridePolicies.
    pub cluster_overrides: Handle,
    /// ResourceBindings.
    pub bindings: Handle,
    /// ClusterResourceBindings.
    pub cluster_bindings: Handle,
    /// Works.
    pub works: Handle,
    /// Namespaces.
    pub namespaces: Handle,
    /// Definitions of custom kinds.
    pub definitions: Handle,
}

/// Index of Works and bindings: by the permanent id of the binding or policy they belong to.
pub(crate) const BY_ID: &str = "id";

/// Index of Works: by their cluster.
pub(crate) const BY_CLUSTER: &str = "cluster";

impl Kinds {
    pub(crate) fn new(informers: &Informers) -> Self {
        let kinds = Self {
            clusters: informers.watch(&*CLUSTERS),
            policies: informers.watch(&*POLICIES),
            cluster_policies: informers.watch(&*CLUSTER_POLICIES),
            overrides: informers.watch(&*OVERRIDES),
            cluster_overrides: informers.watch(&*CLUSTER_OVERRIDES),
            bindings: informers.watch(&*BINDINGS),
            cluster_bindings: informers.watch(&*CLUSTER_BINDINGS),
            works: informers.watch(&*WORKS),
            namespaces: informers.watch(&*NAMESPACES),
            definitions: informers.watch(&*CRDS),
        };
        kinds.add_indexes();
        kinds
    }

    fn add_indexes(&self) {
        use windlass_api::labels;
        use windlass_object::meta::Meta;
        let ids = |keys: &'static [&'static str]| {
            move |object: &Value| {
                keys.iter()
                    .filter_map(|key| object.label(key))
                    .filter(|id| !id.is_empty())
                    .map(str::to_owned)
                    .collect()
            }
        };
        self.works.add_index(BY_ID, ids(&[labels::LABEL_BINDING_ID, labels::LABEL_CLUSTER_BINDING_ID]));
        self.bindings.add_index(BY_ID, ids(&[labels::LABEL_POLICY_ID, labels::LABEL_CLUSTER_POLICY_ID]));
        self.cluster_bindings.add_index(BY_ID, ids(&[labels::LABEL_CLUSTER_POLICY_ID]));
        self.works.add_index(BY_CLUSTER, |work| {
            windlass_api::names::cluster_of(work.namespace()).map(str::to_owned).into_iter().collect()
        });
    }

    /// Whether a member is there and answers.
    pub(crate) fn is_ready(&self, cluster: &str) -> bool {
        self.clusters.get("", cluster).is_some_and(|cluster| is_ready(&cluster))
    }

    /// Waits until all have been read.
    pub(crate) async fn synced(&self) {
        for handle in self.all() {
            handle.synced().await;
        }
    }

    fn all(&self) -> [&Handle; 10] {
        [
            &self.clusters,
            &self.policies,
            &self.cluster_policies,
            &self.overrides,
            &self.cluster_overrides,
            &self.bindings,
            &self.cluster_bindings,
            &self.works,
            &self.namespaces,
            &self.definitions,
        ]
    }
}

/// Whether a member answers, as its Cluster's condition says.
pub(crate) fn is_ready(cluster: &Value) -> bool {
    condition::is_true(condition::of(cluster), conditions::READY)
}

/// Pods of a member, but only what their requests and places are made of: members have many.
pub(crate) fn pods_in_short() -> Scope {
    Scope::new(PODS.clone()).project(Projection { name: "requests", keep: requests_only })
}

fn requests_only(pod: &mut Value) {
    let metadata = ["name", "namespace", "uid", "resourceVersion"];
    if let Some(map) = pod.get_mut("metadata").and_then(Value::as_object_mut) {
        map.retain(|field, _| metadata.contains(&field.as_str()));
    }
    if let Some(map) = pod.get_mut("status").and_then(Value::as_object_mut) {
        map.retain(|field, _| field == "phase");
    }
    if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
        spec.retain(|field, _| {
            matches!(field.as_str(), "nodeName" | "containers" | "initContainers" | "overhead")
        });
        for field in ["containers", "initContainers"] {
            for container in spec.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(map) = container.as_object_mut() {
                    map.retain(|field, _| field == "resources");
                }
            }
        }
    }
}
