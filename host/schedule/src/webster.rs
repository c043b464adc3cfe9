//! The Webster (Sainte-Laguë) dispenser: divides seats by weight, with a tie-break that is stable for each object and
//! fair across objects.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use windlass_object::hash::fnv1a32;

/// Who gets seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party<N = String> {
    /// Breaks ties, and orders the result.
    pub name: N,
    /// Share.
    pub weight: i64,
    /// Seats so far.
    pub seats: i64,
}

impl<N> Party<N> {
    /// A party without seats.
    pub fn new(name: impl Into<N>, weight: i64) -> Self {
        Self { name: name.into(), weight, seats: 0 }
    }

    fn quotient(&self, seats: i64) -> f64 {
        self.weight as f64 / (2 * seats + 1) as f64
    }
}

/// From how many seats per party on the bulk of them is given at once. Below it the plain way is as fast.
const BULK_SEATS_PER_PARTY: i64 = 16;

/// Gives `seats` more seats. Each goes to the party with the largest quotient of weight and twice its seats plus one; of
/// equals to the one with fewer seats, then by name in the direction that `uid` decides. The result is sorted by name.
/// With no weight at all the parties come back as they are.
pub fn dispense<N: Ord>(seats: i64, mut parties: Vec<Party<N>>, uid: &str) -> Vec<Party<N>> {
    let total: i64 = parties.iter().fold(0, |sum, party| sum.saturating_add(party.weight));
    if seats > 0 && total > 0 {
        let mut rest = seats;
        if parties.iter().all(|party| party.seats == 0) {
            rest -= give_bulk(&mut parties, total, seats);
        }
        parties = give_singly(parties, rest, ascending(uid));
    }
    parties.sort_by(|a, b| a.name.cmp(&b.name));
    parties
}

/// Whether ties go to the smaller name: an object without UID, or with one that hashes to an even number.
pub fn ascending(uid: &str) -> bool {
    uid.is_empty() || fnv1a32(uid) & 1 == 0
}

/// Every seat whose quotient lies above a limit is given in any case, if there are seats for all of those: a party with
/// weight w has at most (w / limit + 1) / 2 of them, so the limit below leaves about one seat per party to the slow way.
fn give_bulk<N>(parties: &mut [Party<N>], total: i64, seats: i64) -> i64 {
    let count = i64::try_from(parties.len()).unwrap_or(i64::MAX);
    if seats / BULK_SEATS_PER_PARTY < count {
        return 0;
    }
    let limit = total as f64 / (2 * seats - count) as f64;
    let shares: Vec<i64> = parties
        .iter()
        .map(|party| {
            let mut share = ((party.weight as f64 / limit - 1.0) / 2.0).floor().max(0.0) as i64;
            // Rounding may have put the estimate beyond the limit; the comparison below is the one that counts.
            while share > 0 && party.quotient(share - 1) <= limit {
                share -= 1;
            }
            share
        })
        .collect();
    let given: i64 = shares.iter().sum();
    if given > seats {
        return 0;
    }
    for (party, share) in parties.iter_mut().zip(shares) {
        party.seats = share;
    }
    given
}

fn give_singly<N: Ord>(parties: Vec<Party<N>>, seats: i64, ascending: bool) -> Vec<Party<N>> {
    let mut queue: BinaryHeap<Claim<N>> =
        parties.into_iter().map(|party| Claim::new(party, ascending)).collect();
    for _ in 0..seats {
        let Some(mut best) = queue.peek_mut() else { break };
        best.party.seats += 1;
        best.quotient = best.party.quotient(best.party.seats);
    }
    queue.into_iter().map(|claim| claim.party).collect()
}

struct Claim<N> {
    quotient: f64,
    ascending: bool,
    party: Party<N>,
}

impl<N> Claim<N> {
    fn new(party: Party<N>, ascending: bool) -> Self {
        Self { quotient: party.quotient(party.seats), ascending, party }
    }
}

impl<N: Ord> Ord for Claim<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_name = self.party.name.cmp(&other.party.name);
        self.quotient
            .total_cmp(&other.quotient)
            .then(other.party.seats.cmp(&self.party.seats))
            .then(if self.ascending { by_name.reverse() } else { by_name })
    }
}

