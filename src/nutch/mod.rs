//! Files of Nutch 0.4 and 0.5, and of Hadoop, which grew out of them: SequenceFile, MapFile, ArrayFile, the
//! records of a segment, and a segment as a whole. `docs/nutch.md` has every byte and says where it is from.
//!
//! * [`sequence_file`]: pairs of bytes one after the other, version 1 (Nutch's) or 6 (Hadoop's).
//! * [`map_file`]: a folder with a sorted SequenceFile and an index of it; with numbers as keys, an ArrayFile.
//! * [`record`]: what the values mean: pages, entries of a fetch list, what a fetcher brought home.
//! * [`segment`]: a fetch list to write, a fetched segment to read.
//!
//! A reader never trusts its input: what it refuses it names with its byte offset, and it never allocates more
//! than [`Limits`] allow or the file has.

pub mod error;
pub mod map_file;
pub mod record;
pub mod segment;
pub mod sequence_file;

mod deflate;
mod input;
mod source;
mod utf8;
mod vint;

pub use error::{Fault, Malformed, NutchError, Unwritable};
pub use input::Input;
pub use record::Record;

/// How much of a file is held in memory at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest record, decompressed value, or column of a block, in bytes; also of a header's metadata. Lists of
    /// empty texts take up to twelve times their bytes in memory.
    pub record_bytes: usize,
    /// Longest index of a MapFile, in bytes in memory.
    pub index_bytes: usize,
}

impl Default for Limits {
    /// Room for what crawlers keep: Nutch cut contents at 64 KiB, Hadoop's blocks have a million bytes; the index
    /// of an ArrayFile of a billion records has 8 million entries.
    fn default() -> Self {
        Limits { record_bytes: 64 << 20, index_bytes: 512 << 20 }
    }
}
