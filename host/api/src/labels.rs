//! Labels, annotations, finalizers, taints, namespaces and fixed words of the API (spec 01 §14, 03 §1.2).

// Labels.

/// Identity of a PropagationPolicy; on it, on templates it claims and on their bindings.
pub const LABEL_POLICY_ID: &str = "propagationpolicy.karmada.io/permanent-id";
/// Identity of a ClusterPropagationPolicy; on it, on templates it claims and on their bindings.
pub const LABEL_CLUSTER_POLICY_ID: &str = "clusterpropagationpolicy.karmada.io/permanent-id";
/// Identity of a ResourceBinding; on it, its Works, their manifests and member objects.
pub const LABEL_BINDING_ID: &str = "resourcebinding.karmada.io/permanent-id";
/// Identity of a ClusterResourceBinding; on it, its Works, their manifests and member objects.
pub const LABEL_CLUSTER_BINDING_ID: &str = "clusterresourcebinding.karmada.io/permanent-id";
/// Identity of a Work; on it, its manifests and member objects.
pub const LABEL_WORK_ID: &str = "work.karmada.io/permanent-id";
/// Identity of a MultiClusterService.
pub const LABEL_MULTI_CLUSTER_SERVICE_ID: &str = "multiclusterservice.karmada.io/permanent-id";
/// On a binding that no policy made: who did.
pub const LABEL_BINDING_MANAGED_BY: &str = "binding.karmada.io/managed-by";
/// On a template that policies must leave alone: who has it.
pub const LABEL_CLAIMED_BY: &str = "resourcetemplate.karmada.io/claimed-by";
/// On a template (`true`): members keep their number of replicas.
pub const LABEL_RETAIN_REPLICAS: &str = "resourcetemplate.karmada.io/retain-replicas";
/// On any object (`Always`): it can't be deleted.
pub const LABEL_DELETION_PROTECTED: &str = "resourcetemplate.karmada.io/deletion-protected";
/// On a Namespace (`true`): it isn't created in members.
pub const LABEL_SKIP_AUTO_PROPAGATION: &str = "namespace.karmada.io/skip-auto-propagation";
/// On manifests and member objects (`true`): ours.
pub const LABEL_MANAGED: &str = "karmada.io/managed";
/// On the control plane's own objects (`true`).
pub const LABEL_SYSTEM: &str = "karmada.io/system";
/// On objects that an installation made.
pub const LABEL_BOOTSTRAPPING: &str = "karmada.io/bootstrapping";
/// On a Work with a reported EndpointSlice: the Service's namespace.
pub const LABEL_ENDPOINT_SLICE_NAMESPACE: &str = "endpointslice.karmada.io/namespace";
/// On a Work with a reported EndpointSlice: the Service's name.
pub const LABEL_ENDPOINT_SLICE_NAME: &str = "endpointslice.karmada.io/name";
/// On a Work with a reported EndpointSlice: which features need it.
pub const LABEL_ENDPOINT_SLICE_MANAGED_BY: &str = "endpointslice.karmada.io/managed-by";
/// On an EndpointSlice: who writes it.
pub const LABEL_KUBERNETES_ENDPOINT_SLICE_MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// On Works of a MultiClusterService: its namespace. An annotation on claimed Services.
pub const LABEL_MULTI_CLUSTER_SERVICE_NAMESPACE: &str = "multiclusterservice.karmada.io/namespace";
/// On Works of a MultiClusterService: its name. An annotation on claimed Services.
pub const LABEL_MULTI_CLUSTER_SERVICE_NAME: &str = "multiclusterservice.karmada.io/name";
/// On Works of a FederatedResourceQuota: its namespace.
pub const LABEL_QUOTA_NAMESPACE: &str = "federatedresourcequota.karmada.io/namespace";
/// On Works of a FederatedResourceQuota: its name.
pub const LABEL_QUOTA_NAME: &str = "federatedresourcequota.karmada.io/name";
/// On attached bindings, followed by a hash (`names::depended_by_label`): identity of the binding attached to.
pub const DEPENDED_BY_PREFIX: &str = "resourcebinding.karmada.io/depended-by-";

// Annotations.

