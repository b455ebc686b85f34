//! How pages are cut into parts for threads: by their number alone, never by the number of threads, so that
//! every sum has the same order on every machine.

use std::ops::Range;

use crate::graph::Crawled;

/// Crawled pages of a part; a multiple of the lists in a packed group.
const CRAWLED: usize = 1 << 10;
/// Pages of a part that has others, too.
pub const PAGES: usize = 1 << 13;
/// Crawled pages of a block, at least.
const BLOCK: usize = 1 << 14;
/// Blocks, at most: each costs all threads a meeting.
const MAX_BLOCKS: usize = 32;

/// Some neighbouring crawled pages: their ranks, and the indices from the first of them to the first of the
/// next part.
#[derive(Debug, Clone)]
pub struct Part {
    pub ranks: Range<usize>,
    pub pages: Range<usize>,
}

/// All crawled pages, in parts.
pub fn of_crawled(crawled: &Crawled) -> Vec<Part> {
    let n = crawled.count() as usize;
    let page = |rank: usize| crawled.select(rank as u32) as usize;
    (0..n)
        .step_by(CRAWLED)
        .map(|start| {
            let end = n.min(start + CRAWLED);
            Part { ranks: start..end, pages: page(start)..page(end) }
        })
        .collect()
}

/// Parts in a block of the Gauss-Seidel iteration.
pub fn in_block(crawled: usize) -> usize {
    (crawled / MAX_BLOCKS).max(BLOCK).div_ceil(CRAWLED)
}

/// Most crawled pages in a block.
pub fn pages_in_block(crawled: usize) -> usize {
    (in_block(crawled) * CRAWLED).min(crawled)
}

/// Cuts an array into slices, one for each range; the ranges ascend and do not overlap.
pub fn split<T>(mut array: &mut [T], ranges: impl Iterator<Item = Range<usize>>) -> Vec<&mut [T]> {
    let mut at = 0;
    let mut out = Vec::new();
    for range in ranges {
        let (_, rest) = array.split_at_mut(range.start - at);
        let (slice, rest) = rest.split_at_mut(range.len());
        out.push(slice);
        (array, at) = (rest, range.end);
    }
    out
}

/// Sizes of changes, put together in a fixed order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Change {
    /// Of one page.
    pub largest: f64,
    /// Of all pages together.
    pub total: f64,
}

impl Change {
    #[inline]
    pub fn add(&mut self, change: f64) {
        self.largest = self.largest.max(change);
        self.total += change;
    }

    pub fn join(self, other: Change) -> Change {
        Change { largest: self.largest.max(other.largest), total: self.total + other.total }
    }
}
