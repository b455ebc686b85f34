//! One scoring round, from the links to the schedule.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::files::{self, StoredScores};
use super::{Phase, RescoreError, RoundSummary, ScoringOptions};
use crate::frontier::{Inner, layout};
use crate::graph::{GraphError, GraphOptions, LinkGraph, Watch};
use crate::pagedb::{PageDb, PageDbError, Round, RoundScores};
use crate::score::{RoundReport, Run, ScoreError, Scorer, sites};
use crate::types::{DomainKey, PageIndex};

/// Runs the rounds of a frontier, one after the other.
pub(super) struct Runner<'f> {
    inner: &'f Arc<Inner>,
    scorer: Box<dyn Scorer>,
    options: ScoringOptions,
    dir: PathBuf,
}

/// The scores of a round as the tables take them.
struct Scores {
    stored: StoredScores,
    shares: HashMap<DomainKey, f64, foldhash::fast::RandomState>,
}

impl RoundScores for Scores {
    fn of_page(&self, index: PageIndex) -> Option<f64> {
        self.stored.of_page(index)
    }

    fn of_domain(&self, key: DomainKey) -> f64 {
        self.shares.get(&key).copied().unwrap_or(0.0)
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
    pub fn new(inner: &'f Arc<Inner>, scorer: Box<dyn Scorer>, options: ScoringOptions) -> Self {
        let dir = inner.options.path.join(layout::SCORES);
        Runner { inner, scorer, options, dir }
    }

    pub fn round(&mut self) -> Result<RoundSummary, RescoreError> {
        self.try_round().map_err(|error| match error {
            RoundError::Cancelled => RescoreError::Closed,
            other => RescoreError::Failed(other.to_string()),
        })
    }

    fn try_round(&mut self) -> Result<RoundSummary, RoundError> {
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
        let content = self.options.use_scores.then(|| content_scores(db, graph.pages())).transpose()?;
        let graph_seconds = started.elapsed().as_secs_f64();

        inner.scoring.enter(Phase::Scores);
        let warm = files::warm_start(&self.dir, &scoring);
        let run = Run { threads: self.options.threads(), watch, warm: warm.as_ref() };
        let report = self.scorer.update(&graph, content.as_deref(), &run)?;
        let shares = self.shares(&graph)?;
        let stored = files::write(&self.dir, self.scorer.as_ref(), number, graph.pages())?;
        let scored = started.elapsed().as_secs_f64();

        inner.scoring.enter(Phase::Schedule);
        let round = Round { number, crawled: graph.crawled(), estimate: self.scorer.estimate() };
        let (pages, crawled, links) = (graph.pages(), graph.crawled(), graph.links());
        drop((graph, content, warm));
        let told = inner.mover.begin(round, Arc::new(Scores { stored, shares }));
        inner.queue.nudge();
        // Cut off if the frontier closes: the next start runs a round.
        let moved = told.recv().map_err(|_| RoundError::Cancelled)?;
        files::keep_only(&self.dir, self.scorer.name(), number);

        let RoundReport { iterations, stopped_by, last_change, .. } = report;
        let seconds = started.elapsed().as_secs_f64();
        Ok(RoundSummary {
            round: number,
            pages,
            crawled,
            links,
            iterations,
            stopped_by: stopped_by.name(),
            last_change,
            entries_moved: moved.entries,
            seconds,
            graph_seconds,
            iteration_seconds: scored - graph_seconds,
            schedule_seconds: seconds - scored,
        })
    }
}