/// On templates and bindings: namespace of the claiming PropagationPolicy.
pub const ANNOTATION_POLICY_NAMESPACE: &str = "propagationpolicy.karmada.io/namespace";
/// On templates and bindings: name of the claiming PropagationPolicy.
pub const ANNOTATION_POLICY_NAME: &str = "propagationpolicy.karmada.io/name";
/// On templates and bindings: name of the claiming ClusterPropagationPolicy.
pub const ANNOTATION_CLUSTER_POLICY_NAME: &str = "clusterpropagationpolicy.karmada.io/name";
/// On bindings: the placement last scheduled, as JSON.
pub const ANNOTATION_APPLIED_PLACEMENT: &str = "policy.karmada.io/applied-placement";
/// On bindings: the affinity group that the clusters were chosen by. Windlass' own: written together with the clusters.
pub const ANNOTATION_AFFINITY_NAME: &str = "scheduler.windlass.io/affinity-name";
/// On Works: OverridePolicies that were applied, as JSON.
pub const ANNOTATION_APPLIED_OVERRIDES: &str = "policy.karmada.io/applied-overrides";
/// On Works: ClusterOverridePolicies that were applied, as JSON.
pub const ANNOTATION_APPLIED_CLUSTER_OVERRIDES: &str = "policy.karmada.io/applied-cluster-overrides";
/// On Works and manifests: namespace of the ResourceBinding.
pub const ANNOTATION_BINDING_NAMESPACE: &str = "resourcebinding.karmada.io/namespace";
/// On Works and manifests: name of the ResourceBinding.
pub const ANNOTATION_BINDING_NAME: &str = "resourcebinding.karmada.io/name";
/// On Works and manifests: name of the ClusterResourceBinding.
pub const ANNOTATION_CLUSTER_BINDING_NAME: &str = "clusterresourcebinding.karmada.io/name";
/// On manifests and member objects: namespace of the Work.
pub const ANNOTATION_WORK_NAMESPACE: &str = "work.karmada.io/namespace";
/// On manifests and member objects: name of the Work.
pub const ANNOTATION_WORK_NAME: &str = "work.karmada.io/name";
/// On templates, Works and manifests: `overwrite` or `abort`.
pub const ANNOTATION_CONFLICT_RESOLUTION: &str = "work.karmada.io/conflict-resolution";
/// On manifests: UID of the template.
pub const ANNOTATION_TEMPLATE_UID: &str = "resourcetemplate.karmada.io/uid";
/// On manifests: generation of the template.
pub const ANNOTATION_TEMPLATE_GENERATION: &str = "resourcetemplate.karmada.io/generation";
/// On manifests and member objects: label keys of ours, sorted, joined by commas.
pub const ANNOTATION_MANAGED_LABELS: &str = "resourcetemplate.karmada.io/managed-labels";
/// On manifests and member objects: annotation keys of ours, sorted, joined by commas.
pub const ANNOTATION_MANAGED_ANNOTATIONS: &str = "resourcetemplate.karmada.io/managed-annotations";
/// On bindings: what the template depends on, as JSON.
pub const ANNOTATION_DEPENDENCIES: &str = "resourcebinding.karmada.io/dependencies";
/// On dispatched EndpointSlices and their Works: the cluster they come from.
pub const ANNOTATION_PROVISION_CLUSTER: &str = "endpointslice.karmada.io/provision-cluster";
/// On objects out of the search cache: their cluster.
pub const ANNOTATION_CACHED_FROM_CLUSTER: &str = "resource.karmada.io/cached-from-cluster";
/// On metrics out of members: their cluster.
pub const ANNOTATION_QUERY_FROM_CLUSTER: &str = "resource.karmada.io/query-from-cluster";

// Finalizers.

/// On Clusters: Works and execution namespace go first.
pub const FINALIZER_CLUSTER: &str = "karmada.io/cluster-controller";
/// On Works: member objects go first.
pub const FINALIZER_EXECUTION: &str = "karmada.io/execution-controller";
/// On ResourceBindings: Works go first.
pub const FINALIZER_BINDING: &str = "karmada.io/binding-controller";
/// On ClusterResourceBindings: Works go first.
pub const FINALIZER_CLUSTER_BINDING: &str = "karmada.io/cluster-resource-binding-controller";
/// On bindings with dependents: they are detached first.
pub const FINALIZER_DEPENDENCIES: &str = "karmada.io/binding-dependencies-distributor";
/// On Works with slices for a ServiceExport: derived slices go first.
pub const FINALIZER_ENDPOINT_SLICE: &str = "karmada.io/endpointslice-controller";
/// On Works with slices for a MultiClusterService: dispatched slices go first.
pub const FINALIZER_ENDPOINT_SLICE_DISPATCH: &str = "karmada.io/mcs-endpointslice-dispatch-controller";
/// On MultiClusterServices: Works go first.
pub const FINALIZER_MULTI_CLUSTER_SERVICE: &str = "karmada.io/multiclusterservice-controller";
/// On PropagationPolicies: claimed templates are released first.
pub const FINALIZER_POLICY: &str = "karmada.io/propagation-policy-controller";
/// On ClusterPropagationPolicies: claimed templates are released first.
pub const FINALIZER_CLUSTER_POLICY: &str = "karmada.io/cluster-propagation-policy-controller";

