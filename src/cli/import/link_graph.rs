//! Link-graph files.

use std::path::Path;

use super::input::{ReadError, Reader};
use crate::graph_file::{GraphFileError, GraphReader};
use crate::pagedb::bulk::{EditBatch, RawPage};
use crate::types::Time;

pub struct LinkGraph {
    reader: GraphReader,
    path: String,
    time: Time,
}

impl LinkGraph {
    /// The file does not tell when its pages were crawled: at `time`.
    pub fn open(path: &Path, time: Time) -> Result<LinkGraph, ReadError> {
        let shown = if path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
        let reader = GraphReader::open(path).map_err(error)?;
        Ok(LinkGraph { reader, path: shown, time })
    }
}

impl Reader for LinkGraph {
    fn next(&mut self, batch: &mut EditBatch) -> Result<bool, ReadError> {
        let Some(record) = self.reader.next_record().map_err(error)? else { return Ok(false) };
        let (url, score, time) = (record.url, record.score, self.time);
        let page = RawPage { url, base: None, score, time, content_hash: None };
        batch.crawled(page, record.links()).map_err(|reason| {
            let line = record.line_number;
            ReadError::Bad(format!("{}:{line}: {url:?} cannot be crawled: {reason}", self.path))
        })?;
        Ok(true)
    }
}

fn error(error: GraphFileError) -> ReadError {
    match error {
        GraphFileError::Line { .. } => ReadError::Bad(error.to_string()),
        GraphFileError::Io { .. } => ReadError::Failed(error.into()),
    }
}
