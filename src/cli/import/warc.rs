//! WARC files (ISO 28500): every response is a crawled page. Its links are not taken from the HTML, but from the
//! `outlink:` lines of the metadata record that crawlers such as Heritrix write behind it.

use std::io::{BufRead, Read};
use std::path::Path;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::input::{Input, ReadError, Reader};
use crate::pagedb::bulk::{EditBatch, RawPage};
use crate::types::page::MAX_CONTENT_HASH_BYTES;
use crate::types::{ContentHash, Score, Time};

/// Longest record kept in memory; a longer one is bad. WAT records have some megabytes at most.
const MAX_KEPT_BYTES: u64 = 256 << 20;

/// Longest line of a head.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// The records of a WARC file.
pub struct Records {
    pub input: Input,
    /// From 1.
    pub number: u64,
    /// Bytes of the current record's block that were not read.
    left: u64,
    /// Something that is no record was met: there is no way to find the next one.
    broken: bool,
}

/// The head of a record.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Head {
    pub kind: String,
    pub target: String,
    pub date: String,
    pub content_type: String,
    pub payload_digest: String,
    length: u64,
}

impl Records {
    pub fn open(path: &Path) -> Result<Records, ReadError> {
        Ok(Records { input: Input::open(path)?, number: 0, left: 0, broken: false })
    }

    /// The head of the next record; `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<Head>, ReadError> {
        if self.broken {
            return Ok(None);
        }
        self.skip(self.left)?;
        let mut line = self.line()?;
        // Two empty lines end a record.
        while line.as_ref().is_some_and(|line| line.is_empty()) {
            line = self.line()?;
        }
        let Some(first) = line else { return Ok(None) };
        self.number += 1;
        if !first.starts_with("WARC/") {
            self.broken = true;
            return Err(self.bad("this is no WARC record: it must start with WARC/1.0 or WARC/1.1"));
        }
        let mut head = Head::default();
        let mut length = None;
        loop {
            let Some(line) = self.line()? else { return Err(self.cut_off()) };
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "warc-type" => head.kind = value.to_ascii_lowercase(),
                // Some writers put it in angle brackets, as WARC 1.0's grammar says.
                "warc-target-uri" => {
                    head.target = value.trim_start_matches('<').trim_end_matches('>').to_owned();
                }
                "warc-date" => value.clone_into(&mut head.date),
                "content-type" => head.content_type = value.to_ascii_lowercase(),
                "warc-payload-digest" => value.clone_into(&mut head.payload_digest),
                "content-length" => length = value.parse().ok(),
                _ => {}
            }
        }
        let Some(length) = length else {
            self.broken = true;
            return Err(self.bad("the record has no Content-Length"));
        };
        (head.length, self.left) = (length, length);
        Ok(Some(head))
    }

    /// All of the current record's block.
    pub fn block(&mut self) -> Result<Vec<u8>, ReadError> {
        if self.left > MAX_KEPT_BYTES {
            return Err(
                self.bad(format_args!("the record has {} bytes: the limit is {MAX_KEPT_BYTES}", self.left))
            );
        }
        let mut block = Vec::with_capacity(self.left as usize);
        let read = (&mut self.input.reader).take(self.left).read_to_end(&mut block);
        read.map_err(|error| self.input.io(error))?;
        if (block.len() as u64) < self.left {
            return Err(self.cut_off());
        }
        self.left = 0;
        Ok(block)
    }

    /// The first bytes of the current record's block.
    pub fn start_of_block(&mut self, bytes: u64) -> Result<Vec<u8>, ReadError> {
        let mut start = Vec::new();
        let read = (&mut self.input.reader).take(self.left.min(bytes)).read_to_end(&mut start);
        self.left -= read.map_err(|error| self.input.io(error))? as u64;
        Ok(start)
    }

    /// The current record cannot be used.
    pub fn bad(&self, problem: impl std::fmt::Display) -> ReadError {
        self.input.bad(self.number, format_args!("record {}: {problem}", self.number))
    }

    fn cut_off(&mut self) -> ReadError {
        self.broken = true;
        self.bad("the file ends within the record")
    }

    fn skip(&mut self, bytes: u64) -> Result<(), ReadError> {
        let skipped = std::io::copy(&mut (&mut self.input.reader).take(bytes), &mut std::io::sink());
        self.left = 0;
        if skipped.map_err(|error| self.input.io(error))? < bytes { Err(self.cut_off()) } else { Ok(()) }
    }

    /// The next line without its end; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<String>, ReadError> {
        let mut line = Vec::new();
        let read = (&mut self.input.reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        if read.map_err(|error| self.input.io(error))? == 0 {
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(line.trim_ascii_end()).into_owned()))
    }
}

