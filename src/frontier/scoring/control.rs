//! When rounds start, who waits for them, and what is told of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use tokio::sync::oneshot;

use super::ScoringOptions;

/// A finished round, as it reached the schedule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundSummary {
    /// Its number, from 1.
    pub round: u64,
    /// Known pages, crawled pages and links between them.
    pub pages: u64,
    pub crawled: u64,
    pub links: u64,
    pub iterations: u64,
    /// The rule that ended the iterations: `precision`, `max_loops`, or `rounding` where 64-bit floats get no closer.
    pub stopped_by: &'static str,
    /// The largest change of a page's score in the last iteration, in units of the mean score.
    pub last_change: f64,
    /// Greatest possible sum over all pages of the distance to the exact scores; only PageRank has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_bound: Option<f64>,
    /// Schedule entries that moved.
    pub entries_moved: u64,
    /// The whole round; then its parts: reading the links, iterating, bringing the scores to the tables.
    pub seconds: f64,
    pub graph_seconds: f64,
    pub iteration_seconds: f64,
    pub schedule_seconds: f64,
}

/// Why there is no round.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RescoreError {
    #[error("scorer is \"none\": set scorer = \"pagerank\" or \"hits\" and start the server anew")]
    NoScorer,
    #[error("the server is shutting down: try again when it is back")]
    Closed,
    #[error("the scoring round failed ({0}): the scores of the round before stay")]
    Failed(String),
}

/// What the scorer is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    #[default]
    Idle,
    /// Reading the links.
    Graph,
    /// Iterating.
    Scores,
    /// Bringing the scores to the tables.
    Schedule,
}

/// Rounds, for operators.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoringStats {
    pub scorer: String,
    pub phase: Phase,
    /// Since this process started.
    pub rounds: u64,
    pub last_round: Option<RoundSummary>,
    /// Why the last try gave no round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

pub(in crate::frontier) type Answer = oneshot::Sender<Result<RoundSummary, RescoreError>>;

/// Between those who want rounds and the thread that runs them.
#[derive(Default)]
pub(in crate::frontier) struct Control {
    state: Mutex<State>,
    wake: Condvar,
    /// Ends what is being computed.
    pub cancel: AtomicBool,
}

#[derive(Default)]
struct State {
    closed: bool,
    asked: Vec<Answer>,
    phase: Phase,
    rounds: u64,
    last: Option<RoundSummary>,
    problem: Option<String>,
}

/// What decides whether a round is due; kept by the thread.
pub(super) struct Pace {
    pub options: ScoringOptions,
    /// A round is wanted as soon as there is something to score.
    pub must: bool,
    /// Crawled pages, and the applied position, when the last round began.
    pub crawled: u64,
    pub applied: u64,
    pub began: Instant,
    /// Rounds that start by themselves keep off until then.
    pub rest_until: Instant,
}

/// When the next round starts by itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    Now,
    At(Instant),
    /// When something has changed.
    Later,
}

impl Pace {
    /// `crawled` and `applied` as they are now.
    pub fn due(&self, crawled: u64, applied: u64, now: Instant) -> Due {
        if !self.options.automatic || crawled == 0 {
            return Due::Later;
        }
        let by_interval = self.options.interval.filter(|_| applied > self.applied);
        let wanted = if self.must || self.options.has_grown(crawled, self.crawled) {
            now
        } else if let Some(interval) = by_interval {
            self.began + interval
        } else {
            return Due::Later;
        };
        let at = wanted.max(self.rest_until);
        if at <= now { Due::Now } else { Due::At(at) }
    }

    /// After a round of this length, how long until the next may start by itself.
    pub fn rest(&self, busy: Duration) -> Duration {
        busy.mul_f64((1.0 / self.options.cpu_share - 1.0).max(0.0))
    }
}

impl Control {
    /// Waits until a round is due or asked for; those who asked. `None` when closed.
    pub(super) fn wait(&self, due: impl Fn() -> Due) -> Option<Vec<Answer>> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if !state.asked.is_empty() {
                return Some(std::mem::take(&mut state.asked));
            }
            match due() {
                Due::Now => return Some(Vec::new()),
                Due::At(time) => drop(self.wake.wait_until(&mut state, time)),
                Due::Later => self.wake.wait(&mut state),
            }
        }
    }

    /// Asks for a round that begins from now on.
    pub fn ask(&self, answer: Answer) {
        let mut state = self.state.lock();
        if state.closed {
            // Nobody may be listening any more.
            answer.send(Err(RescoreError::Closed)).ok();
        } else {
            state.asked.push(answer);
            self.wake.notify_one();
        }
    }

    /// Something was applied: a round may be due.
    pub fn nudge(&self) {
        let _held = self.state.lock();
        self.wake.notify_one();
    }

    /// Ends the thread, and the round that it is at.
    pub fn close(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        let mut state = self.state.lock();
        state.closed = true;
        state.asked.clear();
        self.wake.notify_one();
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.state.lock().phase = phase;
    }

    pub(super) fn ended(&self, result: &Result<RoundSummary, RescoreError>) {
        let mut state = self.state.lock();
        state.phase = Phase::Idle;
        match result {
            Ok(summary) => {
                state.rounds += 1;
                (state.last, state.problem) = (Some(summary.clone()), None);
            }
            Err(error) => state.problem = Some(error.to_string()),
        }
    }

    pub fn stats(&self, scorer: &str) -> ScoringStats {
        let state = self.state.lock();
        ScoringStats {
            scorer: scorer.to_owned(),
            phase: state.phase,
            rounds: state.rounds,
            last_round: state.last.clone(),
            problem: state.problem.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{PageRank, Stop};
    use std::sync::Arc;

    fn pace(change: impl Fn(&mut ScoringOptions)) -> (Pace, Instant) {
        let began = Instant::now();
        let mut options =
            ScoringOptions::new(Arc::new(|| Box::new(PageRank::new(0.85, Stop::default()).unwrap())));
        change(&mut options);
        (Pace { options, must: false, crawled: 10_000, applied: 20_000, began, rest_until: began }, began)
    }

    #[test]
    fn a_round_waits_for_growth_in_pages_and_in_share() {
        let (pace, now) = pace(|_| ());
        assert_eq!(pace.due(10_499, 30_000, now), Due::Later);
        assert_eq!(pace.due(10_500, 30_000, now), Due::Now);
        assert!(!pace.options.has_grown(99, 0) && pace.options.has_grown(100, 0));
    }

    #[test]
    fn the_interval_counts_only_if_something_has_changed() {
        let interval = Duration::from_secs(60);
        let (pace, began) = pace(|options| options.interval = Some(interval));
        assert_eq!(pace.due(10_000, 20_000, began + 2 * interval), Due::Later);
        assert_eq!(pace.due(10_000, 20_001, began), Due::At(began + interval));
        assert_eq!(pace.due(10_000, 20_001, began + interval), Due::Now);
    }

    #[test]
    fn rounds_keep_to_their_share_of_the_time() {
        let (mut pace, began) = pace(|options| options.cpu_share = 0.25);
        let rest = pace.rest(Duration::from_secs(2));
        assert_eq!(rest, Duration::from_secs(6));
        pace.rest_until = began + rest;
        assert_eq!(pace.due(20_000, 30_000, began), Due::At(began + rest));
        assert_eq!(pace.due(20_000, 30_000, began + rest), Due::Now);
    }

    #[test]
    fn on_request_only_means_never_by_itself() {
        let (mut pace, now) = pace(|options| options.automatic = false);
        pace.must = true;
        assert_eq!(pace.due(1 << 20, 1 << 21, now), Due::Later);
    }
}
