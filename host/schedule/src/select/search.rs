//! Which groups are used: a depth-first search that keeps the combination with the best weight.

use std::cmp::Ordering;

/// How many steps a search may take. Groups are few (regions); this bounds a placement that would try every subset of
/// dozens of them, and then the best found so far is used. Some ten milliseconds.
const MAX_STEPS: usize = 1_000_000;

/// The most groups in a combination: a path is walked on the stack. Above it there is no solution.
const MAX_CHOSEN: usize = 1_000;

/// A group of clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: String,
    /// What it is for each constraint: different groups may be equal in one of them.
    pub(super) keys: Vec<u32>,
    /// How many clusters it has.
    pub(super) value: usize,
    /// How good it is.
    pub(super) weight: i64,
}

/// What a combination must keep to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Limits {
    /// For each constraint the least and the largest number of different keys.
    pub(super) groups: Vec<(usize, usize)>,
    /// The least sum of values.
    pub(super) target: usize,
}

/// A combination: places of groups in the order of the search.
#[derive(Clone)]
struct Path {
    groups: Vec<usize>,
    weight: i64,
    value: usize,
}

/// The chosen groups by their places, best first; nothing if no combination keeps to the limits.
pub(super) fn search(groups: &[Group], limits: &Limits) -> Option<Vec<usize>> {
    let mut places: Vec<usize> = (0..groups.len()).collect();
    places.sort_by(|a, b| match (groups.get(*a), groups.get(*b)) {
        (Some(a), Some(b)) => a.value.cmp(&b.value).then_with(|| by_weight(a, b)),
        _ => Ordering::Equal,
    });
    let sorted: Vec<&Group> = places.iter().filter_map(|place| groups.get(*place)).collect();
    let mut walk = Walk::new(&sorted, limits);
    walk.from(0, 0, 0);
    let best = walk.best.clone()?;
    let shortest = walk.shortest_prefix(&best.groups);
    Some(shortest.iter().filter_map(|at| places.get(*at).copied()).collect())
}

struct Walk<'a> {
    groups: &'a [&'a Group],
    limits: &'a Limits,
    /// The best weight from each place on, to see when a path can't become the best any more.
    heaviest: Vec<i64>,
    /// How often each key is in the path, by constraint; and how many different ones that are.
    used: Vec<Vec<u32>>,
    distinct: Vec<usize>,
    path: Vec<usize>,
    best: Option<Path>,
    steps: usize,
}

