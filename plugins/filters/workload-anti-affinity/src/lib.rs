//! Filter `WorkloadAntiAffinity`: a binding goes only where no binding of its anti-affinity group is. Clusters that it
//! already uses pass.

use windlass_sdk::{Value, scheduler::*};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct WorkloadAntiAffinity;

impl SchedulerPlugin for WorkloadAntiAffinity {
    type Cluster = ClusterId;
    type Prepared = Binding;

    fn describe() -> Description {
        Description::filter(
            "WorkloadAntiAffinity",
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
        if here || !binding.peers.anti_affinity.iter().any(|peer| peer.contains(cluster)) {
            return Ok(());
        }
        Err(Reason::text("cluster already has workload with the same anti-affinity group"))
    }
}

windlass_sdk::export_scheduler!(WorkloadAntiAffinity);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_none_of_the_group_is() {
        let mut instance = Instance::<WorkloadAntiAffinity>::new("{}").unwrap();
        let clusters = (0..4).map(|id| Cluster { id, ..Default::default() }).collect();
        instance.sync(1, clusters, &[]).unwrap();
        let mut binding = Binding { targets: vec![Target { cluster: 2, replicas: 1 }], ..Default::default() };
        binding.peers.affinity = vec![vec![3]];
        binding.peers.anti_affinity = vec![vec![0, 2]];
        assert_eq!(instance.filter(1, binding.clone(), &Candidates::All).unwrap(), [0b1110]);
        let explained = instance.explain(1, binding, &Candidates::All).unwrap();
        assert_eq!(explained.reasons, ["cluster already has workload with the same anti-affinity group"]);
        assert_eq!(explained.refused, [(0, 0)]);
    }
}
