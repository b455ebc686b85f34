//! One scoring round, from the links to the schedule.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::files::{self, StoredScores};
use super::sites::Shares;
use super::{Phase, RescoreError, RoundSummary, ScoringOptions};
use crate::frontier::{Inner, layout};
use crate::graph::{GraphError, GraphOptions, LinkGraph, Watch, weights};
use crate::pagedb::{PageDbError, Round, RoundScores};
use crate::score::{Run, ScoreError};
use crate::types::{DomainKey, Estimate, PageIndex};

/// Stands for a base of 0.
const LEAST_BASE: f64 = 1e-12;

/// Runs the rounds of a frontier, one after the other.
pub(super) struct Runner<'f> {
    inner: &'f Arc<Inner>,
    options: ScoringOptions,
    dir: PathBuf,
}

/// The scores of a round as the tables take them.
struct Scores {
    stored: StoredScores,
    shares: Shares,
}

impl RoundScores for Scores {
    fn of_page(&self, index: PageIndex) -> Option<f64> {
        self.stored.of_page(index)
    }

    fn of_domain(&self, key: DomainKey) -> f64 {
        self.shares.of(key)
    }
}

/// Why a round ended early.
#[derive(Debug, thiserror::Error)]
enum RoundError {
    #[error("cancelled")]
    Cancelled,
    #[error(transparent)]
    PageDb(#[from] PageDbError),
    #[error(transparent)]
    Graph(GraphError),
    #[error(transparent)]
    Score(ScoreError),
    #[error("{0}")]
    Files(#[from] files::FilesError),
}

impl From<GraphError> for RoundError {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Cancelled => RoundError::Cancelled,
            other => RoundError::Graph(other),
        }
    }
}

impl From<ScoreError> for RoundError {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::Cancelled => RoundError::Cancelled,
            other => RoundError::Score(other),
        }
    }
}

impl<'f> Runner<'f> {
    pub fn new(inner: &'f Arc<Inner>, options: ScoringOptions) -> Self {
        let dir = inner.options.path.join(layout::SCORES);
        Runner { inner, options, dir }
    }

    pub fn round(&self) -> Result<RoundSummary, RescoreError> {
        self.try_round().map_err(|error| match error {
            RoundError::Cancelled => RescoreError::Closed,
            other => RescoreError::Failed(other.to_string()),
        })
    }

    fn try_round(&self) -> Result<RoundSummary, RoundError> {
        let started = Instant::now();
        let inner = self.inner;
        let db = &inner.db;
        let scoring = db.snapshot()?.scoring()?;
        let number = scoring.moving.map_or(scoring.last.number, |moving| moving.round.number) + 1;
        files::prepare(&self.dir)?;

        inner.scoring.enter(Phase::Graph);
        let watch = Watch { cancel: &inner.scoring.cancel, progress: &|_, _| () };
        let options = GraphOptions {
            memory: self.options.memory,
            dir: self.dir.clone(),
            only_other_domains: self.options.only_other_domains,
        };
        let graph = LinkGraph::build(db, &options, watch)?;
        let content = weights(db, self.options.use_scores)?;
        let graph_seconds = started.elapsed().as_secs_f64();

        inner.scoring.enter(Phase::Scores);
        let warm = files::warm_start(&self.dir, &scoring);
        let run = Run { threads: self.options.threads, watch, warm: warm.as_deref(), clock: &*inner.clock };
        // A new one for each round: between rounds nothing of a scorer stays in memory.
        let mut scorer = (self.options.scorer)();
        let report = scorer.update(&graph, content.as_deref(), &run)?;
        drop((content, warm));
        let stored = files::write(&self.dir, &*scorer, number, graph.pages())?;
        let estimate = scorer.estimate();
        drop(scorer);
        let shares = Shares::new(db, &graph, estimate.base, self.options.site_share)?;
        let scored = started.elapsed().as_secs_f64();

        inner.scoring.enter(Phase::Schedule);
        // What is passed on is reckoned in units of the base.
        let (base, site) = (estimate.base.max(LEAST_BASE), shares.of_unknown);
        let estimate = Estimate { base, site, ..estimate };
        let round = Round { number, crawled: graph.crawled(), estimate };
        drop(graph);
        let told = inner.mover.begin(round, Arc::new(Scores { stored, shares }));
        inner.queue.nudge();
        // Cut off if the frontier closes: the next start runs a round.
        let moved = told.recv().map_err(|_| RoundError::Cancelled)?;
        files::keep_only(&self.dir, number);

        let seconds = started.elapsed().as_secs_f64();
        Ok(RoundSummary {
            round: number,
            // The graph counts indices, and those of deleted pages stay.
            pages: report.pages.min(db.snapshot()?.counters()?.pages),
            crawled: report.crawled,
            links: report.links,
            iterations: u64::from(report.loops),
            stopped_by: report.stopped.name(),
            last_change: report.change,
            error_bound: report.error_bound,
            entries_moved: moved.entries,
            seconds,
            graph_seconds,
            iteration_seconds: scored - graph_seconds,
            schedule_seconds: seconds - scored,
        })
    }
}
