//! Facts about how objects of a kind are written: which have a generation, whose status
//! is reset, which may be updated without a resourceVersion.

/// How objects of a kind are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `metadata.generation` counts changes of everything but metadata and status.
    pub generation: bool,
    /// Changed annotations count as well (Deployments).
    pub generation_of_annotations: bool,
    /// The status of a new object is not the client's to set.
    pub resets_status: bool,
    /// An update without resourceVersion overwrites.
    pub unconditional_update: bool,
    /// An update of an absent object creates it.
    pub create_on_update: bool,
    /// The answer to a delete is the object.
    pub returns_deleted: bool,
    /// A delete that does not say otherwise leaves the dependents.
    pub orphans_by_default: bool,
}

const GENERATION: &[&str] = &[
    "Pod",
    "ReplicationController",
    "PodTemplate",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "Job",
    "CronJob",
    "Ingress",
    "IngressClass",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "CustomResourceDefinition",
    "EndpointSlice",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "PriorityClass",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "DeviceClass",
    "ResourceSlice",
];

const KEEPS_STATUS: &[&str] = &["Node", "APIService", "VolumeAttachment"];

const CONDITIONAL: &[&str] = &[
    "Lease",
    "CustomResourceDefinition",
    "APIService",
    "RuntimeClass",
    "CSIDriver",
    "CSINode",
    "VolumeAttachment",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
];

const CREATED_ON_UPDATE: &[&str] = &[
    "Endpoints",
    "Event",
    "Service",
    "LimitRange",
    "Lease",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
];

const RETURNED: &[&str] = &[
    "Pod",
    "Service",
    "ServiceAccount",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodTemplate",
    "ResourceQuota",
    "StorageClass",
    "VolumeAttachment",
    "CSINode",
    "CSIDriver",
    "CSIStorageCapacity",
];

impl Facts {
    /// Those of a built-in kind.
    pub fn builtin(kind: &str) -> Self {
        Self {
            generation: GENERATION.contains(&kind),
            generation_of_annotations: kind == "Deployment",
            resets_status: !KEEPS_STATUS.contains(&kind),
            unconditional_update: !CONDITIONAL.contains(&kind),
            create_on_update: CREATED_ON_UPDATE.contains(&kind),
            returns_deleted: RETURNED.contains(&kind),
            orphans_by_default: matches!(kind, "ReplicationController" | "Job"),
        }
    }

    /// Those of a custom resource.
    pub fn custom(status: bool) -> Self {
        Self { generation: true, resets_status: status, ..Self::default() }
    }
}

/// Field selectors of a built-in kind beside name and namespace, as path in the stored form.
pub fn selectable(group: &str, kind: &str) -> Vec<(String, Vec<String>)> {
    let plain: &[&str] = match kind {
        "Pod" => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        "Event" => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source.component",
            "type",
        ],
        "Secret" => &["type"],
        "Namespace" => &["status.phase"],
        "Node" => &["spec.unschedulable"],
        "Service" => &["spec.clusterIP", "spec.type"],
        "ReplicaSet" | "ReplicationController" => &["status.replicas"],
        "CertificateSigningRequest" => &["spec.signerName"],
        "ResourceSlice" => &["spec.nodeName", "spec.driver"],
        _ => &[],
    };
    let mut fields: Vec<(String, Vec<String>)> =
        plain.iter().map(|path| ((*path).to_owned(), path.split('.').map(str::to_owned).collect())).collect();
    if kind == "Job" {
        fields.push(("status.successful".into(), vec!["status".into(), "succeeded".into()]));
    }
    if kind == "Event" {
        for (name, path) in &mut fields {
            if name == "source.component" {
                *name = if group.is_empty() { "source".into() } else { "reportingController".into() };
                if !group.is_empty() {
                    *path = vec!["reportingComponent".into()];
                }
            } else if !group.is_empty() {
                *name = name.replace("involvedObject.", "regarding.");
            }
        }
    }
    fields
}
