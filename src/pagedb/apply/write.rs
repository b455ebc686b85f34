//! Last step of a batch: what changed goes to the tables, each table in order of its keys.

use heed::{PutFlags, RwTxn};

use super::domains::Domains;
use super::identity::{Cell, Cells};
use super::links::LinkRows;
use super::refs::{Mentions, NO_REF};
use super::rewrite::{RowChanges, Way};
use super::transitions::Crawl;
use crate::pagedb::domain_record::DomainCounters;
use crate::pagedb::env::{InTable, PageDbError, Tables};
use crate::pagedb::info::Counters;
use crate::pagedb::page_record::PageRecord;
use crate::pagedb::page_state::{PageState, Status};
use crate::pagedb::prefetch::{AHEAD, prefetch};
use crate::pagedb::schedule_key::{LeaseKey, SCHEDULE_KEY_LEN, ScheduleKey, content_key};
use crate::pagedb::url_record::UrlRecord;
use crate::pagedb::warm::{Reach, Warm};
use crate::types::{ContentHash, DomainKey, PageIndex, PageKey};

/// An entry that came to the schedule or left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleChange {
    pub key: ScheduleKey,
    pub added: bool,
}

/// Gives new pages their indices in order of first sight and appends them to `urls`.
pub(super) fn append_urls(
    txn: &mut RwTxn<'_>,
    tables: &Tables,
    mentions: &Mentions<'_>,
    site_of: impl Fn(u32) -> u32,
    cells: &mut Cells,
    counters: &mut Counters,
) -> Result<(), PageDbError> {
    let mut new: Vec<(u32, u32)> = Vec::new();
    for (number, cell) in cells.list.iter().enumerate() {
        if cell.old.is_none() {
            new.push((cell.first_mention, number as u32));
        }
    }
    new.sort_unstable();
    let mut value = Vec::new();
    for at in 0..new.len() {
        if let Some(&(mention, number)) = new.get(at + AHEAD) {
            prefetch(&mentions.urls[mention as usize]);
            prefetch(&cells.list[number as usize]);
        }
        let (mention, number) = new[at];
        let url = &mentions.urls[mention as usize];
        // The parent was mentioned before its link, so it has its index already.
        let linked_from =
            (url.parent != NO_REF).then(|| cells.list[cells.of_url[url.parent as usize] as usize].new.index);
        let cell = &mut cells.list[number as usize];
        cell.new.index = PageIndex(counters.next_index);
        counters.next_index += 1;
        counters.pages += 1;
        value.clear();
        UrlRecord { key: cell.key, site: site_of(url.site), linked_from, path: url.path }.encode(&mut value);
        tables.urls.put_with_flags(txn, PutFlags::APPEND, &cell.new.index.to_bytes(), &value)?;
    }
    Ok(())
}

/// Writes `hash2idx`, `schedule` and `leases`, and counts; returns the changes of the schedule, sorted.
pub(super) fn states(
    txn: &mut RwTxn<'_>,
    way: Way<'_>,
    tables: &Tables,
    cells: &Cells,
    domains: &mut Domains,
    counters: &mut Counters,
) -> Result<Vec<ScheduleChange>, PageDbError> {
    let mut schedule: Vec<Moved> = Vec::new();
    let mut leases: Vec<(LeaseKey, bool)> = Vec::new();
    let mut rows = RowChanges::default();
    for group in cells.list.chunk_by(|a, b| a.key.domain() == b.key.domain()) {
        let mut change = CounterChange::default();
        for cell in group {
            let old = cell.old.as_ref();
            // A row that was only looked at: a link's hash led to it, but it is another URL's.
            if old == Some(&cell.new) || !cell.seen {
                continue;
            }
            rows.put(cell.key.to_bytes(), |value| cell.new.encode(value));
            change.count(old, -1);
            change.count(Some(&cell.new), 1);
            let before = old.filter(|page| page.is_scheduled());
            let after = Some(&cell.new).filter(|page| page.is_scheduled());
            if before.map(|page| page.score) != after.map(|page| page.score) {
                schedule.extend(before.map(|page| Moved::left(cell.key, page)));
                schedule.extend(after.map(|page| Moved::came(cell.key, page)));
            }
            let (before, after) = (old.and_then(|p| lease(cell, p)), lease(cell, &cell.new));
            if before != after {
                leases.extend(before.map(|key| (key, false)));
                leases.extend(after.map(|key| (key, true)));
            }
        }
        change.apply(txn, tables, group[0].key.domain(), domains, counters)?;
    }
    rows.write(txn, way, tables.hash2idx)?;
    leases.sort_unstable();
    for (key, added) in leases {
        if added {
            tables.leases.put(txn, &key.to_bytes(), &[])?;
        } else {
            tables.leases.delete(txn, &key.to_bytes())?;
        }
    }
    schedule.sort_unstable();
    write_schedule(txn, way, tables, &schedule)
}

/// A schedule entry that came or left, as an integer: the bytes of its key, and 1 in the lowest bit for "came".
/// Integers sort like the keys, and fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moved(u128);

impl Moved {
    pub(super) fn left(page: PageKey, state: &PageState) -> Moved {
        let key = ScheduleKey { domain: page.domain(), score: state.score, index: state.index };
        let mut bytes = [0; 16];
        bytes[..SCHEDULE_KEY_LEN].copy_from_slice(&key.to_bytes());
        Moved(u128::from_be_bytes(bytes))
    }

    pub(super) fn came(page: PageKey, state: &PageState) -> Moved {
        Moved(Moved::left(page, state).0 | 1)
    }
}

