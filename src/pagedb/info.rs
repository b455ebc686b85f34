//! The rows of `info`: format version, counters with the applied log position, and the settings that the
//! tables depend on.

use heed::RoTxn;

use super::env::{InTable, PageDbError, Tables, corrupted};
use super::scoring::Scoring;
use crate::types::codec::{Malformed, Reader, put_varint};
use crate::types::{DomainUnit, SameSite};

/// The format that this version writes.
pub const FORMAT: u64 = 2;

/// The oldest that it takes up: every row of it is a row of the present one, which has one more in `info`.
pub const OLDEST_FORMAT: u64 = 1;

pub const FORMAT_KEY: &[u8] = b"format";
pub const COUNTERS_KEY: &[u8] = b"counters";
pub const DOMAIN_UNIT_KEY: &[u8] = b"domain_unit";
pub const SAME_SITE_KEY: &[u8] = b"same_site";
pub const MAX_DEPTH_KEY: &[u8] = b"max_crawl_depth";
pub const SCORING_KEY: &[u8] = b"scoring";

/// Totals over all tables, and how far the edit log has been applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Position of the last edit applied.
    pub applied: u64,
    /// Known pages.
    pub pages: u64,
    pub crawled: u64,
    pub scheduled: u64,
    pub leased: u64,
    pub links: u64,
    pub domains: u64,
    /// The index of the next new page: `pages`, and one more for each page ever deleted.
    pub next_index: u64,
}

impl Counters {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for value in
            [self.applied, self.pages, self.crawled, self.scheduled, self.leased, self.links, self.domains]
        {
            put_varint(&mut out, value);
        }
        if self.next_index != self.pages {
            put_varint(&mut out, self.next_index);
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Counters, Malformed> {
        let mut reader = Reader::new(bytes);
        let mut next = || reader.varint();
        let mut counters = Counters {
            applied: next()?,
            pages: next()?,
            crawled: next()?,
            scheduled: next()?,
            leased: next()?,
            links: next()?,
            domains: next()?,
            next_index: 0,
        };
        counters.next_index = counters.pages;
        if reader.remaining() > 0 {
            counters.next_index = reader.varint()?;
            // One form only: it is told when it is another number.
            if counters.next_index == counters.pages {
                return Err(Malformed);
            }
        }
        reader.end()?;
        Ok(counters)
    }
}

/// `format` as it stands in the table.
pub fn encode_format() -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, FORMAT);
    out
}

/// The row `scoring`; a database of format 1 has none.
pub fn scoring(tables: &Tables, txn: &RoTxn<'_>) -> Result<Scoring, PageDbError> {
    match tables.info.get(txn, SCORING_KEY)? {
        None => Ok(Scoring::none()),
        Some(bytes) => Scoring::decode(bytes).in_table("info", SCORING_KEY),
    }
}

/// The settings that decide the keys; `None` for a database that is being made.
pub fn stored_units(tables: &Tables, txn: &RoTxn<'_>) -> Result<Option<(DomainUnit, SameSite)>, PageDbError> {
    let unit = match tables.info.get(txn, DOMAIN_UNIT_KEY)? {
        None => return Ok(None),
        Some(b"host") => DomainUnit::Host,
        Some(b"registrable") => DomainUnit::Registrable,
        Some(_) => return Err(corrupted("info", DOMAIN_UNIT_KEY)),
    };
    let same_site = match tables.info.get(txn, SAME_SITE_KEY)? {
        None => SameSite::OFF,
        Some(bytes) => decode_same_site(bytes).in_table("info", SAME_SITE_KEY)?,
    };
    Ok(Some((unit, same_site)))
}

/// `same_site` as it stands in the table; there is no row where it is off.
pub fn encode_same_site(same_site: SameSite) -> Option<String> {
    (same_site != SameSite::OFF).then(|| same_site.to_string())
}

fn decode_same_site(bytes: &[u8]) -> Result<SameSite, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|_| Malformed)?;
    let same_site: SameSite = text.parse().map_err(|_| Malformed)?;
    // One form only.
    if encode_same_site(same_site).as_deref() == Some(text) { Ok(same_site) } else { Err(Malformed) }
}

/// `domain_unit` as it stands in the table.
pub fn domain_unit_name(unit: DomainUnit) -> &'static str {
    match unit {
        DomainUnit::Host => "host",
        DomainUnit::Registrable => "registrable",
    }
}

/// `max_crawl_depth` as a varint: 0 for none, else the depth plus one.
pub fn encode_max_depth(max_depth: Option<u32>) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, max_depth.map_or(0, |depth| u64::from(depth) + 1));
    out
}

/// The inverse of [`encode_max_depth`].
pub fn decode_max_depth(bytes: &[u8]) -> Result<Option<u32>, Malformed> {
    let mut reader = Reader::new(bytes);
    let value = reader.varint()?;
    reader.end()?;
    value.checked_sub(1).map(|depth| u32::try_from(depth).map_err(|_| Malformed)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    #[test]
    fn the_document_has_the_bytes() {
        let counters = Counters {
            applied: 4,
            pages: 300,
            crawled: 1,
            scheduled: 297,
            leased: 2,
            links: 412,
            domains: 2,
            next_index: 300,
        };
        assert_documented("counters", &counters.encode());
        let deleted = Counters { next_index: 310, ..counters };
        assert_documented("counters after deletions", &deleted.encode());
        let both = encode_same_site(SameSite { www: true, scheme: true });
        assert_documented("same_site of both", both.unwrap().as_bytes());
        assert_documented("max_crawl_depth 5", &encode_max_depth(Some(5)));
    }

    #[test]
    fn same_site_has_one_form() {
        for same_site in ["www", "scheme", "www,scheme"].map(|text| text.parse().unwrap()) {
            let row = encode_same_site(same_site).unwrap();
            assert_eq!(decode_same_site(row.as_bytes()), Ok(same_site));
        }
        for wrong in ["", "scheme,www", "www,www", "www, scheme", "www,", "WWW"] {
            assert_eq!(decode_same_site(wrong.as_bytes()), Err(Malformed), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn counters_come_back(values: [u64; 7], deleted in 0..3u64) {
            let [applied, pages, crawled, scheduled, leased, links, domains] = values;
            let next_index = pages.wrapping_add(deleted);
            let counters = Counters { applied, pages, crawled, scheduled, leased, links, domains, next_index };
            prop_assert_eq!(Counters::decode(&counters.encode()), Ok(counters));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(counters) = Counters::decode(&bytes) {
                prop_assert_eq!(counters.encode(), bytes.clone());
            }
            prop_assert_eq!(decode_same_site(&bytes), Err(Malformed));
            if let Ok(depth) = decode_max_depth(&bytes) {
                prop_assert_eq!(encode_max_depth(depth), bytes);
            }
        }
    }
}
