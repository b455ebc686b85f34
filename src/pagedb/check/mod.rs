//! `aduana check`: proves the invariants across all tables, on one snapshot.
//!
//! `docs/format.md` specifies the rows. What must hold between them, by [`Kind`] of violation:
//!
//! * **Rows.** Every row of every table decodes, `info` has all of its rows ([`Kind::Malformed`]).
//! * **Pages.** The indices in `urls` are less than the next one ([`Kind::Counters`]). Each row of `hash2idx`
//!   has the index of a row of `urls`, and no two rows share one ([`Kind::Index`]); each row of `urls` has the
//!   key of the row of `hash2idx` with its index ([`Kind::UrlKey`]). So keys and indices are a bijection.
//! * **URLs.** A page's site exists ([`Kind::PageSite`]) and its URL is in normal form ([`Kind::UrlForm`]). No
//!   two pages have one URL ([`Kind::UrlTwice`]). From the key that a URL hashes to up to the key that it has,
//!   every key is taken, if only by the mark of a deleted page ([`Kind::KeyChain`]): a lookup that
//!   probes finds it. Behind a mark another key is taken ([`Kind::Mark`]).
//! * **Discovery.** A page's first parent has a smaller index; a page without a parent is at depth 0 ([`Kind::Parent`]).
//! * **Domains.** Each page has a row in `domains` ([`Kind::PageDomain`]), whose counters equal the pages
//!   ([`Kind::DomainCounters`]). Names are unique ([`Kind::DomainTwice`]) and found by probing from their hash
//!   ([`Kind::DomainChain`]). The sites of a domain are numbered from 0, as many as its row says
//!   ([`Kind::SiteNumber`]); each belongs to its domain ([`Kind::SiteDomain`]) and is there once,
//!   in one form ([`Kind::SiteTwice`]).
//! * **Schedule.** Every scheduled page, and no other, has exactly one entry, with its domain and score
//!   ([`Kind::ScheduleMissing`], [`Kind::ScheduleStray`]). Scheduled pages are within `max_crawl_depth`, pages
//!   that are too deep are beyond it ([`Kind::Depth`]).
//! * **Scores.** Without a scorer a page's score is the given one. With one, if the scores of its last round are at
//!   hand, each page that the round knew has its score, plus its domain's share while it waits; seeds that wait have
//!   a seed's score ([`Kind::Score`]).
//! * **Leases.** Every leased page, and no other, has exactly one entry, with the end of its lease
//!   ([`Kind::LeaseMissing`], [`Kind::LeaseStray`]).
//! * **Crawls.** Every crawled page, and no other, has a row in `hash2info` ([`Kind::RecordMissing`],
//!   [`Kind::RecordStray`]) with at least one crawl, fewer changes than crawls, and the first crawl not after the
//!   last ([`Kind::Record`]); and a row in `links` ([`Kind::LinksMissing`], [`Kind::LinksStray`]).
//! * **Links.** Their targets exist ([`Kind::LinkTarget`]); the first group leads to other domains, the second
//!   stays inside the page's ([`Kind::LinkGroup`]). That a group is sorted and has nothing twice lies in its code.
//! * **Anchors.** Each row of `anchors` belongs to a row of `links` ([`Kind::AnchorsStray`]), and each anchor in it to
//!   one of the links ([`Kind::Malformed`]).
//! * **Content.** `content` has exactly the content hashes of `hash2info` ([`Kind::ContentMissing`],
//!   [`Kind::ContentStray`]).
//! * **Counters** in `info` equal the rows ([`Kind::Counters`]).
//! * **Edit log.** The edits after the applied position follow it without a gap ([`Kind::LogGap`]) and decode
//!   ([`Kind::LogEdit`]); whoever has the log adds these ([`Report::add`]).
//!
//! Tables are read in the order of their keys, next to each other where they share one. Memory: 13 bytes an
//! index given out, 16 or so a site, 32 a page whose key collided. The snapshot keeps LMDB from reusing pages freed
//! meanwhile, so a check of a busy server makes its file grow.

mod chains;
mod crawls;
mod domains;
mod lists;
mod merge;
mod report;
mod states;
mod urls;

use std::collections::HashMap;

pub use report::{Kind, Report, Violation};

use super::apply::RoundScores;
use super::bits::Bits;
use super::env::{InTable, PageDb, PageDbError, Snapshot, corrupted};
use super::info::{self, Counters};
use super::scoring::Scoring;
use chains::Displaced;

/// Rows between two reports of progress.
const PROGRESS_ROWS: u64 = 10_000;

/// Told how many rows are done, of how many.
pub type Progress<'p> = &'p mut dyn FnMut(u64, u64);

impl PageDb {
    /// Checks all invariants as of the last batch.
    ///
    /// # Errors
    /// What LMDB says. Violations are no errors: they stand in the report.
    pub fn check(&self, progress: Progress<'_>) -> Result<Report, PageDbError> {
        self.snapshot()?.check(progress, None)
    }
}

