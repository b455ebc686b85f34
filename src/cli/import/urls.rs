//! Lists of URLs: one a line, after whitespace optionally its score; `#` starts a comment at the start of a line
//! or after whitespace. The form of the server's seeds files, of any length.

use std::path::Path;

use super::input::{Lines, ReadError, Reader};
use crate::pagedb::bulk::EditBatch;
use crate::types::Score;

pub struct Urls {
    lines: Lines,
}

impl Urls {
    pub fn open(path: &Path) -> Result<Urls, ReadError> {
        Ok(Urls { lines: Lines::open(path)? })
    }
}

impl Reader for Urls {
    fn next(&mut self, batch: &mut EditBatch) -> Result<bool, ReadError> {
        let Some(line) = self.lines.next()? else { return Ok(false) };
        // Some editors put a byte order mark first.
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        let done = read(line, batch);
        done.map(|()| true).map_err(|problem| self.lines.bad(problem))
    }
}

fn read(line: &[u8], batch: &mut EditBatch) -> Result<(), String> {
    let line = std::str::from_utf8(line).map_err(|_| "the text is not UTF-8")?;
    let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
    let Some(url) = words.next() else { return Ok(()) };
    let score = match words.next() {
        None => Score::ZERO,
        Some(word) => {
            let score = word.parse().ok().and_then(|number| Score::new(number).ok());
            score.ok_or_else(|| format!("{word:?} is not a score: give a finite number after the URL"))?
        }
    };
    if let Some(rest) = words.next() {
        return Err(format!("{rest:?} after the score: one URL a line, and \"#\" before a comment"));
    }
    batch.seed(url, score).map_err(|reason| format!("{url:?} cannot be crawled: {reason}"))
}
