//! A page as the API tells it.

use serde::Serialize;

use crate::frontier::{Page, Status};
use crate::types::{ContentHash, Naming, Time};

/// Times are seconds since the epoch; what does not apply is null.
#[derive(Serialize)]
pub struct PageOut<'a> {
    url: &'a str,
    domain: &'a str,
    status: &'static str,
    depth: u32,
    score: f32,
    attempts: u32,
    lease_expires: Option<f64>,
    first_crawl: Option<f64>,
    last_crawl: Option<f64>,
    crawls: u32,
    changes: u32,
    content_score: Option<f32>,
    content_hash: Option<HashOut<'a>>,
    /// Where a stream of pages goes on behind this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// As the spider gave it.
#[derive(Serialize)]
#[serde(untagged)]
enum HashOut<'a> {
    Number(u64),
    Text(&'a str),
}

impl<'a> PageOut<'a> {
    pub fn new(page: &'a Page, naming: Naming, cursor: Option<String>) -> PageOut<'a> {
        let record = page.record.as_ref();
        let hash = record.and_then(|record| record.content_hash.as_ref());
        let seconds = |time: Time| time.seconds();
        PageOut {
            url: page.url.as_str(),
            domain: naming.domain_of(page.url.site()),
            status: page.state.status.name(),
            depth: page.state.depth,
            score: page.state.score.get(),
            attempts: page.state.attempts,
            lease_expires: match page.state.status {
                Status::Leased { until } => Some(until.seconds()),
                _ => None,
            },
            first_crawl: record.map(|record| seconds(record.first_crawl)),
            last_crawl: record.map(|record| seconds(record.last_crawl)),
            crawls: record.map_or(0, |record| record.crawls),
            changes: record.map_or(0, |record| record.changes),
            content_score: record.map(|record| record.score.get()),
            content_hash: hash.map(|hash| match hash {
                ContentHash::Number(number) => HashOut::Number(*number),
                ContentHash::Text(text) => HashOut::Text(text),
            }),
            cursor,
        }
    }
}
