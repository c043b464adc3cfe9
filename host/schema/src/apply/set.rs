//! Sets of paths, as trees: who owns what is one of these.

use super::element::Element;
use std::cmp::Ordering;

/// A set of paths. Each node says whether the path to it belongs to the set, and what
/// lies below, in canonical order. Nodes that hold nothing are never kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// The path to this node belongs to the set. Without meaning at the root.
    pub(super) member: bool,
    /// What lies below, sorted.
    pub(super) below: Vec<(Element, FieldSet)>,
}

impl FieldSet {
    /// The node of a single path.
    pub(super) fn leaf() -> Self {
        FieldSet { member: true, below: Vec::new() }
    }

    /// No path belongs to it.
    pub fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }

    /// What lies below one step.
    pub fn get(&self, element: &Element) -> Option<&FieldSet> {
        let at = self.below.binary_search_by(|(e, _)| e.cmp(element)).ok()?;
        self.below.get(at).map(|(_, set)| set)
    }

    /// Whether the path belongs to the set.
    pub fn has(&self, path: &[Element]) -> bool {
        let mut node = self;
        for element in path {
            match node.get(element) {
                Some(next) => node = next,
                None => return false,
            }
        }
        !path.is_empty() && node.member
    }

    /// Adds a path; its parents are not added.
    pub fn insert(&mut self, path: &[Element]) {
        match path.split_first() {
            None => self.member = true,
            Some((first, rest)) => self.descend(first).insert(rest),
        }
    }

    fn descend(&mut self, element: &Element) -> &mut FieldSet {
        let at = match self.below.binary_search_by(|(e, _)| e.cmp(element)) {
            Ok(at) => at,
            Err(at) => {
                self.below.insert(at, (element.clone(), FieldSet::default()));
                at
            }
        };
        // The position was found or made just above.
        #[allow(clippy::indexing_slicing, reason = "the index comes from the search on the same vector")]
        &mut self.below[at].1
    }

    /// Puts a subtree below a step. Steps must come in order, or be sorted after.
    pub(super) fn push(&mut self, element: Element, set: FieldSet) {
        if !set.is_empty() {
            self.below.push((element, set));
        }
    }

    /// Paths in either.
    pub fn union(&self, other: &FieldSet) -> FieldSet {
        let mut below = Vec::with_capacity(self.below.len().max(other.below.len()));
        merge_join(&self.below, &other.below, |element, a, b| {
            let set = match (a, b) {
                (Some(a), Some(b)) => a.union(b),
                (Some(one), None) | (None, Some(one)) => one.clone(),
                (None, None) => return,
            };
            below.push((element.clone(), set));
        });
        FieldSet { member: self.member || other.member, below }
    }

    /// Paths in this, and not in the other. A path does not stand for those below it.
    pub fn difference(&self, other: &FieldSet) -> FieldSet {
        self.subtract(other, false)
    }

    /// Paths in this that are neither in the other nor below one of its.
    pub fn recursive_difference(&self, other: &FieldSet) -> FieldSet {
        self.subtract(other, true)
    }

    fn subtract(&self, other: &FieldSet, recursive: bool) -> FieldSet {
        let mut result = FieldSet { member: self.member && !other.member, below: Vec::new() };
        merge_join(&self.below, &other.below, |element, a, b| match (a, b) {
            (Some(a), None) => result.push(element.clone(), a.clone()),
            (Some(_), Some(b)) if recursive && b.member => {}
            (Some(a), Some(b)) => result.push(element.clone(), a.subtract(b, recursive)),
            _ => {}
        });
        result
    }

    /// Paths in both.
    pub fn intersection(&self, other: &FieldSet) -> FieldSet {
        let mut result = FieldSet { member: self.member && other.member, below: Vec::new() };
        merge_join(&self.below, &other.below, |element, a, b| {
            if let (Some(a), Some(b)) = (a, b) {
                result.push(element.clone(), a.intersection(b));
            }
        });
        result
    }

    /// All paths, parents before what is below them.
    pub fn paths(&self) -> Vec<Vec<Element>> {
        let mut paths = Vec::new();
        self.gather(&mut Vec::new(), &mut paths);
        paths
    }

    fn gather(&self, prefix: &mut Vec<Element>, paths: &mut Vec<Vec<Element>>) {
        for (element, set) in &self.below {
            prefix.push(element.clone());
            if set.member {
                paths.push(prefix.clone());
            }
            set.gather(prefix, paths);
            prefix.pop();
        }
    }
}

/// Walks two sorted lists together.
fn merge_join<'a>(
    a: &'a [(Element, FieldSet)],
    b: &'a [(Element, FieldSet)],
    mut visit: impl FnMut(&'a Element, Option<&'a FieldSet>, Option<&'a FieldSet>),
) {
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some((x, _)), Some((y, _))) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return,
        };
        let one = if order.is_le() { left.next() } else { None };
        let other = if order.is_ge() { right.next() } else { None };
        if let Some((element, _)) = one.or(other) {
            visit(element, one.map(|(_, s)| s), other.map(|(_, s)| s));
        }
    }
}
