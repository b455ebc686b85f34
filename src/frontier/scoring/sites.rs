//! The shares of domains in a round, from the tables.

use std::collections::HashMap;

use crate::graph::LinkGraph;
use crate::pagedb::{PageDb, PageDbError};
use crate::score::SiteShares;
use crate::types::{DomainKey, PageIndex};

/// What the pages of each domain that are not crawled yet are worth beside their own scores.
pub(super) struct Shares {
    of_known: HashMap<DomainKey, f64, foldhash::fast::RandomState>,
    /// Of domains that the round did not know.
    pub of_unknown: f64,
}

impl Shares {
    /// `weight` is the setting `site_share`, `base` the score of a page that nobody links to.
    pub fn new(db: &PageDb, graph: &LinkGraph, base: f64, weight: f64) -> Result<Shares, PageDbError> {
        let known = db.snapshot()?.counters()?.pages.min(graph.pages());
        let shares = SiteShares::new(weight, base, known, graph.crawled());
        let mut of_known = HashMap::default();
        if weight == 0.0 {
            return Ok(Shares { of_known, of_unknown: 0.0 });
        }
        // Pages come domain by domain; only those of the graph count.
        let mut counting: Option<(DomainKey, u64, u64)> = None;
        for row in db.states() {
            let (key, state) = row?;
            if state.index.0 >= graph.pages() {
                continue;
            }
            let crawled = u64::from(graph.is_crawled(PageIndex(state.index.0)));
            match &mut counting {
                Some((domain, known, of_domain)) if *domain == key.domain() => {
                    *known += 1;
                    *of_domain += crawled;
                }
                _ => {
                    if let Some((domain, known, crawled)) = counting.replace((key.domain(), 1, crawled)) {
                        of_known.insert(domain, shares.of(known, crawled));
                    }
                }
            }
        }
        if let Some((domain, known, crawled)) = counting {
            of_known.insert(domain, shares.of(known, crawled));
        }
        Ok(Shares { of_known, of_unknown: shares.of_unknown() })
    }

    pub fn of(&self, domain: DomainKey) -> f64 {
        self.of_known.get(&domain).copied().unwrap_or(self.of_unknown)
    }
}
