//! One bit per cluster or candidate: what a filter answers, and how sets of clusters are worked on.

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// A growable set of small numbers, least significant bit first, 64 to a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

impl Bitmap {
    /// `len` clear bits.
    pub fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(WORD)], len }
    }

    /// `len` set bits.
    pub fn full(len: usize) -> Self {
        let mut all = Self { words: vec![u64::MAX; len.div_ceil(WORD)], len };
        all.clear_tail();
        all
    }

    /// From words as a plugin gives them; missing words count as clear, bits past `len` are dropped.
    pub fn from_words(mut words: Vec<u64>, len: usize) -> Self {
        words.resize(len.div_ceil(WORD), 0);
        let mut map = Self { words, len };
        map.clear_tail();
        map
    }

    /// The words, to hand on.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Number of bits, set or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No bits at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether no bit is set.
    pub fn is_clear(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether bit `index` is set; false past the end.
    pub fn get(&self, index: usize) -> bool {
        index < self.len && self.words.get(index / WORD).is_some_and(|word| word >> (index % WORD) & 1 == 1)
    }

    /// Sets or clears bit `index`; nothing happens past the end.
    pub fn set(&mut self, index: usize, value: bool) {
        if index >= self.len {
            return;
        }
        if let Some(word) = self.words.get_mut(index / WORD) {
            let mask = 1u64 << (index % WORD);
            if value {
                *word |= mask;
            } else {
                *word &= !mask;
            }
        }
    }

    /// Makes room for `len` bits; new ones are clear. Never shrinks.
    pub fn grow(&mut self, len: usize) {
        if len > self.len {
            self.words.resize(len.div_ceil(WORD), 0);
            self.len = len;
        }
    }

    /// How many bits are set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers of the set bits, ascending.
    pub fn ones(&self) -> impl Iterator<Item = u32> {
        (0u32..).step_by(WORD).zip(&self.words).flat_map(|(base, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(base + bit)
            })
        })
    }

    /// Bits that are set here and in `other`; as long as this one.
    pub fn and(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine & theirs)
    }

    /// Bits that are set here but not in `other`; as long as this one.
    pub fn and_not(&self, other: &Self) -> Self {
        self.combine(other, |mine, theirs| mine & !theirs)
    }

    /// Sets the bits of `other`, growing if need be.
    pub fn add(&mut self, other: &Self) {
        self.grow(other.len);
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    fn combine(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let theirs = other.words.iter().copied().chain(std::iter::repeat(0));
        let words = self.words.iter().zip(theirs).map(|(mine, theirs)| join(*mine, theirs)).collect();
        Self { words, len: self.len }
    }

    fn clear_tail(&mut self) {
        let used = self.len % WORD;
        if used != 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1u64 << used) - 1;
        }
    }
}

impl FromIterator<bool> for Bitmap {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut map = Self::default();
        for bit in bits {
            if map.len.is_multiple_of(WORD) {
                map.words.push(0);
            }
            map.len += 1;
            let index = map.len - 1;
            map.set(index, bit);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_past_the_end_stay_clear() {
        let mut map = Bitmap::full(70);
        assert_eq!(map.count(), 70);
        map.set(69, false);
        map.set(1000, true);
        assert!(!map.get(69) && !map.get(1000) && map.get(68));
        assert_eq!(Bitmap::from_words(vec![u64::MAX], 3).count(), 3);
        assert_eq!([true, false, true].into_iter().collect::<Bitmap>().count(), 2);
    }

    #[test]
    fn sets_of_different_length_combine() {
        let long: Bitmap = (0..130).map(|number| number % 3 == 0).collect();
        let short = Bitmap::full(10);
        assert_eq!(long.and(&short).ones().collect::<Vec<_>>(), [0, 3, 6, 9]);
        assert_eq!(short.and_not(&long).ones().collect::<Vec<_>>(), [1, 2, 4, 5, 7, 8]);
        assert_eq!(long.and_not(&short).ones().last(), Some(129));
        let mut sum = short.clone();
        sum.add(&long);
        assert_eq!((sum.len(), sum.count()), (130, 10 + 40));
        assert!(long.and_not(&long).is_clear());
    }
}
