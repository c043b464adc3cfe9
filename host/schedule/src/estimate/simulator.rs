//! First fit over the virtual nodes of resource models.

use std::collections::BTreeMap;

use crate::amount::Amounts;
use crate::capacity::Grade;
use crate::request::Component;

/// Pods that a virtual node takes.
const PODS_PER_NODE: i64 = 110;

/// The most virtual nodes that are simulated for one cluster: Kubernetes supports 5,000 in one, and a wrong count must not
/// cost memory without end.
const MAX_NODES: usize = 50_000;

/// How many replicas with this request fit into nodes of these grades.
pub(super) fn replicas(grades: &[Grade], request: &Amounts, assumed: &[Vec<Component>]) -> i64 {
    let fits = |free: &dyn Fn(&str) -> i64, pods: i64| {
        wanted(request).fold(pods, |most, (name, wanted)| most.min(free(name) / wanted))
    };
    if assumed.is_empty() {
        // Nodes of one grade are alike.
        return grades.iter().fold(0, |sum: i64, grade| {
            let free = |name: &str| grade.node.get(name).map_or(0, |amount| amount.by_resource(name));
            sum.saturating_add(grade.count.saturating_mul(fits(&free, PODS_PER_NODE)))
        });
    }
    let nodes = Nodes::new(grades, assumed);
    nodes.nodes.iter().fold(0, |sum: i64, node| sum.saturating_add(node.fits(request)))
}

/// The virtual nodes of one cluster, in ascending order of grade.
pub(super) struct Nodes {
    nodes: Vec<Node>,
}

#[derive(Clone)]
struct Node {
    free: BTreeMap<String, i64>,
    pods: i64,
}

impl Nodes {
    /// As many nodes of each grade as are counted, less what assumed workloads take.
    pub(super) fn new(grades: &[Grade], assumed: &[Vec<Component>]) -> Self {
        let mut nodes = Vec::new();
        for grade in grades {
            let free = grade
                .node
                .iter()
                .filter(|(name, _)| counts(name))
                .map(|(name, amount)| (name.clone(), amount.by_resource(name)))
                .collect();
            let node = Node { free, pods: PODS_PER_NODE };
            let count = usize::try_from(grade.count).unwrap_or(0).min(MAX_NODES - nodes.len().min(MAX_NODES));
            nodes.extend(std::iter::repeat_n(node, count));
        }
        let mut nodes = Self { nodes };
        for workload in assumed {
            nodes.place(workload, &mut vec![0; workload.len()]);
        }
        nodes
    }

    /// How many complete sets fit, at most `bound`.
    pub(super) fn sets(mut self, components: &[Component], bound: i64) -> i64 {
        // A node without room for a component never has room for it again.
        let mut first = vec![0; components.len()];
        (0..bound).take_while(|_| self.place(components, &mut first)).count().try_into().unwrap_or(i64::MAX)
    }

    /// Places one set; what an incomplete set took stays taken.
    fn place(&mut self, components: &[Component], first: &mut [usize]) -> bool {
        let nothing = Amounts::new();
        components.iter().zip(first).all(|(component, first)| {
            let request =
                component.requirements.as_ref().map_or(&nothing, |requirements| &requirements.request);
            let mut remaining = i64::from(component.replicas);
            while remaining > 0 {
                let Some(node) = self.nodes.get_mut(*first) else { return false };
                let fits = node.fits(request);
                if fits <= 0 {
                    *first += 1;
                    continue;
                }
                let take = fits.min(remaining);
                node.take(request, take);
                remaining -= take;
            }
            true
        })
    }
}

impl Node {
    fn fits(&self, request: &Amounts) -> i64 {
        wanted(request).fold(self.pods, |most, (name, wanted)| {
            most.min(self.free.get(name).copied().unwrap_or(0) / wanted)
        })
    }

    fn take(&mut self, request: &Amounts, count: i64) {
        self.pods -= count;
        for (name, wanted) in wanted(request) {
            if let Some(free) = self.free.get_mut(name) {
                *free = free.saturating_sub(wanted.saturating_mul(count));
            }
        }
    }
}

/// The positive amounts of resources that nodes are judged by.
fn wanted(request: &Amounts) -> impl Iterator<Item = (&String, i64)> {
    request
        .iter()
        .filter(|(name, _)| counts(name))
        .map(|(name, amount)| (name, amount.by_resource(name)))
        .filter(|(_, wanted)| *wanted > 0)
}

/// CPU, memory, ephemeral storage and what isn't Kubernetes' own; other names are ignored.
fn counts(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage")
        || name.contains('/')
        || name.starts_with("hugepages-")
        || name.starts_with("attachable-volumes-")
}
