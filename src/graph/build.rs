//! Building a [`LinkGraph`], from a PageDB or from lists.

use super::crawled::{Crawled, CrawledBuilder};
use super::lists::{Lists, Plain};
use super::packed::PackedWriter;
use super::spill::Spill;
use super::transpose::transpose;
use super::{GraphError, GraphOptions, LinkGraph, MAX_PAGES, Watch};
use crate::pagedb::PageDb;

/// Bytes of a link in plain arrays, in both directions.
const PLAIN_LINK_BYTES: usize = 8;
/// Bytes of a crawled page's places in them.
const PLAIN_LIST_BYTES: usize = 8;
/// Crawled pages between two reports of progress.
const STEP: u64 = 1 << 12;

impl LinkGraph {
    /// A snapshot of a PageDB's links; pages may be added meanwhile. `watch` hears of crawled pages.
    ///
    /// # Errors
    /// [`GraphError`], at once if cancelled.
    pub fn build(db: &PageDb, options: &GraphOptions, watch: Watch<'_>) -> Result<LinkGraph, GraphError> {
        let counters = db.snapshot()?.counters()?;
        let links = if options.only_other_domains { None } else { Some(counters.links) };
        let mut builder = Builder::new(counters.next_index, links, options, watch)?;
        let mut targets = Vec::new();
        for row in db.links(options.only_other_domains) {
            let row = row?;
            if row.page.0 >= counters.next_index {
                // Rows come in order of index: the others are newer, too.
                break;
            }
            targets.clear();
            targets.extend(row.links.iter().filter(|t| t.0 < counters.next_index).map(|t| t.0 as u32));
            if builder.crawled.is_multiple_of(STEP) {
                (watch.progress)(builder.crawled, counters.crawled.max(builder.crawled));
            }
            builder.push(row.page.0 as u32, &mut targets)?;
        }
        builder.finish()
    }

    /// A graph of `pages` pages from the targets of each crawled page, in any order; those of a page that
    /// comes twice are put together. Sources and targets that are no index below `pages` are left out.
    ///
    /// # Errors
    /// [`GraphError::TooManyPages`].
    pub fn from_lists(
        pages: u64,
        lists: impl IntoIterator<Item = (u64, Vec<u64>)>,
    ) -> Result<LinkGraph, GraphError> {
        let options = GraphOptions { memory: usize::MAX, ..GraphOptions::new("") };
        LinkGraph::from_lists_with(pages, lists, &options)
    }

    /// As [`LinkGraph::from_lists`], within the memory of `options`.
    ///
    /// # Errors
    /// [`GraphError`].
    pub fn from_lists_with(
        pages: u64,
        lists: impl IntoIterator<Item = (u64, Vec<u64>)>,
        options: &GraphOptions,
    ) -> Result<LinkGraph, GraphError> {
        let mut lists: Vec<(u64, Vec<u64>)> = lists.into_iter().filter(|(page, _)| *page < pages).collect();
        lists.sort_by_key(|(page, _)| *page);
        let mut builder = Builder::new(pages, None, options, Watch::none())?;
        for lists in lists.chunk_by(|(a, _), (b, _)| a == b) {
            let targets = lists.iter().flat_map(|(_, targets)| targets);
            let mut targets: Vec<u32> = targets.filter(|t| **t < pages).map(|&t| t as u32).collect();
            builder.push(lists[0].0 as u32, &mut targets)?;
        }
        builder.finish()
    }
}

/// Takes the lists of crawled pages in order of index.
struct Builder<'a> {
    options: &'a GraphOptions,
    watch: Watch<'a>,
    pages: u32,
    set: CrawledBuilder,
    /// Crawled pages so far: the rank of the next.
    crawled: u64,
    lists: Building,
}

enum Building {
    Plain(Plain),
    Packed(Box<Packing>),
}

struct Packing {
    out: PackedWriter,
    spill: Spill,
}

