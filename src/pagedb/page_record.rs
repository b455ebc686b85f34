//! The value of `hash2info`: a page's crawl history. Pages that were never crawled have none.

use crate::types::codec::{Malformed, Reader, flag, put_bytes, put_f32, put_varint};
use crate::types::edit::web::History;
use crate::types::{ContentHash, Score, Time};

/// `hash2info`: what the crawls of a page have shown (Aduana's `PageInfo`, 3.2).
#[derive(Debug, Clone, PartialEq)]
pub struct PageRecord {
    pub first_crawl: Time,
    pub last_crawl: Time,
    pub crawls: u32,
    /// Crawls that found another content hash than the one before.
    pub changes: u32,
    /// The content's score, as of the last crawl.
    pub score: Score,
    /// As of the last crawl that gave one.
    pub content_hash: Option<ContentHash>,
}

const HAS_SCORE: u8 = 1;
const HAS_CONTENT_HASH: u8 = 2;

impl PageRecord {
    /// The record after one more crawl; crawls that arrive late do not move the last one back.
    pub fn crawled(
        old: Option<PageRecord>,
        time: Time,
        score: Score,
        content_hash: Option<ContentHash>,
    ) -> PageRecord {
        let Some(old) = old else {
            return PageRecord {
                first_crawl: time,
                last_crawl: time,
                crawls: 1,
                changes: 0,
                score,
                content_hash,
            };
        };
        let changed =
            matches!((&old.content_hash, &content_hash), (Some(before), Some(now)) if before != now);
        PageRecord {
            first_crawl: old.first_crawl.min(time),
            last_crawl: old.last_crawl.max(time),
            crawls: old.crawls.saturating_add(1),
            changes: old.changes.saturating_add(u32::from(changed)),
            score,
            content_hash: content_hash.or(old.content_hash),
        }
    }

    /// The record of a page whose crawls somebody else has kept.
    pub fn from_history(history: &History) -> PageRecord {
        PageRecord {
            first_crawl: history.first_crawl,
            last_crawl: history.last_crawl,
            crawls: history.crawls,
            changes: history.changes,
            score: history.score,
            content_hash: history.content_hash.clone(),
        }
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        let has_score = self.score != Score::ZERO;
        out.push(flag(has_score, HAS_SCORE) | flag(self.content_hash.is_some(), HAS_CONTENT_HASH));
        put_varint(out, self.first_crawl.0);
        put_varint(out, self.last_crawl.0.wrapping_sub(self.first_crawl.0));
        put_varint(out, u64::from(self.crawls));
        put_varint(out, u64::from(self.changes));
        if has_score {
            put_f32(out, self.score.get());
        }
        if let Some(hash) = &self.content_hash {
            put_bytes(out, &hash.to_bytes());
        }
    }

    pub fn decode(bytes: &[u8]) -> Result<PageRecord, Malformed> {
        let mut reader = Reader::new(bytes);
        let flags = reader.u8()?;
        if flags & !(HAS_SCORE | HAS_CONTENT_HASH) != 0 {
            return Err(Malformed);
        }
        let first_crawl = Time(reader.varint()?);
        let last_crawl = Time(first_crawl.0.wrapping_add(reader.varint()?));
        let crawls = reader.number()?;
        let changes = reader.number()?;
        let mut score = Score::ZERO;
        if flags & HAS_SCORE != 0 {
            score = Score::new(f64::from(reader.f32()?)).map_err(|_| Malformed)?;
        }
        let content_hash = if flags & HAS_CONTENT_HASH != 0 {
            Some(ContentHash::from_bytes(reader.bytes()?).ok_or(Malformed)?)
        } else {
            None
        };
        reader.end()?;
        Ok(PageRecord { first_crawl, last_crawl, crawls, changes, score, content_hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    #[test]
    fn a_changed_content_hash_counts_as_a_change() {
        let crawl = |old, time, hash: Option<&str>| {
            PageRecord::crawled(old, Time(time), Score::ZERO, hash.map(|h| ContentHash::Text(h.into())))
        };
        let record = crawl(None, 10, Some("a"));
        let record = crawl(Some(record), 30, Some("b"));
        let record = crawl(Some(record), 20, None);
        let record = crawl(Some(record), 25, Some("b"));
        assert_eq!((record.first_crawl, record.last_crawl), (Time(10), Time(30)));
        assert_eq!((record.crawls, record.changes), (4, 1));
        assert_eq!(record.content_hash, Some(ContentHash::Text("b".into())));
    }

    #[test]
    fn the_document_has_the_bytes() {
        let record = PageRecord {
            first_crawl: Time(1_435_048_847_500),
            last_crawl: Time(1_435_048_847_800),
            crawls: 2,
            changes: 1,
            score: Score::new(0.5).unwrap(),
            content_hash: Some(ContentHash::Number(7)),
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        assert_documented("hash2info", &bytes);
    }

    proptest! {
        #[test]
        fn records_come_back(
            first: u64, last: u64, crawls: u32, changes: u32, score in -1e9f64..1e9, hash in proptest::option::of(any::<u64>())
        ) {
            let record = PageRecord {
                first_crawl: Time(first), last_crawl: Time(last), crawls, changes,
                score: Score::new(score).unwrap(), content_hash: hash.map(ContentHash::Number),
            };
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            prop_assert_eq!(PageRecord::decode(&bytes), Ok(record));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(record) = PageRecord::decode(&bytes) {
                let mut again = Vec::new();
                record.encode(&mut again);
                prop_assert_eq!(PageRecord::decode(&again), Ok(record));
            }
        }
    }
}
