//! When an iteration stops.
//!
//! **Precision.** The original stops when no score changes by more than 1e-4. Scores sum to 1, so on three
//! million pages, where the mean score is 3e-7, that rule fires after four loops, whatever the graph. Here a
//! page's change is measured in units of the mean score, 1 / pages: [`DEFAULT_PRECISION`] = 0.001 says that
//! no page has moved by more than a thousandth of what an average page has. A page without any in-link has
//! between 0.15 and 1 of the mean by PageRank, so the changes left are small against the differences that
//! order a schedule, at any number of pages. A further digit costs a few loops more (the contraction of a
//! loop is at most the damping, and mostly far better).
//!
//! **Rounding.** 64-bit floats do not get closer than some last bits, and then may change back and forth for
//! ever; so an iteration also ends when all changes together are below [`ROUNDING`] and have not become
//! smaller for [`PATIENCE`] loops.

use crate::score::ScoreError;

/// A thousandth of the mean score.
pub const DEFAULT_PRECISION: f64 = 1e-3;
/// Loops are counted as an emergency brake: from a cold start PageRank with damping 0.85 takes 20 to 40 to the
/// default precision.
pub const DEFAULT_MAX_LOOPS: u32 = 200;

/// Sum of the changes, of scores that sum to 1, that rounding can cause.
const ROUNDING: f64 = 1e-12;
const PATIENCE: u32 = 8;

/// How changes are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Norm {
    /// The largest change of a page, in units of the mean score.
    #[default]
    Largest,
    /// The sum of all changes; for PageRank the bound of the error instead.
    Total,
}

/// The stopping rule of a scorer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Stop when the change of a loop is not above this.
    pub precision: f64,
    pub norm: Norm,
    /// Stop after so many loops in any case; 0 for no limit.
    pub max_loops: u32,
}

impl Default for Stop {
    fn default() -> Self {
        Stop { precision: DEFAULT_PRECISION, norm: Norm::Largest, max_loops: DEFAULT_MAX_LOOPS }
    }
}

/// Which rule ended a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The change is within the precision.
    Precision,
    /// 64-bit floats get no closer.
    Rounding,
    /// The limit of loops; the scores are as good as they could get until there.
    MaxLoops,
}

impl Stopped {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stopped::Precision => "precision",
            Stopped::Rounding => "rounding",
            Stopped::MaxLoops => "max_loops",
        }
    }
}

impl Stop {
    /// # Errors
    /// [`ScoreError::Setting`] for a precision that is no number.
    pub(super) fn check(&self) -> Result<(), ScoreError> {
        if self.precision.is_finite() && self.precision >= 0.0 {
            return Ok(());
        }
        let remedy = "give a finite number, 0 or more";
        Err(ScoreError::Setting { field: "precision", value: self.precision, remedy })
    }
}

/// Counts the loops of a round.
pub(super) struct Loops {
    stop: Stop,
    pub done: u32,
    least: f64,
    since_least: u32,
}

impl Loops {
    pub fn new(stop: Stop) -> Self {
        Loops { stop, done: 0, least: f64::INFINITY, since_least: 0 }
    }

    /// One more loop is done. `total` is the sum of its changes, `measured` the change in the rule's norm, if
    /// it is known.
    pub fn after(&mut self, total: f64, measured: Option<f64>) -> Option<Stopped> {
        self.done += 1;
        if total < self.least {
            (self.least, self.since_least) = (total, 0);
        } else {
            self.since_least += 1;
        }
        if measured.is_some_and(|change| change <= self.stop.precision) {
            Some(Stopped::Precision)
        } else if total <= ROUNDING && ((total == 0.0 && self.done > 1) || self.since_least >= PATIENCE) {
            Some(Stopped::Rounding)
        } else if self.stop.max_loops > 0 && self.done >= self.stop.max_loops {
            Some(Stopped::MaxLoops)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loop after which changes like these end an iteration, and the rule.
    fn end(stop: Stop, total: impl Fn(u32) -> f64) -> (u32, Stopped) {
        let mut loops = Loops::new(stop);
        (0..1_000)
            .find_map(|n| loops.after(total(n), Some(total(n))).map(|stopped| (loops.done, stopped)))
            .unwrap()
    }

    #[test]
    fn each_rule_fires_when_it_should() {
        let stop = Stop { precision: 1e-3, norm: Norm::Total, max_loops: 50 };
        let halving = |n: u32| 0.5f64.powi(n as i32);
        assert_eq!(end(stop, halving), (11, Stopped::Precision));
        assert_eq!(end(Stop { max_loops: 5, ..stop }, halving), (5, Stopped::MaxLoops));
        let exact = Stop { precision: 0.0, max_loops: 0, ..stop };
        // Down to the last bits, then back and forth.
        let flicker = |n: u32| halving(n.min(50)) * if n.is_multiple_of(2) { 1.0 } else { 1.1 };
        assert_eq!(end(exact, flicker), (51 + PATIENCE, Stopped::Rounding));
        assert_eq!(end(exact, |n| if n < 3 { 1.0 } else { 0.0 }), (4, Stopped::Precision));
        // A change that is large and does not fall is no rounding.
        assert_eq!(end(Stop { precision: 0.0, ..stop }, |_| 1e-6), (50, Stopped::MaxLoops));
    }

    #[test]
    fn a_change_that_was_not_measured_is_no_precision() {
        let mut loops = Loops::new(Stop::default());
        assert_eq!(loops.after(1e-4, None), None);
        assert_eq!(loops.after(0.0, None), Some(Stopped::Rounding));
        // A first loop that changes no crawled page may still have to give the others their scores.
        assert_eq!(Loops::new(Stop::default()).after(0.0, None), None);
    }
}
