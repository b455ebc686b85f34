//! Last passes: `schedule`, `leases`, `links`, `anchors` and `content` against the pages.

use super::{Check, Kind};
use crate::pagedb::anchor_list;
use crate::pagedb::env::PageDbError;
use crate::pagedb::link_list;
use crate::pagedb::page_record::PageRecord;
use crate::pagedb::page_state::Status;
use crate::pagedb::schedule_key::{LeaseKey, ScheduleKey, decode_content_key};
use crate::types::{DomainKey, PageIndex, PageKey, Score};

impl Check<'_> {
    pub(super) fn schedule(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        for row in snapshot.tables.schedule.iter(&snapshot.txn)? {
            let (row, _) = row?;
            self.row_done();
            let Some(entry) = self.decoded(ScheduleKey::decode(row), "schedule", row) else { continue };
            let at = entry.index.0 as usize;
            let expected = self.pages.scores.get(at).and_then(|&score| Score::new(score.into()).ok());
            if expected == Some(entry.score) && self.domain_of(at) == Some(entry.domain) {
                self.pages.scores[at] = f32::NAN;
            } else {
                let (index, score, domain) = (entry.index, entry.score, entry.domain.0);
                self.report.add(Kind::ScheduleStray, || {
                    format!(
                        "domain {domain:08x} has an entry of page {index}, score {score}: the page has not"
                    )
                });
            }
        }
        for at in 0..self.pages.scores.len() {
            let score = self.pages.scores[at];
            if !score.is_nan() {
                self.report.add(Kind::ScheduleMissing, || {
                    format!("page {at}, score {score}, waits, but has no entry")
                });
            }
        }
        Ok(())
    }

    pub(super) fn leases(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        for row in snapshot.tables.leases.iter(&snapshot.txn)? {
            let (row, _) = row?;
            self.row_done();
            let Some(lease) = self.decoded(LeaseKey::decode(row), "leases", row) else { continue };
            // A state that does not decode is told already.
            let state = snapshot.state(lease.page).ok().flatten();
            if state.is_none_or(|state| state.status != Status::Leased { until: lease.until }) {
                let LeaseKey { until, page } = lease;
                self.report.add(Kind::LeaseStray, || {
                    format!("a lease of page {page} until {}: the page has not", until.0)
                });
            }
        }
        Ok(())
    }

    pub(super) fn links(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        let mut targets = Vec::new();
        // The crawled page that must have the next row.
        let mut expected = 0;
        for row in snapshot.tables.links.iter(&snapshot.txn)? {
            let (row, bytes) = row?;
            self.row_done();
            let Some(page) = self.decoded(row.try_into().map(PageIndex::from_bytes), "links", row) else {
                continue;
            };
            let at = page.0 as usize;
            self.missing_links(expected..at);
            expected = at + 1;
            if at >= self.pages.keys.len() || !self.pages.crawled.get(at) {
                self.report.add(Kind::LinksStray, || format!("page {page} has links, but was never crawled"));
            }
            targets.clear();
            let decoded = link_list::decode(bytes, false, &mut targets);
            let Some(to_other_domains) = self.decoded(decoded, "links", row) else { continue };
            self.counted.links += targets.len() as u64;
            self.link_targets(page, &targets, to_other_domains);
        }
        self.missing_links(expected..self.pages.keys.len());
        Ok(())
    }

    fn missing_links(&mut self, pages: std::ops::Range<usize>) {
        for at in pages.start..pages.end.min(self.pages.keys.len()) {
            if self.pages.crawled.get(at) {
                self.report
                    .add(Kind::LinksMissing, || format!("page {at} is crawled, but has no row in links"));
            }
        }
    }

    fn link_targets(&mut self, page: PageIndex, targets: &[PageIndex], to_other_domains: usize) {
        let own = self.domain_of(page.0 as usize);
        for (n, target) in targets.iter().enumerate() {
            match self.domain_of(target.0 as usize) {
                None => self.report.add(Kind::LinkTarget, || format!("page {page} links to page {target}")),
                Some(domain) if own.is_some() && (own == Some(domain)) != (n >= to_other_domains) => {
                    self.report.add(Kind::LinkGroup, || {
                        let group =
                            if n < to_other_domains { "to other domains" } else { "inside its domain" };
                        format!("page {page} has the link to page {target} among those {group}")
                    });
                }
                Some(_) => {}
            }
        }
    }

    pub(super) fn anchors(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        let Some(table) = snapshot.tables.anchors.0 else { return Ok(()) };
        for row in table.iter(&snapshot.txn)? {
            let (row, bytes) = row?;
            self.row_done();
            let Some(page) = self.decoded(row.try_into().map(PageIndex::from_bytes), "anchors", row) else {
                continue;
            };
            match snapshot.links(page) {
                Ok(Some(links)) => {
                    drop(self.decoded(anchor_list::decode(bytes, links.len()), "anchors", row))
                }
                Ok(None) => {
                    self.report
                        .add(Kind::AnchorsStray, || format!("page {page} has anchors, but no row in links"));
                }
                // It is told already that its links do not decode.
                Err(PageDbError::Corrupted { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn content(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        for row in snapshot.tables.content.iter(&snapshot.txn)? {
            let (row, _) = row?;
            self.row_done();
            let Some((hash, key)) = self.decoded(decode_content_key(row), "content", row) else { continue };
            let record = snapshot.tables.hash2info.get(&snapshot.txn, &key.to_bytes())?;
            let record = record.and_then(|bytes| PageRecord::decode(bytes).ok());
            if record.and_then(|record| record.content_hash).as_ref() != Some(&hash) {
                self.report
                    .add(Kind::ContentStray, || format!("{hash:?} of page {key}: its record has it not"));
            }
        }
        Ok(())
    }

    /// The domain of the page with this index; `None` if `hash2idx` has no such page.
    fn domain_of(&self, at: usize) -> Option<DomainKey> {
        (at < self.pages.keys.len() && self.pages.known.get(at))
            .then(|| PageKey(self.pages.keys[at]).domain())
    }
}
