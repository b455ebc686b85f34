//! The records of a run, as [`super::dictionary`] writes them: a distinct URL and what the run's edits do to
//! its page.

use super::batch::Crawl;
use super::disk::{Records, Spilled};
use crate::pagedb::env::PageDbError;
use crate::types::codec::{Malformed, Reader};
use crate::types::{ContentHash, PageKey, Score, Time};

/// A record.
#[derive(Debug)]
pub struct Record<'a> {
    /// The entry's number in its run.
    pub number: u32,
    pub site: u32,
    pub parent: Option<u32>,
    /// The best score that links and seeds gave the page before its first crawl in the run, if there were any.
    pub score: Option<Score>,
    /// Crawls in the order of the input, coded.
    pub crawls: &'a [u8],
    pub path: &'a str,
}

/// The records of a run, in order of key.
pub struct RunReader {
    records: Records,
    file: Spilled,
    key: u64,
    /// The record whose key is `key`.
    current: Vec<u8>,
    rest: usize,
    ended: bool,
}

impl RunReader {
    pub fn new(file: &Spilled, records: Records) -> Result<RunReader, PageDbError> {
        let mut run =
            RunReader { records, file: file.clone(), key: 0, current: Vec::new(), rest: 0, ended: false };
        run.advance()?;
        Ok(run)
    }

    /// The key of the current record; `None` after the last.
    pub fn key(&self) -> Option<PageKey> {
        (!self.ended).then_some(PageKey(self.key))
    }

    /// The current record.
    pub fn record(&self) -> Result<Record<'_>, PageDbError> {
        decode(&self.current[self.rest..]).map_err(|Malformed| self.file.damaged())
    }

    pub fn advance(&mut self) -> Result<(), PageDbError> {
        let Some(record) = self.records.next()? else {
            self.ended = true;
            return Ok(());
        };
        self.current.clear();
        self.current.extend_from_slice(record);
        let mut reader = Reader::new(&self.current);
        let delta = reader.varint().map_err(|Malformed| self.file.damaged())?;
        self.key = self.key.wrapping_add(delta);
        self.rest = self.current.len() - reader.remaining();
        Ok(())
    }
}

fn decode(bytes: &[u8]) -> Result<Record<'_>, Malformed> {
    let mut reader = Reader::new(bytes);
    let number = reader.number()?;
    let site = reader.number()?;
    let parent = reader.number::<u32>()?.checked_sub(1);
    let flags = reader.u8()?;
    let score = if flags & 1 != 0 { Some(decode_score(&mut reader)?) } else { None };
    let mut crawls: &[u8] = &[];
    if flags & 2 != 0 {
        crawls = reader.bytes()?;
    }
    let path = std::str::from_utf8(reader.rest()).map_err(|_| Malformed)?;
    Ok(Record { number, site, parent, score, crawls, path })
}

fn decode_score(reader: &mut Reader<'_>) -> Result<Score, Malformed> {
    Score::new(f64::from(reader.f32()?)).map_err(|_| Malformed)
}

/// The crawls of [`Record::crawls`].
pub(super) fn decode_crawls(bytes: &[u8], mut visit: impl FnMut(Crawl)) -> Result<(), Malformed> {
    let mut reader = Reader::new(bytes);
    while reader.remaining() > 0 {
        let flags = reader.u8()?;
        let time = Time(reader.varint()?);
        let score = if flags & 1 != 0 { decode_score(&mut reader)? } else { Score::ZERO };
        let content_hash = if flags & 2 != 0 {
            Some(ContentHash::from_bytes(reader.bytes()?).ok_or(Malformed)?)
        } else {
            None
        };
        visit(Crawl { time, score, content_hash });
    }
    Ok(())
}
