//! Filter `APIEnablement`: a cluster must serve the kind that is to be placed. Clusters that the binding already
//! uses pass, so that an incomplete list of a cluster's APIs moves nothing away.

use std::collections::BTreeSet;
use windlass_sdk::{Value, scheduler::*};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct ApiEnablementFilter;

/// What the filter needs of a cluster: the kinds it serves.
#[derive(Debug)]
pub struct Serving {
    id: ClusterId,
    kinds: BTreeSet<(String, String)>,
}

impl From<Cluster> for Serving {
    fn from(cluster: Cluster) -> Self {
        let pair = |api: ApiEnablement| {
            let version = api.group_version;
            api.kinds.into_iter().map(move |kind| (version.clone(), kind))
        };
        Self { id: cluster.id, kinds: cluster.apis.into_iter().flat_map(pair).collect() }
    }
}

/// The kind, and the clusters in use.
#[derive(Debug)]
pub struct Wanted {
    kind: (String, String),
    targets: Vec<ClusterId>,
}

impl SchedulerPlugin for ApiEnablementFilter {
    type Cluster = Serving;
    type Prepared = Wanted;

    fn describe() -> Description {
        Description::filter(
            "APIEnablement",
            env!("CARGO_PKG_VERSION"),
            ClusterFields::APIS,
            BindingFields::OWN_TARGET | BindingFields::KIND,
        )
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn prepare(&self, binding: Binding) -> Result<Wanted, Error> {
        let kind = (binding.resource.api_version, binding.resource.kind);
        Ok(Wanted { kind, targets: binding.targets.iter().map(|target| target.cluster).collect() })
    }

    fn passes<'a>(&'a self, wanted: &'a Wanted, cluster: &'a Serving) -> Result<(), Reason<'a>> {
        if cluster.kinds.contains(&wanted.kind) || wanted.targets.contains(&cluster.id) {
            return Ok(());
        }
        Err(Reason::text("cluster(s) did not have the API resource"))
    }
}

windlass_sdk::export_scheduler!(ApiEnablementFilter);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_must_be_served_or_be_there_already() {
        let api = |kinds: &[&str]| ApiEnablement {
            group_version: "apps/v1".into(),
            kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        };
        let mut instance = Instance::<ApiEnablementFilter>::new("{}").unwrap();
        let clusters = vec![
            Cluster { id: 0, apis: vec![api(&["Deployment", "DaemonSet"])], ..Default::default() },
            Cluster { id: 1, apis: vec![api(&["DaemonSet"])], ..Default::default() },
            Cluster { id: 2, ..Default::default() },
        ];
        instance.sync(1, clusters, &[]).unwrap();
        let mut binding = Binding { targets: vec![Target { cluster: 2, replicas: 0 }], ..Default::default() };
        binding.resource.api_version = "apps/v1".into();
        binding.resource.kind = "Deployment".into();
        assert_eq!(instance.filter(1, binding.clone(), &Candidates::All).unwrap(), [0b101]);
        let explained = instance.explain(1, binding, &Candidates::All).unwrap();
        assert_eq!(explained.reasons, ["cluster(s) did not have the API resource"]);
    }
}
