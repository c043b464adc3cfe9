//! What plugins are shown of a binding: the `binding` record of `wit/scheduler`.

mod fields;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::records::{ClusterAffinity, ClusterId, ObjectReference, SpreadConstraint, Toleration};
use crate::request::Request;
use crate::table::ClusterTable;

pub use fields::BindingFields;

/// A cluster that the binding is on now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TargetView {
    /// Which one.
    pub cluster: ClusterId,
    /// Replicas there.
    pub replicas: i32,
}

/// Clusters that other bindings of the same group use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
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

/// A binding in one pass, with clusters as ids. Clusters that the table doesn't have are left out. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BindingView {
    /// `spec.resource`.
    pub resource: Arc<ObjectReference>,
    /// `spec.clusters`.
    pub targets: Vec<TargetView>,
    /// `spec.gracefulEvictionTasks[].fromCluster`.
    pub evictions: Vec<ClusterId>,
    /// A cluster may match any of these; none means every cluster.
    pub affinity: Vec<Arc<ClusterAffinity>>,
    /// `spec.placement.clusterTolerations`.
    pub tolerations: Arc<[Toleration]>,
    /// `spec.placement.spreadConstraints`.
    pub spread: Arc<[SpreadConstraint]>,
    /// `spec.replicas`.
    pub replicas: i32,
    /// Whether it has replicas, requirements or components.
    pub workload: bool,
    /// Where its groups are.
    pub peers: Arc<Peers>,
}

impl BindingView {
    /// A binding in the pass with this affinity term in force. `peers` come from other bindings.
    pub fn new(request: &Request, affinity_name: &str, peers: &Peers, table: &ClusterTable) -> Self {
        let placement = request.placement.as_ref();
        Self {
            resource: Arc::clone(&request.resource),
            targets: request
                .targets
                .iter()
                .filter_map(|target| {
                    Some(TargetView { cluster: table.id(&target.name)?, replicas: target.replicas })
                })
                .collect(),
            evictions: request.evictions.iter().filter_map(|name| table.id(name)).collect(),
            affinity: affinity_in_force(request, affinity_name),
            tolerations: placement.map(|placement| Arc::clone(&placement.tolerations)).unwrap_or_default(),
            spread: placement.map(|placement| Arc::clone(&placement.spread)).unwrap_or_default(),
            replicas: request.replicas,
            workload: request.is_workload(),
            peers: Arc::new(peers.clone()),
        }
    }

    /// Whether the binding is on this cluster now.
    pub fn targets(&self, cluster: ClusterId) -> bool {
        self.targets.iter().any(|target| target.cluster == cluster)
    }

    /// The binding as far as these groups go; the others are empty.
    pub(crate) fn restricted(&self, fields: BindingFields) -> Self {
        let mut view = Self::default();
        if fields.contains(BindingFields::RESOURCE) {
            view.resource = Arc::clone(&self.resource);
        } else if fields.contains(BindingFields::KIND) {
            view.resource = Arc::new(ObjectReference {
                api_version: self.resource.api_version.clone(),
                kind: self.resource.kind.clone(),
                ..ObjectReference::default()
            });
        }
        if fields.contains(BindingFields::TARGETS) {
            view.targets.clone_from(&self.targets);
        }
        if fields.contains(BindingFields::EVICTIONS) {
            view.evictions.clone_from(&self.evictions);
        }
        if fields.contains(BindingFields::AFFINITY) {
            view.affinity.clone_from(&self.affinity);
        }
        if fields.contains(BindingFields::TOLERATIONS) {
            view.tolerations = Arc::clone(&self.tolerations);
        }
        if fields.contains(BindingFields::SPREAD) {
            view.spread = Arc::clone(&self.spread);
        }
        if fields.contains(BindingFields::REPLICAS) {
            (view.replicas, view.workload) = (self.replicas, self.workload);
        }
        if fields.contains(BindingFields::PEERS) {
            view.peers = Arc::clone(&self.peers);
        }
        view
    }

    /// Equal for bindings that are [`Self::same`].
    pub(crate) fn digest(&self, fields: BindingFields) -> u64 {
        let mut hasher = DefaultHasher::new();
        if fields.contains(BindingFields::RESOURCE) {
            self.resource.hash(&mut hasher);
        } else if fields.contains(BindingFields::KIND) {
            self.kind().hash(&mut hasher);
        }
        if fields.contains(BindingFields::TARGETS) {
            self.targets.hash(&mut hasher);
        }
        if fields.contains(BindingFields::EVICTIONS) {
            self.evictions.hash(&mut hasher);
        }
        if fields.contains(BindingFields::AFFINITY) {
            self.affinity.hash(&mut hasher);
        }
        if fields.contains(BindingFields::TOLERATIONS) {
            self.tolerations.hash(&mut hasher);
        }
        if fields.contains(BindingFields::SPREAD) {
            self.spread.hash(&mut hasher);
        }
        if fields.contains(BindingFields::REPLICAS) {
            (self.replicas, self.workload).hash(&mut hasher);
        }
        if fields.contains(BindingFields::PEERS) {
            self.peers.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Whether the two don't differ in these groups.
    pub(crate) fn same(&self, other: &Self, fields: BindingFields) -> bool {
        let skips = |group| !fields.contains(group);
        (skips(BindingFields::RESOURCE) || self.resource == other.resource)
            && (skips(BindingFields::KIND) || self.kind() == other.kind())
            && (skips(BindingFields::TARGETS) || self.targets == other.targets)
            && (skips(BindingFields::EVICTIONS) || self.evictions == other.evictions)
            && (skips(BindingFields::AFFINITY) || self.affinity == other.affinity)
            && (skips(BindingFields::TOLERATIONS) || self.tolerations == other.tolerations)
            && (skips(BindingFields::SPREAD) || self.spread == other.spread)
            && (skips(BindingFields::REPLICAS)
                || (self.replicas, self.workload) == (other.replicas, other.workload))
            && (skips(BindingFields::PEERS) || self.peers == other.peers)
    }

    fn kind(&self) -> (&str, &str) {
        (&self.resource.api_version, &self.resource.kind)
    }
}

/// `clusterAffinity`, else the named term with, for workloads, its overflow affinities.
fn affinity_in_force(request: &Request, name: &str) -> Vec<Arc<ClusterAffinity>> {
    let Some(placement) = &request.placement else {
        return Vec::new();
    };
    if let Some(affinity) = &placement.affinity {
        return vec![Arc::clone(affinity)];
    }
    let Some(term) = request.term(name) else {
        return Vec::new();
    };
    let mut affinities = vec![Arc::clone(&term.affinity)];
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
