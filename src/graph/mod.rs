//! The link graph: a snapshot of the `links` table and its transpose.
//!
//! A [`LinkGraph`] has, for each crawled page, the pages that it links to, and, for each page, the crawled
//! pages that link to it. Only crawled pages have out-links; so they are numbered among themselves, by
//! *rank*, in order of index, and the lists of in-links name ranks. The in-lists of crawled pages stand apart
//! from those of the others: an iteration that only needs the former touches nothing else.
//!
//! **Consistency.** A graph is built while pages stream in, from many short reads (a long one would keep LMDB
//! from using freed pages again). First the number of pages is fixed; then the rows of `links` are read, in
//! order of index. The crawled pages of the graph are those whose row was read; links to pages that were not
//! known at the start are left out, and so are crawled pages that were not. Each row is as of its own moment,
//! but whatever happens meanwhile, the graph has no page without a place in every array that is as long as
//! the number of pages, and no out-links of a page that does not count as crawled.
//!
//! **Memory.** While the lists fit [`GraphOptions::memory`] they are plain arrays. Beyond it they are
//! packed into bits (`packed.rs`) in files without a name, which are mapped; the transpose is then made by an
//! external distribution sort within the same budget (`spill.rs`).

mod bits;
mod build;
mod content;
mod crawled;
mod lists;
mod packed;
mod scratch;
mod spill;
mod transpose;

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::pagedb::PageDbError;
use crate::types::PageIndex;

pub use content::weights;
pub use crawled::Crawled;
pub use lists::Lists;

/// Most pages that a graph can hold: their indices take 32 bits.
pub const MAX_PAGES: u64 = u32::MAX as u64;

/// Why there is no graph.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    #[error("cancelled")]
    Cancelled,
    #[error("{pages} pages are too many for a link graph: it holds {MAX_PAGES}")]
    TooManyPages { pages: u64 },
    #[error(transparent)]
    PageDb(#[from] PageDbError),
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// A bit has changed between writing and reading.
    #[error("the file of the link graph is damaged: build it again, and check the disk")]
    Damaged,
}

/// What a graph is built with.
#[derive(Debug, Clone)]
pub struct GraphOptions {
    /// Bytes for the lists while they are plain, and for sorting beyond that; what is allocated for each
    /// page (at most 5 bytes) comes on top.
    pub memory: usize,
    /// For the files of a graph that does not fit the memory; they have no name there.
    pub dir: PathBuf,
    /// Only links that lead from one domain to another.
    pub only_other_domains: bool,
}

impl GraphOptions {
    /// All links, in 256 MiB.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        GraphOptions { memory: 256 << 20, dir: dir.into(), only_other_domains: false }
    }
}

/// Who watches something long: it can be cancelled, and tells how far it is.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    pub cancel: &'a AtomicBool,
    /// Hears what is done and how much there is to do.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

impl Watch<'_> {
    /// Nobody cancels, nobody listens.
    pub fn none() -> Watch<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Watch { cancel: &NEVER, progress: &|_, _| () }
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// A snapshot of all links, in both directions.
pub struct LinkGraph {
    crawled: Crawled,
    /// Targets, as page indices, of each crawled page, by rank.
    out: Lists,
    /// Ranks of the sources of each crawled page, by its rank.
    into_crawled: Lists,
    /// Ranks of the sources of each other page, by its place among the others.
    into_others: Lists,
}

impl LinkGraph {
    /// Number of pages: their indices are below it.
    pub fn pages(&self) -> u64 {
        u64::from(self.crawled.pages())
    }

    /// Number of crawled pages.
    pub fn crawled(&self) -> u64 {
        u64::from(self.crawled.count())
    }

    /// Number of links.
    pub fn links(&self) -> u64 {
        self.out.items()
    }

    pub fn is_crawled(&self, page: PageIndex) -> bool {
        u32::try_from(page.0).is_ok_and(|page| self.crawled.contains(page))
    }

    /// The pages that `page` links to, in order of index; none if it was not crawled.
    ///
    /// # Errors
    /// [`GraphError::Damaged`].
    pub fn out_links(&self, page: PageIndex) -> Result<Vec<PageIndex>, GraphError> {
        let mut out = Vec::new();
        if self.is_crawled(page) {
            let rank = self.crawled.rank(page.0 as u32) as usize;
            self.out.for_each(rank..rank + 1, &mut Vec::new(), |_, targets| {
                out.extend(targets.iter().map(|&target| PageIndex(u64::from(target))));
            })?;
        }
        Ok(out)
    }

    /// The crawled pages that link to `page`, in order of index.
    ///
    /// # Errors
    /// [`GraphError::Damaged`].
    pub fn in_links(&self, page: PageIndex) -> Result<Vec<PageIndex>, GraphError> {
        let mut out = Vec::new();
        let Some(index) = u32::try_from(page.0).ok().filter(|&index| index < self.crawled.pages()) else {
            return Ok(out);
        };
        let rank = self.crawled.rank(index);
        let (lists, at) = match self.crawled.contains(index) {
            true => (&self.into_crawled, rank as usize),
            false => (&self.into_others, (index - rank) as usize),
        };
        lists.for_each(at..at + 1, &mut Vec::new(), |_, sources| {
            out.extend(sources.iter().map(|&rank| PageIndex(u64::from(self.crawled.select(rank)))));
        })?;
        Ok(out)
    }

    /// Which pages are crawled, and their ranks.
    pub fn crawled_pages(&self) -> &Crawled {
        &self.crawled
    }

    /// By the rank of a crawled page the indices of the pages that it links to.
    pub fn out_lists(&self) -> &Lists {
        &self.out
    }

    /// By the rank of a crawled page the ranks of the pages that link to it.
    pub fn lists_into_crawled(&self) -> &Lists {
        &self.into_crawled
    }

    /// By the place of a page among those not crawled the ranks of the pages that link to it.
    pub fn lists_into_others(&self) -> &Lists {
        &self.into_others
    }

    /// Calls `visit` with each page of a range of indices that was not crawled, and the ranks of the pages
    /// that link to it.
    ///
    /// # Errors
    /// [`GraphError::Damaged`].
    pub fn for_each_other(
        &self,
        pages: Range<u32>,
        scratch: &mut Vec<u32>,
        mut visit: impl FnMut(u32, &[u32]),
    ) -> Result<(), GraphError> {
        let place = |page: u32| (page - self.crawled.rank(page)) as usize;
        let mut others = pages.clone().filter(|&page| !self.crawled.contains(page));
        self.into_others.for_each(place(pages.start)..place(pages.end), scratch, |_, sources| {
            if let Some(page) = others.next() {
                visit(page, sources);
            }
        })
    }

    /// Bytes of the out-links and of the in-links, with what finds a list.
    pub fn bytes(&self) -> (u64, u64) {
        (self.out.bytes(), self.into_crawled.bytes() + self.into_others.bytes())
    }

    /// Whether the lists are packed, because they did not fit the memory.
    pub fn is_packed(&self) -> bool {
        matches!(self.out, Lists::Packed(_))
    }
}

impl fmt::Debug for LinkGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pages, crawled, links) = (self.pages(), self.crawled(), self.links());
        write!(f, "LinkGraph({pages} pages, {crawled} crawled, {links} links)")
    }
}

#[cfg(test)]
mod db_tests;
#[cfg(test)]
mod tests;
