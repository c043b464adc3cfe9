//! Filter `ClusterEviction`: a cluster that the binding is being evicted from takes nothing of it.

use windlass_sdk::{Value, scheduler::*};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct ClusterEviction;

impl SchedulerPlugin for ClusterEviction {
    type Cluster = ClusterId;
    type Prepared = Vec<ClusterId>;

    fn describe() -> Description {
        Description::filter(
            "ClusterEviction",
            env!("CARGO_PKG_VERSION"),
            ClusterFields::empty(),
            BindingFields::OWN_EVICTION,
        )
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn prepare(&self, binding: Binding) -> Result<Self::Prepared, Error> {
        Ok(binding.evictions)
    }

    fn passes<'a>(&'a self, leaving: &'a Self::Prepared, cluster: &'a ClusterId) -> Result<(), Reason<'a>> {
        if leaving.contains(cluster) {
            return Err(Reason::text("cluster(s) is in the process of eviction"));
        }
        Ok(())
    }
}

windlass_sdk::export_scheduler!(ClusterEviction);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_being_left_are_refused() {
        let mut instance = Instance::<ClusterEviction>::new("{}").unwrap();
        let clusters = (0..3).map(|id| Cluster { id, ..Default::default() }).collect();
        instance.sync(1, clusters, &[]).unwrap();
        let binding = Binding { evictions: vec![1], ..Default::default() };
        assert_eq!(instance.filter(1, binding, &Candidates::All).unwrap(), [0b101]);
    }
}
