//! MapFile: a folder with a SequenceFile `data`, sorted by key, and another, `index`, that has the position of
//! every 128th key. ArrayFile: a MapFile whose keys are 0, 1, 2 ...; `docs/nutch.md`, "MapFile".

use super::sequence_file::{Compression, Header, Version};

mod array;
mod key_order;
mod reader;
mod writer;

pub use array::{ArrayReader, ArrayWriter, Numbered};
pub use key_order::KeyOrder;
pub use reader::MapReader;
pub use writer::{INDEX_INTERVAL, MapWriter};

const DATA: &str = "data";
const INDEX: &str = "index";

/// LongWritable in a header of version 6; version 1 calls it `long`.
const LONG_CLASS: &str = "org.apache.hadoop.io.LongWritable";
const LONG_NAME: &str = "long";

/// The header of a file whose values (or keys) are numbers.
fn long_class(version: Version) -> &'static str {
    match version {
        Version::V1 => LONG_NAME,
        Version::V6 => LONG_CLASS,
    }
}

/// A header of the given version; Hadoop compresses its indices by blocks.
fn header(version: Version, key_class: &str, value_class: &str, compression: Compression) -> Header {
    match version {
        Version::V1 => Header::v1(key_class, value_class),
        Version::V6 => Header::v6(key_class, value_class, compression),
    }
}