impl<'a> Builder<'a> {
    /// `links` is about how many there will be, if that is known.
    fn new(
        pages: u64,
        links: Option<u64>,
        options: &'a GraphOptions,
        watch: Watch<'a>,
    ) -> Result<Self, GraphError> {
        let pages = u32::try_from(pages).map_err(|_| GraphError::TooManyPages { pages })?;
        debug_assert!(u64::from(pages) <= MAX_PAGES);
        let expected = links.unwrap_or(0);
        let fits = expected < u64::from(u32::MAX)
            && expected.saturating_mul(PLAIN_LINK_BYTES as u64) <= options.memory as u64;
        let lists = if fits {
            let mut plain = Plain::default();
            plain.items.reserve_exact(expected as usize);
            Building::Plain(plain)
        } else {
            Building::packed(pages, expected, options)?
        };
        Ok(Builder { options, watch, pages, set: CrawledBuilder::new(pages), crawled: 0, lists })
    }

    /// The targets of the next crawled page; they are sorted, and duplicates left out.
    fn push(&mut self, page: u32, targets: &mut Vec<u32>) -> Result<(), GraphError> {
        if self.watch.is_cancelled() {
            return Err(GraphError::Cancelled);
        }
        // Mostly two sorted runs, which this kind of sort merges.
        targets.sort();
        targets.dedup();
        self.set.insert(page);
        if let Building::Plain(plain) = &self.lists {
            let links = plain.items.len() + targets.len();
            let bytes = links
                .saturating_mul(PLAIN_LINK_BYTES)
                .saturating_add(plain.starts.len().saturating_mul(PLAIN_LIST_BYTES));
            if bytes > self.options.memory || links > u32::MAX as usize {
                self.pack()?;
            }
        }
        self.lists.push(self.crawled as u32, targets)?;
        self.crawled += 1;
        Ok(())
    }

    /// Goes on packed, with what was plain so far.
    fn pack(&mut self) -> Result<(), GraphError> {
        // As many again will come, as far as anybody can tell.
        let expected = self.options.memory / PLAIN_LINK_BYTES * 2;
        let mut packed = Building::packed(self.pages, expected as u64, self.options)?;
        if let Building::Plain(plain) = &self.lists {
            for rank in 0..plain.starts.len() - 1 {
                packed.push(rank as u32, plain.get(rank))?;
            }
        }
        self.lists = packed;
        Ok(())
    }

    fn finish(self) -> Result<LinkGraph, GraphError> {
        (self.watch.progress)(self.crawled, self.crawled);
        let crawled = self.set.finish();
        match self.lists {
            Building::Plain(mut out) => {
                out.items.shrink_to_fit();
                let (into_crawled, into_others) = transpose(&crawled, &out, self.watch)?;
                let [out, into_crawled, into_others] = [out, into_crawled, into_others].map(Lists::Plain);
                Ok(LinkGraph { crawled, out, into_crawled, into_others })
            }
            Building::Packed(packing) => {
                let Packing { out, spill } = *packing;
                let out = Lists::Packed(out.finish()?);
                let (into_crawled, into_others) = sort_packed(&crawled, spill, self.options, self.watch)?;
                Ok(LinkGraph { crawled, out, into_crawled, into_others })
            }
        }
    }
}

impl Building {
    fn packed(pages: u32, links: u64, options: &GraphOptions) -> Result<Self, GraphError> {
        let out = PackedWriter::create(&options.dir, pages)?;
        let spill = Spill::create(&options.dir, options.memory, 0, pages, links)?;
        Ok(Building::Packed(Box::new(Packing { out, spill })))
    }

    fn push(&mut self, rank: u32, targets: &[u32]) -> Result<(), GraphError> {
        match self {
            Building::Plain(plain) => {
                plain.push(targets);
                Ok(())
            }
            Building::Packed(packing) => {
                packing.out.push(targets)?;
                packing.spill.push(rank, targets)
            }
        }
    }
}

/// The in-links of the crawled pages and of the others.
fn sort_packed(
    crawled: &Crawled,
    spill: Spill,
    options: &GraphOptions,
    watch: Watch<'_>,
) -> Result<(Lists, Lists), GraphError> {
    let mut into_crawled = PackedWriter::create(&options.dir, crawled.count())?;
    let mut into_others = PackedWriter::create(&options.dir, crawled.count())?;
    spill.finish(watch, &mut |page, sources| {
        let lists = if crawled.contains(page) { &mut into_crawled } else { &mut into_others };
        lists.push(sources)
    })?;
    Ok((Lists::Packed(into_crawled.finish()?), Lists::Packed(into_others.finish()?)))
}
