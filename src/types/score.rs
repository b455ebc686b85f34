//! Scores: finite 32-bit floats with a total order.

use std::cmp::Ordering;
use std::fmt;

/// How much a page is worth: any finite number, greater is better. Without a scorer it is what the
/// spider said of the page or of the link to it; 0 where nobody said anything.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score(f32);

/// The number was NaN, infinite, or beyond the range of a 32-bit float.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{0} is not a score: give a finite number between -3.4e38 and 3.4e38")]
pub struct NotFinite(pub f64);

impl Score {
    pub const ZERO: Score = Score(0.0);

    /// # Errors
    /// [`NotFinite`] if the number is no finite 32-bit float.
    pub fn new(value: f64) -> Result<Score, NotFinite> {
        let narrow = value as f32;
        // Adding zero turns -0.0 into 0.0: both zeros are one score.
        if narrow.is_finite() { Ok(Score(narrow + 0.0)) } else { Err(NotFinite(value)) }
    }

    pub fn get(self) -> f32 {
        self.0
    }

    /// Four bytes whose lexical order is the order of scores from best to worst.
    pub fn to_descending_bytes(self) -> [u8; 4] {
        let bits = self.0.to_bits();
        let ascending = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        (!ascending).to_be_bytes()
    }

    /// The inverse of [`Score::to_descending_bytes`]; `None` for bytes of no score.
    pub fn from_descending_bytes(bytes: [u8; 4]) -> Option<Score> {
        let ascending = !u32::from_be_bytes(bytes);
        let bits = if ascending >> 31 == 1 { ascending & !(1 << 31) } else { !ascending };
        let value = f32::from_bits(bits);
        (value.is_finite() && bits != 1 << 31).then_some(Score(value))
    }
}

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::codec::example::assert_documented;
    use proptest::prelude::*;

    #[test]
    fn nan_and_infinity_are_refused_and_zeros_are_one() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e39, -1e300] {
            assert!(Score::new(bad).is_err(), "{bad}");
        }
        let (plus, minus) = (Score::new(0.0).unwrap(), Score::new(-0.0).unwrap());
        assert_eq!(plus.to_descending_bytes(), minus.to_descending_bytes());
        assert_eq!(plus.cmp(&minus), Ordering::Equal);
    }

    #[test]
    fn the_document_has_the_bytes() {
        for value in [2.0, 1.0, 0.25, 0.0, -1.0] {
            let score = Score::new(value).unwrap();
            assert_documented(&format!("descending score {value}"), &score.to_descending_bytes());
        }
    }

    proptest! {
        #[test]
        fn byte_order_is_score_order_from_best_to_worst(a in any::<f32>(), b in any::<f32>()) {
            let (Ok(a), Ok(b)) = (Score::new(a.into()), Score::new(b.into())) else { return Ok(()) };
            prop_assert_eq!(a.to_descending_bytes().cmp(&b.to_descending_bytes()), b.cmp(&a));
            prop_assert_eq!(Score::from_descending_bytes(a.to_descending_bytes()), Some(a));
        }

        #[test]
        fn arbitrary_bytes_are_a_score_or_refused(bytes in any::<[u8; 4]>()) {
            if let Some(score) = Score::from_descending_bytes(bytes) {
                prop_assert_eq!(score.to_descending_bytes(), bytes);
            }
        }
    }
}
