//! A number of clusters, with enough room together.

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
    let mut rest = rest.to_vec();
    let mut sum: i64 = chosen.iter().map(|candidate| candidate.available).sum();
    for current in chosen.iter_mut().rev() {
        if sum >= need {
            break;
        }
        if let Some(better) = roomiest(&mut rest).filter(|better| better.available > current.available) {
            sum += better.available - current.available;
            std::mem::swap(current, better);
        }
    }
    if sum < need || chosen.is_empty() {
        return Err(Failure::Error(format!("no enough resource when selecting {count} clusters")));
    }
    Ok(chosen)
}

/// The first of those with the most room.
fn roomiest(rest: &mut [Candidate]) -> Option<&mut Candidate> {
    rest.iter_mut().reduce(|best, other| if other.available > best.available { other } else { best })
}
