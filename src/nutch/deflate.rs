//! zlib and gzip, in memory, with a bound on what comes out.

use std::io::{Read, Write};

use flate2::bufread::{GzDecoder, ZlibDecoder};
use flate2::write::ZlibEncoder;
use flate2::{Compression, GzBuilder};

use super::Fault;

/// Appends what a zlib stream, which must be all of `bytes`, decompresses to.
pub(super) fn inflate(
    bytes: &[u8],
    what: &'static str,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut decoder = ZlibDecoder::new(bytes);
    read_all(&mut decoder, what, limit, out)?;
    all_used(decoder.into_inner(), what)
}

/// Appends what a gzip file of one member, which must be all of `bytes`, decompresses to.
pub(super) fn gunzip(bytes: &[u8], what: &'static str, limit: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut decoder = GzDecoder::new(bytes);
    read_all(&mut decoder, what, limit, out)?;
    all_used(decoder.into_inner(), what)
}

/// Appends a zlib stream of the default level, as Hadoop's DefaultCodec does.
pub(super) fn deflate(bytes: &[u8], out: &mut Vec<u8>) {
    let mut encoder = ZlibEncoder::new(out, Compression::default());
    // A vector takes every write.
    let _written = encoder.write_all(bytes).and_then(|()| encoder.try_finish());
}

/// A gzip file as Java's GZIPOutputStream of that time wrote it: no time, no name, system 0.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(0).operating_system(0).write(Vec::new(), Compression::default());
    let _written = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn read_all(
    decoder: &mut impl Read,
    what: &'static str,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let read = decoder.take(limit as u64 + 1).read_to_end(out);
    match read {
        Ok(length) if length > limit => {
            Err(Fault::TooLong { what, length: length as u64, limit: limit as u64 })
        }
        Ok(_) => Ok(()),
        Err(_) => Err(Fault::Deflate(what)),
    }
}

fn all_used(rest: &[u8], what: &'static str) -> Result<(), Fault> {
    if rest.is_empty() { Ok(()) } else { Err(Fault::LeftOver { what, left: rest.len() as u64 }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let (mut packed, mut out) = (Vec::new(), Vec::new());
        deflate(&vec![0; 10 << 20], &mut packed);
        assert!(packed.len() < 20_000);
        let fault = inflate(&packed, "value", 1_000, &mut out).unwrap_err();
        assert_eq!(fault, Fault::TooLong { what: "value", length: 1_001, limit: 1_000 });
        assert!(out.capacity() < 1 << 16, "{}", out.capacity());
    }

    #[test]
    fn a_stream_must_be_whole_and_alone() {
        let mut packed = Vec::new();
        deflate(b"pages and links", &mut packed);
        for cut in 0..packed.len() {
            assert_eq!(
                inflate(&packed[..cut], "value", 100, &mut Vec::new()),
                Err(Fault::Deflate("value")),
                "{cut}"
            );
        }
        packed.push(0);
        let fault = inflate(&packed, "value", 100, &mut Vec::new()).unwrap_err();
        assert_eq!(fault, Fault::LeftOver { what: "value", left: 1 });
        let mut packed = gzip(b"text");
        packed.push(0);
        assert!(gunzip(&packed, "text", 100, &mut Vec::new()).is_err());
    }
}
