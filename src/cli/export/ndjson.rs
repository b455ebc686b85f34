//! Pages as JSON objects, one a line.

use std::io::{self, Write};

use serde::Serialize;

use super::output::Output;
use super::page::{History, links_and_anchors};
use super::{PROGRESS_PAGES, Progress};
use crate::pagedb::PageDb;
use crate::types::{Anchor, ContentHash};

/// A page; what does not apply to it is null. Times are seconds since the epoch, as in the API.
#[derive(Serialize)]
struct PageJson<'a> {
    url: &'a str,
    index: u64,
    status: &'static str,
    score: f32,
    given_score: f32,
    depth: u32,
    attempts: u32,
    linked_from: Option<u64>,
    first_crawl: Option<f64>,
    last_crawl: Option<f64>,
    crawls: u32,
    changes: u32,
    content_score: Option<f32>,
    content_hash: Option<HashJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<String>>,
    /// Beside `links`, if any of them has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    anchors: Vec<Option<&'a str>>,
}

/// As the spider gave it.
#[derive(Serialize)]
#[serde(untagged)]
enum HashJson<'a> {
    Number(u64),
    Text(&'a str),
}

pub fn write(db: &PageDb, with_links: bool, out: &mut Output, progress: Progress<'_>) -> anyhow::Result<()> {
    for (done, page) in (1..).zip(db.pages()) {
        let mut page = page?;
        let history = History::of(&mut page);
        let links = if with_links { links_and_anchors(db, page.state.index)? } else { None };
        let (links, anchors) = links.map_or((None, Vec::new()), |(links, anchors)| (Some(links), anchors));
        let json = PageJson {
            url: page.url.as_str(),
            index: page.state.index.0,
            status: page.state.status.name(),
            score: page.state.score.get(),
            given_score: page.state.given.get(),
            depth: page.state.depth,
            attempts: page.state.attempts,
            linked_from: page.linked_from.map(|index| index.0),
            first_crawl: history.first_crawl.map(|time| time.seconds()),
            last_crawl: history.last_crawl.map(|time| time.seconds()),
            crawls: history.crawls,
            changes: history.changes,
            content_score: history.content_score.map(|score| score.get()),
            content_hash: history.content_hash.as_ref().map(|hash| match hash {
                ContentHash::Number(number) => HashJson::Number(*number),
                ContentHash::Text(text) => HashJson::Text(text),
            }),
            links,
            anchors: anchors.iter().map(|anchor| anchor.as_ref().map(Anchor::as_str)).collect(),
        };
        serde_json::to_writer(&mut *out, &json).map_err(io::Error::from)?;
        writeln!(out)?;
        if done % PROGRESS_PAGES == 0 {
            progress(done);
        }
    }
    Ok(())
}
