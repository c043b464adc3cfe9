//! Filter `SpreadConstraint`: where replicas are spread by provider, region, zone or label, a cluster must have one.

use windlass_sdk::{Value, scheduler::*};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct SpreadConstraintFilter;

/// What the filter needs of a cluster: which properties it has.
#[derive(Debug)]
pub struct Located {
    provider: bool,
    region: bool,
    zones: bool,
    labels: Labels,
}

impl From<Cluster> for Located {
    fn from(cluster: Cluster) -> Self {
        Self {
            provider: !cluster.provider.is_empty(),
            region: !cluster.region.is_empty(),
            zones: !cluster.zones.is_empty(),
            labels: cluster.labels.into(),
        }
    }
}

impl SchedulerPlugin for SpreadConstraintFilter {
    type Cluster = Located;
    type Prepared = Vec<SpreadConstraint>;

    fn describe() -> Description {
        Description::filter(
            "SpreadConstraint",
            env!("CARGO_PKG_VERSION"),
            ClusterFields::LOCATION | ClusterFields::LABELS,
            BindingFields::SPREAD,
        )
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn prepare(&self, binding: Binding) -> Result<Self::Prepared, Error> {
        Ok(binding.spread)
    }

    fn passes<'a>(&'a self, constraints: &'a Self::Prepared, cluster: &'a Located) -> Result<(), Reason<'a>> {
        for constraint in constraints {
            match constraint.by_field.as_str() {
                "provider" if !cluster.provider => {
                    return Err(Reason::text("cluster(s) did not have provider property"));
                }
                "region" if !cluster.region => {
                    return Err(Reason::text("cluster(s) did not have region property"));
                }
                "zone" if !cluster.zones => {
                    return Err(Reason::text("cluster(s) did not have zones property"));
                }
                _ => {}
            }
            // An empty value is a value: only who lacks the label belongs to no group.
            if !constraint.by_label.is_empty() && cluster.labels.get(&constraint.by_label).is_none() {
                return Err(Reason::with("cluster(s) did not have label ", &constraint.by_label, ""));
            }
        }
        Ok(())
    }
}

windlass_sdk::export_scheduler!(SpreadConstraintFilter);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_what_is_spread_by() {
        let mut instance = Instance::<SpreadConstraintFilter>::new("{}").unwrap();
        let clusters = vec![
            Cluster { id: 0, region: "eu".into(), ..Default::default() },
            Cluster { id: 1, region: "eu".into(), zones: vec!["a".into()], ..Default::default() },
            Cluster { id: 2, labels: vec![("rack".to_owned(), String::new())], ..Default::default() },
        ];
        instance.sync(1, clusters, &[]).unwrap();
        let by_label = |label: &str| SpreadConstraint {
            by_field: String::new(),
            by_label: label.into(),
            min_groups: 1,
            max_groups: 2,
        };
        let binding = Binding { spread: vec![by_label("rack")], ..Default::default() };
        assert_eq!(instance.filter(1, binding.clone(), &Candidates::All).unwrap(), [0b100]);
        let explained = instance.explain(1, binding, &Candidates::All).unwrap();
        assert_eq!(explained.reasons, ["cluster(s) did not have label rack"]);
        let by = |field: &str| SpreadConstraint {
            by_field: field.into(),
            by_label: String::new(),
            min_groups: 1,
            max_groups: 2,
        };
        let binding = Binding { spread: vec![by("cluster"), by("region"), by("zone")], ..Default::default() };
        assert_eq!(instance.filter(1, binding.clone(), &Candidates::All).unwrap(), [0b010]);
        let explained = instance.explain(1, binding, &Candidates::All).unwrap();
        assert_eq!(
            explained.reasons,
            ["cluster(s) did not have zones property", "cluster(s) did not have region property"]
        );
        assert_eq!(explained.refused, [(0, 0), (2, 1)]);
    }
}
