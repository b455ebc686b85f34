//! The value of `anchors`: the texts of a page's links, each with the place of its link in the page's row of
//! `links`. Texts of one page have much in common, so the whole is compressed where that makes it shorter.

use std::io::Read;

use flate2::bufread::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};

use crate::types::Anchor;
use crate::types::anchor::{MAX_ANCHOR_BYTES, put_list, read_one};
use crate::types::codec::{Malformed, Reader};

const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;

/// Most bytes that an anchor takes: its place, its length, its text.
const MOST_BYTES: usize = 10 + 2 + MAX_ANCHOR_BYTES;

/// Anchors by the place of their link, ascending.
pub type AnchorList = Vec<(usize, Anchor)>;

/// Sorts texts by the places of their links. Of a link that stands on a page more than once the first text counts.
pub fn first_of_each(texts: &mut Vec<(usize, &str)>) {
    texts.sort_by_key(|&(place, _)| place);
    texts.dedup_by_key(|&mut (place, _)| place);
}

/// Codes lists of anchors.
#[derive(Default)]
pub struct Encoder {
    /// Made when it is needed, and used again: it is large.
    compress: Option<Compress>,
    plain: Vec<u8>,
}

impl Encoder {
    /// Appends coded anchors to `out`: at least one, by their places, which must ascend.
    pub fn encode<'a>(&mut self, anchors: impl IntoIterator<Item = (usize, &'a str)>, out: &mut Vec<u8>) {
        self.plain.clear();
        put_list(anchors, &mut self.plain);
        let start = out.len();
        out.push(DEFLATED);
        if !self.deflate(out) {
            out.truncate(start);
            out.push(PLAIN);
            out.extend_from_slice(&self.plain);
        }
    }

    /// Appends the compressed bytes; `false` if they are not shorter.
    fn deflate(&mut self, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let compress = self.compress.get_or_insert_with(|| Compress::new(Compression::default(), false));
        compress.reset();
        // It writes as far as there is room.
        out.reserve(self.plain.len());
        let done = compress.compress_vec(&self.plain, out, FlushCompress::Finish);
        matches!(done, Ok(Status::StreamEnd)) && out.len() - start < self.plain.len()
    }
}

/// Decodes the anchors of a page with `links` links.
///
/// # Errors
/// [`Malformed`] unless there is at least one, and each belongs to one of the links.
pub fn decode(bytes: &[u8], links: usize) -> Result<AnchorList, Malformed> {
    let (&form, rest) = bytes.split_first().ok_or(Malformed)?;
    match form {
        PLAIN => decode_plain(rest, links),
        DEFLATED => {
            let mut plain = Vec::new();
            let most = links.saturating_mul(MOST_BYTES) as u64;
            let mut decoder = DeflateDecoder::new(rest);
            // What comes beyond that leaves bytes of the stream over.
            decoder.by_ref().take(most).read_to_end(&mut plain).map_err(|_| Malformed)?;
            let ended = matches!(decoder.read(&mut [0]), Ok(0));
            if ended && decoder.into_inner().is_empty() {
                decode_plain(&plain, links)
            } else {
                Err(Malformed)
            }
        }
        _ => Err(Malformed),
    }
}

fn decode_plain(bytes: &[u8], links: usize) -> Result<AnchorList, Malformed> {
    let mut reader = Reader::new(bytes);
    let mut anchors = Vec::new();
    let mut next = 0;
    while reader.remaining() > 0 {
        let (place, text) = read_one(&mut reader, next, links)?;
        next = place + 1;
        anchors.push((place, Anchor::from_normal(text)?));
    }
    if anchors.is_empty() { Err(Malformed) } else { Ok(anchors) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::{assert_documented, documented};
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    fn encoded(anchors: &[(usize, Anchor)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let anchors = anchors.iter().map(|(place, anchor)| (*place, anchor.as_str()));
        Encoder::default().encode(anchors, &mut bytes);
        bytes
    }

    fn anchors(texts: &[(usize, &str)]) -> AnchorList {
        texts.iter().map(|&(place, text)| (place, Anchor::new(text).unwrap())).collect()
    }

    #[test]
    fn the_document_has_the_bytes() {
        let few = anchors(&[(0, "Home"), (3, "next »")]);
        assert_documented("anchors", &encoded(&few));
        let alike = anchors(&[(0, "Debian 12 manual pages"), (1, "Debian 11 manual pages")]);
        // Another compressor may find other bytes: those of the document are read.
        assert_eq!(decode(&documented("anchors, compressed"), 2), Ok(alike.clone()));
        assert!(encoded(&alike).len() < 1 + 2 * (2 + 22));
    }

    #[test]
    fn what_does_not_belong_to_a_link_is_refused() {
        let bytes = encoded(&anchors(&[(0, "a"), (3, "b")]));
        assert!(decode(&bytes, 4).is_ok());
        assert_eq!(decode(&bytes, 3), Err(Malformed));
        for bytes in [&[][..], &[PLAIN], &[DEFLATED], &[2, 0, 1, b'a'], &[PLAIN, 0, 0], &[PLAIN, 0, 1, b' ']]
        {
            assert_eq!(decode(bytes, 9), Err(Malformed), "{bytes:?}");
        }
    }

    #[test]
    fn a_compressed_row_is_whole_and_alone_and_no_bomb() {
        let alike: AnchorList = (0..50).map(|n| (n, Anchor::new("the very same text").unwrap())).collect();
        let bytes = encoded(&alike);
        assert!(bytes.len() < 60, "{}", bytes.len());
        assert_eq!(decode(&bytes, 50), Ok(alike));
        for cut in 1..bytes.len() {
            assert_eq!(decode(&bytes[..cut], 50), Err(Malformed), "{cut}");
        }
        assert_eq!(decode(&[&bytes[..], &[0]].concat(), 50), Err(Malformed));
        // More than the anchors of two links can have.
        assert_eq!(decode(&bytes, 2), Err(Malformed));
        let mut bomb = vec![DEFLATED];
        let mut compress = Compress::new(Compression::default(), false);
        bomb.reserve(1 << 20);
        compress.compress_vec(&vec![0; 10 << 20], &mut bomb, FlushCompress::Finish).unwrap();
        assert_eq!(decode(&bomb, 2), Err(Malformed));
    }

    proptest! {
        #[test]
        fn lists_come_back(texts in btree_map(0usize..300, "\\PC{1,80}|[a-c]{1,9}", 1..40)) {
            let anchors: AnchorList =
                texts.iter().filter_map(|(&place, text)| Some((place, Anchor::new(text)?))).collect();
            if let Some(&(last, _)) = anchors.last() {
                let bytes = encoded(&anchors);
                prop_assert_eq!(decode(&bytes, last), Err(Malformed));
                prop_assert_eq!(decode(&bytes, last + 1), Ok(anchors));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(
            bytes in vec(any::<u8>(), 0..60), plain in vec(0u8..5, 0..20), links in 0usize..9, form in 0u8..3
        ) {
            for bytes in [&bytes, &[&[form], &plain[..]].concat(), &[&[form], &bytes[..]].concat()] {
                if let Ok(anchors) = decode(bytes, links) {
                    prop_assert!(anchors.last().is_some_and(|&(place, _)| place < links));
                    prop_assert_eq!(decode(&encoded(&anchors), links), Ok(anchors));
                }
            }
        }
    }
}
