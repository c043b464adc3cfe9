//! How much room each cluster has, and the order in which clusters are preferred.

use crate::bitmap::Bitmap;
use crate::estimate::{GENERAL_ESTIMATOR, General};
use crate::memory::Memory;
use crate::outcome::{Ranked, Trace};
use crate::pipeline::{Input, Scores};
use crate::plugin::{Demand, Profile, Query};
use crate::records::ClusterId;

/// The overflow order of a cluster that matches neither the term in force nor one of its overflow affinities.
const NO_TERM: u32 = 1000;

/// A cluster that passed the filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) id: ClusterId,
    /// Place in the order of names.
    pub(crate) rank: u32,
    pub(crate) overflow_order: u32,
    pub(crate) score: i64,
    pub(crate) allocatable: i32,
    pub(crate) available: i64,
}

/// Half of what 40 bits hold: far beyond any sum of scores, and any number of replicas.
const KEY_OFFSET: i64 = 1 << 39;

impl Candidate {
    /// Smaller is preferred: overflow order, then the better score, then more room, then the name; a total order, since
    /// names differ.
    pub(crate) fn key(&self) -> u128 {
        let falling = |value: i64| {
            let bounded = value.clamp(1 - KEY_OFFSET, KEY_OFFSET - 1);
            u128::from((KEY_OFFSET - bounded).unsigned_abs())
        };
        u128::from(self.overflow_order.min(u32::from(u16::MAX))) << 112
            | falling(self.score) << 72
            | falling(self.available) << 32
            | u128::from(self.rank)
    }
}

/// The feasible clusters, preferred first.
pub(crate) fn rank(
    input: &Input<'_>,
    profile: &mut Profile,
    feasible: &Bitmap,
    scores: &Scores,
    trace: &mut Trace,
) -> Vec<Candidate> {
    let ids = &scores.ids;
    let room = room(input, profile, feasible, ids, trace);
    let orders = overflow_orders(input, &mut profile.memory, feasible);
    let ranks = input.table.ranks();
    let mut candidates: Vec<Candidate> = ids
        .iter()
        .zip(&scores.sums)
        .zip(&room)
        .map(|((id, score), allocatable)| Candidate {
            id: *id,
            rank: ranks.get(*id as usize).copied().unwrap_or(u32::MAX),
            overflow_order: orders
                .as_ref()
                .map_or(0, |orders| orders.get(*id as usize).copied().unwrap_or(NO_TERM)),
            score: *score,
            allocatable: *allocatable,
            available: i64::from(*allocatable),
        })
        .collect();
    add_placed(input, &mut candidates);
    let explained = input.options.explain.then(|| candidates.clone());
    let mut keys: Vec<(u128, u32)> = (0..).zip(&candidates).map(|(place, one)| (one.key(), place)).collect();
    keys.sort_unstable();
    let place = |place: u32| place as usize;
    let order = || keys.iter().map(|(_, at)| place(*at));
    if let Some(candidates) = explained {
        trace.ranked =
            order().filter_map(|at| Some(explain(candidates.get(at)?, at, scores, trace))).collect();
    }
    order().filter_map(|at| candidates.get(at).copied()).collect()
}

/// What runs in a cluster already counts as room, too. Of several entries for one the first counts.
fn add_placed(input: &Input<'_>, candidates: &mut [Candidate]) {
    for target in input.request.targets.iter().rev() {
        if let Some(id) = input.table.id(&target.name)
            && let Ok(place) = candidates.binary_search_by_key(&id, |candidate| candidate.id)
            && let Some(candidate) = candidates.get_mut(place)
        {
            candidate.available = i64::from(candidate.allocatable) + i64::from(target.replicas);
        }
    }
}

fn explain(candidate: &Candidate, at: usize, scores: &Scores, trace: &Trace) -> Ranked {
    Ranked {
        cluster: candidate.id,
        overflow_order: candidate.overflow_order,
        scores: scores.by_plugin.iter().filter_map(|list| list.get(at).copied()).collect(),
        score: candidate.score,
        estimates: trace.estimates.iter().map(|(_, list)| list.get(at).copied().flatten()).collect(),
        allocatable: candidate.allocatable,
        available: candidate.available,
    }
}

/// What each cluster can take beyond what runs there: the least that any estimator says.
fn room(
    input: &Input<'_>,
    profile: &mut Profile,
    feasible: &Bitmap,
    ids: &[ClusterId],
    trace: &mut Trace,
) -> Vec<i32> {
    let request = input.request;
    if request.replicas == 0 && request.components.is_empty() {
        return vec![i32::MAX; ids.len()];
    }
    let demand = if input.by_sets() {
        Demand::Sets(&request.components)
    } else {
        Demand::Replicas(request.requirements.as_ref())
    };
    let general = General { models: input.options.models };
    let by_id = profile.memory.general(input.table, general, demand, feasible, input.assumed);
    // Nothing below zero is known of a cluster, whatever an estimator says.
    let mut room: Vec<i32> =
        ids.iter().map(|id| by_id.get(*id as usize).copied().unwrap_or(0).max(0)).collect();
    if input.options.explain {
        trace.estimates.push((GENERAL_ESTIMATOR.to_owned(), room.iter().copied().map(Some).collect()));
    }
    let query = Query { resource: &request.resource, demand, clusters: ids, assumed: input.assumed };
    for estimator in &mut profile.estimators {
        match estimator.max_replicas(input.table, &query) {
            Ok(answer) => {
                for (least, said) in room.iter_mut().zip(&answer) {
                    *least = (*least).min(said.unwrap_or(i32::MAX).max(0));
                }
                if input.options.explain {
                    trace.estimates.push((estimator.name().to_owned(), answer));
                }
            }
            Err(error) => trace.ignored.push(format!("{}: {error}", estimator.name())),
        }
    }
    for least in &mut room {
        if *least == i32::MAX {
            *least = request.replicas;
        }
    }
    room
}

/// By id: 0 for the term in force, k + 1 for its overflow affinity k. Nothing without terms, where all are equal.
fn overflow_orders(input: &Input<'_>, memory: &mut Memory, feasible: &Bitmap) -> Option<Vec<u32>> {
    let placement = input.request.placement.as_ref()?;
    if placement.affinity.is_some() || placement.terms.is_empty() {
        return None;
    }
    let mut orders = vec![NO_TERM; feasible.len()];
    let Some(term) = input.request.term(input.affinity_name) else { return Some(orders) };
    let affinities = std::iter::once(&term.affinity).chain(term.overflow.iter().flatten());
    let mut rest = feasible.clone();
    for (order, affinity) in (0..).zip(affinities) {
        if rest.is_clear() {
            break;
        }
        let matching = memory.matching(input.table, affinity, &rest);
        for id in matching.ones() {
            if let Some(place) = orders.get_mut(id as usize) {
                *place = order;
            }
        }
        rest = rest.and_not(&matching);
    }
    Some(orders)
}
