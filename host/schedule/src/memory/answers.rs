//! The host's own pointwise questions: does a cluster match an affinity, and how much does its report leave free?

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::{Column, Marks, Memory};
use crate::amount::Amounts;
use crate::bitmap::Bitmap;
use crate::estimate::General;
use crate::plugin::{Assumed, Demand};
use crate::records::ClusterAffinity;
use crate::request::Component;
use crate::table::{ClusterFields, ClusterTable};

/// The general estimate of each cluster, by id; what clusters have that weren't asked about means nothing.
pub(crate) type Estimates = Vec<i32>;

/// What an estimate depends on beside the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DemandKey {
    models: bool,
    sets: bool,
    /// Replicas and requests; of a single replica one entry, without replicas.
    parts: Vec<(i32, Option<Amounts>)>,
}

impl DemandKey {
    fn of(demand: Demand<'_>, models: bool) -> Self {
        let parts = match demand {
            Demand::Replicas(requirements) => vec![(0, requirements.map(|needs| needs.request.clone()))],
            Demand::Sets(components) => {
                components.iter().map(|part| (part.replicas, request(part).cloned())).collect()
            }
        };
        Self { models, sets: matches!(demand, Demand::Sets(_)), parts }
    }

    fn is(&self, demand: Demand<'_>, models: bool) -> bool {
        if self.models != models {
            return false;
        }
        match demand {
            Demand::Replicas(requirements) => {
                let wanted = requirements.map(|needs| &needs.request);
                !self.sets && self.parts.first().is_some_and(|(_, have)| have.as_ref() == wanted)
            }
            Demand::Sets(components) => {
                let mut pairs = self.parts.iter().zip(components);
                self.sets
                    && self.parts.len() == components.len()
                    && pairs.all(|((replicas, have), part)| {
                        *replicas == part.replicas && have.as_ref() == request(part)
                    })
            }
        }
    }

    fn digest(demand: Demand<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match demand {
            Demand::Replicas(requirements) => requirements.map(|needs| &needs.request).hash(&mut hasher),
            Demand::Sets(components) => {
                components.iter().for_each(|part| (part.replicas, request(part)).hash(&mut hasher));
            }
        }
        hasher.finish()
    }
}

fn request(component: &Component) -> Option<&Amounts> {
    component.requirements.as_ref().map(|needs| &needs.request)
}

impl Memory {
    /// Which of the clusters match an affinity.
    pub(crate) fn matching(
        &mut self,
        table: &ClusterTable,
        affinity: &Arc<ClusterAffinity>,
        asked: &Bitmap,
    ) -> Bitmap {
        let mut hasher = DefaultHasher::new();
        affinity.hash(&mut hasher);
        let digest = hasher.finish();
        let found = self.affinities.take(digest, |known| known == affinity);
        let (affinity, mut marks) = found.unwrap_or_else(|| (Arc::clone(affinity), Marks::default()));
        marks.refresh(table, ClusterFields::LABELS | ClusterFields::LOCATION);
        let unknown = marks.unknown(asked);
        if !unknown.is_clear() {
            marks.learn(&unknown, &matching(table, &affinity, &unknown));
        }
        let matching = marks.of(asked);
        if self.on {
            self.affinities.put(digest, (affinity, marks));
        }
        matching
    }

    /// What the general estimator says. Clusters with assumed workloads are worked out each time: what is on its way
    /// changes with every placement.
    pub(crate) fn general(
        &mut self,
        table: &ClusterTable,
        general: General,
        demand: Demand<'_>,
        asked: &Bitmap,
        assumed: &Assumed,
    ) -> Estimates {
        let digest = DemandKey::digest(demand);
        let found = self.estimates.take(digest, |known| known.is(demand, general.models));
        let (key, mut column) =
            found.unwrap_or_else(|| (DemandKey::of(demand, general.models), Column::default()));
        column.refresh(table, ClusterFields::CAPACITY);
        for id in column.unknown(asked).ones() {
            column.learn(id, general.estimate(table, id, demand, &[]));
        }
        let mut estimates = column.values().to_vec();
        for (id, workloads) in assumed {
            if asked.get(*id as usize)
                && let Some(estimate) = estimates.get_mut(*id as usize)
            {
                *estimate = general.estimate(table, *id, demand, workloads);
            }
        }
        if self.on {
            self.estimates.put(digest, (key, column));
        }
        estimates
    }
}

/// Asks each of the clusters; where names alone decide they are looked up instead.
fn matching(table: &ClusterTable, affinity: &ClusterAffinity, asked: &Bitmap) -> Bitmap {
    let mut matching = Bitmap::new(asked.len());
    let mut judge = |id: u32| {
        let matches = table.get(id).is_some_and(|cluster| affinity.matches(&cluster.facts));
        matching.set(id as usize, matches);
    };
    if affinity.cluster_names.is_empty() {
        asked.ones().for_each(judge);
    } else {
        let named = affinity.cluster_names.iter().filter_map(|name| table.id(name));
        named.filter(|id| asked.get(*id as usize)).for_each(&mut judge);
    }
    matching
}
