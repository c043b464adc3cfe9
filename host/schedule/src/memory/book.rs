//! Answers by question, bounded: in two generations, of which the older is dropped when the younger is full. Whatever is
//! asked for moves to the younger, so what is in use stays.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of answers in one generation of a book; there are two. For a fleet of 5,000 clusters that is a thousand
/// filters' answers or a hundred estimates, for one of 100 several thousand. A worker has two books for each filter, one
/// for each score and two of its own, so this bounds it to some 50 MB.
const GENERATION_BYTES: usize = 2 << 20;

/// What an entry is taken to cost beside its answers: the question and the map's own.
const ENTRY_BYTES: usize = 512;

/// Something whose size in memory counts.
pub(crate) trait Weighed {
    fn bytes(&self) -> usize;
}

/// A hash that is one already.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Digested(u64);

impl Hasher for Digested {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, digest: u64) {
        self.0 = digest;
    }
}

type Entries<Q, A> = HashMap<u64, Vec<(Q, A)>, BuildHasherDefault<Digested>>;

/// Answers by question.
#[derive(Debug)]
pub(crate) struct Book<Q, A> {
    young: Entries<Q, A>,
    old: Entries<Q, A>,
    /// Of the younger generation.
    bytes: usize,
    /// Of the older one when it was young.
    old_bytes: usize,
}

impl<Q, A> Default for Book<Q, A> {
    fn default() -> Self {
        Self { young: Entries::default(), old: Entries::default(), bytes: 0, old_bytes: 0 }
    }
}

impl<Q, A: Weighed> Book<Q, A> {
    /// Takes an entry out, to be put back by whoever has used it.
    pub(crate) fn take(&mut self, digest: u64, is: impl Fn(&Q) -> bool) -> Option<(Q, A)> {
        if let Some(found) = Self::take_from(&mut self.young, digest, &is) {
            self.bytes = self.bytes.saturating_sub(ENTRY_BYTES + found.1.bytes());
            return Some(found);
        }
        Self::take_from(&mut self.old, digest, &is)
    }

    fn take_from(entries: &mut Entries<Q, A>, digest: u64, is: &impl Fn(&Q) -> bool) -> Option<(Q, A)> {
        let list = entries.get_mut(&digest)?;
        let position = list.iter().position(|(question, _)| is(question))?;
        Some(list.swap_remove(position))
    }

    /// Puts an entry in.
    pub(crate) fn put(&mut self, digest: u64, entry: (Q, A)) {
        self.bytes += ENTRY_BYTES + entry.1.bytes();
        if self.bytes > GENERATION_BYTES {
            let bytes = ENTRY_BYTES + entry.1.bytes();
            self.old = std::mem::take(&mut self.young);
            self.old_bytes = std::mem::replace(&mut self.bytes, bytes) - bytes;
        }
        self.young.entry(digest).or_default().push(entry);
    }

    /// What it takes at most.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.old_bytes
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.young.values().chain(self.old.values()).map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weighed for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    #[test]
    fn bounded_and_what_is_used_stays() {
        const SIZE: usize = 100_000;
        let mut book: Book<u64, usize> = Book::default();
        book.put(7, (7, SIZE));
        for question in 1000..2000u64 {
            book.put(question, (question, SIZE));
            let used = book.take(7, |question| *question == 7).expect("it is in use");
            book.put(7, used);
        }
        assert!(book.len() <= 2 * GENERATION_BYTES / SIZE, "{}", book.len());
        assert!(book.bytes() <= 2 * GENERATION_BYTES, "{}", book.bytes());
        assert!(book.take(1000, |question| *question == 1000).is_none());
        assert!(book.take(1999, |question| *question == 1999).is_some());
    }

    #[test]
    fn equal_digests_are_no_equal_questions() {
        let mut book: Book<&str, usize> = Book::default();
        book.put(1, ("a", 1));
        book.put(1, ("b", 2));
        assert_eq!(book.take(1, |question| *question == "b"), Some(("b", 2)));
        assert_eq!(book.take(1, |question| *question == "c"), None);
        assert_eq!(book.take(1, |question| *question == "a"), Some(("a", 1)));
    }
}
