//! A number of clusters, with enough room together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Need, at_least, at_most};
use crate::availability::Candidate;
use crate::outcome::Failure;
use crate::records::SpreadConstraint;

pub(super) fn select(
    ranked: &[Candidate],
    spread: &SpreadConstraint,
    need: Need,
) -> Result<Vec<Candidate>, Failure> {
    if ranked.len() < at_least(spread) {
        return Err(Failure::Error(
            "the number of feasible clusters is less than spreadConstraint.MinGroups".to_owned(),
        ));
    }
    let count = ranked.len().min(at_most(spread));
    let (chosen, rest) = ranked.split_at_checked(count).unwrap_or((ranked, &[]));
    let mut chosen = chosen.to_vec();
    let Some(need) = need else { return Ok(chosen) };
    let sum: i64 = chosen.iter().map(|candidate| candidate.available).sum();
    if sum < need && swap(&mut chosen, rest, need - sum) < 0 || chosen.is_empty() {
        return Err(Failure::Error(format!("no enough resource when selecting {count} clusters")));
    }
    Ok(chosen)
}

/// From the least preferred on puts the roomiest of the rest in place of the chosen, until nothing is lacking; of equally
/// roomy ones the first. Who is replaced takes the other's place among the rest. Gives what is left over, or lacking.
fn swap(chosen: &mut [Candidate], rest: &[Candidate], mut lacking: i64) -> i64 {
    let mut rest = rest.to_vec();
    let mut roomiest: BinaryHeap<(i64, Reverse<usize>)> =
        rest.iter().enumerate().map(|(place, candidate)| (candidate.available, Reverse(place))).collect();
    for current in chosen.iter_mut().rev() {
        if lacking <= 0 {
            break;
        }
        let Some(mut best) = roomiest.peek_mut() else { break };
        let (available, Reverse(place)) = *best;
        if available > current.available
            && let Some(better) = rest.get_mut(place)
        {
            lacking -= available - current.available;
            std::mem::swap(current, better);
            best.0 = better.available;
        }
    }
    -lacking
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clusters by number, with what they have available, in order of preference.
    fn chosen(available: &[i64], min: i64, max: i64, need: Need) -> Option<Vec<u32>> {
        let ranked: Vec<Candidate> = (0..)
            .zip(available)
            .map(|(id, available)| Candidate {
                id,
                rank: id,
                overflow_order: 0,
                score: 0,
                allocatable: 0,
                available: *available,
            })
            .collect();
        let spread = SpreadConstraint { min_groups: min, max_groups: max, ..SpreadConstraint::default() };
        let selected = select(&ranked, &spread, need).ok()?;
        Some(selected.iter().map(|candidate| candidate.id).collect())
    }

    #[test]
    fn published_choices() {
        let four = [50, 60, 80, 40];
        assert_eq!(chosen(&four, 1, 2, None), Some(vec![0, 1]));
        assert_eq!(chosen(&four, 1, 2, Some(120)), Some(vec![0, 2]));
        assert_eq!(chosen(&four, 1, 2, Some(200)), None);
        assert_eq!(chosen(&four, 7, 8, Some(1)), None);
        assert_eq!(chosen(&[40, 30, 60], 1, 2, Some(80)), Some(vec![0, 2]));
        assert_eq!(chosen(&[10, 10, 30, 40], 1, 2, Some(60)), Some(vec![2, 3]));
        assert_eq!(chosen(&[10, 10, 30, 40], 1, 2, Some(70)), Some(vec![2, 3]));
        assert_eq!(chosen(&[10, 50, 30], 1, 2, Some(75)), Some(vec![2, 1]));
        assert_eq!(chosen(&four, 0, 0, Some(1)), None);
        assert_eq!(chosen(&four, 0, 0, None), Some(vec![]));
    }
}
