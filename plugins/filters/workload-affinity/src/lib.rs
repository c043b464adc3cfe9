//! Filter `WorkloadAffinity`: a binding goes only where every placed binding of its affinity group is. Clusters that it
//! already uses pass, and so does every cluster while no binding of the group is placed.

use windlass_sdk::{Value, scheduler::*};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct WorkloadAffinity;

impl SchedulerPlugin for WorkloadAffinity {
    type Cluster = ClusterId;
    type Prepared = Binding;

    fn describe() -> Description {
        Description::filter(
            "WorkloadAffinity",
            env!("CARGO_PKG_VERSION"),
            ClusterFields::empty(),
            BindingFields::OWN_TARGET | BindingFields::PEERS,
        )
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn prepare(&self, binding: Binding) -> Result<Binding, Error> {
        Ok(binding)
    }

    fn passes<'a>(&'a self, binding: &'a Binding, cluster: &'a ClusterId) -> Result<(), Reason<'a>> {
        let here = binding.targets.iter().any(|target| target.cluster == *cluster);
        if here || binding.peers.affinity.iter().all(|peer| peer.contains(cluster)) {
            return Ok(());
        }
        Err(Reason::text("ResourceBinding with the same affinity group does not target this cluster"))
    }
}

windlass_sdk::export_scheduler!(WorkloadAffinity);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_all_of_the_group_are() {
        let mut instance = Instance::<WorkloadAffinity>::new("{}").unwrap();
        let clusters = (0..4).map(|id| Cluster { id, ..Default::default() }).collect();
        instance.sync(1, clusters, &[]).unwrap();
        let mut binding = Binding { targets: vec![Target { cluster: 3, replicas: 1 }], ..Default::default() };
        assert_eq!(instance.filter(1, binding.clone(), &Candidates::All).unwrap(), [0b1111]);
        binding.peers.affinity = vec![vec![0, 1], vec![1, 2]];
        binding.peers.anti_affinity = vec![vec![1]];
        assert_eq!(instance.filter(1, binding.clone(), &Candidates::All).unwrap(), [0b1010]);
        let explained = instance.explain(1, binding, &Candidates::All).unwrap();
        assert_eq!(
            explained.reasons,
            ["ResourceBinding with the same affinity group does not target this cluster"]
        );
    }
}