/// The time of a `WARC-Date`.
pub fn parse_date(text: &str) -> Option<Time> {
    let date = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    Time::from_seconds(date.unix_timestamp_nanos() as f64 / 1e9)
}

/// A digest such as `sha1:...` as a content hash.
pub fn content_hash(digest: &str) -> Option<ContentHash> {
    let fits = !digest.is_empty() && digest.len() <= MAX_CONTENT_HASH_BYTES;
    fits.then(|| ContentHash::Text(digest.to_owned()))
}

/// Bytes of a response that hold its status line.
const STATUS_LINE_BYTES: u64 = 64;

pub struct Warc {
    records: Records,
    time: Time,
    /// The last response: its metadata may follow.
    page: Option<(u64, Head, Vec<String>)>,
}

impl Warc {
    /// Records without a date were crawled at `time`.
    pub fn open(path: &Path, time: Time) -> Result<Warc, ReadError> {
        Ok(Warc { records: Records::open(path)?, time, page: None })
    }

    /// Adds the page that waited for its metadata.
    fn add(&mut self, batch: &mut EditBatch) -> Result<(), ReadError> {
        let Some((number, head, links)) = self.page.take() else { return Ok(()) };
        let page = RawPage {
            url: &head.target,
            base: None,
            score: Score::ZERO,
            time: parse_date(&head.date).unwrap_or(self.time),
            content_hash: content_hash(&head.payload_digest),
        };
        batch.crawled(page, links.iter().map(|link| (link.as_str(), Score::ZERO))).map_err(|reason| {
            let url = &head.target;
            self.records
                .input
                .bad(number, format_args!("record {number}: {url:?} cannot be crawled: {reason}"))
        })
    }
}

impl Reader for Warc {
    fn next(&mut self, batch: &mut EditBatch) -> Result<bool, ReadError> {
        let Some(head) = self.records.next()? else {
            self.add(batch)?;
            return Ok(false);
        };
        if head.kind == "metadata"
            && self.page.as_ref().is_some_and(|(_, page, _)| page.target == head.target)
        {
            let block = self.records.block()?;
            if let Some((.., links)) = &mut self.page {
                links.extend(outlinks(&String::from_utf8_lossy(&block)));
            }
            return Ok(true);
        }
        let added = self.add(batch);
        let is_page = head.kind == "response" && head.target.starts_with("http");
        if is_page && is_success(&self.records.start_of_block(STATUS_LINE_BYTES)?) {
            self.page = Some((self.records.number, head, Vec::new()));
        }
        added.map(|()| true)
    }
}

/// Whether an HTTP response has a status from 200 to 299.
fn is_success(start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(start);
    let status = start.strip_prefix("HTTP/").and_then(|rest| rest.split_ascii_whitespace().nth(1));
    status.is_some_and(|status| status.len() == 3 && status.starts_with('2'))
}

/// The links of `outlink: URL HOP ELEMENT/@ATTRIBUTE` lines: those that lead from page to page.
fn outlinks(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("outlink:"));
    let links = lines.filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (url, hop) = (words.next()?, words.next()?);
        (hop == "L").then(|| url.to_owned())
    });
    links.collect()
}
