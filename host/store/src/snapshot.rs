//! A consistent view of a keyspace at one revision. Taking and keeping one costs nothing but what changes since.

use std::ops::Bound;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use crate::Entry;

pub(crate) type Tree = RedBlackTreeMapSync<Arc<str>, Entry>;

/// All objects at one revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    revision: u64,
    tree: Tree,
}

impl Snapshot {
    pub(crate) fn new(revision: u64, tree: Tree) -> Self {
        Self { revision, tree }
    }

    /// The revision of this view.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object under a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.tree.get(key)
    }

    /// Objects whose key starts with `prefix`, in order, after the key `after` if given.
    pub fn range<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        self.tree
            .range::<str, _>((start, Bound::Unbounded))
            .map(|(key, entry)| (key.as_ref(), entry))
            .take_while(move |(key, _)| key.starts_with(prefix))
    }

    /// How many objects there are, of any key.
    pub fn len(&self) -> usize {
        self.tree.size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }
}