impl<'a> Walk<'a> {
    fn new(groups: &'a [&'a Group], limits: &'a Limits) -> Self {
        let mut heaviest: Vec<i64> = groups
            .iter()
            .rev()
            .scan(0, |most, group| {
                *most = group.weight.max(*most);
                Some(*most)
            })
            .collect();
        heaviest.reverse();
        let keys = |constraint: usize| {
            let largest = groups.iter().filter_map(|group| group.keys.get(constraint)).max();
            vec![0; largest.map_or(0, |key| *key as usize + 1)]
        };
        let used: Vec<Vec<u32>> = (0..limits.groups.len()).map(keys).collect();
        Self {
            distinct: vec![0; used.len()],
            groups,
            limits,
            heaviest,
            used,
            path: Vec::new(),
            best: None,
            steps: 0,
        }
    }

    /// Extends the path by groups from `begin` on. A path that does is never extended.
    fn from(&mut self, sum: usize, weight: i64, begin: usize) {
        if self.does(sum) {
            self.record(weight, sum);
            return;
        }
        for index in begin..self.groups.len() {
            let Some(group) = self.groups.get(index) else { return };
            self.steps += 1;
            if self.steps > MAX_STEPS || self.path.len() == MAX_CHOSEN || self.is_hopeless(weight, index) {
                return;
            }
            if !self.fits(group) {
                continue;
            }
            self.push(index, group, 1);
            self.from(sum + group.value, weight.saturating_add(group.weight), index + 1);
            self.push(index, group, -1);
            if let [(min, _)] = self.limits.groups.as_slice()
                && self.groups.len() == *min
            {
                // Only all groups together can do.
                return;
            }
        }
    }

    /// Whether the path keeps to the limits.
    fn does(&self, sum: usize) -> bool {
        sum >= self.limits.target
            && self
                .limits
                .groups
                .iter()
                .zip(&self.distinct)
                .all(|((min, max), count)| (min..=max).contains(&count))
    }

    /// Whether a group may join without being one too many.
    fn fits(&self, group: &Group) -> bool {
        self.limits.groups.iter().zip(&self.distinct).zip(self.used.iter().zip(&group.keys)).all(
            |(((_, max), count), (used, key))| {
                count < max || used.get(*key as usize).is_some_and(|times| *times > 0)
            },
        )
    }

    fn push(&mut self, index: usize, group: &Group, by: i32) {
        for ((used, key), distinct) in self.used.iter_mut().zip(&group.keys).zip(&mut self.distinct) {
            if let Some(times) = used.get_mut(*key as usize) {
                let had = *times > 0;
                *times = times.saturating_add_signed(by);
                match (had, *times > 0) {
                    (false, true) => *distinct += 1,
                    (true, false) => *distinct -= 1,
                    _ => {}
                }
            }
        }
        if by > 0 {
            self.path.push(index);
        } else {
            self.path.pop();
        }
    }

    /// Whether no path with the groups from `index` on can be as heavy as the best.
    fn is_hopeless(&self, weight: i64, index: usize) -> bool {
        let Some(best) = &self.best else { return false };
        let more = match self.limits.groups.as_slice() {
            [(_, max)] => max.saturating_sub(self.path.len()),
            _ => usize::MAX,
        };
        let more = i64::try_from(more.min(self.groups.len() - index)).unwrap_or(i64::MAX);
        let heaviest = self.heaviest.get(index).copied().unwrap_or(0);
        weight.saturating_add(heaviest.saturating_mul(more)) < best.weight
    }

    /// The heavier path is better, then the one with more clusters, then the one found first.
    fn record(&mut self, weight: i64, value: usize) {
        if self.best.as_ref().is_some_and(|best| (best.weight, best.value) >= (weight, value)) {
            return;
        }
        let mut groups = self.path.clone();
        groups.sort_by(|a, b| match (self.groups.get(*a), self.groups.get(*b)) {
            (Some(a), Some(b)) => by_weight(a, b),
            _ => Ordering::Equal,
        });
        self.best = Some(Path { groups, weight, value });
    }

    /// Of a combination, heaviest first, as few groups as the search would have stopped at on their own.
    fn shortest_prefix(&self, groups: &[usize]) -> Vec<usize> {
        let least = self.limits.groups.iter().map(|(min, _)| *min).max().unwrap_or(0);
        let found = (least..groups.len()).find_map(|count| {
            let prefix = groups.get(..count)?;
            self.stops_at(prefix).then(|| prefix.to_vec())
        });
        found.unwrap_or_else(|| groups.to_vec())
    }

    /// Whether the search records exactly these groups: together they do, and no fewer of them in the order of the search.
    fn stops_at(&self, groups: &[usize]) -> bool {
        let mut order = groups.to_vec();
        order.sort_unstable();
        let mut walk = Walk::new(self.groups, self.limits);
        let mut sum = 0;
        for index in &order {
            if walk.does(sum) {
                return false;
            }
            let Some(group) = self.groups.get(*index).filter(|group| walk.fits(group)) else { return false };
            walk.push(*index, group, 1);
            sum += group.value;
        }
        walk.does(sum)
    }
}