/// Brings changes to `schedule`, in the order of its keys.
pub(super) fn write_schedule(
    txn: &mut RwTxn<'_>,
    way: Way<'_>,
    tables: &Tables,
    sorted: &[Moved],
) -> Result<Vec<ScheduleChange>, PageDbError> {
    let mut changes = Vec::with_capacity(sorted.len());
    let mut rows = RowChanges::<SCHEDULE_KEY_LEN>::default();
    for Moved(packed) in sorted {
        let bytes = packed.to_be_bytes();
        let added = packed & 1 == 1;
        let mut row = [0; SCHEDULE_KEY_LEN];
        row.copy_from_slice(&bytes[..SCHEDULE_KEY_LEN]);
        if added {
            rows.put(row, |_| {})
        } else {
            rows.delete(row)
        }
        changes.push(ScheduleChange { key: ScheduleKey::decode(&row).in_table("schedule", &row)?, added });
    }
    rows.write(txn, way, tables.schedule)?;
    Ok(changes)
}

/// Writes `hash2info`, `content`, `links` and `anchors` for the crawled pages.
pub(super) fn crawls(
    txn: &mut RwTxn<'_>,
    way: Way<'_>,
    tables: &Tables,
    cells: &Cells,
    crawls: &[Crawl<'_>],
    anchors: &[(u32, &str)],
    counters: &mut Counters,
) -> Result<(), PageDbError> {
    let mut order: Vec<u32> = (0..crawls.len() as u32).collect();
    // Cells are in order of key; the crawls of one page stay in the order of the log.
    order.sort_by_key(|&at| crawls[at as usize].cell);
    let mut value = Vec::new();
    // (page, its last crawl in the batch, links it had before)
    let mut lists: Vec<(PageIndex, u32, bool)> = Vec::new();
    let key_of = |at: u32| cells.list[crawls[at as usize].cell as usize].key;
    let mut warm = Warm::new(way.env, tables.hash2info, Reach::Keys);
    let mut at = 0;
    for group in order.chunk_by(|&a, &b| crawls[a as usize].cell == crawls[b as usize].cell) {
        warm.step(at, order.len(), |at| key_of(order[at]).to_bytes());
        at += group.len();
        let cell = &cells.list[crawls[group[0] as usize].cell as usize];
        let row = cell.key.to_bytes();
        let stored = tables.hash2info.get(txn, &row)?;
        let stored = stored.map(PageRecord::decode).transpose().in_table("hash2info", &row)?;
        let was_crawled = stored.is_some();
        let old_hash = stored.as_ref().and_then(|record| record.content_hash.clone());
        let record = group.iter().fold(stored, |record, &at| {
            let crawl = &crawls[at as usize];
            let hash = crawl.content_hash.and_then(ContentHash::from_bytes);
            Some(PageRecord::crawled(record, crawl.time, crawl.score, hash))
        });
        if let Some(record) = record {
            value.clear();
            record.encode(&mut value);
            tables.hash2info.put(txn, &row, &value)?;
            if record.content_hash != old_hash {
                if let Some(hash) = old_hash {
                    tables.content.delete(txn, &content_key(&hash, cell.key))?;
                }
                if let Some(hash) = &record.content_hash {
                    tables.content.put(txn, &content_key(hash, cell.key), &[])?;
                }
            }
        }
        lists.push((cell.new.index, group[group.len() - 1], was_crawled));
    }
    lists.sort_unstable();
    let mut rows = LinkRows::new(cells, anchors);
    let mut warm = Warm::new(way.env, tables.links, Reach::Keys);
    for (at, &(index, crawl, had_links)) in lists.iter().enumerate() {
        warm.step(at, lists.len(), |at| lists[at].0.to_bytes());
        rows.write(txn, tables, &crawls[crawl as usize], index, had_links, counters)?;
    }
    Ok(())
}

fn lease(cell: &Cell, page: &PageState) -> Option<LeaseKey> {
    match page.status {
        Status::Leased { until } => Some(LeaseKey { until, page: cell.key }),
        _ => None,
    }
}

/// How a domain's counters change.
#[derive(Default)]
pub(super) struct CounterChange {
    pages: i64,
    crawled: i64,
    scheduled: i64,
    leased: i64,
}

impl CounterChange {
    pub(super) fn count(&mut self, page: Option<&PageState>, by: i64) {
        let Some(page) = page else { return };
        self.pages += by;
        match page.status {
            Status::Scheduled => self.scheduled += by,
            Status::Leased { .. } => self.leased += by,
            Status::Crawled => self.crawled += by,
            Status::TooDeep => {}
        }
    }

    pub(super) fn apply(
        self,
        txn: &RwTxn<'_>,
        tables: &Tables,
        key: DomainKey,
        domains: &mut Domains,
        counters: &mut Counters,
    ) -> Result<(), PageDbError> {
        if (self.pages, self.crawled, self.scheduled, self.leased) == (0, 0, 0, 0) {
            return Ok(());
        }
        counters.crawled = counters.crawled.wrapping_add_signed(self.crawled);
        counters.scheduled = counters.scheduled.wrapping_add_signed(self.scheduled);
        counters.leased = counters.leased.wrapping_add_signed(self.leased);
        if let Some(domain) = domains.get(txn, tables, key)? {
            let old = domain.record.counters;
            domain.record.counters = DomainCounters {
                pages: old.pages.wrapping_add_signed(self.pages),
                crawled: old.crawled.wrapping_add_signed(self.crawled),
                scheduled: old.scheduled.wrapping_add_signed(self.scheduled),
                leased: old.leased.wrapping_add_signed(self.leased),
            };
            domain.changed = true;
        }
        Ok(())
    }
}
