//! Which of the feasible clusters are used: spread constraints.

mod by_cluster;
mod by_group;
mod search;

use std::borrow::Cow;

use crate::availability::Candidate;
use crate::memory::Memory;
use crate::outcome::{Failure, Trace};
use crate::pipeline::Input;
use crate::records::SpreadConstraint;
use crate::request::{Placement, Strategy};
use crate::topology::Topology;

/// How many replicas the selected clusters must have room for; nothing if that doesn't matter.
type Need = Option<i64>;

/// The selected clusters, in order.
pub(crate) fn select<'a>(
    input: &Input<'_>,
    memory: &mut Memory,
    ranked: &'a [Candidate],
    trace: &mut Trace,
) -> Result<Cow<'a, [Candidate]>, Failure> {
    let Some(placement) = &input.request.placement else { return Ok(ranked.into()) };
    if placement.spread.is_empty() || ignores_spread(placement) {
        return Ok(ranked.into());
    }
    let need = if is_duplicated(placement) {
        None
    } else if input.by_sets() {
        Some(1)
    } else {
        Some(i64::from(input.request.replicas))
    };
    let spreads = spreads(placement);
    let cluster = by_field(placement, "cluster");
    if !spreads.is_empty() {
        return by_group::select(input, memory, ranked, &spreads, cluster, trace).map(Cow::Owned);
    }
    match cluster {
        Some(cluster) => by_cluster::select(ranked, cluster, need).map(Cow::Owned),
        None => Err(Failure::Error(
            "none of the spread constraints has spreadByField cluster, region, zone or provider, or spreadByLabel"
                .to_owned(),
        )),
    }
}

/// A constraint on groups, and what makes them.
struct Spread<'a> {
    topology: Topology,
    constraint: &'a SpreadConstraint,
}

/// The last constraint on a field; admission lets each be named once.
fn by_field<'a>(placement: &'a Placement, field: &str) -> Option<&'a SpreadConstraint> {
    placement.spread.iter().rev().find(|spread| spread.by_field == field)
}

/// The constraints by which groups are chosen: region and labels always, zone and provider only where neither clusters nor
/// regions are counted. Beside those the vectors have zone and provider do no more than keep out clusters that have none.
fn spreads(placement: &Placement) -> Vec<Spread<'_>> {
    let fields: &[&str] = if by_field(placement, "region").is_some() {
        &["region"]
    } else if by_field(placement, "cluster").is_some() {
        &[]
    } else {
        &["zone", "provider"]
    };
    let fields = fields.iter().filter_map(|field| {
        Some(Spread { topology: Topology::of_field(field)?, constraint: by_field(placement, field)? })
    });
    let labels = placement.spread.iter().filter(|spread| !spread.by_label.is_empty());
    let labels = labels
        .map(|spread| Spread { topology: Topology::Label(spread.by_label.clone()), constraint: spread });
    fields.chain(labels).collect()
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
