//! The value of `urls`: what never changes of a page, in order of index. New pages are appended, so this
//! table is always full pages and is written in sequence.

use crate::types::codec::{Malformed, Reader, put_varint};
use crate::types::{PageIndex, PageKey};

/// `urls`: a page's key, its site's number in its domain, its first parent, and its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlRecord<'a> {
    pub key: PageKey,
    /// Number of the site (`sites`) inside the key's domain.
    pub site: u32,
    /// The page that first linked it; none for seeds and for pages that spiders reported unasked.
    pub linked_from: Option<PageIndex>,
    /// Path and query, from the first slash on.
    pub path: &'a str,
}

impl<'a> UrlRecord<'a> {
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.key.to_bytes());
        put_varint(out, u64::from(self.site));
        put_varint(out, self.linked_from.map_or(0, |from| from.0 + 1));
        out.extend_from_slice(self.path.as_bytes());
    }

    pub fn decode(bytes: &'a [u8]) -> Result<UrlRecord<'a>, Malformed> {
        let mut reader = Reader::new(bytes);
        let key = PageKey::from_bytes(reader.array()?);
        let site = reader.number()?;
        let linked_from = reader.varint()?.checked_sub(1).map(PageIndex);
        let path = std::str::from_utf8(reader.rest()).map_err(|_| Malformed)?;
        Ok(UrlRecord { key, site, linked_from, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    #[test]
    fn the_document_has_the_bytes() {
        let record = UrlRecord {
            key: PageKey(0x6505_6f88_e03a_65ed),
            site: 0,
            linked_from: Some(PageIndex(0)),
            path: "/about",
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        assert_documented("urls", &bytes);
    }

    proptest! {
        #[test]
        fn records_come_back(key: u64, site: u32, from in proptest::option::of(0..PageIndex::LIMIT), path in "/\\PC{0,30}") {
            let record =
                UrlRecord { key: PageKey(key), site, linked_from: from.map(PageIndex), path: &path };
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            prop_assert_eq!(UrlRecord::decode(&bytes), Ok(record));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(record) = UrlRecord::decode(&bytes) {
                let mut again = Vec::new();
                record.encode(&mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
