//! The scores of a finished round come to the tables, part by part, in order of key: each part is a transaction of
//! the writer's between two batches. A page is in the schedule at every moment, at its old score or at its new one.

use std::ops::Bound;

use heed::RwTxn;

use super::Applied;
use super::changes::Changes;
use super::write::{Moved, write_schedule};
use crate::pagedb::domain_record::DomainRecord;
use crate::pagedb::env::{InTable, PageDb, PageDbError, Tables, corrupted};
use crate::pagedb::info::{self, Counters};
use crate::pagedb::page_state::{PageState, Slot};
use crate::pagedb::scoring::{Moving, Round, Scoring, finite, seed_score};
use crate::types::{DomainKey, PageIndex, PageKey, Score};

/// Pages of a domain too large for one part that go together all the same: a part goes through the whole list of
/// its domain in the schedule, so that many small parts would write a long list many times.
const LARGE_PART: usize = 50_000;

/// The scores of a finished round.
pub trait RoundScores: Sync {
    /// A page's own score; `None` if the round did not know the page.
    fn of_page(&self, index: PageIndex) -> Option<f64>;
    /// What the pages of a domain that are not crawled yet are worth beside it.
    fn of_domain(&self, key: DomainKey) -> f64;
}

/// What a part did.
#[derive(Debug)]
pub struct Part {
    /// What the schedule in memory must follow.
    pub applied: Applied,
    /// Pages looked at.
    pub pages: u64,
    /// Schedule entries that moved.
    pub moved: u64,
    /// It was the last.
    pub done: bool,
}

impl PageDb {
    /// Makes `scorer` the one that orders the schedule; `first` are its numbers before its first round. Returns
    /// whether another one did until now.
    ///
    /// # Errors
    /// As [`PageDb::apply`].
    pub fn set_scorer(&self, scorer: &str, first: crate::types::Estimate) -> Result<bool, PageDbError> {
        let mut txn = self.write()?;
        let stored = info::scoring(&self.tables, &txn)?;
        if stored.scorer == scorer {
            return Ok(false);
        }
        let number = stored.moving.map_or(stored.last.number, |moving| moving.round.number);
        let mut scoring = Scoring::new(scorer, number, first);
        if !scoring.is_scored() {
            // The given scores come back by the same way.
            let round = Round { number: number + 1, ..scoring.last };
            scoring.moving = Some(Moving { round, next: PageKey(0) });
        }
        self.tables.info.put(&mut txn, info::SCORING_KEY, &scoring.encode())?;
        txn.commit()?;
        Ok(true)
    }

    /// From now on the scores of `round` come to the tables, by [`PageDb::move_part`].
    ///
    /// # Errors
    /// As [`PageDb::apply`].
    pub fn begin_move(&self, round: Round) -> Result<(), PageDbError> {
        let mut txn = self.write()?;
        let mut scoring = info::scoring(&self.tables, &txn)?;
        if let Some(unfinished) = scoring.moving {
            scoring.last = unfinished.round;
        }
        scoring.moving = Some(Moving { round, next: PageKey(0) });
        self.tables.info.put(&mut txn, info::SCORING_KEY, &scoring.encode())?;
        Ok(txn.commit()?)
    }

    /// Brings the next part of the round under way to the tables: about `pages` pages, whole domains if they are
    /// not larger. `None` for `scores` brings the given scores back. Without a round under way it is done.
    ///
    /// # Errors
    /// As [`PageDb::apply`].
    pub fn move_part(&self, scores: Option<&dyn RoundScores>, pages: usize) -> Result<Part, PageDbError> {
        let tables = &self.tables;
        let mut txn = self.write()?;
        let counters = tables.info.get(&txn, info::COUNTERS_KEY)?;
        let counters = counters.ok_or_else(|| corrupted("info", info::COUNTERS_KEY))?;
        let counters = Counters::decode(counters).in_table("info", info::COUNTERS_KEY)?;
        let mut scoring = info::scoring(tables, &txn)?;
        let Some(moving) = scoring.moving else {
            let applied = Changes::new(counters).finish();
            return Ok(Part { applied, pages: 0, moved: 0, done: true });
        };
        let mut collector = Collector {
            scores,
            rescale: moving.round.estimate.base / scoring.last.estimate.base,
            old_base: scoring.last.estimate.base,
            changed: Vec::new(),
            domains: Vec::new(),
            pages: 0,
        };
        let next = collector.collect(&txn, tables, moving.next, pages)?;
        let (pages, changed) = (collector.pages, std::mem::take(&mut collector.changed));
        let domains = collector.domains;
        let mut schedule = Vec::new();
        let mut value = Vec::new();
        for Change { key, old, new } in &changed {
            value.clear();
            new.encode(&mut value);
            tables.hash2idx.put(&mut txn, &key.to_bytes(), &value)?;
            if old.is_scheduled() && old.score != new.score {
                schedule.push(Moved::left(*key, old));
                schedule.push(Moved::came(*key, new));
            }
        }
        for (key, record) in &domains {
            value.clear();
            record.encode(&mut value);
            tables.domains.put(&mut txn, &key.0.to_be_bytes(), &value)?;
        }
        schedule.sort_unstable();
        let schedule = write_schedule(&mut txn, self.way(false), tables, &schedule)?;
        match next {
            Some(next) => scoring.moving = Some(Moving { next, ..moving }),
            None => (scoring.last, scoring.moving) = (moving.round, None),
        }
        tables.info.put(&mut txn, info::SCORING_KEY, &scoring.encode())?;
        txn.commit()?;
        let moved = schedule.len() as u64 / 2;
        let applied = Applied { schedule, ..Changes::new(counters).finish() };
        Ok(Part { applied, pages, moved, done: next.is_none() })
    }
}

