//! Link-graph files: one crawled page a line, in one of two forms.
//!
//! * `url<TAB>link link ...`: links are separated by a space, all scores are 0; a page without links may
//!   leave out the tab.
//! * `url<TAB>score<TAB>link score link score ...`: what [`crate::synth`] writes.
//!
//! Plain, gzip or zstd, known by the first bytes; `-` is the standard input. The text is UTF-8, empty lines
//! are skipped. URLs are given as they stand: neither parsed nor normalised.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::types::Score;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BUFFER_BYTES: usize = 1 << 17;

/// Reads the records of a link-graph file one after the other; its memory is that of the longest line.
pub struct GraphReader {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    line_number: u64,
    line: Vec<u8>,
    links: Vec<Span>,
}

/// A link in the current line: start and end of its URL, score.
type Span = (u32, u32, Score);

/// One crawled page and its links, as they stand in the file.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// From 1.
    pub line_number: u64,
    pub url: &'a str,
    pub score: Score,
    /// Whether the line has scores.
    pub scored: bool,
    line: &'a str,
    links: &'a [Span],
}

impl<'a> Record<'a> {
    /// URL and score of each link.
    pub fn links(&self) -> impl ExactSizeIterator<Item = (&'a str, Score)> + use<'a> {
        let line = self.line;
        self.links.iter().map(move |&(start, end, score)| (&line[start as usize..end as usize], score))
    }
}

/// Why a link-graph file cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum GraphFileError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}:{line_number}: {problem}", path.display())]
    Line { path: PathBuf, line_number: u64, problem: Problem },
}

/// What is wrong with a line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the text is not UTF-8 at byte {0} of the line")]
    NotUtf8(usize),
    #[error("the line starts with no URL: write url<TAB>links or url<TAB>score<TAB>links")]
    NoUrl,
    #[error("{0} tabs: write url<TAB>links or url<TAB>score<TAB>links")]
    Tabs(usize),
    #[error("{0:?} is no score: give a finite number")]
    Score(String),
    #[error("the link {0:?} has no score: write url<TAB>score<TAB>link score link score ...")]
    NoScore(String),
    #[error("the line has more than 4 GiB")]
    TooLong,
}

impl GraphReader {
    /// Opens a file, or the standard input if the path is `-`.
    ///
    /// # Errors
    /// [`GraphFileError::Io`] if it cannot be opened or read.
    pub fn open(path: &Path) -> Result<GraphReader, GraphFileError> {
        let opened = if path == Path::new("-") {
            GraphReader::new("standard input".into(), io::stdin())
        } else {
            File::open(path).and_then(|file| GraphReader::new(path.to_owned(), file))
        };
        opened.map_err(|source| GraphFileError::Io { path: path.to_owned(), source })
    }

    /// Reads from anything; `path` stands in the errors.
    ///
    /// # Errors
    /// Those of reading the first bytes.
    pub fn new(path: PathBuf, input: impl Read + Send + 'static) -> io::Result<GraphReader> {
        let input = decompressed(input)?;
        Ok(GraphReader { path, input, line_number: 0, line: Vec::new(), links: Vec::new() })
    }

    /// The next page; `None` at the end of the file.
    ///
    /// # Errors
    /// [`GraphFileError`] names file, line and problem; reading may go on after a bad line.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, GraphFileError> {
        if !self.next_line().map_err(|source| GraphFileError::Io { path: self.path.clone(), source })? {
            return Ok(None);
        }
        self.links.clear();
        let (line_number, links) = (self.line_number, &mut self.links);
        match parse(&self.line, links) {
            Ok((line, url, score, scored)) => {
                Ok(Some(Record { line_number, url, score, scored, line, links: &self.links }))
            }
            Err(problem) => Err(GraphFileError::Line { path: self.path.clone(), line_number, problem }),
        }
    }

    /// Reads the next line that is not empty, without its end; `false` at the end of the file.
    fn next_line(&mut self) -> io::Result<bool> {
        loop {
            self.line.clear();
            if self.input.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(false);
            }
            self.line_number += 1;
            for end in [b'\n', b'\r'] {
                if self.line.last() == Some(&end) {
                    self.line.pop();
                }
            }
            if !self.line.is_empty() {
                return Ok(true);
            }
        }
    }
}

/// The input as it is, or what it is compressed from: gzip (any number of members) or zstd, known by the first
/// bytes.
///
/// # Errors
/// Those of reading the first bytes.
pub fn decompressed(mut input: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut head = Vec::new();
    input.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head)?;
    let (gzip, zstd) = (head.starts_with(&GZIP), head.starts_with(&ZSTD));
    let input = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(input));
    Ok(if gzip {
        let decoder = flate2::bufread::MultiGzDecoder::new(input);
        Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
    } else if zstd {
        let decoder = zstd::stream::read::Decoder::with_buffer(input)?;
        Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
    } else {
        Box::new(input)
    })
}

fn parse<'a>(line: &'a [u8], links: &mut Vec<Span>) -> Result<(&'a str, &'a str, Score, bool), Problem> {
    let text = std::str::from_utf8(line).map_err(|error| Problem::NotUtf8(error.valid_up_to() + 1))?;
    u32::try_from(text.len()).map_err(|_| Problem::TooLong)?;
    let mut fields = text.split('\t');
    let url = fields.next().unwrap_or_default();
    if url.is_empty() {
        return Err(Problem::NoUrl);
    }
    let (second, third) = (fields.next().unwrap_or_default(), fields.next());
    match fields.count() {
        0 => (),
        more => return Err(Problem::Tabs(2 + more)),
    }
    let Some(pairs) = third else {
        links.extend(words(text, second).map(|(start, end)| (start, end, Score::ZERO)));
        return Ok((text, url, Score::ZERO, false));
    };
    let mut words = words(text, pairs);
    while let Some((start, end)) = words.next() {
        let word = |start: u32, end: u32| &text[start as usize..end as usize];
        let Some((from, to)) = words.next() else {
            return Err(Problem::NoScore(word(start, end).to_owned()));
        };
        links.push((start, end, parse_score(word(from, to))?));
    }
    Ok((text, url, parse_score(second)?, true))
}

/// Start and end, in `text`, of what is separated by spaces in `field`, a part of `text`.
fn words(text: &str, field: &str) -> impl Iterator<Item = (u32, u32)> {
    let mut at = (field.as_ptr() as usize).saturating_sub(text.as_ptr() as usize) as u32;
    field.split(' ').filter_map(move |word| {
        let (start, end) = (at, at + word.len() as u32);
        at = end + 1;
        (start < end).then_some((start, end))
    })
}

fn parse_score(text: &str) -> Result<Score, Problem> {
    let bad = || Problem::Score(text.to_owned());
    Score::new(text.parse().map_err(|_| bad())?).map_err(|_| bad())
}

#[cfg(test)]
mod tests;
