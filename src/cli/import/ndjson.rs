//! Crawled pages as `POST /crawled` takes them, one JSON object a line.

use std::path::Path;

use super::input::{Lines, ReadError, Reader};
use crate::pagedb::bulk::EditBatch;
use crate::server::read_page_line;
use crate::types::Time;

pub struct Ndjson {
    lines: Lines,
    time: Time,
}

impl Ndjson {
    /// Pages that do not tell when they were crawled were crawled at `time`.
    pub fn open(path: &Path, time: Time) -> Result<Ndjson, ReadError> {
        Ok(Ndjson { lines: Lines::open(path)?, time })
    }
}

impl Reader for Ndjson {
    fn next(&mut self, batch: &mut EditBatch) -> Result<bool, ReadError> {
        let Some(line) = self.lines.next()? else { return Ok(false) };
        match read_page_line(line, self.time) {
            Ok((page, skipped)) => {
                batch.page(&page);
                batch.skip_links(skipped);
                Ok(true)
            }
            Err(problem) => Err(self.lines.bad(problem)),
        }
    }
}
