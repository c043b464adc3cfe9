//! A number of regions, and a number of clusters in them.

use super::search::{Group, Limits, search};
use super::{at_least, at_most, is_duplicated};
use crate::availability::Candidate;
use crate::outcome::{Failure, GroupTrace, Trace};
use crate::pipeline::Input;
use crate::records::SpreadConstraint;

/// A duplicated workload's group counts a thousand for each cluster with room for all replicas, a divided one's for each
/// replica that finds room; scores of clusters only decide between equals.
const WEIGHT_UNIT: i64 = 1000;

pub(super) fn select(
    input: &Input<'_>,
    ranked: &[Candidate],
    region: &SpreadConstraint,
    cluster: Option<&SpreadConstraint>,
    trace: &mut Trace,
) -> Result<Vec<Candidate>, Failure> {
    let regions = group(ranked);
    if regions.len() < at_least(region) {
        return Err(Failure::Error(
            "the number of feasible region is less than spreadConstraint.MinGroups".to_owned(),
        ));
    }
    let cluster_min = cluster.map_or(0, at_least);
    let groups: Vec<Group> = regions
        .iter()
        .map(|(name, members)| Group {
            name: (*name).to_owned(),
            value: members.len(),
            weight: score(input, members, region, cluster_min),
        })
        .collect();
    let limits = Limits { min: at_least(region), max: at_most(region), target: cluster_min };
    let chosen = search(groups.clone(), limits);
    trace.groups = groups
        .into_iter()
        .map(|group| GroupTrace {
            field: "region".to_owned(),
            chosen: chosen.iter().flatten().any(|chosen| chosen.name == group.name),
            name: group.name,
            score: group.weight,
            clusters: group.value,
        })
        .collect();
    let Some(chosen) = chosen else {
        return Err(Failure::Error(
            "the number of clusters is less than the cluster spreadConstraint.MinGroups".to_owned(),
        ));
    };
    let mut selected = Vec::new();
    let mut pool = Vec::new();
    for group in chosen {
        let members = regions.iter().find(|(name, _)| *name == group.name).map(|(_, members)| members);
        let mut members = members.into_iter().flatten().map(|candidate| (*candidate).clone());
        selected.extend(members.next());
        pool.extend(members);
    }
    let count = (selected.len() + pool.len()).min(cluster.map_or(0, at_most));
    let more = count.saturating_sub(selected.len());
    pool.sort_by(Candidate::compare);
    selected.extend(pool.into_iter().take(more));
    Ok(selected)
}

/// Clusters by region, both in order of preference; clusters without one are left out.
fn group(ranked: &[Candidate]) -> Vec<(&str, Vec<&Candidate>)> {
    let mut regions: Vec<(&str, Vec<&Candidate>)> = Vec::new();
    for candidate in ranked {
        let region = candidate.cluster.facts.region.as_str();
        if region.is_empty() {
            continue;
        }
        match regions.iter_mut().find(|(name, _)| *name == region) {
            Some((_, members)) => members.push(candidate),
            None => regions.push((region, vec![candidate])),
        }
    }
    regions
}

fn score(input: &Input<'_>, members: &[&Candidate], region: &SpreadConstraint, cluster_min: usize) -> i64 {
    let replicas = i64::from(input.request.replicas);
    if input.request.placement.as_ref().is_none_or(is_duplicated) {
        duplicated_score(members, replicas)
    } else {
        divided_score(members, replicas, region.min_groups.max(1), cluster_min)
    }
}

fn duplicated_score(members: &[&Candidate], replicas: i64) -> i64 {
    let (mut count, mut sum) = (0, 0);
    for member in members.iter().filter(|member| member.available >= replicas) {
        count += 1;
        sum += member.score;
    }
    if count == 0 { 0 } else { WEIGHT_UNIT * count + sum / count }
}

fn divided_score(members: &[&Candidate], replicas: i64, min_groups: i64, cluster_min: usize) -> i64 {
    let target = replicas / min_groups + i64::from(replicas % min_groups > 0);
    let need = i64::try_from(cluster_min).unwrap_or(i64::MAX).max(min_groups);
    let (mut available, mut sum, mut count) = (0, 0, 0);
    for member in members {
        available += member.available;
        sum += member.score;
        count += 1;
        if count >= need && available >= target {
            break;
        }
    }
    if available < target {
        let all = i64::try_from(members.len()).unwrap_or(i64::MAX).max(1);
        WEIGHT_UNIT * available + sum / all
    } else {
        WEIGHT_UNIT * target + sum / count.max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn candidates(scores: &[i64], available: &[i64]) -> Vec<Candidate> {
        let candidate = |(score, available): (&i64, &i64)| Candidate {
            id: 0,
            cluster: Arc::default(),
            overflow_order: 0,
            scores: Vec::new(),
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
            let members = candidates(scores, available);
            assert_eq!(duplicated_score(&members.iter().collect::<Vec<_>>(), replicas), score);
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
            assert_eq!(divided_score(&members.iter().collect::<Vec<_>>(), 100, 2, 0), score);
        }
    }
}
