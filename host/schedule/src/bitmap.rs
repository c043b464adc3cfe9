//! One bit per candidate: what a filter answers.

/// A growable set of small numbers, least significant bit first, 64 to a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

impl Bitmap {
    /// `len` clear bits.
    pub fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// `len` set bits.
    pub fn full(len: usize) -> Self {
        let mut all = Self { words: vec![u64::MAX; len.div_ceil(64)], len };
        all.clear_tail();
        all
    }

    /// From words as a plugin gives them; missing words count as clear, bits past `len` are dropped.
    pub fn from_words(mut words: Vec<u64>, len: usize) -> Self {
        words.resize(len.div_ceil(64), 0);
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

    /// Whether bit `index` is set; false past the end.
    pub fn get(&self, index: usize) -> bool {
        index < self.len && self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Sets or clears bit `index`; nothing happens past the end.
    pub fn set(&mut self, index: usize, value: bool) {
        if index >= self.len {
            return;
        }
        if let Some(word) = self.words.get_mut(index / 64) {
            let mask = 1u64 << (index % 64);
            if value {
                *word |= mask;
            } else {
                *word &= !mask;
            }
        }
    }

    /// How many bits are set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn clear_tail(&mut self) {
        let used = self.len % 64;
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
            if map.len.is_multiple_of(64) {
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
}