struct Change {
    key: PageKey,
    old: PageState,
    new: PageState,
}

/// What a part will change.
struct Collector<'s> {
    scores: Option<&'s dyn RoundScores>,
    /// What the scores of pages that the round did not know are to be multiplied by.
    rescale: f64,
    old_base: f64,
    changed: Vec<Change>,
    /// Those whose share changes.
    domains: Vec<(DomainKey, DomainRecord)>,
    pages: u64,
}

impl Collector<'_> {
    /// Goes over the pages from `first` on; returns where the next part begins.
    fn collect(
        &mut self,
        txn: &RwTxn<'_>,
        tables: &Tables,
        first: PageKey,
        pages: usize,
    ) -> Result<Option<PageKey>, PageDbError> {
        let mut domain: Option<(DomainKey, f64, f64)> = None;
        let mut limit = pages as u64;
        let start = first.to_bytes();
        for row in tables.hash2idx.range(txn, &(Bound::Included(&start[..]), Bound::Unbounded))? {
            let (row, bytes) = row?;
            let key = PageKey::from_bytes(row.try_into().map_err(|_| corrupted("hash2idx", row))?);
            if domain.is_none_or(|(of_last, ..)| of_last != key.domain()) {
                let row = key.domain().0.to_be_bytes();
                let bytes = tables.domains.get(txn, &row)?.ok_or_else(|| corrupted("domains", &row))?;
                let record = DomainRecord::decode(bytes).in_table("domains", &row)?;
                if self.pages > 0 && self.pages + record.counters.pages > pages as u64 {
                    return Ok(Some(key));
                }
                if record.counters.pages > limit {
                    limit = limit.max(LARGE_PART as u64);
                }
                domain = Some(self.enter(key.domain(), record));
            }
            if self.pages >= limit {
                return Ok(Some(key));
            }
            let Some((_, old_share, share)) = domain else { continue };
            let Slot::Page(old) = Slot::decode(bytes).in_table("hash2idx", row)? else { continue };
            self.pages += 1;
            let new = PageState { score: self.score(&old, old_share, share), ..old };
            if new != old {
                self.changed.push(Change { key, old, new });
            }
        }
        Ok(None)
    }

    /// Returns a domain's old share and its new one.
    fn enter(&mut self, key: DomainKey, record: DomainRecord) -> (DomainKey, f64, f64) {
        let share = finite(self.scores.map_or(0.0, |scores| scores.of_domain(key)));
        let old_share = record.share;
        if share != old_share {
            self.domains.push((key, DomainRecord { share, ..record }));
        }
        (key, f64::from(old_share.get()), f64::from(share.get()))
    }

    fn score(&self, page: &PageState, old_share: f64, share: f64) -> Score {
        let Some(scores) = self.scores else { return page.given };
        if page.is_uncrawled() && page.depth == 0 {
            return seed_score(page.given);
        }
        let own = scores.of_page(page.index).unwrap_or_else(|| {
            // Found while the round was computed: what it has was estimated on the old scale.
            let score = f64::from(page.score.get());
            let own = if page.depth == 0 && score >= 1.0 { 0.0 } else { score - old_share };
            own.max(self.old_base) * self.rescale
        });
        finite(if page.is_uncrawled() { own + share } else { own })
    }
}

#[cfg(test)]
mod tests;
