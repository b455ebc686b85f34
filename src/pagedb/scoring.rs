//! The row `scoring` of `info`: which scorer orders the schedule, what its last round left behind for pages found
//! since, and how far a round under way has brought its scores to the tables.

use crate::types::codec::{Malformed, Reader, put_bytes, put_f64, put_varint};
use crate::types::{DomainKey, Estimate, PageKey, Score};

/// The name that stands for "no scorer": the scores that links and seeds give order the schedule.
pub const NO_SCORER: &str = "none";

/// Which scorer orders the schedule, and where its rounds stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Scoring {
    /// The scorer's name, or [`NO_SCORER`].
    pub scorer: String,
    /// The last round whose scores all pages have.
    pub last: Round,
    /// A round whose scores are on their way into the tables.
    pub moving: Option<Moving>,
}

/// What the tables keep of a scoring round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// Its number, from 1; 0 stands for "none yet".
    pub number: u64,
    /// Crawled pages at its start.
    pub crawled: u64,
    /// For pages found since.
    pub estimate: Estimate,
}

/// A round whose scores stand with the pages before `next`, in order of key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moving {
    pub round: Round,
    pub next: PageKey,
}

impl Scoring {
    /// Before the first round of a scorer; `number` is that of the last round of any scorer.
    pub fn new(scorer: &str, number: u64, estimate: Estimate) -> Scoring {
        Scoring { scorer: scorer.to_owned(), last: Round { number, crawled: 0, estimate }, moving: None }
    }

    /// Without a scorer.
    pub fn none() -> Scoring {
        Scoring::new(NO_SCORER, 0, Estimate::before_rounds(0.0, 0.0))
    }

    /// Whether a scorer orders the schedule.
    pub fn is_scored(&self) -> bool {
        self.scorer != NO_SCORER
    }

    /// The numbers under which the scores in a page's neighbourhood of keys stand.
    pub fn estimate_at(&self, key: PageKey) -> &Estimate {
        match &self.moving {
            Some(moving) if key < moving.next => &moving.round.estimate,
            _ => &self.last.estimate,
        }
    }

    /// The share of a domain that is found now.
    pub fn share_of_new(&self, domain: DomainKey) -> Score {
        finite(self.estimate_at(PageKey::new(domain, 0)).site)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes(&mut out, self.scorer.as_bytes());
        encode_round(&self.last, &mut out);
        if let Some(moving) = &self.moving {
            encode_round(&moving.round, &mut out);
            out.extend_from_slice(&moving.next.to_bytes());
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Scoring, Malformed> {
        let mut reader = Reader::new(bytes);
        let scorer = reader.str()?.to_owned();
        let last = decode_round(&mut reader)?;
        let moving = if reader.remaining() > 0 {
            let round = decode_round(&mut reader)?;
            Some(Moving { round, next: PageKey::from_bytes(reader.array()?) })
        } else {
            None
        };
        reader.end()?;
        Ok(Scoring { scorer, last, moving })
    }
}

fn encode_round(round: &Round, out: &mut Vec<u8>) {
    put_varint(out, round.number);
    put_varint(out, round.crawled);
    put_varint(out, round.estimate.pages);
    for number in [round.estimate.base, round.estimate.share, round.estimate.hub, round.estimate.site] {
        put_f64(out, number);
    }
}

fn decode_round(reader: &mut Reader<'_>) -> Result<Round, Malformed> {
    let (number, crawled, pages) = (reader.varint()?, reader.varint()?, reader.varint()?);
    let [base, share, hub, site] = [reader.f64()?, reader.f64()?, reader.f64()?, reader.f64()?];
    let estimate = Estimate { base, share, hub, site, pages };
    if estimate.is_valid() { Ok(Round { number, crawled, estimate }) } else { Err(Malformed) }
}

/// The score of a seed that waits, under a scorer: before every page that was found, in the order that was given.
pub fn seed_score(given: Score) -> Score {
    finite(1.0 + f64::from(given.get()).max(0.0))
}

/// The score nearest to a number that is not negative.
pub fn finite(value: f64) -> Score {
    Score::new(value.min(f64::from(f32::MAX))).unwrap_or(Score::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    #[test]
    fn the_document_has_the_bytes() {
        assert_documented("scoring", &Scoring::none().encode());
        let estimate = Estimate { base: 0.125, share: 0.85, hub: 0.0, site: 0.0625, pages: 300 };
        let last = Round { number: 1, crawled: 1, estimate };
        let round = Round { number: 2, crawled: 2, estimate: Estimate { pages: 301, ..estimate } };
        let moving = Some(Moving { round, next: PageKey(0x6505_6f88_0000_0000) });
        let scoring = Scoring { scorer: "pagerank".to_owned(), last, moving };
        assert_documented("scoring, a round under way", &scoring.encode());
    }

    #[test]
    fn seeds_stand_before_every_measure_between_0_and_1_in_the_order_given() {
        let score = |given: f64| seed_score(Score::new(given).unwrap());
        assert_eq!(score(-3.0), score(0.0));
        assert!(score(0.0) >= finite(1.0) && score(0.5) > score(0.25));
        assert_eq!(score(f64::from(f32::MAX)).get(), f32::MAX);
    }

    proptest! {
        #[test]
        fn what_scoring_keeps_comes_back(
            scorer in "[a-z]{1,9}", numbers: [u64; 6], floats in proptest::array::uniform7(1e-9f64..1e9), next: Option<u64>
        ) {
            let round = |at: usize| Round {
                number: numbers[at],
                crawled: numbers[at + 1],
                estimate: Estimate {
                    base: floats[at],
                    share: floats[at + 1],
                    hub: floats[at + 2],
                    site: floats[at + 3],
                    pages: numbers[at + 2],
                },
            };
            let moving = next.map(|next| Moving { round: round(3), next: PageKey(next) });
            let scoring = Scoring { scorer, last: round(0), moving };
            prop_assert_eq!(Scoring::decode(&scoring.encode()), Ok(scoring));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..90)) {
            if let Ok(scoring) = Scoring::decode(&bytes) {
                prop_assert_eq!(scoring.encode(), bytes);
            }
        }
    }
}
