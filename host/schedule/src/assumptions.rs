//! What was placed a moment ago: until a cluster reports that it runs, it is counted as if it did (gate
//! `SchedulingOvercommitProtection`). No clock: the caller says what time it is.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::plugin::Assumed;
use crate::queue::Moment;
use crate::request::{Component, Request, Target};
use crate::table::ClusterTable;

/// How long a placement is assumed to be on its way; after that its cluster's report is believed as it is.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

/// Placements that clusters don't report yet, by binding.
#[derive(Debug, Clone, Default)]
pub struct Assumptions {
    bindings: HashMap<String, Assumption>,
}

/// What is assumed of one binding.
#[derive(Debug, Clone)]
pub struct Assumption {
    expires: Moment,
    clusters: BTreeMap<String, Vec<Component>>,
}

impl Assumptions {
    /// A binding was placed on these clusters, and on no others any more. Counts all of its replicas, not just new ones.
    /// Gives what was assumed before.
    pub fn store(
        &mut self,
        key: &str,
        request: &Request,
        targets: &[Target],
        now: Moment,
    ) -> Option<Assumption> {
        if !request.is_workload() {
            return self.bindings.remove(key);
        }
        let clusters =
            targets.iter().map(|target| (target.name.clone(), footprint(request, target.replicas))).collect();
        let assumption = Assumption { expires: now.saturating_add(LIFETIME), clusters };
        self.bindings.insert(key.to_owned(), assumption)
    }

    /// It was not placed after all: what was assumed before is assumed again.
    pub fn restore(&mut self, key: &str, before: Option<Assumption>) {
        match before {
            Some(before) => drop(self.bindings.insert(key.to_owned(), before)),
            None => drop(self.bindings.remove(key)),
        }
    }

    /// A binding's workload in this cluster became healthy: the cluster's report counts it.
    pub fn release(&mut self, key: &str, cluster: &str) {
        if let Some(assumption) = self.bindings.get_mut(key) {
            assumption.clusters.remove(cluster);
        }
    }

    /// A binding is gone.
    pub fn forget(&mut self, key: &str) {
        self.bindings.remove(key);
    }

    /// Drops what has expired. Not needed for right answers, only for memory.
    pub fn collect(&mut self, now: Moment) {
        self.bindings.retain(|_, assumption| assumption.expires > now && !assumption.clusters.is_empty());
    }

    /// All that is on its way, by cluster, for a pass.
    pub fn live(&self, now: Moment, table: &ClusterTable) -> Assumed {
        // In order of keys, so that estimates don't depend on the map.
        let mut keys: Vec<&String> = self.bindings.keys().collect();
        keys.sort();
        let mut assumed = Assumed::new();
        for assumption in keys.into_iter().filter_map(|key| self.bindings.get(key)) {
            if assumption.expires <= now {
                continue;
            }
            for (name, components) in &assumption.clusters {
                if let Some(id) = table.id(name) {
                    assumed.entry(id).or_default().push(components.clone());
                }
            }
        }
        assumed
    }
}

fn footprint(request: &Request, replicas: i32) -> Vec<Component> {
    if !request.components.is_empty() {
        return request.components.clone();
    }
    vec![Component {
        name: request.resource.name.clone(),
        replicas,
        requirements: request.requirements.clone(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn assumed_until_healthy_or_old() {
        let mut table = ClusterTable::new();
        for name in ["m1", "m2"] {
            table.upsert(&json!({"metadata": {"name": name}}));
        }
        let request = Request::from_parts(&json!({"replicas": 5, "resource": {"name": "web"}}), &Value::Null);
        let target = |name: &str, replicas| Target { name: name.to_owned(), replicas, ..Target::default() };
        let mut assumptions = Assumptions::default();
        let at = Duration::from_secs;
        assumptions.store("shop/web", &request, &[target("m1", 2), target("m2", 3)], at(0));
        let live = assumptions.live(at(1), &table);
        assert_eq!((live.len(), live[&1][0][0].replicas), (2, 3));
        assumptions.release("shop/web", "m1");
        assert_eq!(assumptions.live(at(1), &table).len(), 1);
        assert!(assumptions.live(at(300), &table).is_empty());
        assumptions.store("shop/web", &request, &[target("m1", 5)], at(200));
        assert_eq!(assumptions.live(at(499), &table).len(), 1);
        assumptions.collect(at(500));
        assert!(assumptions.bindings.is_empty());
    }
}
