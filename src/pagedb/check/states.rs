//! Second pass: `hash2idx` beside `hash2info` and `domains`.

use super::merge::Merge;
use super::{Check, Kind};
use crate::pagedb::domain_record::{DomainCounters, DomainRecord};
use crate::pagedb::env::PageDbError;
use crate::pagedb::page_state::{PageState, Slot, Status};
use crate::pagedb::schedule_key::LeaseKey;
use crate::pagedb::scoring::{finite, seed_score};
use crate::types::{DomainKey, PageKey};

/// The domain whose pages are being counted.
struct Counting {
    key: DomainKey,
    counters: DomainCounters,
    /// What its pages that wait are worth beside their own scores.
    share: f64,
}

impl Check<'_> {
    pub(super) fn states(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        let mut records = Merge::new(&snapshot.txn, snapshot.tables.hash2info)?;
        let mut domains = Merge::new(&snapshot.txn, snapshot.tables.domains)?;
        let mut counting: Option<Counting> = None;
        for row in snapshot.tables.hash2idx.iter(&snapshot.txn)? {
            let (row, bytes) = row?;
            self.row_done();
            self.stray_records(&mut records, Some(row))?;
            let record = records.next_if(|key| key == row)?;
            let Some(key) = self.decoded(row.try_into().map(PageKey::from_bytes), "hash2idx", row) else {
                continue;
            };
            if counting.as_ref().is_none_or(|counting| counting.key != key.domain()) {
                self.compare_domain(counting.take(), &mut domains)?;
                let (key, counters) = (key.domain(), DomainCounters::default());
                counting = Some(Counting { key, counters, share: self.share(key)? });
            }
            let slot = self.decoded(Slot::decode(bytes), "hash2idx", row);
            if slot == Some(Slot::Mark) {
                self.mark(key, record.is_some())?;
            }
            let state = slot.and_then(Slot::page);
            if let (Some(state), Some(counting)) = (state, &mut counting) {
                self.count(&state, &mut counting.counters);
                self.score(key, &state, counting.share);
                self.state(key, &state)?;
                self.record(key, &state, record)?;
            } else if record.is_some() {
                self.row_done();
            }
        }
        self.stray_records(&mut records, None)?;
        self.compare_domain(counting, &mut domains)?;
        self.domains_before(&mut domains, None)
    }

    fn mark(&mut self, key: PageKey, has_record: bool) -> Result<(), PageDbError> {
        if has_record {
            self.report.add(Kind::RecordStray, || format!("the page {key} was deleted, but has a record"));
        }
        let snapshot = self.snapshot;
        let behind = key.next_in_domain().to_bytes();
        if snapshot.tables.hash2idx.get(&snapshot.txn, &behind)?.is_none() {
            self.report.add(Kind::Mark, || format!("the key {key} is marked, but the one behind it is free"));
        }
        Ok(())
    }

    fn count(&mut self, state: &PageState, domain: &mut DomainCounters) {
        domain.pages += 1;
        let (of_all, of_domain) = match state.status {
            Status::Scheduled => (&mut self.counted.scheduled, &mut domain.scheduled),
            Status::Leased { .. } => (&mut self.counted.leased, &mut domain.leased),
            Status::Crawled => (&mut self.counted.crawled, &mut domain.crawled),
            Status::TooDeep => return,
        };
        *of_all += 1;
        *of_domain += 1;
    }

    fn state(&mut self, key: PageKey, state: &PageState) -> Result<(), PageDbError> {
        let index = state.index.0 as usize;
        if index >= self.pages.keys.len() {
            self.report
                .add(Kind::Index, || format!("page {key} has the index {index}, which is not in urls"));
            return Ok(());
        }
        if self.pages.known.set(index) {
            let other = PageKey(self.pages.keys[index]);
            self.report.add(Kind::Index, || format!("pages {other} and {key} share the index {index}"));
            return Ok(());
        }
        self.pages.keys[index] = key.0;
        if state.depth == 0 {
            self.pages.at_depth_0.set(index);
        }
        let beyond = self.max_depth.is_some_and(|max| state.depth > max);
        let right_side = match state.status {
            Status::Scheduled => !beyond,
            Status::TooDeep => beyond,
            _ => true,
        };
        if !right_side {
            let (depth, status) = (state.depth, state.status.name());
            self.report.add(Kind::Depth, || format!("page {key} at depth {depth} is {status}"));
        }
        match state.status {
            Status::Scheduled => self.pages.scores[index] = state.score.get(),
            Status::Leased { until } => {
                let lease = LeaseKey { until, page: key }.to_bytes();
                let snapshot = self.snapshot;
                if snapshot.tables.leases.get(&snapshot.txn, &lease)?.is_none() {
                    self.report.add(Kind::LeaseMissing, || {
                        format!("page {key} is leased until {}, which leases has not", until.0)
                    });
                }
            }
            Status::Crawled => drop(self.pages.crawled.set(index)),
            Status::TooDeep => {}
        }
        Ok(())
    }

    /// A domain's share, if scores are to be compared.
    fn share(&self, domain: DomainKey) -> Result<f64, PageDbError> {
        if self.scores.is_none() {
            return Ok(0.0);
        }
        // A row that is missing or does not decode is told elsewhere.
        match self.snapshot.domain(domain) {
            Err(PageDbError::Corrupted { .. }) => Ok(0.0),
            record => Ok(record?.map_or(0.0, |record| f64::from(record.share.get()))),
        }
    }

    fn score(&mut self, key: PageKey, state: &PageState, share: f64) {
        if self.scoring.moving.is_some() {
            return;
        }
        let wanted = if !self.scoring.is_scored() {
            state.given
        } else if state.depth == 0 {
            // Crawled, it keeps a seed's score until the next round.
            if state.is_uncrawled() { seed_score(state.given) } else { return }
        } else {
            let known = state.index.0 < self.scoring.last.estimate.pages;
            let Some(own) = self.scores.filter(|_| known).and_then(|scores| scores.of_page(state.index))
            else {
                return;
            };
            // Crawled since the round, it keeps what it waited with.
            if !state.is_uncrawled() && state.score == finite(own) {
                return;
            }
            finite(own + share)
        };
        if state.score != wanted {
            let (score, wanted) = (state.score.get(), wanted.get());
            self.report.add(Kind::Score, || {
                format!("page {key} stands at {score:e}, the last round gave it {wanted:e}")
            });
        }
    }

    /// The domain's row must be there and have these counters; the rows before it are of no pages.
    fn compare_domain(
        &mut self,
        counted: Option<Counting>,
        domains: &mut Merge<'_>,
    ) -> Result<(), PageDbError> {
        let Some(Counting { key, counters, .. }) = counted else { return Ok(()) };
        let row = key.0.to_be_bytes();
        self.domains_before(domains, Some(&row))?;
        match domains.next_if(|found| found == row)? {
            Some((_, bytes)) => self.compare_counters(bytes, counters),
            None => self.report.add(Kind::PageDomain, || {
                format!("{} pages have the domain {:08x}, which has no row", counters.pages, key.0)
            }),
        }
        Ok(())
    }

    fn domains_before(&mut self, domains: &mut Merge<'_>, before: Option<&[u8]>) -> Result<(), PageDbError> {
        while let Some((_, bytes)) = domains.before(before)? {
            self.compare_counters(bytes, DomainCounters::default());
        }
        Ok(())
    }

    fn compare_counters(&mut self, bytes: &[u8], counted: DomainCounters) {
        // What does not decode is told already.
        let Ok(record) = DomainRecord::decode(bytes) else { return };
        if record.counters != counted {
            self.report.add(Kind::DomainCounters, || {
                let show = |c: DomainCounters| {
                    format!(
                        "{} pages, {} crawled, {} scheduled, {} leased",
                        c.pages, c.crawled, c.scheduled, c.leased
                    )
                };
                format!(
                    "domain {} counts {}; there are {}",
                    record.name,
                    show(record.counters),
                    show(counted)
                )
            });
        }
    }
}
