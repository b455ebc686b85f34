//! Fourth step of an import: all pages in order of key, old and new. Writes `hash2idx`, `hash2info` and
//! `schedule`, and what follows from them: `leases`, `content`, the counters.
//!
//! The rules are those of `pagedb/apply/transitions.rs`: the best score and the least depth count until a page
//! is crawled; crawled wins; a further crawl updates the record.

use std::path::Path;

use super::appender::{Appender, To};
use super::disk::Records;
use super::linking::Linked;
use super::old::{OldRows, page_key};
use super::run::decode_crawls;
use super::sites::Sites;
use super::sorter::{Sorted, Sorter, Tie};
use super::{Phase, Progress};
use crate::pagedb::apply::Rules;
use crate::pagedb::domain_record::DomainCounters;
use crate::pagedb::env::{InTable, PageDbError, Snapshot, corrupted};
use crate::pagedb::info::Counters;
use crate::pagedb::page_record::PageRecord;
use crate::pagedb::page_state::{MARK, PageState, Slot, Status};
use crate::pagedb::schedule_key::{SCHEDULE_KEY_LEN, ScheduleKey, content_key};
use crate::pagedb::scoring::{Scoring, finite, seed_score};
use crate::types::codec::{Malformed, Reader};
use crate::types::{DomainKey, PageIndex, PageKey, Score};

/// Pages between two reports of progress.
const PROGRESS_PAGES: u64 = 50_000;

/// What the import does to a page.
#[derive(Debug)]
struct Change {
    key: PageKey,
    index: PageIndex,
    /// The best that links and seeds gave it before its first crawl.
    score: Option<Score>,
    /// Coded, in the order of the input.
    crawls: Vec<u8>,
}

pub(super) struct States<'a, 's> {
    pub linked: &'a Linked,
    pub sites: &'a mut Sites,
    pub old: Option<&'s Snapshot>,
    pub rules: Rules,
    pub scoring: Scoring,
    pub rows: &'a mut Appender,
    pub dir: &'a Path,
    pub memory: usize,
}

impl States<'_, '_> {
    /// Returns the counters, but for those of links and domains and the applied position.
    pub fn write(
        self,
        changes: Records,
        displaced: Sorted,
        progress: Progress<'_>,
    ) -> Result<Counters, PageDbError> {
        let old = self.old;
        let mut changes = Changes::new(changes, displaced, self.linked)?;
        let mut old_states = OldRows::new(old, |tables| tables.hash2idx)?;
        let mut old_records = OldRows::new(old, |tables| tables.hash2info)?;
        let memory = self.memory;
        let mut pages = PageWriter {
            transitions: Transitions { rules: self.rules, scoring: self.scoring },
            rows: self.rows,
            sites: self.sites,
            counters: Counters::default(),
            domain: None,
            of_domain: DomainCounters::default(),
            schedule: Schedule::new(self.dir, memory / 8),
            content: Sorter::new(self.dir.join("content"), Tie::Payload, memory / 8),
            leases: Sorter::new(self.dir.join("leases"), Tie::Payload, memory / 16),
            value: Vec::new(),
        };
        let all = self.linked.next_index;
        loop {
            let (change, old) = next_page(&mut changes, &mut old_states)?;
            let (key, old) = match (&change, old) {
                // A key that a new page takes is no mark any more.
                (None, Some((key, Slot::Mark))) => {
                    pages.rows.put(To::Hash2idx, &key.to_bytes(), MARK)?;
                    continue;
                }
                (_, Some((key, slot))) => (key, slot.page()),
                (Some(change), None) => (change.key, None),
                (None, None) => break,
            };
            let depth = change.as_ref().and_then(|change| self.linked.depths.get(change.index));
            pages.state(key, old, change.as_ref(), depth)?;
            let stored = old_records.next_if(|row| *row == key.to_bytes())?;
            let stored = stored.map(|(row, bytes)| PageRecord::decode(bytes).in_table("hash2info", row));
            pages.record(key, stored.transpose()?, change.as_ref())?;
            if pages.counters.pages.is_multiple_of(PROGRESS_PAGES) {
                progress(Phase::Writing, pages.counters.pages, all);
            }
        }
        progress(Phase::Writing, pages.counters.pages, all);
        pages.finish(memory)
    }
}

type OldState = (PageKey, Slot);

/// The next page of the two streams, from whichever has it.
fn next_page(
    changes: &mut Changes<'_>,
    old: &mut OldRows<'_>,
) -> Result<(Option<Change>, Option<OldState>), PageDbError> {
    let changed = changes.key();
    let row = changed.map(PageKey::to_bytes);
    let state = match old.next_if(|old| row.is_none_or(|row| *old <= row[..]))? {
        Some((row, bytes)) => {
            Some((page_key("hash2idx", row)?, Slot::decode(bytes).in_table("hash2idx", row)?))
        }
        None => None,
    };
    let is_changed = changed.is_some() && state.is_none_or(|(key, _)| Some(key) == changed);
    Ok((if is_changed { changes.next()? } else { None }, state))
}

