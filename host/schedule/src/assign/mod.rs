//! How many replicas each selected cluster gets.

mod divide;

use std::collections::BTreeMap;

use crate::availability::Candidate;
use crate::outcome::Failure;
use crate::pipeline::Input;
use crate::request::{Request, Strategy, Target};
use crate::webster::{Party, dispense};

/// The selected clusters with their replicas.
pub(crate) fn assign(input: &Input<'_>, selected: &[Candidate]) -> Result<Vec<Target>, Failure> {
    let request = input.request;
    if selected.is_empty() {
        return Err(Failure::Error("no clusters available to schedule".to_owned()));
    }
    if (request.replicas > 0 || request.requirements.is_some()) && request.components.len() <= 1 {
        let selected: Vec<&Candidate> = selected.iter().collect();
        return if has_tiers(request, input.affinity_name) {
            assign_by_tier(request, &selected)
        } else {
            assign_replicas(request, &selected, request.replicas)
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
            name: candidate.cluster.name().to_owned(),
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

/// Fills the primary clusters first, then those of each overflow affinity.
fn assign_by_tier(request: &Request, selected: &[&Candidate]) -> Result<Vec<Target>, Failure> {
    let mut tiers: BTreeMap<u32, Vec<&Candidate>> = BTreeMap::new();
    for candidate in selected {
        tiers.entry(candidate.overflow_order).or_default().push(candidate);
    }
    let mut remaining = i64::from(request.replicas);
    let mut targets = Vec::new();
    for tier in tiers.values() {
        if remaining <= 0 {
            break;
        }
        let capacity: i64 = tier.iter().map(|candidate| candidate.available).sum();
        let quota = remaining.min(capacity);
        targets.extend(assign_replicas(request, tier, i32::try_from(quota).unwrap_or(i32::MAX))?);
        remaining -= quota;
    }
    if remaining > 0 {
        return Err(Failure::Unschedulable(
            "Clusters available replicas are not enough to schedule.".to_owned(),
        ));
    }
    Ok(targets)
}

impl Strategy {
    pub(crate) fn is_duplicated(&self) -> bool {
        self.scheduling_type == "Duplicated"
    }
}

fn assign_replicas(
    request: &Request,
    selected: &[&Candidate],
    replicas: i32,
) -> Result<Vec<Target>, Failure> {
    let strategy = request.placement.as_ref().and_then(|placement| placement.strategy.as_ref());
    let mut targets = match strategy {
        None => duplicate(selected, replicas),
        Some(strategy) => match (strategy.scheduling_type.as_str(), strategy.preference.as_str()) {
            ("Duplicated", _) => duplicate(selected, replicas),
            ("Divided", "Aggregated") => divide::divide(request, selected, replicas, true)?,
            ("Divided", "Weighted")
                if strategy.weights.as_ref().is_some_and(|weights| !weights.dynamic.is_empty()) =>
            {
                divide::divide(request, selected, replicas, false)?
            }
            ("Divided", "Weighted") => by_fixed_weight(request, strategy, selected, replicas),
            (kind, preference) => {
                return Err(Failure::Error(format!(
                    "unsupported replica scheduling strategy, replicaSchedulingType: {kind}, \
                     replicaDivisionPreference: {preference}, please try another scheduling strategy"
                )));
            }
        },
    };
    targets.retain(|target| target.replicas != 0);
    Ok(targets)
}

fn duplicate(selected: &[&Candidate], replicas: i32) -> Vec<Target> {
    selected.iter().map(|candidate| target(candidate.cluster.name(), replicas)).collect()
}

fn by_fixed_weight(
    request: &Request,
    strategy: &Strategy,
    selected: &[&Candidate],
    replicas: i32,
) -> Vec<Target> {
    let rules = strategy.weights.as_ref().map(|weights| weights.fixed.as_slice()).unwrap_or_default();
    let mut parties: Vec<Party> = selected
        .iter()
        .filter_map(|candidate| {
            let facts = &candidate.cluster.facts;
            let weight =
                rules.iter().filter(|(rule, _)| rule.matches(facts)).map(|(_, weight)| *weight).max()?;
            Some(Party::new(candidate.cluster.name(), weight))
        })
        .collect();
    if parties.iter().map(|party| party.weight).sum::<i64>() == 0 {
        parties = selected.iter().map(|candidate| Party::new(candidate.cluster.name(), 1)).collect();
    }
    seated(dispense(i64::from(replicas), parties, &request.resource.uid))
}

fn target(name: &str, replicas: i32) -> Target {
    Target { name: name.to_owned(), replicas, components: Vec::new() }
}

fn seated(parties: Vec<Party>) -> Vec<Target> {
    parties
        .into_iter()
        .map(|party| target(&party.name, i32::try_from(party.seats).unwrap_or(i32::MAX)))
        .collect()
}
