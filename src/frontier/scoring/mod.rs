//! Scoring rounds in the background: read the links, iterate, and give the scores to the writer, who brings them to
//! the tables and the schedule (`mover`).
//!
//! A round that fails or is cancelled changes nothing: the scores of the round before stay. What a round leaves on
//! disk is its vector (`scores/`): the next round starts from it, and `aduana check` compares the tables with it. It
//! is written before the tables hear of the round. A vector that is missing or damaged costs a round, no more.

mod control;
mod files;
mod options;
mod round;
mod sites;

pub use control::{Phase, RescoreError, RoundSummary, ScoringStats};
pub use options::{MakeScorer, ScoringOptions};

pub(super) use control::Control;
pub(super) use files::stored;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::{Frontier, FrontierError, Inner};
use crate::pagedb::{NO_SCORER, PageDb, PageDbError, Scoring};
use crate::types::Estimate;
use control::Pace;
use round::Runner;

/// After a round that failed, rounds that start by themselves keep off for as long.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

impl Frontier {
    /// Runs a scoring round over everything acknowledged so far, and resolves when it has reached the schedule.
    ///
    /// # Errors
    /// [`RescoreError`]; the scores of the round before stay then.
    pub async fn rescore(&self) -> Result<RoundSummary, RescoreError> {
        let round = self.begin_rescore()?;
        round.await.unwrap_or(Err(RescoreError::Closed))
    }

    /// Asks for a scoring round; dropping what is returned does not take that back.
    ///
    /// # Errors
    /// [`RescoreError::NoScorer`].
    pub fn begin_rescore(
        &self,
    ) -> Result<oneshot::Receiver<Result<RoundSummary, RescoreError>>, RescoreError> {
        if self.inner.options.scoring.is_none() {
            return Err(RescoreError::NoScorer);
        }
        let (answer, round) = oneshot::channel();
        self.inner.scoring.ask(answer);
        Ok(round)
    }

    /// Whether enough pages were crawled since the last round began for another: for those who run rounds
    /// themselves ([`ScoringOptions::automatic`]).
    ///
    /// # Errors
    /// What LMDB says.
    pub fn round_is_due(&self) -> Result<bool, FrontierError> {
        let Some(options) = &self.inner.options.scoring else { return Ok(false) };
        let snapshot = self.inner.db.snapshot()?;
        Ok(options.has_grown(snapshot.counters()?.crawled, snapshot.scoring()?.last.crawled))
    }

    /// What the scorer is doing; `None` without one.
    pub fn scoring_stats(&self) -> Option<ScoringStats> {
        self.inner.options.scoring.as_ref()?;
        Some(self.inner.scoring.stats(&self.inner.scorer))
    }
}

/// Makes the scorer that the options name the one of the tables, and returns its name.
pub(super) fn install(db: &PageDb, options: Option<&ScoringOptions>) -> Result<String, PageDbError> {
    let scorer = options.map(|options| (options.scorer)());
    let name = scorer.as_ref().map_or(NO_SCORER, |scorer| scorer.name()).to_owned();
    let numbers = scorer.map(|scorer| scorer.estimate());
    let (share, hub) = numbers.map_or((0.0, 0.0), |numbers| (numbers.share, numbers.hub));
    db.set_scorer(&name, Estimate::before_rounds(share, hub))?;
    Ok(name)
}

/// The scorer's thread.
pub(super) fn run(inner: &Arc<Inner>, options: ScoringOptions, stored: &Scoring) {
    lower_priority();
    let now = Instant::now();
    let mut pace = Pace {
        must: stored.last.estimate.pages == 0 || stored.moving.is_some(),
        crawled: stored.last.crawled,
        applied: 0,
        began: now,
        rest_until: now,
        options,
    };
    let runner = Runner::new(inner, pace.options.clone());
    let due = |pace: &Pace| {
        let crawled = inner.counters.lock().crawled;
        pace.due(crawled, inner.applied.load(Ordering::Acquire), Instant::now())
    };
    while let Some(asked) = inner.scoring.wait(|| due(&pace)) {
        let began = Instant::now();
        pace.applied = inner.applied.load(Ordering::Acquire);
        let result = runner.round();
        match &result {
            Ok(summary) => {
                (pace.must, pace.crawled) = (false, summary.crawled);
                pace.rest_until = Instant::now() + pace.rest(began.elapsed());
                tracing::info!(
                    round = summary.round,
                    crawled = summary.crawled,
                    iterations = summary.iterations,
                    stopped_by = summary.stopped_by,
                    entries_moved = summary.entries_moved,
                    seconds = format!("{:.3}", summary.seconds),
                    "scored the pages"
                );
            }
            Err(RescoreError::Closed) => {}
            Err(error) => {
                tracing::error!("{error}");
                pace.rest_until = Instant::now() + AFTER_FAILURE;
            }
        }
        pace.began = began;
        inner.scoring.ended(&result);
        for answer in asked {
            // Whoever asked may have gone.
            answer.send(result.clone()).ok();
        }
    }
}

/// Requests and edits come first. Threads that this one starts inherit it.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 10) {
        tracing::debug!(%error, "scoring runs at the priority of everything else");
    }
}