impl Snapshot {
    /// As [`PageDb::check`]; with the scores of the last round also that every page stands at its own.
    ///
    /// # Errors
    /// As [`PageDb::check`].
    pub fn check(
        &self,
        progress: Progress<'_>,
        scores: Option<&dyn RoundScores>,
    ) -> Result<Report, PageDbError> {
        let mut check = Check::new(self, progress)?;
        check.scores = scores;
        check.info()?;
        check.domains()?;
        check.states()?;
        check.urls()?;
        check.chains()?;
        check.schedule()?;
        check.leases()?;
        check.links()?;
        check.anchors()?;
        check.content()?;
        check.counters();
        Ok(check.report)
    }
}

/// A check under way: what the passes have found out so far.
struct Check<'s> {
    snapshot: &'s Snapshot,
    report: Report,
    progress: Progress<'s>,
    rows_done: u64,
    rows_total: u64,
    stored: Counters,
    /// Recounted.
    counted: Counters,
    max_depth: Option<u32>,
    scoring: Scoring,
    /// Of the last round, if they are to be compared.
    scores: Option<&'s dyn RoundScores>,
    pages: Pages,
    /// The hash of each site's text, by its key in `sites`.
    sites: HashMap<u64, u64, foldhash::fast::RandomState>,
    displaced: Vec<Displaced>,
}

/// What the passes need to know of each page, by index.
struct Pages {
    /// As `hash2idx` has them.
    keys: Vec<u64>,
    known: Bits,
    crawled: Bits,
    at_depth_0: Bits,
    /// The score of the schedule entry that must still be seen; NaN for none.
    scores: Vec<f32>,
}

impl<'s> Check<'s> {
    fn new(snapshot: &'s Snapshot, progress: Progress<'s>) -> Result<Check<'s>, PageDbError> {
        let mut rows_total = 0;
        for (_, table) in snapshot.tables.named() {
            rows_total += table.len(&snapshot.txn)?;
        }
        // Bounded by the last row, whatever the counters say.
        let n = snapshot.next_index()?.0 as usize;
        let pages = Pages {
            keys: vec![0; n],
            known: Bits::new(n),
            crawled: Bits::new(n),
            at_depth_0: Bits::new(n),
            scores: vec![f32::NAN; n],
        };
        Ok(Check {
            snapshot,
            report: Report::default(),
            progress,
            rows_done: 0,
            rows_total,
            stored: Counters::default(),
            counted: Counters::default(),
            max_depth: None,
            scoring: Scoring::none(),
            scores: None,
            pages,
            sites: HashMap::default(),
            displaced: Vec::new(),
        })
    }

    fn row_done(&mut self) {
        self.rows_done += 1;
        if self.rows_done.is_multiple_of(PROGRESS_ROWS) || self.rows_done == self.rows_total {
            (self.progress)(self.rows_done, self.rows_total);
        }
    }

    /// The value, or a violation if the row does not decode.
    fn decoded<T>(&mut self, decoded: Result<T, impl Sized>, table: &'static str, row: &[u8]) -> Option<T> {
        if decoded.is_err() {
            self.report.add(Kind::Malformed, || corrupted(table, row).to_string());
        }
        decoded.ok()
    }

    fn info(&mut self) -> Result<(), PageDbError> {
        let (snapshot, table) = (self.snapshot, self.snapshot.tables.info);
        let decoded = snapshot.counters();
        self.stored = self.decoded(decoded, "info", info::COUNTERS_KEY).unwrap_or_default();
        let depth = table.get(&snapshot.txn, info::MAX_DEPTH_KEY)?.unwrap_or_default();
        let depth = info::decode_max_depth(depth).in_table("info", info::MAX_DEPTH_KEY);
        self.max_depth = self.decoded(depth, "info", info::MAX_DEPTH_KEY).flatten();
        let scoring = snapshot.scoring();
        self.scoring = self.decoded(scoring, "info", info::SCORING_KEY).unwrap_or_else(Scoring::none);
        let naming = (snapshot.naming.domain_unit, snapshot.naming.same_site);
        let stored = info::stored_units(&snapshot.tables, &snapshot.txn);
        let right = matches!(stored, Ok(Some(stored)) if stored == naming);
        self.decoded(right.then_some(()).ok_or(()), "info", info::DOMAIN_UNIT_KEY);
        for _ in 0..table.len(&snapshot.txn)? {
            self.row_done();
        }
        Ok(())
    }

    fn counters(&mut self) {
        let (stored, counted) = (self.stored, self.counted);
        for (name, stored, counted) in [
            ("pages", stored.pages, counted.pages),
            ("crawled", stored.crawled, counted.crawled),
            ("scheduled", stored.scheduled, counted.scheduled),
            ("leased", stored.leased, counted.leased),
            ("links", stored.links, counted.links),
            ("domains", stored.domains, counted.domains),
        ] {
            if stored != counted {
                self.report
                    .add(Kind::Counters, || format!("info counts {stored} {name}, there are {counted}"));
            }
        }
        let (next, given) = (stored.next_index, self.pages.keys.len() as u64);
        if next < given {
            self.report
                .add(Kind::Counters, || format!("the next index is {next}, but {} is in use", given - 1));
        }
        self.report.counters = self.stored;
    }
}

#[cfg(test)]
mod tests;
