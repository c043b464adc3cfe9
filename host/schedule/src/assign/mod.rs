//! How many replicas each selected cluster gets.

mod divide;

use std::collections::BTreeMap;

use crate::availability::Candidate;
use crate::bitmap::Bitmap;
use crate::memory::Memory;
use crate::outcome::{Division, Failure, ShareTrace, Trace};
use crate::pipeline::Input;
use crate::records::ClusterId;
use crate::request::{Request, Strategy, Target};
use crate::table::ClusterTable;
use crate::webster::{Party, dispense};

/// A cluster by its place in the order of names, which decides between equals, and its id.
type Seat = Party<(u32, ClusterId)>;

/// What an assignment works with.
struct Office<'a> {
    input: &'a Input<'a>,
    memory: &'a mut Memory,
    trace: &'a mut Trace,
    /// The overflow order of those who are served, if there are tiers.
    tier: Option<u32>,
}

/// The selected clusters with their replicas.
pub(crate) fn assign(
    input: &Input<'_>,
    memory: &mut Memory,
    selected: &[Candidate],
    trace: &mut Trace,
) -> Result<Vec<Target>, Failure> {
    let request = input.request;
    if selected.is_empty() {
        return Err(Failure::Error("no clusters available to schedule".to_owned()));
    }
    if (request.replicas > 0 || request.requirements.is_some()) && request.components.len() <= 1 {
        let mut office = Office { input, memory, trace, tier: None };
        return if has_tiers(request, input.affinity_name) {
            office.assign_by_tier(selected)
        } else {
            office.assign_replicas(selected, request.replicas)
        };
    }
    let components = if input.by_sets() && request.components.len() > 1 {
        request.components.iter().map(|component| (component.name.clone(), component.replicas)).collect()
    } else {
        Vec::new()
    };
    Ok(selected
        .iter()
        .map(|candidate| Target {
            name: input.table.name(candidate.id).to_owned(),
            replicas: 0,
            components: components.clone(),
        })
        .collect())
}

/// Whether the affinity term in force has overflow affinities.
fn has_tiers(request: &Request, affinity_name: &str) -> bool {
    request.placement.as_ref().is_some_and(|placement| placement.affinity.is_none())
        && !affinity_name.is_empty()
        && request.term(affinity_name).is_some_and(|term| term.overflow.is_some())
}

impl Strategy {
    pub(crate) fn is_duplicated(&self) -> bool {
        self.scheduling_type == "Duplicated"
    }
}