impl<N: Ord> PartialOrd for Claim<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<N: Ord> PartialEq for Claim<N> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<N: Ord> Eq for Claim<N> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(seats: i64, weights: &[i64], initial: &[i64], uid: &str) -> Vec<i64> {
        let parties = weights
            .iter()
            .enumerate()
            .map(|(index, weight)| Party {
                name: format!("m{index}"),
                weight: *weight,
                seats: initial.get(index).copied().unwrap_or(0),
            })
            .collect();
        dispense(seats, parties, uid).into_iter().map(|party| party.seats).collect()
    }

    #[test]
    fn published_divisions() {
        type Case<'a> = (i64, &'a [i64], &'a [i64], &'a [i64]);
        let cases: &[Case<'_>] = &[
            (12, &[3, 2, 1], &[6, 4, 2], &[6, 4, 2]),
            (13, &[3, 2, 1], &[7, 4, 2], &[7, 4, 2]),
            (14, &[3, 2, 1], &[7, 5, 2], &[7, 5, 2]),
            (10, &[3, 2, 1], &[5, 3, 2], &[5, 3, 2]),
            (12, &[1, 1, 1], &[4, 4, 4], &[4, 4, 4]),
            (1, &[1, 1, 1], &[1, 0, 0], &[0, 0, 1]),
            (4, &[1, 1, 1], &[2, 1, 1], &[1, 1, 2]),
            (5, &[1, 1, 1], &[2, 2, 1], &[1, 2, 2]),
            (3, &[1, 1], &[2, 1], &[1, 2]),
            (3, &[2, 1], &[2, 1], &[2, 1]),
            (1, &[2, 1], &[1, 0], &[1, 0]),
            (2, &[2, 1], &[1, 1], &[1, 1]),
            (5, &[1, 1, 1, 1], &[2, 1, 1, 1], &[1, 1, 1, 2]),
            (6, &[1, 1, 1, 1], &[2, 2, 1, 1], &[1, 1, 2, 2]),
            (9, &[1, 1, 1, 1], &[3, 2, 2, 2], &[2, 2, 2, 3]),
            (6, &[2, 1, 1, 1], &[3, 1, 1, 1], &[3, 1, 1, 1]),
            (7, &[2, 1, 1, 1], &[3, 2, 1, 1], &[3, 1, 1, 2]),
            (8, &[2, 1, 1, 1], &[3, 2, 2, 1], &[3, 1, 2, 2]),
            (9, &[2, 1, 1, 1], &[3, 2, 2, 2], &[3, 2, 2, 2]),
            (9, &[1, 2], &[3, 6], &[3, 6]),
            (9, &[1, 3], &[2, 7], &[2, 7]),
            (10, &[1, 3], &[3, 7], &[3, 7]),
            (2, &[1, 3], &[1, 1], &[1, 1]),
            (20, &[10, 1, 1], &[16, 2, 2], &[16, 2, 2]),
            (3, &[10, 1, 1], &[3, 0, 0], &[3, 0, 0]),
            (7, &[5, 5, 1], &[3, 3, 1], &[3, 3, 1]),
            (100, &[33, 33, 34], &[33, 33, 34], &[33, 33, 34]),
            (5, &[170, 110, 60], &[2, 2, 1], &[2, 2, 1]),
            (6, &[170, 110, 60], &[3, 2, 1], &[3, 2, 1]),
            (4, &[1200, 900, 400], &[2, 1, 1], &[2, 1, 1]),
            (1, &[100_000, 80_000, 30_000, 20_000], &[1, 0, 0, 0], &[1, 0, 0, 0]),
            (2, &[100_000, 80_000, 30_000, 20_000], &[1, 1, 0, 0], &[1, 1, 0, 0]),
            (3, &[100_000, 80_000, 30_000, 20_000], &[2, 1, 0, 0], &[2, 1, 0, 0]),
            (4, &[100_000, 80_000, 30_000, 20_000], &[2, 1, 1, 0], &[2, 1, 1, 0]),
            (5, &[100_000, 80_000, 30_000, 20_000], &[2, 2, 1, 0], &[2, 2, 1, 0]),
            (6, &[100_000, 80_000, 30_000, 20_000], &[2, 2, 1, 1], &[2, 2, 1, 1]),
            (7, &[100_000, 80_000, 30_000, 20_000], &[3, 2, 1, 1], &[3, 2, 1, 1]),
            (8, &[100_000, 80_000, 30_000, 20_000], &[3, 3, 1, 1], &[3, 3, 1, 1]),
            (0, &[1, 1], &[0, 0], &[0, 0]),
        ];
        for (count, weights, up, down) in cases {
            assert_eq!(seats(*count, weights, &[], "a"), *up, "{count} {weights:?}");
            assert_eq!(seats(*count, weights, &[], "b"), *down, "{count} {weights:?}");
        }
        assert_eq!(seats(6, &[1, 2, 3], &[1, 2, 3], ""), [2, 4, 6]);
        assert_eq!(seats(3, &[1, 2, 3], &[1, 2, 3], ""), [2, 3, 4]);
        assert_eq!(seats(2, &[1, 2, 3], &[1, 2, 3], ""), [1, 3, 4]);
        assert_eq!(seats(1, &[3, 1], &[1, 0], ""), [1, 1]);
    }

    #[test]
    fn bulk_gives_what_single_steps_give() {
        let weights = [[7, 13, 1, 0, 90], [5, 5, 5, 5, 5], [1, 2, 3, 4, 1_000_000]];
        for weights in weights {
            for count in [80, 81, 97, 1000, 12_345] {
                let parties: Vec<Party> =
                    (0..).zip(weights).map(|(i, w): (i32, i64)| Party::new(format!("m{i}"), w)).collect();
                let mut single = give_singly(parties.clone(), count, true);
                single.sort_by(|a, b| a.name.cmp(&b.name));
                assert_eq!(dispense(count, parties, ""), single, "{count} {weights:?}");
            }
        }
        assert_eq!(seats(2_000_000_000, &[1, 3], &[], ""), [500_000_000, 1_500_000_000]);
    }
}
