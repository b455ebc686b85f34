//! What can be wrong with a file, and what cannot be written.

use std::io;
use std::path::{Path, PathBuf};

/// Anything that ends the reading or writing of a file.
#[derive(Debug, thiserror::Error)]
pub enum NutchError {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A record of a file: the offset inside is that within its value.
    #[error("record {number}, which begins at byte {position}: {source}")]
    Record { number: i64, position: u64, source: Malformed },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: Box<NutchError> },
    /// A folder that is no fetched segment.
    #[error("{}: no segment with fetcher output: {problem}", path.display())]
    NoSegment { path: PathBuf, problem: &'static str },
}

/// Bytes that are not what the format says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {fault}")]
pub struct Malformed {
    /// From the start of the file, or of the value for a record. In a compressed block: that of the block.
    pub offset: u64,
    pub fault: Fault,
}

/// What is wrong with the bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("no SequenceFile: it should begin with SEQ")]
    NoSequenceFile,
    #[error("{what} has version {found}: known are {known}")]
    Version { what: &'static str, found: u8, known: &'static str },
    #[error("{what} is {found}: expected {expected}")]
    Class { what: &'static str, found: String, expected: String },
    #[error("{0} is cut off")]
    CutOff(&'static str),
    #[error("{what} has {length} bytes: the limit is {limit}")]
    TooLong { what: &'static str, length: u64, limit: u64 },
    #[error("the length of {what} is {length}")]
    Length { what: &'static str, length: i64 },
    #[error("{what} is {found}: expected 0 or 1")]
    Flag { what: &'static str, found: u8 },
    #[error("{0} is not text")]
    Text(&'static str),
    #[error("the sync marker is not the one of the header")]
    Sync,
    #[error("the codec is {0}: only org.apache.hadoop.io.compress.DefaultCodec is known")]
    Codec(String),
    #[error("{0} does not decompress")]
    Deflate(&'static str),
    #[error("{left} bytes are left over after {what}")]
    LeftOver { what: &'static str, left: u64 },
    #[error("the keys are not in ascending order")]
    KeyOrder,
}

/// A value that the format has no bytes for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    #[error("{what} has {length} bytes: the format takes at most {limit}")]
    TooLong { what: &'static str, length: u64, limit: u64 },
    #[error("an empty key: version 1 has none")]
    EmptyKey,
    #[error("key after a greater one: append in ascending order")]
    KeyOrder,
    #[error("keys of class {0}: their order is not known")]
    KeyClass(String),
    #[error("{0}: compression is of version 6 only")]
    Compression(&'static str),
}

impl NutchError {
    /// Names the file.
    pub(super) fn in_file(self, path: &Path) -> NutchError {
        match self {
            NutchError::File { .. } | NutchError::NoSegment { .. } => self,
            source => NutchError::File { path: path.to_owned(), source: Box::new(source) },
        }
    }
}

/// Names the file in the error.
pub(super) trait InFile<T> {
    fn in_file(self, path: &Path) -> Result<T, NutchError>;
}

impl<T, E: Into<NutchError>> InFile<T> for Result<T, E> {
    fn in_file(self, path: &Path) -> Result<T, NutchError> {
        self.map_err(|error| error.into().in_file(path))
    }
}
