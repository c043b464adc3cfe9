//! Which of the feasible clusters are used: spread constraints.

mod by_cluster;
mod by_region;
mod search;

use crate::availability::Candidate;
use crate::outcome::{Failure, Trace};
use crate::pipeline::Input;
use crate::records::SpreadConstraint;
use crate::request::{Placement, Strategy};

/// How many replicas the selected clusters must have room for; nothing if that doesn't matter.
type Need = Option<i64>;

/// The selected clusters, in order.
pub(crate) fn select(
    input: &Input<'_>,
    ranked: &[Candidate],
    trace: &mut Trace,
) -> Result<Vec<Candidate>, Failure> {
    let Some(placement) = &input.request.placement else { return Ok(ranked.to_vec()) };
    if placement.spread.is_empty() || ignores_spread(placement) {
        return Ok(ranked.to_vec());
    }
    let need = if is_duplicated(placement) {
        None
    } else if input.by_sets() {
        Some(1)
    } else {
        Some(i64::from(input.request.replicas))
    };
    let constraint = |field: &str| placement.spread.iter().rev().find(|spread| spread.by_field == field);
    match (constraint("region"), constraint("cluster")) {
        (Some(region), cluster) => by_region::select(input, ranked, region, cluster, trace),
        (None, Some(cluster)) => by_cluster::select(ranked, cluster, need),
        (None, None) => Err(Failure::Error("just support cluster and region spread constraint".to_owned())),
    }
}

/// Fixed weights say where replicas go; spread constraints don't take part.
fn ignores_spread(placement: &Placement) -> bool {
    placement.strategy.as_ref().is_some_and(|strategy| {
        strategy.scheduling_type == "Divided"
            && strategy.preference == "Weighted"
            && strategy
                .weights
                .as_ref()
                .is_none_or(|weights| !weights.fixed.is_empty() && weights.dynamic.is_empty())
    })
}

fn is_duplicated(placement: &Placement) -> bool {
    placement.strategy.as_ref().is_none_or(Strategy::is_duplicated)
}

/// The least number of groups; 0 and less count as none.
fn at_least(spread: &SpreadConstraint) -> usize {
    usize::try_from(spread.min_groups).unwrap_or(0)
}

/// The largest number of groups.
fn at_most(spread: &SpreadConstraint) -> usize {
    usize::try_from(spread.max_groups).unwrap_or(0)
}
