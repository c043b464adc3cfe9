//! Whether a cluster matches a `ClusterAffinity`: the one place for it in the host. Policies, overrides and the scheduler
//! all ask here; the shipped plugins carry the same rules in their SDK, held together by the conformance cases.

use crate::records::{ClusterAffinity, ClusterFacts, LabelSelector, Requirement};

impl ClusterAffinity {
    /// All present parts must hold; an empty affinity matches every cluster.
    pub fn matches(&self, cluster: &ClusterFacts) -> bool {
        if self.exclude.contains(&cluster.name) {
            return false;
        }
        if let Some(selector) = &self.label_selector
            && !selector.matches(|key| cluster.label(key))
        {
            return false;
        }
        if let Some(requirements) = &self.field_selector
            && !matches_fields(requirements, cluster)
        {
            return false;
        }
        self.cluster_names.is_empty() || self.cluster_names.contains(&cluster.name)
    }
}

impl LabelSelector {
    /// Whether labels match; a selector that isn't valid matches nothing.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.match_labels.iter().all(|(key, value)| label(key) == Some(value.as_str()))
            && self.match_expressions.iter().all(|requirement| {
                requirement.is_valid(false) && requirement.matches(label(&requirement.key))
            })
    }
}

impl Requirement {
    /// Whether the operator is known and has as many values as it takes.
    fn is_valid(&self, with_order: bool) -> bool {
        match self.operator.as_str() {
            "In" | "NotIn" => !self.values.is_empty(),
            "Exists" | "DoesNotExist" => self.values.is_empty(),
            "Gt" | "Lt" if with_order => {
                matches!(self.values.as_slice(), [value] if value.parse::<i64>().is_ok())
            }
            _ => false,
        }
    }

    /// Whether one label, or its absence, satisfies the requirement.
    fn matches(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|candidate| candidate == value);
        match self.operator.as_str() {
            "In" => value.is_some_and(listed),
            "NotIn" => !value.is_some_and(listed),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "Gt" => self.compares(value, |have, want| have > want),
            "Lt" => self.compares(value, |have, want| have < want),
            _ => false,
        }
    }

    fn compares(&self, value: Option<&str>, holds: impl Fn(i64, i64) -> bool) -> bool {
        let have = value.and_then(|value| value.parse::<i64>().ok());
        let want = self.values.first().and_then(|value| value.parse::<i64>().ok());
        matches!((have, want), (Some(have), Some(want)) if holds(have, want))
    }

    /// Requirements on `zone` are about a list.
    fn matches_zones(&self, zones: &[String]) -> bool {
        let overlap = || zones.iter().any(|zone| self.values.contains(zone));
        match self.operator.as_str() {
            "In" => overlap(),
            "NotIn" => !overlap(),
            "Exists" => !zones.is_empty(),
            "DoesNotExist" => zones.is_empty(),
            _ => false,
        }
    }
}

fn matches_fields(requirements: &[Requirement], cluster: &ClusterFacts) -> bool {
    requirements.iter().all(|requirement| {
        let field = match requirement.key.as_str() {
            "zone" => return requirement.matches_zones(&cluster.zones),
            "provider" => cluster.provider.as_str(),
            "region" => cluster.region.as_str(),
            _ => "",
        };
        requirement.is_valid(true) && requirement.matches(Some(field).filter(|field| !field.is_empty()))
    })
}