fn by_weight(a: &Group, b: &Group) -> Ordering {
    b.weight.cmp(&a.weight).then_with(|| a.name.cmp(&b.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(groups: &[(&str, usize, i64)], min: usize, max: usize, target: usize) -> Vec<String> {
        let group = |(key, (name, value, weight)): (u32, &(&str, usize, i64))| Group {
            name: (*name).to_owned(),
            keys: vec![key],
            value: *value,
            weight: *weight,
        };
        let groups: Vec<Group> = (0..).zip(groups).map(group).collect();
        let limits = Limits { groups: vec![(min, max)], target };
        let found = search(&groups, &limits).unwrap_or_default();
        found.into_iter().map(|place| groups[place].name.clone()).collect()
    }

    #[test]
    fn published_choices() {
        let six = [("R1", 1, 80), ("R3", 1, 80), ("R2", 1, 60), ("R5", 2, 60), ("R4", 5, 50), ("R6", 3, 50)];
        assert_eq!(chosen(&six, 1, 3, 10), ["R5", "R4", "R6"]);
        let six = [("R1", 1, 80), ("R2", 4, 40), ("R3", 1, 30), ("R4", 3, 30), ("R5", 3, 20), ("R6", 5, 10)];
        assert_eq!(chosen(&six, 2, 6, 5), ["R1", "R2"]);
        let six = [("R1", 1, 60), ("R2", 1, 50), ("R3", 1, 40), ("R4", 3, 30), ("R5", 3, 20), ("R6", 3, 10)];
        assert_eq!(chosen(&six, 1, 3, 6), ["R1", "R4", "R5"]);
        let four = [("R1", 1, 60), ("R2", 2, 50), ("R3", 3, 40), ("R4", 4, 30)];
        assert_eq!(chosen(&four, 1, 2, 5), ["R1", "R4"]);
        let four = [("R4", 1, 60), ("R3", 3, 50), ("R1", 3, 40), ("R2", 4, 30)];
        assert_eq!(chosen(&four, 1, 2, 5), ["R3", "R1"]);
        assert_eq!(chosen(&[("R1", 1, 60)], 1, 3, 1), ["R1"]);
        assert!(chosen(&[("R1", 1, 60)], 2, 3, 1).is_empty());
        assert!(chosen(&[("R1", 1, 10), ("R2", 2, 10)], 2, 3, 4).is_empty());
        assert_eq!(chosen(&[("a", 2, 10), ("b", 2, 10)], 1, 2, 2), ["a"]);
        assert_eq!(chosen(&[("a", 2, 10), ("b", 3, 10)], 1, 1, 2), ["b"]);
        let three = [("x", 1, 5000), ("y", 1, 5000), ("z", 1, 3000)];
        assert_eq!(chosen(&three, 2, 3, 2), ["x", "y"]);
        assert_eq!(chosen(&three, 3, 3, 2), ["x", "y", "z"]);
        assert_eq!(chosen(&three, 1, 3, 1), ["x"]);
        assert!(chosen(&three, 0, 0, 1).is_empty());
    }

    #[test]
    fn several_constraints_hold_together() {
        // Regions 0 and 1, tiers 0 and 1; the heaviest groups are all in one region.
        let group = |name: &str, keys: [u32; 2], weight| Group {
            name: name.to_owned(),
            keys: keys.to_vec(),
            value: 1,
            weight,
        };
        let groups = [
            group("r0/t0", [0, 0], 90),
            group("r0/t1", [0, 1], 80),
            group("r1/t0", [1, 0], 10),
            group("r1/t1", [1, 1], 5),
        ];
        let chosen = |regions, tiers, target| {
            let found = search(&groups, &Limits { groups: vec![regions, tiers], target });
            found.map(|places| places.iter().map(|place| groups[*place].name.as_str()).collect::<Vec<_>>())
        };
        assert_eq!(chosen((1, 1), (2, 2), 0), Some(vec!["r0/t0", "r0/t1"]));
        assert_eq!(chosen((2, 2), (1, 1), 0), Some(vec!["r0/t0", "r1/t0"]));
        assert_eq!(chosen((2, 2), (2, 2), 4), Some(vec!["r0/t0", "r0/t1", "r1/t0", "r1/t1"]));
        assert_eq!(chosen((3, 3), (1, 1), 0), None);
        assert_eq!(chosen((1, 1), (1, 1), 2), None);
    }
}