/// The changes in order of key: those of pages at the key of their URL, and the displaced ones among them.
struct Changes<'a> {
    main: Records,
    displaced: Sorted,
    linked: &'a Linked,
    last_key: u64,
    next_main: Option<Change>,
    next_displaced: Option<Change>,
}

impl<'a> Changes<'a> {
    fn new(main: Records, displaced: Sorted, linked: &'a Linked) -> Result<Changes<'a>, PageDbError> {
        let mut changes =
            Changes { main, displaced, linked, last_key: 0, next_main: None, next_displaced: None };
        changes.advance_main()?;
        changes.advance_displaced()?;
        Ok(changes)
    }

    fn key(&self) -> Option<PageKey> {
        let keys = [&self.next_main, &self.next_displaced];
        keys.into_iter().flatten().map(|change| change.key).min()
    }

    fn next(&mut self) -> Result<Option<Change>, PageDbError> {
        let first = self.key();
        if self.next_main.as_ref().map(|change| change.key) == first {
            let change = self.next_main.take();
            self.advance_main()?;
            return Ok(change);
        }
        let change = self.next_displaced.take();
        self.advance_displaced()?;
        Ok(change)
    }

    fn advance_main(&mut self) -> Result<(), PageDbError> {
        if let Some(record) = self.main.next()? {
            let mut reader = Reader::new(record);
            let change = reader.varint().and_then(|delta| {
                self.last_key = self.last_key.wrapping_add(delta);
                decode(PageKey(self.last_key), reader, self.linked)
            });
            self.next_main = Some(change.map_err(|Malformed| corrupted("changes", &[]))?);
        }
        Ok(())
    }

    fn advance_displaced(&mut self) -> Result<(), PageDbError> {
        if let Some((key, record)) = self.displaced.next()? {
            let change = decode(PageKey(key), Reader::new(record), self.linked);
            self.next_displaced = Some(change.map_err(|Malformed| corrupted("changes", &[]))?);
        }
        Ok(())
    }
}

fn decode(key: PageKey, mut reader: Reader<'_>, linked: &Linked) -> Result<Change, Malformed> {
    let index = linked.indices.of(reader.varint()?).ok_or(Malformed)?;
    let score = match reader.u8()? {
        0 => None,
        _ => Some(Score::new(f64::from(reader.f32()?)).map_err(|_| Malformed)?),
    };
    Ok(Change { key, index, score, crawls: reader.rest().to_vec() })
}

/// How states change.
struct Transitions {
    rules: Rules,
    scoring: Scoring,
}

impl Transitions {
    /// A page's state after the import. `share` is its domain's.
    fn changed(&self, old: Option<PageState>, change: &Change, depth: u32, share: Score) -> PageState {
        let mut page = old.unwrap_or(PageState {
            index: change.index,
            status: Status::TooDeep,
            depth,
            score: Score::ZERO,
            given: change.score.unwrap_or_default(),
            attempts: 0,
        });
        page.depth = depth;
        if page.status != Status::Crawled {
            if let (Some(score), Some(_)) = (change.score, old) {
                page.given = page.given.max(score);
            }
            page.score = self.score(&page, old.is_none(), change, share);
        }
        match page.status {
            Status::Scheduled | Status::TooDeep => page.status = self.rules.waiting(depth),
            Status::Leased { .. } | Status::Crawled => {}
        }
        if !change.crawls.is_empty() {
            page.status = Status::Crawled;
            page.attempts = 0;
        }
        page
    }

    /// Without a scorer the given score; with one, what a page is worth that nobody has linked to, until the next
    /// round: what its parents would pass on is left to that.
    fn score(&self, page: &PageState, is_new: bool, change: &Change, share: Score) -> Score {
        if !self.scoring.is_scored() {
            return page.given;
        }
        if page.depth == 0 && change.score.is_some() {
            return seed_score(page.given);
        }
        let base = self.scoring.estimate_at(change.key).base;
        match (is_new, change.score) {
            (true, Some(_)) => finite(base + f64::from(share.get())),
            (true, None) => finite(base),
            (false, _) => page.score,
        }
    }
}

/// Writes page after page.
struct PageWriter<'a> {
    transitions: Transitions,
    rows: &'a mut Appender,
    sites: &'a mut Sites,
    counters: Counters,
    domain: Option<DomainKey>,
    of_domain: DomainCounters,
    schedule: Schedule,
    content: Sorter,
    leases: Sorter,
    value: Vec<u8>,
}

