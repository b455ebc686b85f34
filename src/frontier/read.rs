//! Reading the tables at large, beside the work of the frontier.

use super::{Frontier, FrontierError};
use crate::pagedb::{LinkStream, Page, PageStream, Progress, Report, StateStream};
use crate::types::{DomainUnit, PageUrl};

impl Frontier {
    /// Every crawled page with its links; with `only_other_domains` just those that lead to another domain.
    pub fn links(&self, only_other_domains: bool) -> LinkStream<'_> {
        self.inner.db.links(only_other_domains)
    }

    /// Everything known of every page.
    pub fn pages(&self) -> PageStream<'_> {
        self.inner.db.pages()
    }

    /// What is known of the page with this URL; `None` if there is none.
    ///
    /// # Errors
    /// What LMDB says.
    pub fn page(&self, url: &PageUrl) -> Result<Option<Page>, FrontierError> {
        Ok(self.inner.db.snapshot()?.page(url)?)
    }

    /// The unit of the domains.
    pub fn domain_unit(&self) -> DomainUnit {
        self.inner.db.domain_unit()
    }

    /// Key and state of every page.
    pub fn states(&self) -> StateStream<'_> {
        self.inner.db.states()
    }

    /// Checks all invariants of the tables as of the last batch. The map cannot grow meanwhile.
    ///
    /// # Errors
    /// What LMDB says. Violations are no errors: they stand in the report.
    pub fn check(&self, progress: Progress<'_>) -> Result<Report, FrontierError> {
        Ok(self.inner.db.check(progress)?)
    }
}
