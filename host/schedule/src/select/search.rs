//! Which groups are used: a depth-first search that keeps the combination with the best weight.

use std::cmp::Ordering;

/// How many steps a search may take. Groups are few (regions); this bounds a placement that would try every subset of
/// dozens of them, and then the best found so far is used.
const MAX_STEPS: usize = 2_000_000;

/// A group of clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: String,
    /// How many clusters it has.
    pub(super) value: usize,
    /// How good it is.
    pub(super) weight: i64,
}

/// What a combination must keep to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The least number of groups.
    pub(super) min: usize,
    /// The largest number of groups.
    pub(super) max: usize,
    /// The least sum of values.
    pub(super) target: usize,
}

struct Path {
    groups: Vec<usize>,
    weight: i64,
    value: usize,
}

/// The chosen groups, best first; nothing if no combination keeps to the limits.
pub(super) fn search(mut groups: Vec<Group>, limits: Limits) -> Option<Vec<Group>> {
    groups.sort_by(|a, b| a.value.cmp(&b.value).then_with(|| by_weight(a, b)));
    let mut walk = Walk { groups: &groups, limits, path: Vec::new(), found: Vec::new(), steps: 0 };
    walk.from(0, 0);
    let mut found = walk.found;
    // A stable sort: of equals the one found first stays first.
    found.sort_by(|a, b| b.weight.cmp(&a.weight).then(b.value.cmp(&a.value)));
    let mut paths = found.into_iter();
    let mut best = paths.next()?;
    for path in paths {
        if path.groups.len() < best.groups.len() && best.groups.starts_with(&path.groups) {
            best = path;
        }
    }
    Some(best.groups.iter().filter_map(|index| groups.get(*index).cloned()).collect())
}

struct Walk<'a> {
    groups: &'a [Group],
    limits: Limits,
    path: Vec<usize>,
    found: Vec<Path>,
    steps: usize,
}

impl Walk<'_> {
    fn from(&mut self, sum: usize, begin: usize) {
        let Limits { min, max, target } = self.limits;
        if sum >= target && (min..=max).contains(&self.path.len()) {
            self.record();
            return;
        }
        if self.path.len() >= max {
            return;
        }
        for index in begin..self.groups.len() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return;
            }
            let value = self.groups.get(index).map_or(0, |group| group.value);
            self.path.push(index);
            self.from(sum + value, index + 1);
            self.path.pop();
            if self.groups.len() == min {
                // Only all groups together can do.
                return;
            }
        }
    }

    fn record(&mut self) {
        let mut path = Path { groups: self.path.clone(), weight: 0, value: 0 };
        path.groups.sort_by(|a, b| match (self.groups.get(*a), self.groups.get(*b)) {
            (Some(a), Some(b)) => by_weight(a, b),
            _ => Ordering::Equal,
        });
        for group in path.groups.iter().filter_map(|index| self.groups.get(*index)) {
            path.weight = path.weight.saturating_add(group.weight);
            path.value += group.value;
        }
        self.found.push(path);
    }
}

fn by_weight(a: &Group, b: &Group) -> Ordering {
    b.weight.cmp(&a.weight).then_with(|| a.name.cmp(&b.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(groups: &[(&str, usize, i64)], min: usize, max: usize, target: usize) -> Vec<String> {
        let groups = groups
            .iter()
            .map(|(name, value, weight)| Group { name: (*name).to_owned(), value: *value, weight: *weight })
            .collect();
        let found = search(groups, Limits { min, max, target }).unwrap_or_default();
        found.into_iter().map(|group| group.name).collect()
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
}
