//! The kinds that a member's loops look after.

/// A kind of the table below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    Pod,
    Node,
    Claim,
    Service,
    Ingress,
}

/// Group, version, resource and kind of each, in the order of the enum.
const TABLE: [(Kind, &str, &str, &str, &str); 10] = [
    (Kind::Deployment, "apps", "v1", "deployments", "Deployment"),
    (Kind::ReplicaSet, "apps", "v1", "replicasets", "ReplicaSet"),
    (Kind::StatefulSet, "apps", "v1", "statefulsets", "StatefulSet"),
    (Kind::DaemonSet, "apps", "v1", "daemonsets", "DaemonSet"),
    (Kind::Job, "batch", "v1", "jobs", "Job"),
    (Kind::Pod, "", "v1", "pods", "Pod"),
    (Kind::Node, "", "v1", "nodes", "Node"),
    (Kind::Claim, "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
    (Kind::Service, "", "v1", "services", "Service"),
    (Kind::Ingress, "networking.k8s.io", "v1", "ingresses", "Ingress"),
];

impl Kind {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Kind> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Kind, &'static str, &'static str, &'static str, &'static str) {
        // The table has a row for each kind; the first stands in for none.
        TABLE.iter().find(|row| row.0 == self).unwrap_or(&TABLE[0])
    }

    /// `apps`; empty for the core group.
    pub(crate) fn group(self) -> &'static str {
        self.row().1
    }

    /// `v1`
    pub(crate) fn version(self) -> &'static str {
        self.row().2
    }

    /// `deployments`
    pub(crate) fn resource(self) -> &'static str {
        self.row().3
    }

    /// `Deployment`
    pub(crate) fn name(self) -> &'static str {
        self.row().4
    }

    /// The kind that an owner reference names, if it is one of these.
    pub(crate) fn named(kind: &str) -> Option<Kind> {
        TABLE.iter().find(|row| row.4 == kind).map(|row| row.0)
    }
}

/// An object of a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Key {
    /// A key.
    pub(crate) fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }
}
