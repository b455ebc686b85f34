//! Common Crawl's WAT files: WARC files whose metadata records tell, as JSON, what the responses of a WARC file
//! hold. The links of a page are the `href`s of its `A` elements, their anchors the texts of these.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;

use super::input::{ReadError, Reader};
use super::warc::{Records, content_hash, parse_date};
use crate::pagedb::bulk::{EditBatch, RawLink, RawPage};
use crate::types::{Score, Time};

/// The path of the links that lead from page to page.
const A_HREF: &str = "A@/href";

pub struct Wat {
    records: Records,
    time: Time,
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "Envelope", borrow)]
    envelope: Envelope<'a>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "WARC-Header-Metadata", borrow, default)]
    header: Header<'a>,
    #[serde(rename = "Payload-Metadata", borrow, default)]
    payload: Payload<'a>,
}

#[derive(Deserialize, Default)]
struct Header<'a> {
    #[serde(rename = "WARC-Type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(rename = "WARC-Target-URI", borrow, default)]
    target: Cow<'a, str>,
    #[serde(rename = "WARC-Date", borrow, default)]
    date: Cow<'a, str>,
    #[serde(rename = "WARC-Payload-Digest", borrow, default)]
    digest: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
struct Payload<'a> {
    #[serde(rename = "HTTP-Response-Metadata", borrow)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(rename = "Response-Message", borrow, default)]
    message: Message<'a>,
    #[serde(rename = "HTML-Metadata", borrow, default)]
    html: Html<'a>,
}

#[derive(Deserialize, Default)]
struct Message<'a> {
    #[serde(rename = "Status", borrow, default)]
    status: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
struct Html<'a> {
    #[serde(rename = "Head", borrow, default)]
    head: HtmlHead<'a>,
    #[serde(rename = "Links", borrow, default)]
    links: Vec<Link<'a>>,
}

#[derive(Deserialize, Default)]
struct HtmlHead<'a> {
    #[serde(rename = "Base", borrow)]
    base: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Link<'a> {
    #[serde(borrow, default)]
    path: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

impl Wat {
    /// Records without a date were crawled at `time`.
    pub fn open(path: &Path, time: Time) -> Result<Wat, ReadError> {
        Ok(Wat { records: Records::open(path)?, time })
    }
}

impl Reader for Wat {
    fn next(&mut self, batch: &mut EditBatch) -> Result<bool, ReadError> {
        let Some(head) = self.records.next()? else { return Ok(false) };
        if head.kind != "metadata" || !head.content_type.starts_with("application/json") {
            return Ok(true);
        }
        let block = self.records.block()?;
        let record: Record<'_> = serde_json::from_slice(&block)
            .map_err(|error| self.records.bad(format_args!("the metadata is not as WAT has it: {error}")))?;
        let Envelope { header, payload } = record.envelope;
        let Some(response) = payload.response else { return Ok(true) };
        if header.kind != "response" || !response.message.status.starts_with('2') {
            return Ok(true);
        }
        let target = if header.target.is_empty() { Cow::from(&head.target) } else { header.target };
        let date = if header.date.is_empty() { Cow::from(&head.date) } else { header.date };
        let page = RawPage {
            url: &target,
            // A base that is none is no reason to lose the page.
            base: None,
            score: Score::ZERO,
            time: parse_date(&date).unwrap_or(self.time),
            content_hash: content_hash(&header.digest),
        };
        let links = response.html.links.iter().filter(|link| link.path == A_HREF);
        let links = links.map(|link| {
            let anchor = link.text.as_deref().unwrap_or_default();
            RawLink { url: &link.url, score: Score::ZERO, anchor }
        });
        let based = RawPage { base: response.html.head.base.as_deref(), ..page.clone() };
        let added = batch.crawled(based, links.clone()).or_else(|_| batch.crawled(page, links));
        added.map_err(|reason| self.records.bad(format_args!("{target:?} cannot be crawled: {reason}")))?;
        Ok(true)
    }
}
