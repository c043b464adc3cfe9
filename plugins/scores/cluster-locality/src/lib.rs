//! Score `ClusterLocality`: clusters that already run the binding come first, so that little moves.

use windlass_sdk::{Value, scheduler::*};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct ClusterLocality;

/// The most that a score may give.
const MAX_SCORE: i64 = 100;

impl SchedulerPlugin for ClusterLocality {
    type Cluster = ClusterId;
    type Prepared = Vec<ClusterId>;

    fn describe() -> Description {
        Description::score(
            "ClusterLocality",
            env!("CARGO_PKG_VERSION"),
            ClusterFields::empty(),
            BindingFields::OWN_TARGET,
        )
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn prepare(&self, binding: Binding) -> Result<Self::Prepared, Error> {
        let mut ids: Vec<_> = binding.targets.iter().map(|target| target.cluster).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn score(&self, targets: &Self::Prepared, cluster: &ClusterId) -> i64 {
        if targets.binary_search(cluster).is_ok() { MAX_SCORE } else { 0 }
    }
}

windlass_sdk::export_scheduler!(ClusterLocality);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_score_highest() {
        let mut instance = Instance::<ClusterLocality>::new("{}").unwrap();
        let clusters = (0..3).map(|id| Cluster { id, ..Default::default() }).collect();
        instance.sync(1, clusters, &[]).unwrap();
        let targets = vec![Target { cluster: 2, replicas: 1 }, Target { cluster: 0, replicas: 0 }];
        let binding = Binding { targets, ..Default::default() };
        assert_eq!(instance.score(1, binding, &Candidates::All).unwrap(), [100, 0, 100]);
    }
}