// Taints.

/// On Clusters that aren't ready; effect NoSchedule.
pub const TAINT_NOT_READY: &str = "cluster.karmada.io/not-ready";
/// On Clusters that don't answer; effect NoSchedule.
pub const TAINT_UNREACHABLE: &str = "cluster.karmada.io/unreachable";
/// On cordoned Clusters; effect NoSchedule.
pub const TAINT_UNSCHEDULABLE: &str = "cluster.karmada.io/unschedulable";

// Namespaces and names in members.

/// Namespace of the control plane's components.
pub const NAMESPACE_SYSTEM: &str = "karmada-system";
/// Namespace of members' credentials and leases.
pub const NAMESPACE_CLUSTER: &str = "karmada-cluster";
/// Namespaces that hold the Works of a cluster start so.
pub const EXECUTION_NAMESPACE_PREFIX: &str = "karmada-es-";
/// Service account, ClusterRole and ClusterRoleBinding of the impersonator in members.
pub const IMPERSONATOR: &str = "karmada-impersonator";

// Values.

/// The scheduler that handles bindings that name none.
pub const DEFAULT_SCHEDULER: &str = "default-scheduler";
/// Value of labels that are switches.
pub const VALUE_TRUE: &str = "true";
/// Value of the deletion protection label that protects.
pub const VALUE_ALWAYS: &str = "Always";
/// Value of the conflict resolution annotation: take over.
pub const CONFLICT_OVERWRITE: &str = "overwrite";
/// Value of the conflict resolution annotation: leave alone.
pub const CONFLICT_ABORT: &str = "abort";
/// Key of the bearer token in a cluster's Secret.
pub const SECRET_TOKEN: &str = "token";
/// Key of the CA certificates in a cluster's Secret.
pub const SECRET_CA_BUNDLE: &str = "caBundle";

// Evictions.

/// Reason of an eviction: a taint isn't tolerated.
pub const EVICTION_REASON_TAINT: &str = "TaintUntolerated";
/// Reason of an eviction: the workload failed.
pub const EVICTION_REASON_APPLICATION: &str = "ApplicationFailure";
/// Producer of an eviction because of a taint.
pub const EVICTION_PRODUCER_TAINT: &str = "TaintManager";
/// Producer of an eviction because a namespaced workload failed.
pub const EVICTION_PRODUCER_BINDING: &str = "resource-binding-application-failover-controller";
/// Producer of an eviction because a cluster-scoped workload failed.
pub const EVICTION_PRODUCER_CLUSTER_BINDING: &str =
    "cluster-resource-binding-application-failover-controller";

/// Metadata of ours that goes from a member object that stays behind: labels.
pub const OWNED_LABELS: &[&str] = &[
    LABEL_POLICY_ID,
    LABEL_CLUSTER_POLICY_ID,
    LABEL_BINDING_ID,
    LABEL_CLUSTER_BINDING_ID,
    LABEL_WORK_ID,
    LABEL_MANAGED,
];

/// Metadata of ours that goes from a member object that stays behind: annotations.
pub const OWNED_ANNOTATIONS: &[&str] = &[
    ANNOTATION_MANAGED_ANNOTATIONS,
    ANNOTATION_MANAGED_LABELS,
    ANNOTATION_POLICY_NAMESPACE,
    ANNOTATION_POLICY_NAME,
    ANNOTATION_CLUSTER_POLICY_NAME,
    ANNOTATION_BINDING_NAMESPACE,
    ANNOTATION_BINDING_NAME,
    ANNOTATION_CLUSTER_BINDING_NAME,
    ANNOTATION_TEMPLATE_UID,
    ANNOTATION_TEMPLATE_GENERATION,
    ANNOTATION_WORK_NAME,
    ANNOTATION_WORK_NAMESPACE,
    ANNOTATION_CONFLICT_RESOLUTION,
];
