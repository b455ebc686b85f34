//! What the readers of all formats share: compressed files, lines, and what becomes of bad ones.

use std::fs::File;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::graph_file::decompressed;
use crate::pagedb::bulk::EditBatch;

/// Reads one file.
pub trait Reader: Send {
    /// Adds the next page or URL to the batch; `false` at the end of the file.
    ///
    /// # Errors
    /// [`ReadError::Bad`] for a record that cannot be used: reading may go on after it, and the batch is as it was.
    fn next(&mut self, batch: &mut EditBatch) -> Result<bool, ReadError>;
}

/// Why a record, or a file, cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// A line or record, with its place and what is wrong.
    Bad(String),
    /// The file itself.
    Failed(anyhow::Error),
}

impl ReadError {
    pub fn into_error(self) -> anyhow::Error {
        match self {
            ReadError::Bad(problem) => anyhow::anyhow!(problem),
            ReadError::Failed(error) => error,
        }
    }
}

/// What becomes of bad records.
pub struct Bad {
    skip: bool,
    /// One was refused, which ended the import.
    pub refused: bool,
    count: u64,
    /// The first ones.
    named: Vec<String>,
}

/// Bad records that are named; further ones are counted.
const NAMED: usize = 10;

impl Bad {
    pub fn new(skip: bool) -> Bad {
        Bad { skip, refused: false, count: 0, named: Vec::new() }
    }

    /// # Errors
    /// The problem, unless bad records are to be skipped.
    pub fn take(&mut self, problem: String) -> anyhow::Result<()> {
        if !self.skip {
            self.refused = true;
            anyhow::bail!(problem);
        }
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(problem);
        }
        Ok(())
    }

    pub fn report(&self) {
        for problem in &self.named {
            eprintln!("skipped {problem}");
        }
        if self.count > self.named.len() as u64 {
            eprintln!("skipped {} more", self.count - self.named.len() as u64);
        }
    }
}

/// The lines of a file, compressed or not.
pub struct Lines {
    input: Input,
    line: Vec<u8>,
    number: u64,
}

/// A file, decompressed.
pub struct Input {
    path: PathBuf,
    pub reader: Box<dyn BufRead + Send>,
}

impl Input {
    /// Opens a file, or the standard input if the path is `-`.
    pub fn open(path: &Path) -> Result<Input, ReadError> {
        let is_stdin = path == Path::new("-");
        let opened =
            if is_stdin { decompressed(io::stdin()) } else { File::open(path).and_then(decompressed) };
        let path = if is_stdin { "standard input".into() } else { path.to_owned() };
        match opened {
            Ok(reader) => Ok(Input { path, reader }),
            Err(error) => Err(Input::failed(&path, error)),
        }
    }

    /// A record of this file cannot be used.
    pub fn bad(&self, place: u64, problem: impl std::fmt::Display) -> ReadError {
        ReadError::Bad(format!("{}:{place}: {problem}", self.path.display()))
    }

    /// The file cannot be read.
    pub fn io(&self, error: io::Error) -> ReadError {
        Input::failed(&self.path, error)
    }

    fn failed(path: &Path, error: io::Error) -> ReadError {
        let failed = Err::<(), _>(error).with_context(|| format!("cannot read {}", path.display()));
        ReadError::Failed(failed.err().unwrap_or_else(|| anyhow::anyhow!("cannot read")))
    }
}

impl Lines {
    pub fn open(path: &Path) -> Result<Lines, ReadError> {
        Ok(Lines { input: Input::open(path)?, line: Vec::new(), number: 0 })
    }

    /// The next line that is not blank, without its end.
    pub fn next(&mut self) -> Result<Option<&[u8]>, ReadError> {
        loop {
            self.line.clear();
            let read = self.input.reader.read_until(b'\n', &mut self.line);
            if read.map_err(|error| self.input.io(error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(self.line.trim_ascii_end()));
            }
        }
    }

    /// The current line cannot be used.
    pub fn bad(&self, problem: impl std::fmt::Display) -> ReadError {
        self.input.bad(self.number, problem)
    }
}
