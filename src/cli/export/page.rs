//! What an export tells of a page, whatever the format.

use anyhow::Context;

use crate::pagedb::{Page, PageDb, Snapshot};
use crate::types::{ContentHash, PageIndex, Score, Time};

/// A page's crawl history, as far as there is one.
#[derive(Debug, Default)]
pub struct History {
    pub first_crawl: Option<Time>,
    pub last_crawl: Option<Time>,
    pub crawls: u32,
    pub changes: u32,
    pub content_score: Option<Score>,
    pub content_hash: Option<ContentHash>,
}

impl History {
    pub fn of(page: &mut Page) -> History {
        let Some(record) = page.record.take() else { return History::default() };
        History {
            first_crawl: Some(record.first_crawl),
            last_crawl: Some(record.last_crawl),
            crawls: record.crawls,
            changes: record.changes,
            content_score: Some(record.score),
            content_hash: record.content_hash,
        }
    }
}

/// The URLs that a page links to; none if it was never crawled.
pub fn links(db: &PageDb, page: PageIndex) -> anyhow::Result<Option<Vec<String>>> {
    let snapshot = db.snapshot()?;
    let Some(links) = snapshot.links(page)? else { return Ok(None) };
    let urls = links.into_iter().map(|link| Ok(url(&snapshot, link)?.1));
    urls.collect::<anyhow::Result<_>>().map(Some)
}

/// A page's key and URL.
pub fn url(snapshot: &Snapshot, page: PageIndex) -> anyhow::Result<(crate::types::PageKey, String)> {
    let (key, url) =
        snapshot.url(page)?.with_context(|| format!("page {page} has no URL: run aduana check"))?;
    Ok((key, url.as_str().to_owned()))
}
