//! SequenceFile: a header with the names of two classes, then pairs of a key and a value, as bytes. Version 1 is
//! that of Nutch 0.4 and 0.5, version 6 the present one of Hadoop; `docs/nutch.md`, "SequenceFile".

mod block;
mod header;
mod reader;
mod writer;

pub use header::{Compression, Header, Version};
pub use reader::{Entry, SequenceReader};
pub use writer::{SequenceWriter, WriteOptions};

/// In the place of a record's length: a sync marker follows.
const SYNC_ESCAPE: i32 = -1;
