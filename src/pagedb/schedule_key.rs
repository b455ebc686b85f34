//! The keys of `schedule`, `leases` and `content`, whose values are empty: their order is their meaning.

use crate::types::codec::{Malformed, Reader};
use crate::types::{ContentHash, DomainKey, PageIndex, PageKey, Score, Time};

/// `schedule`: domain, score from best to worst, index from first seen to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleKey {
    pub domain: DomainKey,
    pub score: Score,
    pub index: PageIndex,
}

/// Bytes of a [`ScheduleKey`].
pub const SCHEDULE_KEY_LEN: usize = 13;

impl ScheduleKey {
    pub fn to_bytes(self) -> [u8; SCHEDULE_KEY_LEN] {
        let mut out = [0; SCHEDULE_KEY_LEN];
        out[..4].copy_from_slice(&self.domain.0.to_be_bytes());
        out[4..8].copy_from_slice(&self.score.to_descending_bytes());
        out[8..].copy_from_slice(&self.index.to_bytes());
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<ScheduleKey, Malformed> {
        let mut reader = Reader::new(bytes);
        let domain = DomainKey(u32::from_be_bytes(reader.array()?));
        let score = Score::from_descending_bytes(reader.array()?).ok_or(Malformed)?;
        let index = PageIndex::from_bytes(reader.array()?);
        reader.end()?;
        Ok(ScheduleKey { domain, score, index })
    }
}

impl Ord for ScheduleKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.domain, other.score, self.index).cmp(&(other.domain, self.score, other.index))
    }
}

impl PartialOrd for ScheduleKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// `leases`: the end of the lease, then the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeaseKey {
    pub until: Time,
    pub page: PageKey,
}

impl LeaseKey {
    pub fn to_bytes(self) -> [u8; 16] {
        let mut out = [0; 16];
        out[..8].copy_from_slice(&self.until.0.to_be_bytes());
        out[8..].copy_from_slice(&self.page.to_bytes());
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<LeaseKey, Malformed> {
        let mut reader = Reader::new(bytes);
        let until = Time(u64::from_be_bytes(reader.array()?));
        let page = PageKey::from_bytes(reader.array()?);
        reader.end()?;
        Ok(LeaseKey { until, page })
    }
}

/// `content`: the content hash, then the page (Nutch's PagesByMD5).
pub fn content_key(hash: &ContentHash, page: PageKey) -> Vec<u8> {
    let mut out = hash.to_bytes();
    out.extend_from_slice(&page.to_bytes());
    out
}

/// The inverse of [`content_key`].
pub fn decode_content_key(bytes: &[u8]) -> Result<(ContentHash, PageKey), Malformed> {
    let (hash, page) = bytes.split_last_chunk::<8>().ok_or(Malformed)?;
    Ok((ContentHash::from_bytes(hash).ok_or(Malformed)?, PageKey::from_bytes(*page)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    fn key(domain: u32, score: f32, index: u64) -> Option<ScheduleKey> {
        let score = Score::new(f64::from(score)).ok()?;
        Some(ScheduleKey { domain: DomainKey(domain), score, index: PageIndex(index) })
    }

    #[test]
    fn the_document_has_the_bytes() {
        let score = Score::new(0.25).unwrap();
        let entry = ScheduleKey { domain: DomainKey(0x6505_6f88), score, index: PageIndex(1) };
        assert_documented("schedule", &entry.to_bytes());
        let page = PageKey(0xfd82_f668_49b9_1327);
        assert_documented("leases", &LeaseKey { until: Time(1_435_052_448_000), page }.to_bytes());
        assert_documented("content", &content_key(&ContentHash::Number(7), page));
    }

    proptest! {
        #[test]
        fn byte_order_is_schedule_order(
            a in (0u32..3, any::<f32>(), 0u64..4), b in (0u32..3, any::<f32>(), 0u64..4), tie: bool
        ) {
            let b = if tie { (b.0, a.1, b.2) } else { b };
            let (Some(a), Some(b)) = (key(a.0, a.1, a.2), key(b.0, b.1, b.2)) else { return Ok(()) };
            prop_assert_eq!(a.to_bytes().cmp(&b.to_bytes()), a.cmp(&b));
            prop_assert_eq!(ScheduleKey::decode(&a.to_bytes()), Ok(a));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..30)) {
            if let Ok(key) = ScheduleKey::decode(&bytes) {
                prop_assert_eq!(&key.to_bytes()[..], &bytes[..]);
            }
            if let Ok(key) = LeaseKey::decode(&bytes) {
                prop_assert_eq!(&key.to_bytes()[..], &bytes[..]);
            }
            if let Ok((hash, page)) = decode_content_key(&bytes) {
                prop_assert_eq!(content_key(&hash, page), bytes);
            }
        }
    }

    #[test]
    fn better_scores_come_first_and_ties_go_to_the_page_seen_first() {
        let order =
            [key(1, 2.0, 9), key(1, 0.5, 1), key(1, 0.5, 2), key(1, 0.0, 0), key(1, -1.0, 0), key(2, 9.0, 0)];
        assert!(order.map(|k| k.map(ScheduleKey::to_bytes)).is_sorted());
    }
}
