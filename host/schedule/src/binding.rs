//! What plugins are shown of a binding: the `binding` record of `wit/scheduler`.

use std::ops::{BitOr, BitOrAssign};

use crate::records::{ClusterAffinity, ClusterId, ObjectReference, SpreadConstraint, Toleration};
use crate::request::Request;
use crate::table::ClusterTable;

/// A set of groups of binding fields, as the plugin interface has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct BindingFields(u16);

impl BindingFields {
    /// `resource`.
    pub const RESOURCE: Self = Self(1);
    /// `targets`.
    pub const TARGETS: Self = Self(1 << 1);
    /// `evictions`.
    pub const EVICTIONS: Self = Self(1 << 2);
    /// `affinity`.
    pub const AFFINITY: Self = Self(1 << 3);
    /// `tolerations`.
    pub const TOLERATIONS: Self = Self(1 << 4);
    /// `spread`.
    pub const SPREAD: Self = Self(1 << 5);
    /// `replicas` and `workload`.
    pub const REPLICAS: Self = Self(1 << 6);
    /// `peers`.
    pub const PEERS: Self = Self(1 << 7);
    /// No group.
    pub const NONE: Self = Self(0);
    /// Every group.
    pub const ALL: Self = Self(0xff);

    /// Whether all groups of `other` are in this set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for BindingFields {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for BindingFields {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A cluster that the binding is on now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetView {
    /// Which one.
    pub cluster: ClusterId,
    /// Replicas there.
    pub replicas: i32,
}

/// Clusters that other bindings of the same group use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peers {
    /// Target sets of the bindings in this binding's affinity group; bindings without targets are left out.
    pub affinity: Vec<Vec<ClusterId>>,
    /// The same for its anti-affinity group.
    pub anti_affinity: Vec<Vec<ClusterId>>,
}

impl Peers {
    /// Finds them among the bindings of the request's namespace. Of a binding that was placed a moment ago give the newest
    /// object known.
    pub fn among<'a>(
        request: &Request,
        bindings: impl IntoIterator<Item = &'a Request>,
        table: &ClusterTable,
    ) -> Self {
        let mut peers = Self::default();
        if request.affinity_group.is_empty() && request.anti_affinity_group.is_empty() {
            return peers;
        }
        for other in bindings.into_iter().filter(|other| other.namespace == request.namespace) {
            if other.name == request.name || other.targets.is_empty() {
                continue;
            }
            let targets: Vec<ClusterId> =
                other.targets.iter().filter_map(|target| table.id(&target.name)).collect();
            let same = |mine: &str, theirs: &str| !mine.is_empty() && mine == theirs;
            if same(&request.affinity_group, &other.affinity_group) {
                peers.affinity.push(targets.clone());
            }
            if same(&request.anti_affinity_group, &other.anti_affinity_group) {
                peers.anti_affinity.push(targets);
            }
        }
        peers
    }
}

/// A binding in one pass, with clusters as ids. Clusters that the table doesn't have are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BindingView {
    /// `spec.resource`.
    pub resource: ObjectReference,
    /// `spec.clusters`.
    pub targets: Vec<TargetView>,
    /// `spec.gracefulEvictionTasks[].fromCluster`.
    pub evictions: Vec<ClusterId>,
    /// A cluster may match any of these; none means every cluster.
    pub affinity: Vec<ClusterAffinity>,
    /// `spec.placement.clusterTolerations`.
    pub tolerations: Vec<Toleration>,
    /// `spec.placement.spreadConstraints`.
    pub spread: Vec<SpreadConstraint>,
    /// `spec.replicas`.
    pub replicas: i32,
    /// Whether it has replicas, requirements or components.
    pub workload: bool,
    /// Where its groups are.
    pub peers: Peers,
}

impl BindingView {
    /// A binding in the pass with this affinity term in force. `peers` come from other bindings.
    pub fn new(request: &Request, affinity_name: &str, peers: Peers, table: &ClusterTable) -> Self {
        let placement = request.placement.as_ref();
        Self {
            resource: request.resource.clone(),
            targets: request
                .targets
                .iter()
                .filter_map(|target| {
                    Some(TargetView { cluster: table.id(&target.name)?, replicas: target.replicas })
                })
                .collect(),
            evictions: request.evictions.iter().filter_map(|name| table.id(name)).collect(),
            affinity: affinity_in_force(request, affinity_name),
            tolerations: placement.map(|placement| placement.tolerations.clone()).unwrap_or_default(),
            spread: placement.map(|placement| placement.spread.clone()).unwrap_or_default(),
            replicas: request.replicas,
            workload: request.is_workload(),
            peers,
        }
    }

    /// Whether the binding is on this cluster now.
    pub fn targets(&self, cluster: ClusterId) -> bool {
        self.targets.iter().any(|target| target.cluster == cluster)
    }
}

/// `clusterAffinity`, else the named term with, for workloads, its overflow affinities.
fn affinity_in_force(request: &Request, name: &str) -> Vec<ClusterAffinity> {
    let Some(placement) = &request.placement else {
        return Vec::new();
    };
    if let Some(affinity) = &placement.affinity {
        return vec![affinity.clone()];
    }
    let Some(term) = request.term(name) else {
        return Vec::new();
    };
    let mut affinities = vec![term.affinity.clone()];
    if request.is_workload() {
        affinities.extend(term.overflow.iter().flatten().cloned());
    }
    affinities
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn peers_share_namespace_and_group() {
        let mut table = ClusterTable::new();
        table.upsert(&json!({"metadata": {"name": "m1"}}));
        let binding = |namespace: &str, name: &str, group: &str, clusters: &[&str]| {
            let clusters: Vec<_> = clusters.iter().map(|name| json!({ "name": name })).collect();
            Request::from_binding(&json!({"metadata": {"namespace": namespace, "name": name}, "spec":
                {"clusters": clusters, "workloadAffinityGroups": {"affinityGroup": group, "antiAffinityGroup": "x=y"}}}))
        };
        let me = binding("shop", "me", "a=b", &["m1"]);
        let others = [
            binding("shop", "same", "a=b", &["m1"]),
            binding("shop", "gone", "a=b", &["unknown"]),
            binding("shop", "empty", "a=b", &[]),
            binding("shop", "other", "a=c", &["m1"]),
            binding("else", "same", "a=b", &["m1"]),
            me.clone(),
        ];
        let peers = Peers::among(&me, &others, &table);
        assert_eq!(peers.affinity, [vec![0], vec![]]);
        assert_eq!(peers.anti_affinity, [vec![0], vec![], vec![0]]);
    }
}
