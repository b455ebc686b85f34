//! A bit for each entry of all runs, and how many bits are set before a place: turns the first sight of a
//! page into its index without a table of all pages. A quarter of a byte an entry.

/// Bits that are set in ascending order, with their ranks.
#[derive(Default)]
pub struct Rank {
    /// 64 bits, and how many are set before them.
    words: Vec<(u64, u64)>,
    set: u64,
}

impl Rank {
    /// Sets a bit, which must lie after all that are set; returns how many are set before it.
    pub fn set(&mut self, at: u64) -> u64 {
        let word = (at / 64) as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, (0, self.set));
        }
        let (bits, _) = &mut self.words[word];
        debug_assert_eq!(*bits >> (at % 64), 0, "bits are set in ascending order");
        *bits |= 1 << (at % 64);
        self.set += 1;
        self.set - 1
    }

    /// How many bits are set before `at`, which is set.
    pub fn get(&self, at: u64) -> u64 {
        let (bits, before) = self.words[(at / 64) as usize];
        before + u64::from((bits & ((1 << (at % 64)) - 1)).count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_count_the_bits_before(bits in proptest::collection::btree_set(0u64..2_000, 0..300)) {
            let mut rank = Rank::default();
            for (n, &bit) in bits.iter().enumerate() {
                prop_assert_eq!(rank.set(bit), n as u64);
            }
            for (n, &bit) in bits.iter().enumerate() {
                prop_assert_eq!(rank.get(bit), n as u64);
            }
        }
    }
}
