//! Labels as a sorted list: small, and quick to search.

use crate::Pair;

/// Labels (or annotations) to look up by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<Pair>);

impl Labels {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(name, _)| name.as_str().cmp(key)).ok()?;
        self.0.get(at).map(|(_, value)| value.as_str())
    }

    /// All pairs, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl From<Vec<Pair>> for Labels {
    fn from(mut pairs: Vec<Pair>) -> Self {
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        Self(pairs)
    }
}
