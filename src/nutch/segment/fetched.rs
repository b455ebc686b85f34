//! Reading what a fetcher brought home.

use std::path::{Path, PathBuf};

use super::super::map_file::{ArrayReader, Numbered};
use super::super::record::{FetchListEntry, FetchStatus, FetcherOutput, InPage, Outlink, ParseData, Record};
use super::super::sequence_file::Version;
use super::super::{Fault, Limits, Malformed, NutchError};
use super::{FETCHER, FETCHER_UNPARSED, PARSE_DATA};

/// A page of a fetched segment.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchedPage {
    /// Its number in the segment.
    pub number: i64,
    /// As the fetch list had it.
    pub entry: FetchListEntry,
    pub status: FetchStatus,
    /// Milliseconds since the epoch.
    pub fetch_date: i64,
    /// MD5 of the content.
    pub md5: [u8; 16],
    pub title: String,
    pub outlinks: Vec<Outlink>,
}

/// Reads the pages of a fetched segment, of Nutch 0.4 or 0.5, in order. One page is in memory at a time.
///
/// Title and outlinks stand in the record itself in 0.4; in 0.5 they are joined from `parse_data` by the number
/// of the record. After an error it is at its end.
pub struct SegmentReader {
    fetcher: Array,
    /// `None` in a segment of 0.4.
    parse: Option<Array>,
    /// The record of `parse` that was read last.
    parsed: Option<(i64, ParseData)>,
    ended: bool,
}

/// An ArrayFile with its path for errors.
struct Array {
    path: PathBuf,
    reader: ArrayReader,
    limits: Limits,
}

impl SegmentReader {
    /// # Errors
    /// [`NutchError::NoSegment`] if nothing in the folder was fetched (and parsed); [`NutchError::File`].
    pub fn open(segment: &Path) -> Result<SegmentReader, NutchError> {
        SegmentReader::with_limits(segment, Limits::default())
    }

    /// # Errors
    /// As [`SegmentReader::open`].
    pub fn with_limits(segment: &Path, limits: Limits) -> Result<SegmentReader, NutchError> {
        if !segment.join(FETCHER).exists() {
            let problem = if segment.join(FETCHER_UNPARSED).exists() {
                "it is fetched but not parsed: let Nutch parse it"
            } else {
                "the folder fetcher is missing"
            };
            return Err(NutchError::NoSegment { path: segment.to_owned(), problem });
        }
        let fetcher = Array::open::<FetcherOutput>(segment.join(FETCHER), limits)?;
        let parse_data = segment.join(PARSE_DATA);
        let parse = parse_data.exists().then(|| Array::open::<ParseData>(parse_data, limits)).transpose()?;
        Ok(SegmentReader { fetcher, parse, parsed: None, ended: false })
    }

    fn read(&mut self) -> Result<Option<FetchedPage>, NutchError> {
        let Some((number, output)) = self.fetcher.next::<FetcherOutput>()? else { return Ok(None) };
        let FetcherOutput { entry, md5, status, in_page, fetch_date } = output;
        let InPage { title, outlinks } = match in_page {
            Some(in_page) => in_page,
            None => self.parsed(number)?,
        };
        Ok(Some(FetchedPage { number, entry, status, fetch_date, md5, title, outlinks }))
    }

    /// Title and outlinks of a record of 0.5. A page that was not parsed has none.
    fn parsed(&mut self, number: i64) -> Result<InPage, NutchError> {
        let Some(parse) = &mut self.parse else {
            let problem = "the folder parse_data is missing: without it the pages have no links";
            let path = self.fetcher.path.parent().unwrap_or(&self.fetcher.path).to_owned();
            return Err(NutchError::NoSegment { path, problem });
        };
        while self.parsed.as_ref().is_none_or(|&(at, _)| at < number) {
            self.parsed = parse.next()?;
            if self.parsed.is_none() {
                break;
            }
        }
        let data = self.parsed.take_if(|(at, _)| *at == number).map(|(_, data)| data);
        Ok(data.map_or_else(
            || InPage { title: String::new(), outlinks: Vec::new() },
            |data| InPage { title: data.title, outlinks: data.outlinks },
        ))
    }
}

impl Iterator for SegmentReader {
    type Item = Result<FetchedPage, NutchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let page = self.read().transpose();
        self.ended = !matches!(page, Some(Ok(_)));
        page
    }
}

impl Array {
    fn open<T: Record>(path: PathBuf, limits: Limits) -> Result<Array, NutchError> {
        let reader = ArrayReader::with_limits(&path, limits)?;
        let found = &reader.map().header().value_class;
        if found != T::CLASS && found != T::NAME {
            let fault =
                Fault::Class { what: "the value class", found: found.clone(), expected: T::CLASS.to_owned() };
            // Right behind the version and the name of the key class, whose length has one byte in version 6.
            let header = reader.map().header();
            let length = if header.version == Version::V1 { 2 } else { 1 };
            let offset = 4 + length + header.key_class.len() as u64;
            return Err(NutchError::from(Malformed { offset, fault }).in_file(&path));
        }
        Ok(Array { path, reader, limits })
    }

    fn next<T: Record>(&mut self) -> Result<Option<(i64, T)>, NutchError> {
        let Some(Numbered { number, position, value }) = self.reader.next()? else { return Ok(None) };
        match T::decode_within(value, self.limits) {
            Ok(record) => Ok(Some((number, record))),
            Err(source) => Err(NutchError::Record { number, position, source }.in_file(&self.path)),
        }
    }
}
