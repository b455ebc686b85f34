//! With a scorer, what a crawled page's links are worth to the pages they lead to, until the next round.

use std::ops::Range;

use heed::RwTxn;

use super::domains::Domains;
use super::identity::{Cell, Cells};
use crate::pagedb::env::{PageDbError, Tables};
use crate::pagedb::scoring::{Scoring, finite, seed_score};
use crate::types::PageKey;

/// Passes scores on along links, as [`Estimate`](crate::types::Estimate) says.
pub(super) struct Estimates<'b, 't> {
    pub txn: &'b RwTxn<'t>,
    pub tables: &'b Tables,
    pub scoring: &'b Scoring,
    /// The pages behind a crawled page's links, each once.
    targets: Vec<u32>,
}

/// A page's first crawl passes its score on; a later one only to pages that it finds.
pub(super) struct Parent {
    pub cell: u32,
    pub first_crawl: bool,
    /// Nobody had mentioned it before.
    pub is_new: bool,
}

impl<'b, 't> Estimates<'b, 't> {
    pub(super) fn new(txn: &'b RwTxn<'t>, tables: &'b Tables, scoring: &'b Scoring) -> Self {
        Estimates { txn, tables, scoring, targets: Vec::new() }
    }

    /// A page was crawled; `found` are the pages that its links made known.
    pub(super) fn pass_on(
        &mut self,
        parent: &Parent,
        links: Range<u32>,
        found: &[u32],
        cells: &mut Cells,
        domains: &mut Domains,
    ) -> Result<(), PageDbError> {
        let of_parent = &cells.list[parent.cell as usize];
        let numbers = *self.scoring.estimate_at(of_parent.key);
        if parent.is_new {
            self.place_crawled(&mut cells.list[parent.cell as usize]);
        }
        for &number in found {
            self.place_found(&mut cells.list[number as usize], domains)?;
        }
        self.targets.clear();
        self.targets.extend(links.map(|mention| cells.of_url[mention as usize]));
        self.targets.sort_unstable();
        self.targets.dedup();

        let own = self.own(&cells.list[parent.cell as usize], parent.first_crawl, domains)?;
        let mut gift = numbers.share * own / self.targets.len().max(1) as f64;
        if numbers.hub > 0.0 {
            let mut hub = 0.0;
            for &target in &self.targets {
                let cell = &cells.list[target as usize];
                hub += self.own(cell, cell.new.is_uncrawled(), domains)?;
            }
            gift += numbers.hub * hub;
        }
        // A round on its way into the tables has changed the scale of some keys and not yet of others.
        let gift = gift / numbers.base;
        for &target in &self.targets {
            let cell = &mut cells.list[target as usize];
            let estimate = self.scoring.estimate_at(cell.key);
            let is_estimated = cell.new.is_uncrawled() && cell.new.index.0 >= estimate.pages;
            let concerned = parent.first_crawl || found.binary_search(&target).is_ok();
            if is_estimated && concerned && cell.new.depth > 0 {
                cell.new.score = finite(f64::from(cell.new.score.get()) + gift * estimate.base);
            }
        }
        Ok(())
    }

    /// A page whose crawl made it known.
    pub(super) fn place_crawled(&self, cell: &mut Cell) {
        cell.new.score = finite(self.scoring.estimate_at(cell.key).base);
    }

    /// A page that a link made known.
    pub(super) fn place_found(&self, cell: &mut Cell, domains: &mut Domains) -> Result<(), PageDbError> {
        let share = self.share(cell.key, domains)?;
        cell.new.score = finite(self.scoring.estimate_at(cell.key).base + share);
        Ok(())
    }

    /// The seeds among some pages stand first.
    pub(super) fn place_seed(&self, cell: &mut Cell) {
        if cell.new.is_uncrawled() && cell.new.depth == 0 {
            cell.new.score = seed_score(cell.new.given);
        }
    }

    /// A page's own score: without what its domain adds while it waits, and without a seed's place.
    fn own(&self, cell: &Cell, waited: bool, domains: &mut Domains) -> Result<f64, PageDbError> {
        let base = self.scoring.estimate_at(cell.key).base;
        let score = f64::from(cell.new.score.get());
        if cell.new.depth == 0 && score >= 1.0 {
            return Ok(base);
        }
        let share = if waited { self.share(cell.key, domains)? } else { 0.0 };
        Ok((score - share).max(base))
    }

    fn share(&self, key: PageKey, domains: &mut Domains) -> Result<f64, PageDbError> {
        let domain = domains.get(self.txn, self.tables, key.domain())?;
        Ok(domain.map_or(0.0, |domain| f64::from(domain.record.share.get())))
    }
}
