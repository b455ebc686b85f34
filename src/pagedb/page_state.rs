//! The value of `hash2idx`: a page's index and where it stands in the crawl. All that a link to a known
//! page needs is here, so that such a link touches one small row.

use crate::types::codec::{Malformed, Reader, flag, put_f32, put_varint};
use crate::types::{PageIndex, Score, Time};

/// Where a page stands in the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It waits in the schedule.
    Scheduled,
    /// A spider has it until the lease ends.
    Leased {
        until: Time,
    },
    Crawled,
    /// It lies deeper than `max_crawl_depth`: known, but not scheduled.
    TooDeep,
}

impl Status {
    /// The name in reports and dumps.
    pub fn name(self) -> &'static str {
        match self {
            Status::Scheduled => "scheduled",
            Status::Leased { .. } => "leased",
            Status::Crawled => "crawled",
            Status::TooDeep => "too_deep",
        }
    }
}

/// `hash2idx`: index, status, depth, score, attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageState {
    pub index: PageIndex,
    pub status: Status,
    /// Links from the nearest seed, as far as known.
    pub depth: u32,
    /// Its place in the schedule: without a scorer the given score, with one what the scorer makes of it.
    pub score: Score,
    /// The best score that a link or a seed has given it.
    pub given: Score,
    /// Hand-outs that ended without an answer since the last crawl.
    pub attempts: u32,
}

/// A row of `hash2idx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    Page(PageState),
    /// A deleted page had the key, and pages behind it are found past it.
    Mark,
}

/// The value of a [`Slot::Mark`].
pub const MARK: &[u8] = &[];

impl Slot {
    pub fn decode(bytes: &[u8]) -> Result<Slot, Malformed> {
        if bytes == MARK { Ok(Slot::Mark) } else { PageState::decode(bytes).map(Slot::Page) }
    }

    pub fn page(self) -> Option<PageState> {
        match self {
            Slot::Page(state) => Some(state),
            Slot::Mark => None,
        }
    }
}

const STATUS_BITS: u8 = 0b111;
const HAS_SCORE: u8 = 1 << 3;
const HAS_ATTEMPTS: u8 = 1 << 4;
/// The given score is another than the score, and follows.
const HAS_GIVEN: u8 = 1 << 5;
/// The given score is 0, and the score is not.
const NOTHING_GIVEN: u8 = 1 << 6;
const ALL_FLAGS: u8 = STATUS_BITS | HAS_SCORE | HAS_ATTEMPTS | HAS_GIVEN | NOTHING_GIVEN;

impl PageState {
    pub fn encode(&self, out: &mut Vec<u8>) {
        let status = match self.status {
            Status::Scheduled => 0,
            Status::Leased { .. } => 1,
            Status::Crawled => 2,
            Status::TooDeep => 3,
        };
        let has_score = self.score != Score::ZERO;
        let has_attempts = self.attempts != 0;
        let given = match self.given {
            given if given == self.score => 0,
            Score::ZERO => NOTHING_GIVEN,
            _ => HAS_GIVEN,
        };
        out.push(status | flag(has_score, HAS_SCORE) | flag(has_attempts, HAS_ATTEMPTS) | given);
        put_varint(out, self.index.0);
        put_varint(out, u64::from(self.depth));
        if has_score {
            put_f32(out, self.score.get());
        }
        if given == HAS_GIVEN {
            put_f32(out, self.given.get());
        }
        if has_attempts {
            put_varint(out, u64::from(self.attempts));
        }
        if let Status::Leased { until } = self.status {
            put_varint(out, until.0);
        }
    }

    pub fn decode(bytes: &[u8]) -> Result<PageState, Malformed> {
        let mut reader = Reader::new(bytes);
        let flags = reader.u8()?;
        if flags & !ALL_FLAGS != 0 {
            return Err(Malformed);
        }
        let index = PageIndex(reader.varint()?);
        let depth = reader.number()?;
        let score = if flags & HAS_SCORE != 0 { decode_score(&mut reader)? } else { Score::ZERO };
        let given = match flags & (HAS_GIVEN | NOTHING_GIVEN) {
            0 => score,
            NOTHING_GIVEN => Score::ZERO,
            HAS_GIVEN => decode_score(&mut reader)?,
            _ => return Err(Malformed),
        };
        let attempts = if flags & HAS_ATTEMPTS != 0 { reader.number()? } else { 0 };
        let status = match flags & STATUS_BITS {
            0 => Status::Scheduled,
            1 => Status::Leased { until: Time(reader.varint()?) },
            2 => Status::Crawled,
            3 => Status::TooDeep,
            _ => return Err(Malformed),
        };
        reader.end()?;
        Ok(PageState { index, status, depth, score, given, attempts })
    }

    /// Whether the page may still be handed out: it waits, or is with a spider.
    pub fn is_uncrawled(&self) -> bool {
        self.status != Status::Crawled
    }

    /// Whether the page stands in the schedule table.
    pub fn is_scheduled(&self) -> bool {
        self.status == Status::Scheduled
    }
}

fn decode_score(reader: &mut Reader<'_>) -> Result<Score, Malformed> {
    Score::new(f64::from(reader.f32()?)).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    #[test]
    fn the_document_has_the_bytes() {
        let state = PageState {
            index: PageIndex(300),
            status: Status::Leased { until: Time(1_435_052_446_000) },
            depth: 2,
            score: Score::new(0.5).unwrap(),
            given: Score::new(0.5).unwrap(),
            attempts: 1,
        };
        let encoded = |given| {
            let mut bytes = Vec::new();
            PageState { given, ..state }.encode(&mut bytes);
            bytes
        };
        assert_documented("hash2idx", &encoded(state.score));
        assert_documented("hash2idx with a scorer", &encoded(Score::new(2.0).unwrap()));
        assert_documented("hash2idx with a scorer, nothing given", &encoded(Score::ZERO));
    }

    proptest! {
        #[test]
        fn states_come_back(
            index in 0..PageIndex::LIMIT, status in 0u8..4, depth: u32, score: f32, given: Option<f32>,
            attempts: u32, until: u64
        ) {
            let Ok(score) = Score::new(f64::from(score)) else { return Ok(()) };
            let Ok(given) = Score::new(given.map_or(0.0, f64::from)) else { return Ok(()) };
            let status = match status {
                0 => Status::Scheduled,
                1 => Status::Leased { until: Time(until) },
                2 => Status::Crawled,
                _ => Status::TooDeep,
            };
            let state = PageState { index: PageIndex(index), status, depth, score, given, attempts };
            let mut bytes = Vec::new();
            state.encode(&mut bytes);
            prop_assert_eq!(PageState::decode(&bytes), Ok(state));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
            prop_assert_eq!(Slot::decode(&bytes) == Ok(Slot::Mark), bytes.is_empty());
            if let Ok(state) = PageState::decode(&bytes) {
                let mut again = Vec::new();
                state.encode(&mut again);
                prop_assert_eq!(PageState::decode(&again), Ok(state));
            }
        }
    }
}
