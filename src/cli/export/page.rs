//! What an export tells of a page, whatever the format.

use anyhow::Context;

use crate::pagedb::{Page, PageDb, Snapshot};
use crate::types::{Anchor, ContentHash, PageIndex, Score, Time};

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
    Ok(links_and_anchors(db, page)?.map(|(links, _)| links))
}

/// What a page links to.
type Links = (Vec<String>, Vec<Option<Anchor>>);

/// The URLs that a page links to and their anchors, of which there are none if no link has one; none of both if the
/// page was never crawled.
pub fn links_and_anchors(db: &PageDb, page: PageIndex) -> anyhow::Result<Option<Links>> {
    let snapshot = db.snapshot()?;
    let Some(links) = snapshot.links(page)? else { return Ok(None) };
    let mut of_links = snapshot.anchors(page)?.into_iter().peekable();
    let mut anchors = Vec::new();
    if of_links.peek().is_some() {
        let anchor = |link| of_links.next_if(|(target, _)| target == link).map(|(_, anchor)| anchor);
        anchors = links.iter().map(anchor).collect();
    }
    let urls = links.into_iter().map(|link| Ok(url(&snapshot, link)?.1));
    Ok(Some((urls.collect::<anyhow::Result<_>>()?, anchors)))
}

/// A page's key and URL.
pub fn url(snapshot: &Snapshot, page: PageIndex) -> anyhow::Result<(crate::types::PageKey, String)> {
    let (key, url) =
        snapshot.url(page)?.with_context(|| format!("page {page} has no URL: run aduana check"))?;
    Ok((key, url.as_str().to_owned()))
}
