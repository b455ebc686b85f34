//! Scores of pages from the links between them.
//!
//! A [`Scorer`] computes its scores in *rounds*, each over a [`LinkGraph`] (`update`), and tells them
//! (`get`); pages found between two rounds get a score from its [`Estimate`]. [`PageRank`] and [`Hits`] are
//! scorers; another one needs nothing but this trait. Here nothing knows where graphs come from or what
//! becomes of the scores: a scorer never sees a PageDB.
//!
//! Vectors of scores are arrays by page index; [`vectors`] keeps them in mapped files.

mod hits;
mod pagerank;
mod parts;
mod preference;
mod sites;
mod stop;
mod team;
pub mod vectors;

use std::time::Duration;

use crate::graph::{GraphError, LinkGraph, Watch};
use crate::types::{Clock, PageIndex};

pub use crate::types::Estimate;

pub use hits::Hits;
pub use pagerank::PageRank;
pub use sites::SiteShares;
pub use stop::{DEFAULT_MAX_LOOPS, DEFAULT_PRECISION, Norm, Stop, Stopped};

/// Why a round gave no scores. Those of the round before are still there.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    #[error("cancelled")]
    Cancelled,
    #[error(transparent)]
    Graph(GraphError),
    #[error("{field} = {value}: {remedy}")]
    Setting { field: &'static str, value: f64, remedy: &'static str },
    #[error("cannot start the threads of a round: {0}")]
    Threads(String),
}

impl From<GraphError> for ScoreError {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Cancelled => ScoreError::Cancelled,
            other => ScoreError::Graph(other),
        }
    }
}

/// Gives pages a score by the links between them (seed of the interface: Aduana's manual, 3.12; its `add` is
/// [`Scorer::estimate`], which needs no call for each page).
pub trait Scorer: Send {
    /// A word for settings, logs and reports.
    fn name(&self) -> &'static str;

    /// One round: computes the scores of all pages of `graph` anew.
    ///
    /// `content` has content scores by page index, finite, 0 for pages beyond its end; `None` if they shall
    /// not count. After an error [`Scorer::get`] tells what it told before.
    ///
    /// # Errors
    /// [`ScoreError`]; [`ScoreError::Cancelled`] soon after the flag of [`Run::watch`] was set. Stopping at the
    /// limit of loops is no error.
    fn update(
        &mut self,
        graph: &LinkGraph,
        content: Option<&[f32]>,
        run: &Run<'_>,
    ) -> Result<RoundReport, ScoreError>;

    /// The score of a page after the last round, finite and not negative; `None` for pages that were not part
    /// of it.
    fn get(&self, page: PageIndex) -> Option<f64>;

    /// What a page found after the last round is worth.
    fn estimate(&self) -> Estimate;
}

/// How a round is run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Threads that compute; 0 for as many as the machine has cores. The scores do not depend on it.
    pub threads: usize,
    /// Can cancel the round; hears of loops, out of at most [`Stop::max_loops`].
    pub watch: Watch<'a>,
    /// Scores of an earlier round by page index, to start from. May be shorter than there are pages.
    pub warm: Option<&'a [f64]>,
    /// Tells how long the round took.
    pub clock: &'a dyn Clock,
}

/// What happened in a round.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RoundReport {
    pub scorer: &'static str,
    pub pages: u64,
    pub crawled: u64,
    pub links: u64,
    /// Iterations.
    pub loops: u32,
    pub stopped: Stopped,
    /// In the last loop, in the norm of the stopping rule: of any one page in units of the mean score, or of
    /// all pages together.
    pub change: f64,
    /// Greatest possible sum, over all pages, of the distance between score and exact score (rounding aside);
    /// `None` for scorers without a bound.
    pub error_bound: Option<f64>,
    /// To the millisecond.
    #[serde(serialize_with = "seconds")]
    pub duration: Duration,
}

fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}
