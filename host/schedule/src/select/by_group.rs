//! A number of groups (regions, zones, values of a label), and a number of clusters in them.
//!
//! With several constraints a group is what has all of them in common, and the chosen groups keep to each: so many
//! different regions, so many different values of the label.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::search::{Group, Limits, search};
use super::{Spread, at_least, at_most, is_duplicated};
use crate::availability::Candidate;
use crate::memory::Memory;
use crate::outcome::{Failure, GroupTrace, Trace};
use crate::pipeline::Input;
use crate::records::SpreadConstraint;
use crate::topology::Groups;

/// A duplicated workload's group counts a thousand for each cluster with room for all replicas, a divided one's for each
/// replica that finds room; scores of clusters only decide between equals.
const WEIGHT_UNIT: i64 = 1000;

/// Clusters that have their groups in common: places in the order of preference.
struct Cell {
    name: String,
    /// For each constraint the number of the group.
    keys: Vec<u32>,
    members: Vec<usize>,
}

pub(super) fn select(
    input: &Input<'_>,
    memory: &mut Memory,
    ranked: &[Candidate],
    spreads: &[Spread<'_>],
    cluster: Option<&SpreadConstraint>,
    trace: &mut Trace,
) -> Result<Vec<Candidate>, Failure> {
    let cells = cells(input, memory, ranked, spreads);
    for (place, spread) in spreads.iter().enumerate() {
        let distinct: BTreeSet<u32> = cells.iter().filter_map(|cell| cell.keys.get(place).copied()).collect();
        if distinct.len() < at_least(spread.constraint) {
            return Err(Failure::Error(format!(
                "the number of feasible {} is less than spreadConstraint.MinGroups",
                spread.topology.name()
            )));
        }
    }
    let cluster_min = cluster.map_or(0, at_least);
    let least = spreads.first().map_or(1, |spread| spread.constraint.min_groups.max(1));
    let groups: Vec<Group> = cells
        .iter()
        .map(|cell| {
            let members = || cell.members.iter().filter_map(|place| ranked.get(*place));
            Group {
                name: cell.name.clone(),
                keys: cell.keys.clone(),
                value: cell.members.len(),
                weight: score(input, members, least, cluster_min),
            }
        })
        .collect();
    let limits = Limits {
        groups: spreads
            .iter()
            .map(|spread| (at_least(spread.constraint), at_most(spread.constraint)))
            .collect(),
        target: cluster_min,
    };
    let chosen = search(&groups, &limits);
    if input.options.explain {
        let field: Vec<String> = spreads.iter().map(|spread| spread.topology.name()).collect();
        let field = field.join(" / ");
        let order = |place: usize| chosen.iter().flatten().position(|chosen| *chosen == place);
        let group = |(place, group): (usize, &Group)| GroupTrace {
            field: field.clone(),
            name: group.name.clone(),
            score: group.weight,
            clusters: group.value,
            chosen: order(place),
        };
        trace.groups = groups.iter().enumerate().map(group).collect();
    }
    let Some(chosen) = chosen else {
        return Err(Failure::Error(
            "the number of clusters is less than the cluster spreadConstraint.MinGroups".to_owned(),
        ));
    };
    let chosen = chosen.into_iter().filter_map(|place| cells.get(place));
    Ok(take(ranked, chosen, cluster.map_or(usize::MAX, at_most)))
}

/// The best of each group, then the best of what is left in all of them, up to `most`.
fn take<'a>(ranked: &[Candidate], chosen: impl Iterator<Item = &'a Cell>, most: usize) -> Vec<Candidate> {
    let mut selected = Vec::new();
    let mut taken = BTreeSet::new();
    let mut pool = BTreeSet::new();
    for cell in chosen {
        // A cluster of several zones stands for each of them.
        if !cell.members.iter().any(|place| taken.contains(place))
            && let Some(best) = cell.members.first()
        {
            taken.insert(*best);
            selected.extend(ranked.get(*best));
        }
        pool.extend(&cell.members);
    }
    // Places are in the order of preference.
    let rest: Vec<usize> = pool.difference(&taken).copied().collect();
    let more = most.saturating_sub(selected.len());
    selected.extend(rest.into_iter().take(more).filter_map(|place| ranked.get(place)));
    selected
}

