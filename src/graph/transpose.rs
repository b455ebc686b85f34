//! The transpose of a graph whose lists are plain arrays, by counting.

use super::crawled::Crawled;
use super::lists::Plain;
use super::{GraphError, Watch};

/// Lists between two looks at the flag that cancels.
const STEP: usize = 1 << 14;

/// In-links of the crawled pages and of the others, as ranks of their sources, from the targets of each
/// crawled page by rank.
///
/// Takes four bytes a page beside what it returns.
pub fn transpose(crawled: &Crawled, out: &Plain, watch: Watch<'_>) -> Result<(Plain, Plain), GraphError> {
    // First how many links lead to each page, then where its next source goes: those of crawled pages first.
    let mut next = vec![0u32; crawled.pages() as usize];
    for &target in &out.items {
        next[target as usize] += 1;
    }
    let mut into_crawled = starts(crawled, &mut next, true, 0);
    let of_crawled = into_crawled.items.len();
    let mut into_others = starts(crawled, &mut next, false, of_crawled as u32);
    for rank in 0..out.starts.len() - 1 {
        if rank.is_multiple_of(STEP) && watch.is_cancelled() {
            return Err(GraphError::Cancelled);
        }
        for &target in out.get(rank) {
            let at = &mut next[target as usize];
            match (*at as usize).checked_sub(of_crawled) {
                None => into_crawled.items[*at as usize] = rank as u32,
                Some(at) => into_others.items[at] = rank as u32,
            }
            *at += 1;
        }
    }
    Ok((into_crawled, into_others))
}

/// Empty lists for the pages that are crawled or not; their lengths in `next` become their starts, from
/// `first` on.
fn starts(crawled: &Crawled, next: &mut [u32], are_crawled: bool, first: u32) -> Plain {
    let n = if are_crawled { crawled.count() } else { crawled.pages() - crawled.count() };
    let mut starts = Vec::with_capacity(n as usize + 1);
    let mut start = 0;
    for (page, next) in (0..).zip(next) {
        if crawled.contains(page) == are_crawled {
            starts.push(start);
            let length = std::mem::replace(next, first + start);
            start += length;
        }
    }
    starts.push(start);
    Plain { starts, items: vec![0; start as usize] }
}
