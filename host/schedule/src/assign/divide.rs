//! Divides replicas by the room that clusters have, moving as few as possible unless everything is to be placed anew.

use std::cmp::Reverse;

use super::{Office, Seat, target};
use crate::availability::Candidate;
use crate::outcome::Failure;
use crate::records::ClusterId;
use crate::request::Target;
use crate::webster::dispense;

/// A cluster and how many replicas it could take.
#[derive(Clone, Copy)]
struct Share {
    name: (u32, ClusterId),
    room: i64,
}

/// What a cluster has, in the order in which the binding lists them.
#[derive(Clone, Copy)]
struct Held {
    name: (u32, ClusterId),
    count: i64,
}

/// One division: so many replicas over so much room, on top of what stays.
struct Division {
    mode: &'static str,
    target: i64,
    shares: Vec<Share>,
    stays: Vec<Held>,
}

impl Office<'_> {
    pub(super) fn divide(
        &mut self,
        selected: &[Candidate],
        replicas: i32,
        aggregated: bool,
    ) -> Result<Vec<Target>, Failure> {
        let request = self.input.request;
        let held = self.held(selected);
        let replicas = i64::from(replicas);
        let assigned: i64 = held.iter().map(|held| held.count).sum();
        let (division, words) = if request.fresh {
            let shares = room(selected, &held);
            (
                Division { mode: "fresh", target: replicas, shares, stays: Vec::new() },
                "failed to do fresh scale",
            )
        } else if assigned > replicas {
            let shares = held.iter().map(|held| Share { name: held.name, room: held.count }).collect();
            (
                Division { mode: "scale down", target: replicas, shares, stays: Vec::new() },
                "failed to scale down",
            )
        } else if assigned < replicas {
            let shares = room(selected, &[]);
            (
                Division { mode: "scale up", target: replicas - assigned, shares, stays: held },
                "failed to scale up",
            )
        } else {
            let division = Division { mode: "unchanged", target: 0, shares: Vec::new(), stays: held };
            return Ok(self.seat(division, aggregated));
        };
        let division = division.prepare(aggregated).map_err(|failure| failure.context(words))?;
        Ok(self.seat(division, aggregated))
    }

    /// What the selected clusters have now.
    fn held(&self, selected: &[Candidate]) -> Vec<Held> {
        let table = self.input.table;
        let targets = &self.input.request.targets;
        if targets.is_empty() {
            return Vec::new();
        }
        let mut ids: Vec<(ClusterId, u32)> =
            selected.iter().map(|candidate| (candidate.id, candidate.rank)).collect();
        ids.sort_unstable();
        targets
            .iter()
            .filter_map(|target| {
                let id = table.id(&target.name)?;
                let place = ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
                let rank = ids.get(place).map(|(_, rank)| *rank)?;
                Some(Held { name: (rank, id), count: i64::from(target.replicas) })
            })
            .collect()
    }

    /// Gives the seats, and puts what stays to them.
    fn seat(&mut self, division: Division, aggregated: bool) -> Vec<Target> {
        let Division { mode, target: replicas, shares, stays } = division;
        let seats = shares.into_iter().map(|share| Seat::new(share.name, share.room)).collect();
        // Sorted by name, as the dispenser gives them.
        let seats = dispense(replicas, seats, &self.input.request.resource.uid);
        let kept = |id: ClusterId| stays.iter().filter(|held| held.name.1 == id).map(|held| held.count).sum();
        let strategy = if aggregated { "Aggregated" } else { "DynamicWeight" };
        self.note((strategy, mode), replicas, &seats, kept);
        let mut counts: Vec<Held> =
            seats.iter().map(|seat| Held { name: seat.name, count: seat.seats }).collect();
        let given = counts.len();
        for held in stays {
            let known =
                counts.get(..given).unwrap_or_default().binary_search_by_key(&held.name, |have| have.name);
            match known.ok().and_then(|place| counts.get_mut(place)) {
                Some(have) => have.count += held.count,
                None => counts.push(held),
            }
        }
        let placed = counts.into_iter().filter(|held| held.count != 0);
        placed.map(|held| target(self.input.table, held.name.1, held.count)).collect()
    }
}

/// The room of each cluster, with what it has now.
fn room(selected: &[Candidate], held: &[Held]) -> Vec<Share> {
    let mut held: Vec<(ClusterId, i64)> = held.iter().map(|held| (held.name.1, held.count)).collect();
    held.sort_by_key(|(id, _)| *id);
    let has = |id: ClusterId| {
        let place = held.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        held.get(place).map(|(_, count)| *count)
    };
    selected
        .iter()
        .map(|candidate| Share {
            name: (candidate.rank, candidate.id),
            room: i64::from(candidate.allocatable) + has(candidate.id).unwrap_or(0),
        })
        .collect()
}

impl Division {
    /// Puts the shares in order, and makes sure that there is room.
    fn prepare(mut self, aggregated: bool) -> Result<Self, Failure> {
        // Most room first; of equals the one preferred by the selection, or placed earlier.
        self.shares.sort_by_key(|share| Reverse(share.room));
        let sum = self.room();
        if sum < self.target {
            return Err(Failure::Unschedulable(format!(
                "Clusters available replicas {sum} are not enough to schedule."
            )));
        }
        if aggregated {
            self.keep_few();
        }
        Ok(self)
    }

    /// The room of all shares. Where nothing is to be placed the rooms are unknown and stand for "as much as you like"; the
    /// vectors fix the result then by the sum's lowest 32 bits, and it decides between no clusters and an error.
    fn room(&self) -> i64 {
        if self.target == 0 {
            let low = |sum: i32, share: &Share| sum.wrapping_add(share.room as i32);
            return i64::from(self.shares.iter().fold(0, low));
        }
        self.shares.iter().map(|share| share.room).sum()
    }

    /// Clusters that have replicas already come first; then as few as have the room.
    fn keep_few(&mut self) {
        let mut in_use: Vec<ClusterId> =
            self.stays.iter().filter(|held| held.count > 0).map(|held| held.name.1).collect();
        in_use.sort_unstable();
        self.shares.sort_by_key(|share| in_use.binary_search(&share.name.1).is_err());
        let mut sum = 0;
        let mut count = 0;
        for share in &self.shares {
            count += 1;
            sum += share.room;
            if sum >= self.target {
                break;
            }
        }
        self.shares.truncate(count);
    }
}
