//! What spiders tell of a page.

use super::{Anchor, PageUrl, Score, Time};

/// A page that a spider has crawled, with what it found there (Aduana's `CrawledPage`).
#[derive(Debug, Clone, PartialEq)]
pub struct CrawledPage {
    pub url: PageUrl,
    /// The content's value, by the spider's judgement.
    pub score: Score,
    pub time: Time,
    pub content_hash: Option<ContentHash>,
    pub links: Vec<Link>,
}

/// A URL with the score that the page it stands on, or the seeds file, gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    pub url: PageUrl,
    pub score: Score,
    /// Its text, if the spider tells it; seeds have none.
    pub anchor: Option<Anchor>,
}

/// A hash of a page's content, made by the spider: a change of it is a change of the page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentHash {
    Number(u64),
    /// At most [`MAX_CONTENT_HASH_BYTES`] bytes.
    Text(String),
}

/// Longest text taken as a content hash: room for a SHA-512 in hexadecimal, and it must fit an LMDB key.
pub const MAX_CONTENT_HASH_BYTES: usize = 256;

impl ContentHash {
    const NUMBER: u8 = 1;
    const TEXT: u8 = 2;

    /// Tag and content; numbers big-endian so that they sort.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            ContentHash::Number(n) => {
                let mut out = vec![Self::NUMBER];
                out.extend_from_slice(&n.to_be_bytes());
                out
            }
            ContentHash::Text(text) => {
                let mut out = vec![Self::TEXT];
                out.extend_from_slice(text.as_bytes());
                out
            }
        }
    }

    /// The inverse of [`ContentHash::to_bytes`]; `None` for bytes of no content hash.
    pub fn from_bytes(bytes: &[u8]) -> Option<ContentHash> {
        match bytes.split_first()? {
            (&Self::NUMBER, rest) => Some(ContentHash::Number(u64::from_be_bytes(rest.try_into().ok()?))),
            (&Self::TEXT, rest) if rest.len() <= MAX_CONTENT_HASH_BYTES => {
                Some(ContentHash::Text(std::str::from_utf8(rest).ok()?.to_owned()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    #[test]
    fn the_document_has_the_bytes() {
        assert_documented("content hash 7", &ContentHash::Number(7).to_bytes());
        assert_documented("content hash \"d41d8\"", &ContentHash::Text("d41d8".into()).to_bytes());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_a_content_hash_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Some(hash) = ContentHash::from_bytes(&bytes) {
                prop_assert_eq!(hash.to_bytes(), bytes);
            }
        }

        #[test]
        fn content_hashes_come_back(n in any::<u64>(), text in "\\PC{0,60}") {
            for hash in [ContentHash::Number(n), ContentHash::Text(text.clone())] {
                prop_assert_eq!(ContentHash::from_bytes(&hash.to_bytes()), Some(hash));
            }
        }
    }
}
