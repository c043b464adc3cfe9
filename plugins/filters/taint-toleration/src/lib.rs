//! Filter `TaintToleration`: a cluster with a `NoSchedule` or `NoExecute` taint that the placement does not tolerate
//! takes nothing new. Clusters that the binding already uses pass: leaving them is the taint manager's business.

use windlass_sdk::{Value, scheduler::*};

/// The plugin; it has no configuration.
pub struct TaintToleration;

/// What the filter needs of a cluster: the taints that keep bindings away.
pub struct Tainted {
    id: ClusterId,
    taints: Vec<Taint>,
}

impl From<Cluster> for Tainted {
    fn from(cluster: Cluster) -> Self {
        let mut taints = cluster.taints;
        taints.retain(|taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute"));
        Self { id: cluster.id, taints }
    }
}

impl SchedulerPlugin for TaintToleration {
    type Cluster = Tainted;
    type Prepared = Binding;

    fn describe() -> Description {
        Description::filter(
            "TaintToleration",
            env!("CARGO_PKG_VERSION"),
            ClusterFields::TAINTS,
            BindingFields::OWN_TARGET | BindingFields::TOLERATIONS,
        )
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn prepare(&self, binding: Binding) -> Result<Binding, Error> {
        Ok(binding)
    }

    fn passes<'a>(&'a self, binding: &'a Binding, cluster: &'a Tainted) -> Result<(), Reason<'a>> {
        let tolerated =
            |taint: &&Taint| binding.tolerations.iter().any(|toleration| toleration.tolerates(taint));
        let Some(taint) = cluster.taints.iter().find(|taint| !tolerated(taint)) else { return Ok(()) };
        if binding.targets.iter().any(|target| target.cluster == cluster.id) {
            return Ok(());
        }
        Err(Reason::with("cluster(s) had untolerated taint {", taint, "}"))
    }
}

windlass_sdk::export_scheduler!(TaintToleration);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untolerated_taints_keep_new_bindings_away() {
        let taint = |key: &str, value: &str, effect: &str| Taint {
            key: key.into(),
            value: value.into(),
            effect: effect.into(),
        };
        let cluster = |id, taints| Cluster { id, taints, ..Default::default() };
        let mut instance = Instance::<TaintToleration>::new("{}").unwrap();
        let clusters = vec![
            cluster(0, vec![]),
            cluster(1, vec![taint("k", "v", "NoSchedule")]),
            cluster(2, vec![taint("k", "", "NoExecute")]),
            cluster(3, vec![taint("k", "v", "PreferNoSchedule")]),
            cluster(4, vec![taint("other", "", "NoSchedule")]),
        ];
        instance.sync(1, clusters, &[]).unwrap();
        let toleration = Toleration {
            key: "other".into(),
            operator: "Exists".into(),
            value: String::new(),
            effect: String::new(),
            toleration_seconds: None,
        };
        let binding = Binding {
            targets: vec![Target { cluster: 2, replicas: 1 }],
            tolerations: vec![toleration],
            ..Default::default()
        };
        assert_eq!(instance.filter(1, binding.clone(), &Candidates::All).unwrap(), [0b11101]);
        let explained = instance.explain(1, binding, &Candidates::All).unwrap();
        assert_eq!(explained.reasons, ["cluster(s) had untolerated taint {k=v:NoSchedule}"]);
        assert_eq!(explained.refused, [(1, 0)]);
    }
}
