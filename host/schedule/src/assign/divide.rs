//! Divides replicas by the room that clusters have, moving as few as possible unless everything is to be placed anew.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::seated;
use crate::availability::Candidate;
use crate::outcome::Failure;
use crate::request::{Request, Target};
use crate::webster::{Party, dispense};

/// A cluster and how many replicas it could take.
struct Share {
    name: String,
    room: i64,
}

/// One division: so many replicas over so much room, on top of what stays.
struct Division {
    target: i64,
    shares: Vec<Share>,
    stays: Vec<(String, i64)>,
}

pub(super) fn divide(
    request: &Request,
    selected: &[&Candidate],
    replicas: i32,
    aggregated: bool,
) -> Result<Vec<Target>, Failure> {
    let names: HashSet<&str> = selected.iter().map(|candidate| candidate.cluster.name()).collect();
    let scheduled: Vec<(String, i64)> = request
        .targets
        .iter()
        .filter(|target| names.contains(target.name.as_str()))
        .map(|target| (target.name.clone(), i64::from(target.replicas)))
        .collect();
    let replicas = i64::from(replicas);
    let assigned: i64 = scheduled.iter().map(|(_, count)| count).sum();
    let room = |scheduled: &[(String, i64)]| -> Vec<Share> {
        let runs: HashMap<&str, i64> =
            scheduled.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        selected
            .iter()
            .map(|candidate| {
                let name = candidate.cluster.name();
                let room = i64::from(candidate.allocatable) + runs.get(name).copied().unwrap_or(0);
                Share { name: name.to_owned(), room }
            })
            .collect()
    };
    let (division, words) = if request.fresh {
        (
            Division { target: replicas, shares: room(&scheduled), stays: Vec::new() },
            "failed to do fresh scale",
        )
    } else if assigned > replicas {
        let shares = scheduled.into_iter().map(|(name, room)| Share { name, room }).collect();
        (Division { target: replicas, shares, stays: Vec::new() }, "failed to scale down")
    } else if assigned < replicas {
        let shares = room(&[]);
        (Division { target: replicas - assigned, shares, stays: scheduled }, "failed to scale up")
    } else {
        return Ok(scheduled.into_iter().map(|(name, count)| to_target(name, count)).collect());
    };
    division.run(&request.resource.uid, aggregated).map_err(|failure| failure.context(words))
}

impl Division {
    fn run(mut self, uid: &str, aggregated: bool) -> Result<Vec<Target>, Failure> {
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
        let parties = self.shares.into_iter().map(|share| Party::new(share.name, share.room)).collect();
        let mut targets = seated(dispense(self.target, parties, uid));
        // Sorted by name, as the dispenser gives them.
        let given = targets.len();
        for (name, count) in self.stays {
            let known =
                targets.get(..given).unwrap_or_default().binary_search_by(|target| target.name.cmp(&name));
            match known.ok().and_then(|index| targets.get_mut(index)) {
                Some(target) => {
                    let sum = i64::from(target.replicas) + count;
                    target.replicas = i32::try_from(sum).unwrap_or(i32::MAX);
                }
                None => targets.push(to_target(name, count)),
            }
        }
        Ok(targets)
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
        let in_use: HashSet<&str> =
            self.stays.iter().filter(|(_, count)| *count > 0).map(|(name, _)| name.as_str()).collect();
        self.shares.sort_by_key(|share| !in_use.contains(share.name.as_str()));
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

fn to_target(name: String, count: i64) -> Target {
    let replicas = i32::try_from(count).unwrap_or(if count > 0 { i32::MAX } else { i32::MIN });
    Target { name, replicas, components: Vec::new() }
}