impl Office<'_> {
    /// Fills the primary clusters first, then those of each overflow affinity.
    fn assign_by_tier(&mut self, selected: &[Candidate]) -> Result<Vec<Target>, Failure> {
        let mut tiers: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
        for candidate in selected {
            tiers.entry(candidate.overflow_order).or_default().push(*candidate);
        }
        let mut remaining = i64::from(self.input.request.replicas);
        let mut targets = Vec::new();
        for (order, tier) in tiers {
            if remaining <= 0 {
                break;
            }
            let capacity: i64 = tier.iter().map(|candidate| candidate.available).sum();
            let quota = remaining.min(capacity);
            self.tier = Some(order);
            targets.extend(self.assign_replicas(&tier, i32::try_from(quota).unwrap_or(i32::MAX))?);
            remaining -= quota;
        }
        if remaining > 0 {
            return Err(Failure::Unschedulable(
                "Clusters available replicas are not enough to schedule.".to_owned(),
            ));
        }
        Ok(targets)
    }

    fn assign_replicas(&mut self, selected: &[Candidate], replicas: i32) -> Result<Vec<Target>, Failure> {
        let request = self.input.request;
        let strategy = request.placement.as_ref().and_then(|placement| placement.strategy.as_ref());
        let Some(strategy) = strategy.filter(|strategy| !strategy.is_duplicated()) else {
            return Ok(self.duplicate(selected, replicas));
        };
        match (strategy.scheduling_type.as_str(), strategy.preference.as_str()) {
            ("Divided", "Aggregated") => self.divide(selected, replicas, true),
            ("Divided", "Weighted")
                if strategy.weights.as_ref().is_some_and(|weights| !weights.dynamic.is_empty()) =>
            {
                self.divide(selected, replicas, false)
            }
            ("Divided", "Weighted") => Ok(self.by_fixed_weight(strategy, selected, replicas)),
            (kind, preference) => Err(Failure::Error(format!(
                "unsupported replica scheduling strategy, replicaSchedulingType: {kind}, \
                 replicaDivisionPreference: {preference}, please try another scheduling strategy"
            ))),
        }
    }

    fn duplicate(&mut self, selected: &[Candidate], replicas: i32) -> Vec<Target> {
        if self.input.options.explain {
            let share = |candidate: &Candidate| ShareTrace {
                cluster: candidate.id,
                weight: 0,
                kept: 0,
                seats: replicas.into(),
            };
            let mut shares: Vec<&Candidate> = selected.iter().collect();
            shares.sort_by_key(|candidate| candidate.rank);
            self.trace.divisions.push(Division {
                strategy: "Duplicated",
                tier: self.tier,
                replicas: replicas.into(),
                shares: shares.into_iter().map(share).collect(),
                ..Division::default()
            });
        }
        if replicas == 0 {
            return Vec::new();
        }
        selected.iter().map(|candidate| target(self.input.table, candidate.id, replicas.into())).collect()
    }

    /// By the weights that the placement gives; of several rules for a cluster the largest counts.
    fn by_fixed_weight(&mut self, strategy: &Strategy, selected: &[Candidate], replicas: i32) -> Vec<Target> {
        let table = self.input.table;
        let rules = strategy.weights.as_ref().map(|weights| weights.fixed.as_slice()).unwrap_or_default();
        let mut clusters = Bitmap::new(table.capacity());
        selected.iter().for_each(|candidate| clusters.set(candidate.id as usize, true));
        let mut weights: BTreeMap<ClusterId, i64> = BTreeMap::new();
        for (rule, weight) in rules {
            for id in self.memory.matching(table, rule, &clusters).ones() {
                let known = weights.entry(id).or_insert(*weight);
                *known = (*known).max(*weight);
            }
        }
        let ranks = table.ranks();
        let rank = |id: ClusterId| ranks.get(id as usize).copied().unwrap_or(u32::MAX);
        let mut seats: Vec<Seat> =
            weights.iter().map(|(id, weight)| Seat::new((rank(*id), *id), *weight)).collect();
        if seats.iter().fold(0i64, |sum, seat| sum.saturating_add(seat.weight)) == 0 {
            seats = selected.iter().map(|candidate| Seat::new((candidate.rank, candidate.id), 1)).collect();
        }
        let seats = dispense(i64::from(replicas), seats, &self.input.request.resource.uid);
        self.note(("StaticWeight", ""), replicas.into(), &seats, |_| 0);
        let placed = seats.iter().filter(|seat| seat.seats != 0);
        placed.map(|seat| target(table, seat.name.1, seat.seats)).collect()
    }

    /// For the explanation: who got what. `seats` are in the order of names.
    fn note(
        &mut self,
        (strategy, mode): (&'static str, &'static str),
        replicas: i64,
        seats: &[Seat],
        kept: impl Fn(ClusterId) -> i64,
    ) {
        if !self.input.options.explain {
            return;
        }
        let share = |seat: &Seat| ShareTrace {
            cluster: seat.name.1,
            weight: seat.weight,
            kept: kept(seat.name.1),
            seats: seat.seats,
        };
        let shares = seats.iter().map(share).collect();
        self.trace.divisions.push(Division { strategy, mode, tier: self.tier, replicas, shares });
    }
}

fn target(table: &ClusterTable, id: ClusterId, count: i64) -> Target {
    let replicas = i32::try_from(count).unwrap_or(if count > 0 { i32::MAX } else { i32::MIN });
    Target { name: table.name(id).to_owned(), replicas, components: Vec::new() }
}
