//! Filter `ClusterAffinity`: the placement says which clusters may be used. The host gives the affinities that are
//! in force in this pass; a cluster must match one of them, and none at all means any cluster.

use windlass_sdk::{Value, scheduler::*};

/// The plugin; it has no configuration.
#[derive(Debug)]
pub struct ClusterAffinityFilter;

/// What the filter needs of a cluster.
pub struct Placed {
    name: String,
    labels: Labels,
    provider: String,
    region: String,
    zones: Vec<String>,
}

impl From<Cluster> for Placed {
    fn from(cluster: Cluster) -> Self {
        Self {
            name: cluster.name,
            labels: cluster.labels.into(),
            provider: cluster.provider,
            region: cluster.region,
            zones: cluster.zones,
        }
    }
}

impl Placed {
    fn matches(&self, affinity: &ClusterAffinity) -> bool {
        let named = |names: &[String]| names.contains(&self.name);
        !named(&affinity.exclude)
            && (affinity.cluster_names.is_empty() || named(&affinity.cluster_names))
            && affinity
                .label_selector
                .as_ref()
                .is_none_or(|selector| selector.matches(|key| self.labels.get(key)))
            && affinity.field_selector.iter().flatten().all(|requirement| self.field(requirement))
    }

    /// Zones are a list: `In` wants one of them, `NotIn` none. Provider and region are single texts, absent if empty.
    fn field(&self, requirement: &Requirement) -> bool {
        let field = |value: &'_ str| -> bool {
            match requirement.operator.as_str() {
                // A requirement on values without any is no valid selector, and selects nothing.
                "In" | "NotIn" if requirement.values.is_empty() => false,
                "Exists" | "DoesNotExist" if !requirement.values.is_empty() => false,
                _ => requirement.matches((!value.is_empty()).then_some(value)),
            }
        };
        match requirement.key.as_str() {
            "zone" => {
                let listed = self.zones.iter().any(|zone| requirement.values.contains(zone));
                match requirement.operator.as_str() {
                    "In" => listed,
                    "NotIn" => !listed,
                    "Exists" => !self.zones.is_empty(),
                    "DoesNotExist" => self.zones.is_empty(),
                    _ => false,
                }
            }
            "provider" => field(&self.provider),
            "region" => field(&self.region),
            _ => field(""),
        }
    }
}

impl SchedulerPlugin for ClusterAffinityFilter {
    type Cluster = Placed;
    type Prepared = Vec<ClusterAffinity>;

    fn describe() -> Description {
        Description::filter(
            "ClusterAffinity",
            env!("CARGO_PKG_VERSION"),
            ClusterFields::LABELS | ClusterFields::LOCATION,
            BindingFields::AFFINITY,
        )
    }

    fn new(_: &Value) -> Result<Self, Error> {
        Ok(Self)
    }

    fn prepare(&self, binding: Binding) -> Result<Self::Prepared, Error> {
        Ok(binding.affinity)
    }

    fn passes<'a>(&'a self, affinities: &'a Self::Prepared, cluster: &'a Placed) -> Result<(), Reason<'a>> {
        if affinities.is_empty() || affinities.iter().any(|affinity| cluster.matches(affinity)) {
            return Ok(());
        }
        Err(Reason::text("cluster(s) did not match the placement cluster affinity constraint"))
    }
}

windlass_sdk::export_scheduler!(ClusterAffinityFilter);

#[cfg(test)]
mod tests {
    use super::*;

    fn requirement(key: &str, operator: &str, values: &[&str]) -> Requirement {
        Requirement {
            key: key.into(),
            operator: operator.into(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        }
    }

    fn any() -> ClusterAffinity {
        ClusterAffinity { label_selector: None, field_selector: None, cluster_names: vec![], exclude: vec![] }
    }

    #[test]
    fn every_part_of_an_affinity_must_hold() {
        let cluster = Placed {
            name: "m1".into(),
            labels: vec![("tier".to_owned(), "1".to_owned())].into(),
            provider: "acme".into(),
            region: String::new(),
            zones: vec!["z1".into(), "z2".into()],
        };
        let field = |one: Requirement| ClusterAffinity { field_selector: Some(vec![one]), ..any() };
        let label = |one: Requirement| ClusterAffinity {
            label_selector: Some(LabelSelector { match_labels: vec![], match_expressions: vec![one] }),
            ..any()
        };
        for (expected, affinity) in [
            (true, any()),
            (true, ClusterAffinity { cluster_names: vec!["m2".into(), "m1".into()], ..any() }),
            (false, ClusterAffinity { cluster_names: vec!["m2".into()], ..any() }),
            (
                false,
                ClusterAffinity { cluster_names: vec!["m1".into()], exclude: vec!["m1".into()], ..any() },
            ),
            (true, field(requirement("zone", "In", &["z2", "z9"]))),
            (false, field(requirement("zone", "NotIn", &["z2"]))),
            (true, field(requirement("zone", "Exists", &[]))),
            (false, field(requirement("zone", "Gt", &["z1"]))),
            (true, field(requirement("provider", "In", &["acme"]))),
            (false, field(requirement("region", "In", &[""]))),
            (true, field(requirement("region", "NotIn", &["eu"]))),
            (false, field(requirement("provider", "In", &[]))),
            (true, label(requirement("tier", "In", &["1"]))),
            (false, label(requirement("tier", "NotIn", &["1"]))),
        ] {
            assert_eq!(cluster.matches(&affinity), expected, "{affinity:?}");
        }
    }
}
