//! Fetched segments of Nutch as crawled pages.

use std::path::Path;

use super::input::{ReadError, Reader};
use crate::nutch::NutchError;
use crate::nutch::record::FetchStatus;
use crate::nutch::segment::{FetchedPage, SegmentReader};
use crate::pagedb::bulk::EditBatch;
use crate::types::{Anchor, ContentHash, CrawledPage, Link, LinkResolver, PageUrl, Score, Time};

/// The crawled pages of a segment, in its order; one is in memory at a time.
pub struct SegmentPages {
    segment: SegmentReader,
    skipped: Skipped,
}

/// What of a segment is no crawled page and no link.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// Pages that were not fetched: to be tried again, or not there.
    pub not_fetched: u64,
    /// Pages whose URL cannot be crawled.
    pub pages: u64,
    /// Links whose URL cannot be crawled.
    pub links: u64,
}

impl SegmentPages {
    /// # Errors
    /// [`NutchError`] if the folder is no fetched segment.
    pub fn open(segment: &Path) -> Result<SegmentPages, NutchError> {
        Ok(SegmentPages { segment: SegmentReader::open(segment)?, skipped: Skipped::default() })
    }

    /// As far as it was read.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The MD5 becomes the content hash, in hexadecimal; Nutch's score of the page that of its content. Links have
    /// no score.
    fn crawled(&mut self, page: FetchedPage) -> Option<CrawledPage> {
        if page.status != FetchStatus::SUCCESS {
            self.skipped.not_fetched += 1;
            return None;
        }
        let Ok(url) = PageUrl::parse(&page.entry.page.url) else {
            self.skipped.pages += 1;
            return None;
        };
        let mut resolver = LinkResolver::new(&url);
        let mut links = Vec::with_capacity(page.outlinks.len());
        for outlink in &page.outlinks {
            match resolver.resolve(&outlink.url) {
                Ok(url) => {
                    links.push(Link { url, score: Score::ZERO, anchor: Anchor::new(&outlink.anchor) });
                }
                Err(_) => self.skipped.links += 1,
            }
        }
        Some(CrawledPage {
            score: Score::new(page.entry.page.score.into()).unwrap_or(Score::ZERO),
            // Before 1970 only by a broken clock.
            time: Time(u64::try_from(page.fetch_date).unwrap_or(0)),
            content_hash: Some(ContentHash::Text(format!("{:032x}", u128::from_be_bytes(page.md5)))),
            links,
            url,
        })
    }
}

impl Iterator for SegmentPages {
    type Item = Result<CrawledPage, NutchError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.segment.next()? {
                Ok(page) => {
                    if let Some(crawled) = self.crawled(page) {
                        return Some(Ok(crawled));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The segments of an import, one folder a source.
pub struct Segment {
    pages: SegmentPages,
    /// Links that were left out so far.
    skipped_links: u64,
}

impl Segment {
    pub fn open(segment: &Path) -> Result<Segment, ReadError> {
        let pages = SegmentPages::open(segment).map_err(|error| ReadError::Failed(error.into()))?;
        Ok(Segment { pages, skipped_links: 0 })
    }
}

impl Reader for Segment {
    fn next(&mut self, batch: &mut EditBatch) -> Result<bool, ReadError> {
        let Some(page) = self.pages.next() else { return Ok(false) };
        // What follows in the file cannot be found any more.
        batch.page(&page.map_err(|error| ReadError::Failed(error.into()))?);
        let skipped = self.pages.skipped().links;
        batch.skip_links(skipped - self.skipped_links);
        self.skipped_links = skipped;
        Ok(true)
    }
}
