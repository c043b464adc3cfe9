//! What a simulated member is like.

use std::time::Duration;

/// How pods are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pods {
    /// ReplicaSets and Pods are real objects.
    #[default]
    Real,
    /// A workload's status counts them; there are no objects. For large runs.
    Counted,
}

/// A member's nodes; all are alike.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// How many.
    pub count: usize,
    /// Cores of each.
    pub cpu: u32,
    /// GiB of each.
    pub memory: u32,
    /// Pods that each can hold.
    pub pods: u32,
}

impl Default for Nodes {
    /// Two nodes that hold whatever a laptop's experiments ask for.
    fn default() -> Self {
        Self { count: 2, cpu: 64, memory: 256, pods: 5_000 }
    }
}

/// How a member behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its nodes.
    pub nodes: Nodes,
    /// How pods are kept.
    pub pods: Pods,
    /// From a pod's start to its being ready.
    pub ready_after: Duration,
    /// From a Job's pod being ready to its success.
    pub finished_after: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            nodes: Nodes::default(),
            pods: Pods::Real,
            ready_after: Duration::from_millis(300),
            finished_after: Duration::from_millis(500),
        }
    }
}
