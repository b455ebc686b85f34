//! What the rounds of a scorer are run with.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::score::Scorer;

/// Makes the scorer when a frontier is opened.
pub type MakeScorer = Arc<dyn Fn() -> Box<dyn Scorer> + Send + Sync>;

/// What orders the schedule, and when and at what cost it is computed; the settings file explains each value.
#[derive(Clone)]
pub struct ScoringOptions {
    pub scorer: MakeScorer,
    /// Let the scores that spiders give pages weigh in.
    pub use_scores: bool,
    /// Only links that lead from one domain to another count.
    pub only_other_domains: bool,
    /// How much a waiting page gains from what the pages of its domain have turned out to be worth; 0 for nothing.
    pub site_share: f64,
    /// A round starts by itself when so many pages were crawled since the last one began, ...
    pub new_pages: u64,
    /// ... and this share of those crawled by then.
    pub growth: f64,
    /// Also after this time, if anything has changed.
    pub interval: Option<Duration>,
    /// The share of the time that rounds which start by themselves may take.
    pub cpu_share: f64,
    /// Bytes for sorting links, and for holding them while they fit.
    pub memory: usize,
    /// Threads of a round; 0 for all cores.
    pub threads: usize,
    /// `false`: rounds start only on request.
    pub automatic: bool,
}

impl ScoringOptions {
    /// The defaults.
    pub fn new(scorer: MakeScorer) -> ScoringOptions {
        ScoringOptions {
            scorer,
            use_scores: false,
            only_other_domains: false,
            site_share: 0.2,
            new_pages: 100,
            growth: 0.05,
            interval: None,
            cpu_share: 0.25,
            memory: 256 << 20,
            threads: 0,
            automatic: true,
        }
    }

    /// Whether a round is due by growth: `crawled` pages now, `at_last` when the last round began.
    pub fn has_grown(&self, crawled: u64, at_last: u64) -> bool {
        let new = crawled.saturating_sub(at_last);
        new > 0 && new >= self.new_pages && new as f64 >= self.growth * at_last as f64
    }
}

impl fmt::Debug for ScoringOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScoringOptions { use_scores, site_share, new_pages, growth, interval, .. } = self;
        f.debug_struct("ScoringOptions")
            .field("use_scores", use_scores)
            .field("site_share", site_share)
            .field("new_pages", new_pages)
            .field("growth", growth)
            .field("interval", interval)
            .finish_non_exhaustive()
    }
}
