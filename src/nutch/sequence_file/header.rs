//! What stands before the first record.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::BufRead;

use super::super::source::Source;
use super::super::{Fault, NutchError, Unwritable, utf8, vint};

const MAGIC: [u8; 3] = *b"SEQ";
const CODEC: &str = "org.apache.hadoop.io.compress.DefaultCodec";

/// The version of a SequenceFile. Those between are of Hadoop's first years; they are refused by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Nutch 0.4 and 0.5.
    V1,
    /// Hadoop since 0.14.
    V6,
}

/// How the records of version 6 are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    None,
    /// Each value by itself, as a zlib stream.
    Record,
    /// Many records together: their key lengths, keys, value lengths and values, a zlib stream each.
    Block,
}

/// What a SequenceFile says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub version: Version,
    /// Java's name of the class, or the short one that WritableName has for it (`long`, `UTF8`).
    pub key_class: String,
    pub value_class: String,
    pub compression: Compression,
    /// Names and texts, in the order of the file. Version 1 has none.
    pub metadata: Vec<(String, String)>,
    /// Sixteen bytes that stand between records, so that a reader can set in anywhere. Version 1 has none.
    pub sync: [u8; 16],
}

impl Header {
    /// Of a file of version 1.
    pub fn v1(key_class: &str, value_class: &str) -> Header {
        let (key_class, value_class) = (key_class.to_owned(), value_class.to_owned());
        let (compression, metadata) = (Compression::None, Vec::new());
        Header { version: Version::V1, key_class, value_class, compression, metadata, sync: [0; 16] }
    }

    /// Of a file of version 6, without metadata and with a new sync marker.
    pub fn v6(key_class: &str, value_class: &str, compression: Compression) -> Header {
        let header = Header::v1(key_class, value_class);
        Header { version: Version::V6, compression, sync: random(), ..header }
    }

    pub(super) fn encode(&self) -> Result<Vec<u8>, Unwritable> {
        let mut out = MAGIC.to_vec();
        match self.version {
            Version::V1 => {
                if self.compression != Compression::None || !self.metadata.is_empty() {
                    return Err(Unwritable::Compression("version 1"));
                }
                out.push(1);
                utf8::put_utf8(&mut out, "key class", &self.key_class)?;
                utf8::put_utf8(&mut out, "value class", &self.value_class)?;
            }
            Version::V6 => {
                out.push(6);
                put_text(&mut out, &self.key_class);
                put_text(&mut out, &self.value_class);
                out.push(u8::from(self.compression != Compression::None));
                out.push(u8::from(self.compression == Compression::Block));
                if self.compression != Compression::None {
                    put_text(&mut out, CODEC);
                }
                super::super::input::put_count(&mut out, "metadata", self.metadata.len())?;
                for (name, text) in &self.metadata {
                    put_text(&mut out, name);
                    put_text(&mut out, text);
                }
                out.extend_from_slice(&self.sync);
            }
        }
        Ok(out)
    }

    pub(super) fn read<R: BufRead>(source: &mut Source<R>) -> Result<Header, NutchError> {
        let magic: [u8; 3] = source.array("header")?;
        if magic != MAGIC {
            return Err(source.refuse_at(0, Fault::NoSequenceFile));
        }
        match source.array("header")? {
            [1] => Ok(Header::v1(&read_utf8(source, "key class")?, &read_utf8(source, "value class")?)),
            [6] => Header::read_v6(source),
            [found] => {
                let fault = Fault::Version { what: "the SequenceFile", found, known: "1, 6" };
                Err(source.refuse_at(3, fault))
            }
        }
    }

    fn read_v6<R: BufRead>(source: &mut Source<R>) -> Result<Header, NutchError> {
        let key_class = read_text(source, "key class")?;
        let value_class = read_text(source, "value class")?;
        let compressed = source.flag("compression flag")?;
        let compression = match source.flag("block compression flag")? {
            _ if !compressed => Compression::None,
            true => Compression::Block,
            false => Compression::Record,
        };
        if compressed {
            let start = source.offset();
            let codec = read_text(source, "codec")?;
            if codec != CODEC {
                return Err(source.refuse_at(start, Fault::Codec(codec)));
            }
        }
        let start = source.offset();
        let n = source.i32("metadata")?;
        if n < 0 {
            let fault = Fault::Length { what: "metadata", length: i64::from(n) };
            return Err(source.refuse_at(start, fault));
        }
        let mut metadata: Vec<(String, String)> = Vec::new();
        let mut bytes = 0;
        for _ in 0..n {
            let (name, text) = (read_text(source, "metadata")?, read_text(source, "metadata")?);
            bytes += size_of::<(String, String)>() + name.len() + text.len();
            if bytes > source.limit() {
                let (length, limit) = (bytes as u64, source.limit() as u64);
                return Err(source.refuse_at(start, Fault::TooLong { what: "metadata", length, limit }));
            }
            metadata.push((name, text));
        }
        let sync = source.array("sync marker")?;
        Ok(Header { version: Version::V6, key_class, value_class, compression, metadata, sync })
    }
}

/// Hadoop's Text: a vint length, then UTF-8.
fn put_text(out: &mut Vec<u8>, text: &str) {
    vint::put_vint(out, text.len() as i64);
    out.extend_from_slice(text.as_bytes());
}

fn read_text<R: BufRead>(source: &mut Source<R>, what: &'static str) -> Result<String, NutchError> {
    let length = source.vint_length(what)?;
    let start = source.offset();
    let mut bytes = Vec::new();
    source.read(length, what, &mut bytes)?;
    String::from_utf8(bytes).map_err(|_| source.refuse_at(start, Fault::Text(what)))
}

fn read_utf8<R: BufRead>(source: &mut Source<R>, what: &'static str) -> Result<String, NutchError> {
    let length = u16::from_be_bytes(source.array(what)?);
    let start = source.offset();
    let mut bytes = Vec::new();
    source.read(usize::from(length), what, &mut bytes)?;
    let text = utf8::decode(&bytes).ok_or_else(|| source.refuse_at(start, Fault::Text(what)))?;
    Ok(text.into_owned())
}

/// Sixteen bytes from the seeds that the standard library draws for its hash maps: a sync marker must only be
/// rare in the data.
fn random() -> [u8; 16] {
    let mut out = [0; 16];
    for half in out.chunks_exact_mut(8) {
        half.copy_from_slice(&RandomState::new().build_hasher().finish().to_be_bytes());
    }
    out
}
