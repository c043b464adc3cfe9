//! How much room each cluster has, and the order in which clusters are preferred.

use std::collections::HashMap;
use std::sync::Arc;

use crate::estimate::General;
use crate::outcome::{Ranked, Trace};
use crate::pipeline::Input;
use crate::plugin::{Demand, Estimate, Query};
use crate::records::{ClusterFacts, ClusterId};
use crate::request::Request;
use crate::table::Cluster;

/// The overflow order of a cluster that matches neither the term in force nor one of its overflow affinities.
const NO_TERM: u32 = 1000;

/// A cluster that passed the filters.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) id: ClusterId,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) overflow_order: u32,
    pub(crate) scores: Vec<i64>,
    pub(crate) score: i64,
    pub(crate) allocatable: i32,
    pub(crate) available: i64,
}

impl Candidate {
    pub(crate) fn trace(self) -> Ranked {
        Ranked {
            cluster: self.id,
            overflow_order: self.overflow_order,
            scores: self.scores,
            score: self.score,
            allocatable: self.allocatable,
            available: self.available,
        }
    }

    /// Preferred first; a total order, since names differ.
    pub(crate) fn compare(&self, other: &Self) -> std::cmp::Ordering {
        self.overflow_order
            .cmp(&other.overflow_order)
            .then(other.score.cmp(&self.score))
            .then(other.available.cmp(&self.available))
            .then_with(|| self.cluster.name().cmp(other.cluster.name()))
    }
}

/// The feasible clusters, preferred first.
pub(crate) fn rank(
    input: &Input<'_>,
    feasible: &[ClusterId],
    scores: Vec<Vec<i64>>,
    estimators: &mut [Box<dyn Estimate>],
    trace: &mut Trace,
) -> Vec<Candidate> {
    let room = room(input, feasible, estimators, trace);
    // The first entry of a cluster counts.
    let placed: HashMap<&str, i32> =
        input.request.targets.iter().rev().map(|target| (target.name.as_str(), target.replicas)).collect();
    let mut ranked: Vec<Candidate> = feasible
        .iter()
        .zip(room)
        .enumerate()
        .filter_map(|(position, (id, allocatable))| {
            let cluster = Arc::clone(input.table.get(*id)?);
            let scores: Vec<i64> = scores.iter().filter_map(|list| list.get(position).copied()).collect();
            Some(Candidate {
                id: *id,
                overflow_order: overflow_order(input.request, input.affinity_name, &cluster.facts),
                score: scores.iter().sum(),
                scores,
                allocatable,
                available: i64::from(allocatable)
                    + i64::from(placed.get(cluster.name()).copied().unwrap_or(0)),
                cluster,
            })
        })
        .collect();
    ranked.sort_by(Candidate::compare);
    ranked
}

/// What each cluster can take beyond what runs there: the least that any estimator says.
fn room(
    input: &Input<'_>,
    feasible: &[ClusterId],
    estimators: &mut [Box<dyn Estimate>],
    trace: &mut Trace,
) -> Vec<i32> {
    let request = input.request;
    let mut room = vec![i32::MAX; feasible.len()];
    if request.replicas == 0 && request.components.is_empty() {
        return room;
    }
    let demand = if input.by_sets() {
        Demand::Sets(&request.components)
    } else {
        Demand::Replicas(request.requirements.as_ref())
    };
    let query = Query { resource: &request.resource, demand, clusters: feasible, assumed: input.assumed };
    let mut general = General { models: input.options.models };
    let mut ask = |estimator: &mut dyn Estimate| match estimator.max_replicas(input.table, &query) {
        Ok(answer) => {
            for (least, said) in room.iter_mut().zip(answer) {
                // Nothing below zero is known of a cluster, whatever an estimator says.
                *least = (*least).min(said.unwrap_or(i32::MAX).max(0));
            }
        }
        Err(error) => trace.ignored.push(format!("{}: {error}", estimator.name())),
    };
    ask(&mut general);
    for estimator in estimators {
        ask(estimator.as_mut());
    }
    for least in &mut room {
        if *least == i32::MAX {
            *least = request.replicas;
        }
    }
    room
}

/// 0 for the term in force or without terms, k + 1 for its overflow affinity k.
pub(crate) fn overflow_order(request: &Request, affinity_name: &str, cluster: &ClusterFacts) -> u32 {
    let Some(placement) = &request.placement else { return 0 };
    if placement.affinity.is_some() || placement.terms.is_empty() {
        return 0;
    }
    let Some(term) = request.term(affinity_name) else { return NO_TERM };
    if term.affinity.matches(cluster) {
        return 0;
    }
    (1..)
        .zip(term.overflow.iter().flatten())
        .find(|(_, affinity)| affinity.matches(cluster))
        .map_or(NO_TERM, |(order, _)| order)
}