/// Groups and members in order of preference; clusters that lack what a constraint asks for are left out.
fn cells(input: &Input<'_>, memory: &mut Memory, ranked: &[Candidate], spreads: &[Spread<'_>]) -> Vec<Cell> {
    let topologies: Vec<Arc<Groups>> =
        spreads.iter().map(|spread| memory.topologies.get(&spread.topology, input.table)).collect();
    if let [groups] = topologies.as_slice() {
        return cells_of_one(groups, ranked);
    }
    let mut cells: Vec<Cell> = Vec::new();
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    for (place, candidate) in ranked.iter().enumerate() {
        let mut combined: Vec<Vec<u32>> = vec![Vec::new()];
        for groups in &topologies {
            let own = groups.of(candidate.id);
            let with = |keys: &Vec<u32>| {
                let keys = keys.clone();
                own.iter().map(move |number| keys.iter().copied().chain([*number]).collect())
            };
            combined = combined.iter().flat_map(with).collect();
        }
        for keys in combined {
            let at = *known.entry(keys).or_insert_with_key(|keys| {
                let names: Vec<&str> =
                    topologies.iter().zip(keys).map(|(groups, number)| groups.name(*number)).collect();
                cells.push(Cell { name: names.join(" / "), keys: keys.clone(), members: Vec::new() });
                cells.len() - 1
            });
            if let Some(cell) = cells.get_mut(at) {
                cell.members.push(place);
            }
        }
    }
    cells
}

/// The same for a single topology, whose groups are numbered already.
fn cells_of_one(groups: &Groups, ranked: &[Candidate]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut known: Vec<Option<usize>> = vec![None; groups.len()];
    for (place, candidate) in ranked.iter().enumerate() {
        for number in groups.of(candidate.id) {
            let Some(at) = known.get_mut(*number as usize) else { continue };
            let at = *at.get_or_insert_with(|| {
                let name = groups.name(*number).to_owned();
                cells.push(Cell { name, keys: vec![*number], members: Vec::new() });
                cells.len() - 1
            });
            if let Some(cell) = cells.get_mut(at) {
                cell.members.push(place);
            }
        }
    }
    cells
}

fn score<'a, I: Iterator<Item = &'a Candidate>>(
    input: &Input<'_>,
    members: impl Fn() -> I,
    min_groups: i64,
    cluster_min: usize,
) -> i64 {
    let replicas = i64::from(input.request.replicas);
    if input.request.placement.as_ref().is_none_or(is_duplicated) {
        duplicated_score(members(), replicas)
    } else {
        divided_score(members, replicas, min_groups, cluster_min)
    }
}

fn duplicated_score<'a>(members: impl Iterator<Item = &'a Candidate>, replicas: i64) -> i64 {
    let (mut count, mut sum) = (0, 0);
    for member in members.filter(|member| member.available >= replicas) {
        count += 1;
        sum += member.score;
    }
    if count == 0 { 0 } else { WEIGHT_UNIT * count + sum / count }
}

fn divided_score<'a, I: Iterator<Item = &'a Candidate>>(
    members: impl Fn() -> I,
    replicas: i64,
    min_groups: i64,
    cluster_min: usize,
) -> i64 {
    let target = replicas / min_groups + i64::from(replicas % min_groups > 0);
    let need = i64::try_from(cluster_min).unwrap_or(i64::MAX).max(min_groups);
    let (mut available, mut sum, mut count) = (0, 0, 0);
    for member in members() {
        available += member.available;
        sum += member.score;
        count += 1;
        if count >= need && available >= target {
            break;
        }
    }
    if available < target {
        let all = i64::try_from(members().count()).unwrap_or(i64::MAX).max(1);
        WEIGHT_UNIT * available + sum / all
    } else {
        WEIGHT_UNIT * target + sum / count.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(scores: &[i64], available: &[i64]) -> Vec<Candidate> {
        let candidate = |(score, available): (&i64, &i64)| Candidate {
            id: 0,
            rank: 0,
            overflow_order: 0,
            score: *score,
            allocatable: 0,
            available: *available,
        };
        scores.iter().zip(available).map(candidate).collect()
    }

    #[test]
    fn published_group_scores() {
        let duplicated: [(i64, &[i64], &[i64], i64); 4] = [
            (20, &[100, 100, 0, 0, 0], &[30, 30, 30, 30, 30], 5040),
            (20, &[100; 5], &[30, 30, 30, 10, 10], 3100),
            (20, &[100, 100, 0, 0, 0], &[30, 30, 30, 10, 10], 3066),
            (50, &[0; 4], &[60; 4], 4000),
        ];
        for (replicas, scores, available, score) in duplicated {
            assert_eq!(duplicated_score(candidates(scores, available).iter(), replicas), score);
        }
        let divided: [(&[i64], &[i64], i64); 6] = [
            (&[100, 100, 0, 0, 0], &[30, 30, 30, 10, 10], 50_100),
            (&[100; 5], &[10, 10, 10, 5, 5], 40_100),
            (&[100, 100, 0, 0, 0], &[10, 10, 10, 10, 5], 45_040),
            (&[100, 100, 0, 0, 0], &[10, 10, 10, 5, 5], 40_040),
            (&[0; 5], &[100; 5], 50_000),
            (&[100; 5], &[50; 5], 50_100),
        ];
        for (scores, available, score) in divided {
            let members = candidates(scores, available);
            assert_eq!(divided_score(|| members.iter(), 100, 2, 0), score);
        }
    }
}