impl PageWriter<'_> {
    fn state(
        &mut self,
        key: PageKey,
        old: Option<PageState>,
        change: Option<&Change>,
        depth: Option<u32>,
    ) -> Result<(), PageDbError> {
        let state = match (old, change, depth) {
            (old, Some(change), Some(depth)) => {
                let share = self.sites.domain(key.domain())?.share;
                self.transitions.changed(old, change, depth, share)
            }
            (Some(old), None, _) => old,
            _ => return Err(corrupted("changes", &key.to_bytes())),
        };
        if self.domain != Some(key.domain()) {
            self.end_domain()?;
            self.domain = Some(key.domain());
        }
        self.value.clear();
        state.encode(&mut self.value);
        self.rows.put(To::Hash2idx, &key.to_bytes(), &self.value)?;
        self.counters.pages += 1;
        self.of_domain.pages += 1;
        match state.status {
            Status::Scheduled => {
                self.of_domain.scheduled += 1;
                let entry = ScheduleKey { domain: key.domain(), score: state.score, index: state.index };
                self.schedule.push(entry)?;
            }
            Status::Leased { until } => {
                self.of_domain.leased += 1;
                self.leases.push(until.0, &key.to_bytes())?;
            }
            Status::Crawled => self.of_domain.crawled += 1,
            Status::TooDeep => {}
        }
        Ok(())
    }

    fn record(
        &mut self,
        key: PageKey,
        old: Option<PageRecord>,
        change: Option<&Change>,
    ) -> Result<(), PageDbError> {
        let mut record = old;
        if let Some(change) = change {
            let crawls = decode_crawls(&change.crawls, |crawl| {
                let crawled = PageRecord::crawled(record.take(), crawl.time, crawl.score, crawl.content_hash);
                record = Some(crawled);
            });
            crawls.map_err(|Malformed| corrupted("changes", &key.to_bytes()))?;
        }
        let Some(record) = record else { return Ok(()) };
        self.value.clear();
        record.encode(&mut self.value);
        self.rows.put(To::Hash2info, &key.to_bytes(), &self.value)?;
        if let Some(hash) = &record.content_hash {
            let row = content_key(hash, key);
            let mut prefix = [0; 8];
            let n = row.len().min(8);
            prefix[..n].copy_from_slice(&row[..n]);
            self.content.push(u64::from_be_bytes(prefix), &row)?;
        }
        Ok(())
    }

    fn end_domain(&mut self) -> Result<(), PageDbError> {
        let Some(key) = self.domain else { return Ok(()) };
        let counted = std::mem::take(&mut self.of_domain);
        self.counters.crawled += counted.crawled;
        self.counters.scheduled += counted.scheduled;
        self.counters.leased += counted.leased;
        self.sites.domain(key)?.counters = counted;
        self.schedule.append_to(self.rows)
    }

    fn finish(mut self, memory: usize) -> Result<Counters, PageDbError> {
        self.end_domain()?;
        let mut content = self.content.finish(memory / 8)?;
        while let Some((_, row)) = content.next()? {
            self.rows.put(To::Content, row, &[])?;
        }
        content.delete()?;
        let mut leases = self.leases.finish(memory / 16)?;
        while let Some((until, page)) = leases.next()? {
            let row = [&until.to_be_bytes()[..], page].concat();
            self.rows.put(To::Leases, &row, &[])?;
        }
        leases.delete()?;
        Ok(self.counters)
    }
}

/// The schedule of the current domain, sorted in memory unless it is too large.
struct Schedule {
    path: std::path::PathBuf,
    /// The bytes of schedule keys as integers, which sort like the keys, and fast.
    keys: Vec<u128>,
    most: usize,
    spilled: Option<Sorter>,
}

impl Schedule {
    fn new(dir: &Path, memory: usize) -> Schedule {
        let most = (memory / size_of::<u128>()).max(16);
        Schedule { path: dir.join("schedule"), keys: Vec::new(), most, spilled: None }
    }

    fn push(&mut self, key: ScheduleKey) -> Result<(), PageDbError> {
        let mut bytes = [0; 16];
        bytes[..SCHEDULE_KEY_LEN].copy_from_slice(&key.to_bytes());
        self.keys.push(u128::from_be_bytes(bytes));
        if self.keys.len() >= self.most { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), PageDbError> {
        let memory = self.most * size_of::<u128>();
        let path = &self.path;
        let sorter = self.spilled.get_or_insert_with(|| Sorter::new(path.clone(), Tie::Payload, memory));
        for key in self.keys.drain(..) {
            let bytes = key.to_be_bytes();
            // Of one domain: what orders the keys comes behind it.
            sorter.push((key >> 32) as u64, &bytes[..SCHEDULE_KEY_LEN])?;
        }
        Ok(())
    }

    /// Appends the domain's entries and forgets them.
    fn append_to(&mut self, rows: &mut Appender) -> Result<(), PageDbError> {
        if self.spilled.is_some() {
            self.spill()?;
        }
        if let Some(sorter) = self.spilled.take() {
            let mut sorted = sorter.finish(self.most * size_of::<u128>())?;
            while let Some((_, row)) = sorted.next()? {
                rows.put(To::Schedule, row, &[])?;
            }
            return sorted.delete();
        }
        self.keys.sort_unstable();
        for key in self.keys.drain(..) {
            rows.put(To::Schedule, &key.to_be_bytes()[..SCHEDULE_KEY_LEN], &[])?;
        }
        Ok(())
    }
}
