//! Groups of clusters by a field or a label: what spread constraints choose among. Worked out once for all bindings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::records::{ClusterFacts, ClusterId};
use crate::table::{ClusterFields, ClusterTable};

/// Topologies that are remembered. Fields are three; label keys come from users, who name a handful.
const REMEMBERED: usize = 64;

/// What makes clusters a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Topology {
    /// `spec.region`.
    Region,
    /// `spec.zones`: a cluster is in the group of each of its zones.
    Zone,
    /// `spec.provider`.
    Provider,
    /// The value of the label with this key.
    Label(String),
}

impl Topology {
    /// By a field's name, if groups are made of it.
    pub(crate) fn of_field(field: &str) -> Option<Self> {
        match field {
            "region" => Some(Self::Region),
            "zone" => Some(Self::Zone),
            "provider" => Some(Self::Provider),
            _ => None,
        }
    }

    /// `region`, or `label tier`.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Region => "region".to_owned(),
            Self::Zone => "zone".to_owned(),
            Self::Provider => "provider".to_owned(),
            Self::Label(key) => format!("label {key}"),
        }
    }

    fn reads(&self) -> ClusterFields {
        match self {
            Self::Label(_) => ClusterFields::LABELS,
            _ => ClusterFields::LOCATION,
        }
    }

    /// The groups of a cluster; none if it lacks the field or label.
    fn values<'a>(&self, facts: &'a ClusterFacts) -> Vec<&'a str> {
        let one = |value: &'a str| if value.is_empty() { Vec::new() } else { vec![value] };
        match self {
            Self::Region => one(&facts.region),
            Self::Provider => one(&facts.provider),
            Self::Zone => {
                let mut zones: Vec<&str> = facts.zones.iter().map(String::as_str).collect();
                zones.retain(|zone| !zone.is_empty());
                zones.sort_unstable();
                zones.dedup();
                zones
            }
            // A label may well be empty, and is there nevertheless.
            Self::Label(key) => facts.label(key).into_iter().collect(),
        }
    }
}

/// All groups of one topology.
#[derive(Debug)]
pub(crate) struct Groups {
    at: u64,
    names: Vec<String>,
    /// Where the groups of each cluster begin in `of`, by id, and where the last one's end.
    starts: Vec<u32>,
    of: Vec<u32>,
}

impl Groups {
    fn new(topology: &Topology, table: &ClusterTable) -> Self {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let mut groups = Self { at: table.generation(), names: Vec::new(), starts: vec![0], of: Vec::new() };
        for id in (0..).take(table.capacity()) {
            let cluster = table.get(id);
            for value in cluster.map(|cluster| topology.values(&cluster.facts)).unwrap_or_default() {
                let next = u32::try_from(groups.names.len()).unwrap_or(u32::MAX);
                let number = *numbers.entry(value).or_insert(next);
                if number == next {
                    groups.names.push(value.to_owned());
                }
                groups.of.push(number);
            }
            groups.starts.push(u32::try_from(groups.of.len()).unwrap_or(u32::MAX));
        }
        groups
    }

    /// The numbers of a cluster's groups.
    pub(crate) fn of(&self, id: ClusterId) -> &[u32] {
        let at = |index: usize| self.starts.get(index).map(|start| *start as usize);
        match (at(id as usize), at(id as usize + 1)) {
            (Some(start), Some(end)) => self.of.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// A group's name.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

/// Those that were asked for, as long as they hold.
#[derive(Debug, Default)]
pub(crate) struct Topologies(Vec<(Topology, Arc<Groups>)>);

impl Topologies {
    /// The groups of a topology in this table.
    pub(crate) fn get(&mut self, topology: &Topology, table: &ClusterTable) -> Arc<Groups> {
        let holds = |groups: &Groups| {
            groups.at <= table.generation() && table.generation_of(topology.reads()) <= groups.at
        };
        if let Some((_, groups)) = self.0.iter().find(|(known, groups)| known == topology && holds(groups)) {
            return Arc::clone(groups);
        }
        self.0.retain(|(known, _)| known != topology);
        if self.0.len() == REMEMBERED {
            self.0.remove(0);
        }
        let groups = Arc::new(Groups::new(topology, table));
        self.0.push((topology.clone(), Arc::clone(&groups)));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn named(groups: &Groups, id: ClusterId) -> Vec<&str> {
        groups.of(id).iter().map(|number| groups.name(*number)).collect()
    }

    #[test]
    fn groups_follow_the_table() {
        let mut table = ClusterTable::new();
        let cluster = |name: &str, zones: &[&str], labels: Value| json!({"metadata": {"name": name, "labels": labels}, "spec": {"region": "eu", "zones": zones}});
        table.upsert(&cluster("a", &["z2", "z1"], json!({"tier": ""})));
        table.upsert(&cluster("b", &["z1"], json!({})));
        table.upsert(&cluster("c", &[], json!({"tier": "gold"})));
        let mut known = Topologies::default();
        let zones = known.get(&Topology::Zone, &table);
        assert_eq!(
            (named(&zones, 0), named(&zones, 1), named(&zones, 2)),
            (vec!["z1", "z2"], vec!["z1"], vec![])
        );
        let tier = Topology::Label("tier".to_owned());
        let tiers = known.get(&tier, &table);
        assert_eq!((named(&tiers, 0), named(&tiers, 1), named(&tiers, 2)), (vec![""], vec![], vec!["gold"]));
        table.upsert(&cluster("b", &["z1"], json!({"tier": "gold"})));
        assert!(Arc::ptr_eq(&zones, &known.get(&Topology::Zone, &table)));
        assert_eq!(named(&known.get(&tier, &table), 1), ["gold"]);
        table.remove("a");
        assert!(named(&known.get(&Topology::Zone, &table), 0).is_empty());
        assert!(named(&zones, 900).is_empty());
    }
}
