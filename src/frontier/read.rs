//! Reading the tables at large, beside the work of the frontier.

use super::scoring::stored;
use super::{Frontier, FrontierError, layout};
use crate::pagedb::{
    AnchorStream, ContentStream, LinkStream, Page, PageStream, Progress, Report, RoundScores, Scope,
    StateStream, UrlStream,
};
use crate::types::{ContentHash, Naming, PageIndex, PageUrl};

impl Frontier {
    /// Every crawled page with its links; with `only_other_domains` just those that lead to another domain.
    pub fn links(&self, only_other_domains: bool) -> LinkStream<'_> {
        self.inner.db.links(only_other_domains)
    }

    /// Every link that has an anchor, page by page.
    pub fn anchors(&self) -> AnchorStream<'_> {
        self.inner.db.anchors()
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

    /// The pages of `scope` in order of URL.
    pub fn pages_by_url(&self, scope: Scope) -> UrlStream<'_> {
        self.inner.db.pages_by_url(scope)
    }

    /// Every page with a content hash, in order of the hashes: duplicates stand together.
    pub fn pages_by_content(&self) -> ContentStream<'_> {
        self.inner.db.pages_by_content()
    }

    /// The pages with this content hash.
    pub fn pages_with_content(&self, hash: ContentHash) -> ContentStream<'_> {
        self.inner.db.pages_with_content(hash)
    }

    /// Whether any page has this content.
    ///
    /// # Errors
    /// What LMDB says, here and below.
    pub fn has_content(&self, hash: &ContentHash) -> Result<bool, FrontierError> {
        Ok(self.inner.db.snapshot()?.has_content(hash)?)
    }

    /// The pages that this page links to, in order of first sight; `None` if it is not known.
    pub fn links_from(&self, url: &PageUrl) -> Result<Option<Vec<PageIndex>>, FrontierError> {
        let snapshot = self.inner.db.snapshot()?;
        let Some((_, state)) = snapshot.find(url)? else { return Ok(None) };
        let mut links = snapshot.links(state.index)?.unwrap_or_default();
        links.sort_unstable();
        Ok(Some(links))
    }

    /// The pages that the pages with this content link to, in order of first sight.
    pub fn links_from_content(&self, hash: &ContentHash) -> Result<Vec<PageIndex>, FrontierError> {
        Ok(self.inner.db.snapshot()?.links_of_content(hash)?)
    }

    /// Number of pages, as of the last batch.
    pub fn num_pages(&self) -> u64 {
        self.inner.counters.lock().pages
    }

    /// Number of links, as of the last batch.
    pub fn num_links(&self) -> u64 {
        self.inner.counters.lock().links
    }

    /// How pages and domains got their names.
    pub fn naming(&self) -> Naming {
        self.inner.db.naming()
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
