//! Which operations are known of which kind.

use windlass_sdk::interpreter::{self, Operations};

/// A row of the table.
pub(crate) struct Rule(&'static str, &'static str, &'static [Operations]);

const REPLICA: Operations = Operations::INTERPRET_REPLICA;
const REVISE: Operations = Operations::REVISE_REPLICA;
const RETAIN: Operations = Operations::RETAIN;
const AGGREGATE: Operations = Operations::AGGREGATE_STATUS;
const STATUS: Operations = Operations::INTERPRET_STATUS;
const HEALTH: Operations = Operations::INTERPRET_HEALTH;
const NEEDS: Operations = Operations::INTERPRET_DEPENDENCY;

/// Kinds that are absent here have their whole status carried, by the host.
pub(crate) const RULES: &[Rule] = &[
    Rule("apps/v1", "Deployment", &[REPLICA, REVISE, RETAIN, AGGREGATE, NEEDS, STATUS, HEALTH]),
    Rule("apps/v1", "ReplicaSet", &[REPLICA, REVISE, AGGREGATE, NEEDS, STATUS, HEALTH]),
    Rule("apps/v1", "StatefulSet", &[REPLICA, REVISE, AGGREGATE, NEEDS, STATUS, HEALTH]),
    Rule("apps/v1", "DaemonSet", &[AGGREGATE, NEEDS, STATUS, HEALTH]),
    Rule("batch/v1", "Job", &[REPLICA, REVISE, RETAIN, AGGREGATE, NEEDS, STATUS]),
    Rule("batch/v1", "CronJob", &[AGGREGATE, NEEDS]),
    Rule("v1", "Pod", &[REPLICA, RETAIN, AGGREGATE, NEEDS, HEALTH]),
    Rule("v1", "Service", &[RETAIN, AGGREGATE, STATUS, HEALTH]),
    Rule("v1", "ServiceAccount", &[RETAIN]),
    Rule("v1", "Secret", &[RETAIN]),
    Rule("v1", "PersistentVolumeClaim", &[RETAIN, AGGREGATE, HEALTH]),
    Rule("v1", "PersistentVolume", &[RETAIN, AGGREGATE]),
    Rule("networking.k8s.io/v1", "Ingress", &[AGGREGATE, NEEDS, STATUS, HEALTH]),
    Rule("policy/v1", "PodDisruptionBudget", &[AGGREGATE, STATUS, HEALTH]),
    Rule("autoscaling/v2", "HorizontalPodAutoscaler", &[AGGREGATE, STATUS]),
    Rule("multicluster.x-k8s.io/v1alpha1", "ServiceImport", &[NEEDS]),
];

impl Rule {
    /// As the interface has it.
    pub(crate) fn describe(&self) -> interpreter::Rule {
        interpreter::Rule {
            api_version: self.0.into(),
            kind: self.1.into(),
            operations: self.2.iter().fold(Operations::empty(), |all, one| all | *one),
        }
    }
}
