//! Reading the tables at large, beside the work of the frontier.

use super::scoring::stored;
use super::{Frontier, FrontierError, layout};
use crate::pagedb::{LinkStream, PageStream, Progress, Report, RoundScores, StateStream};

impl Frontier {
    /// Every crawled page with its links; with `only_other_domains` just those that lead to another domain.
    pub fn links(&self, only_other_domains: bool) -> LinkStream<'_> {
        self.inner.db.links(only_other_domains)
    }

    /// Everything known of every page.
    pub fn pages(&self) -> PageStream<'_> {
        self.inner.db.pages()
    }

    /// Key and state of every page.
    pub fn states(&self) -> StateStream<'_> {
        self.inner.db.states()
    }

    /// Checks all invariants of the tables as of the last batch, and that the pages stand at the scores of the last
    /// round, if its vector is there. The map cannot grow meanwhile.
    ///
    /// # Errors
    /// What LMDB says. Violations are no errors: they stand in the report.
    pub fn check(&self, progress: Progress<'_>) -> Result<Report, FrontierError> {
        let snapshot = self.inner.db.snapshot()?;
        let scores = stored(&self.inner.options.path.join(layout::SCORES), &snapshot.scoring()?);
        Ok(snapshot.check(progress, scores.as_ref().map(|scores| scores as &dyn RoundScores))?)
    }
}
