//! The set of crawled pages as bits, with the two ways between a page's index and its *rank*: its place
//! among the crawled pages, or among the others. 1.07 bits a page.

/// Words of 64 bits between two counts.
const BLOCK_WORDS: usize = 8;
const BLOCK_BITS: usize = BLOCK_WORDS * 64;

/// Which pages, of those with index 0 to `pages` - 1, are crawled.
#[derive(Debug, Clone)]
pub struct Crawled {
    pages: u32,
    words: Vec<u64>,
    /// Crawled pages before each block, and at the end all of them.
    before: Vec<u32>,
}

/// Sets bits until [`CrawledBuilder::finish`] counts them.
#[derive(Debug)]
pub struct CrawledBuilder {
    pages: u32,
    words: Vec<u64>,
}

impl CrawledBuilder {
    pub fn new(pages: u32) -> Self {
        let blocks = (pages as usize).div_ceil(BLOCK_BITS);
        CrawledBuilder { pages, words: vec![0; blocks * BLOCK_WORDS] }
    }

    /// `page` must be less than the number of pages.
    pub fn insert(&mut self, page: u32) {
        debug_assert!(page < self.pages);
        self.words[page as usize / 64] |= 1 << (page % 64);
    }

    pub fn finish(self) -> Crawled {
        let mut before = Vec::with_capacity(self.words.len() / BLOCK_WORDS + 1);
        let mut count = 0;
        for block in self.words.chunks(BLOCK_WORDS) {
            before.push(count);
            count += block.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        before.push(count);
        Crawled { pages: self.pages, words: self.words, before }
    }
}

impl Crawled {
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Number of crawled pages.
    pub fn count(&self) -> u32 {
        self.before.last().copied().unwrap_or(0)
    }

    pub fn contains(&self, page: u32) -> bool {
        self.words.get(page as usize / 64).is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    /// Crawled pages with a lesser index; for a crawled page its rank. `page` may be the number of pages.
    pub fn rank(&self, page: u32) -> u32 {
        let page = page.min(self.pages) as usize;
        let (block, word) = (page / BLOCK_BITS, page / 64);
        let whole = &self.words[block * BLOCK_WORDS..word];
        let mut rank = self.before[block] + whole.iter().map(|word| word.count_ones()).sum::<u32>();
        if !page.is_multiple_of(64) {
            rank += (self.words[word] & ((1 << (page % 64)) - 1)).count_ones();
        }
        rank
    }

    /// The index of the crawled page with this rank; the number of pages for a rank beyond the last.
    pub fn select(&self, rank: u32) -> u32 {
        if rank >= self.count() {
            return self.pages;
        }
        let block = self.before.partition_point(|&before| before <= rank) - 1;
        let mut left = rank - self.before[block];
        for (at, &word) in self.words.iter().enumerate().skip(block * BLOCK_WORDS) {
            let ones = word.count_ones();
            if left < ones {
                let rest = (0..left).fold(word, |word, _| word & (word - 1));
                return at as u32 * 64 + rest.trailing_zeros();
            }
            left -= ones;
        }
        self.pages
    }

    /// The crawled pages from the one with this rank on, in order of index.
    pub fn iter_from(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let start = self.select(rank);
        let first = start as usize / 64;
        let mut word = self.words.get(first).map_or(0, |word| word >> (start % 64) << (start % 64));
        let mut at = first;
        std::iter::from_fn(move || {
            while word == 0 {
                at += 1;
                word = *self.words.get(at)?;
            }
            let bit = word.trailing_zeros();
            word &= word - 1;
            Some(at as u32 * 64 + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    fn crawled(pages: u32, set: &[u32]) -> Crawled {
        let mut builder = CrawledBuilder::new(pages);
        set.iter().for_each(|&page| builder.insert(page));
        builder.finish()
    }

    #[test]
    fn no_pages_have_no_crawled_ones() {
        let none = crawled(0, &[]);
        assert_eq!((none.count(), none.rank(0), none.select(0), none.contains(0)), (0, 0, 0, false));
        assert_eq!(none.iter_from(0).count(), 0);
    }

    proptest! {
        #[test]
        fn ranks_and_indices_are_inverse(pages in 1u32..2_000, set in btree_set(0u32..2_000, 0..600)) {
            let set: Vec<u32> = set.into_iter().filter(|&page| page < pages).collect();
            let crawled = crawled(pages, &set);
            prop_assert_eq!(crawled.count() as usize, set.len());
            for page in 0..=pages {
                prop_assert_eq!(crawled.rank(page) as usize, set.partition_point(|&other| other < page));
                prop_assert_eq!(crawled.contains(page), set.binary_search(&page).is_ok());
            }
            for (rank, &page) in set.iter().enumerate() {
                prop_assert_eq!(crawled.select(rank as u32), page);
                prop_assert!(crawled.iter_from(rank as u32).eq(set[rank..].iter().copied()));
            }
            prop_assert_eq!(crawled.select(set.len() as u32), pages);
            prop_assert_eq!(crawled.iter_from(set.len() as u32).count(), 0);
        }
    }
}
