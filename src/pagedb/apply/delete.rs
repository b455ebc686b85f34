//! Deleting pages. A page's rows go at once; the links to it go at the end of the batch, in one pass over
//! `links` for all pages that the batch has deleted. Its index is never given out again, so that nothing can
//! take the place of what a link meant.

use std::ops::Bound;

use heed::RwTxn;

use super::changes::Changes;
use super::domains::Domains;
use super::web::Editor;
use super::write::{CounterChange, ScheduleChange};
use crate::pagedb::anchor_list::AnchorList;
use crate::pagedb::anchors::texts;
use crate::pagedb::bits::Bits;
use crate::pagedb::env::{InTable, PageDbError, Table, Tables, corrupted};
use crate::pagedb::link_list;
use crate::pagedb::page_record::PageRecord;
use crate::pagedb::page_state::{MARK, PageState, Status};
use crate::pagedb::schedule_key::{LeaseKey, ScheduleKey, content_key};
use crate::types::{PageIndex, PageKey};

/// Rows of `links` rewritten between two reads: they are held in memory meanwhile.
const ROWS_A_ROUND: usize = 1_000;

impl Editor<'_> {
    pub(super) fn delete_page(
        &mut self,
        txn: &mut RwTxn<'_>,
        key: PageKey,
        state: &PageState,
    ) -> Result<(), PageDbError> {
        let tables = &self.db.tables;
        let row = key.to_bytes();
        if let Some(bytes) = tables.hash2info.get(txn, &row)? {
            let record = PageRecord::decode(bytes).in_table("hash2info", &row)?;
            if let Some(hash) = &record.content_hash {
                tables.content.delete(txn, &content_key(hash, key))?;
            }
            tables.hash2info.delete(txn, &row)?;
        }
        match state.status {
            Status::Scheduled => {
                let key = ScheduleKey { domain: key.domain(), score: state.score, index: state.index };
                tables.schedule.delete(txn, &key.to_bytes())?;
                self.changes.schedule.push(ScheduleChange { key, added: false });
            }
            Status::Leased { until } => {
                tables.leases.delete(txn, &LeaseKey { until, page: key }.to_bytes())?;
            }
            Status::Crawled | Status::TooDeep => {}
        }
        tables.urls.delete(txn, &state.index.to_bytes())?;
        release_key(txn, tables.hash2idx, key)?;
        self.remove_links(txn, state.index)?;

        let mut domains = Domains::default();
        let mut change = CounterChange::default();
        change.count(Some(state), -1);
        self.changes.counters.pages -= 1;
        change.apply(txn, tables, key.domain(), &mut domains, &mut self.changes.counters)?;
        domains.write(txn, tables)?;
        self.changes.deleted.push(state.index);
        Ok(())
    }
}

/// Frees a key. Pages behind it may be found past it: then a mark stays, and later goes with the last of them.
fn release_key(txn: &mut RwTxn<'_>, hash2idx: Table, key: PageKey) -> Result<(), PageDbError> {
    if hash2idx.get(txn, &key.next_in_domain().to_bytes())?.is_some() {
        hash2idx.put(txn, &key.to_bytes(), MARK)?;
        return Ok(());
    }
    hash2idx.delete(txn, &key.to_bytes())?;
    let mut before = key.previous_in_domain();
    while hash2idx.get(txn, &before.to_bytes())? == Some(MARK) {
        hash2idx.delete(txn, &before.to_bytes())?;
        before = before.previous_in_domain();
    }
    Ok(())
}

/// Indices of deleted pages.
struct Deleted {
    first: u64,
    bits: Bits,
    size: usize,
}

impl Deleted {
    fn new(pages: &[PageIndex]) -> Deleted {
        let first = pages.iter().map(|page| page.0).min().unwrap_or(0);
        let size = pages.iter().map(|page| page.0 - first + 1).max().unwrap_or(0) as usize;
        let mut bits = Bits::new(size);
        for page in pages {
            bits.set((page.0 - first) as usize);
        }
        Deleted { first, bits, size }
    }

    #[inline]
    fn has(&self, page: PageIndex) -> bool {
        let at = page.0.wrapping_sub(self.first) as usize;
        at < self.size && self.bits.get(at)
    }
}

/// Removes the links to the pages that the batch has deleted.
pub(super) fn unlink(txn: &mut RwTxn<'_>, tables: &Tables, changes: &mut Changes) -> Result<(), PageDbError> {
    if changes.deleted.is_empty() {
        return Ok(());
    }
    let deleted = Deleted::new(&changes.deleted);
    let mut after: Option<[u8; 5]> = None;
    let mut rewritten: Vec<Rewritten> = Vec::new();
    loop {
        let more = rows_with(txn, tables, &deleted, after, changes, &mut rewritten)?;
        for Rewritten { row, links, anchors } in &rewritten {
            let page = PageIndex::from_bytes(*row);
            tables.links.put(txn, row, links)?;
            if let Some(anchors) = anchors {
                tables.anchors.put(txn, page, texts(anchors), &mut changes.encoder)?;
            }
            changes.relinked.push(page);
        }
        after = rewritten.last().map(|rewritten| rewritten.row);
        rewritten.clear();
        if !more {
            return Ok(());
        }
    }
}

/// A page's links without those to deleted pages.
struct Rewritten {
    row: [u8; 5],
    links: Vec<u8>,
    /// If it had any.
    anchors: Option<AnchorList>,
}

/// Reads on until enough rows have links to deleted pages; puts these rows, without such links, into `out`.
fn rows_with(
    txn: &RwTxn<'_>,
    tables: &Tables,
    deleted: &Deleted,
    after: Option<[u8; 5]>,
    changes: &mut Changes,
    out: &mut Vec<Rewritten>,
) -> Result<bool, PageDbError> {
    let mut targets = Vec::new();
    let start = after.as_ref().map_or(Bound::Unbounded, |row| Bound::Excluded(&row[..]));
    for row in tables.links.range(txn, &(start, Bound::Unbounded))? {
        let (row, bytes) = row?;
        targets.clear();
        let n_other = link_list::decode(bytes, false, &mut targets).in_table("links", row)?;
        if !targets.iter().any(|&target| deleted.has(target)) {
            continue;
        }
        let row: [u8; 5] = row.try_into().map_err(|_| corrupted("links", row))?;
        let before = targets.len();
        let anchors = tables.anchors.get(txn, PageIndex::from_bytes(row), before)?;
        let anchors = (!anchors.is_empty()).then(|| without(anchors, &targets, deleted));
        let mut same = targets.split_off(n_other);
        targets.retain(|&target| !deleted.has(target));
        same.retain(|&target| !deleted.has(target));
        changes.counters.links -= (before - targets.len() - same.len()) as u64;
        let mut value = Vec::with_capacity(bytes.len());
        link_list::encode(&targets, &same, &mut value);
        out.push(Rewritten { row, links: value, anchors });
        if out.len() == ROWS_A_ROUND {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The anchors of the links that stay, by their new places.
fn without(anchors: AnchorList, targets: &[PageIndex], deleted: &Deleted) -> AnchorList {
    let mut kept = Vec::with_capacity(anchors.len());
    let (mut place, mut gone) = (0, 0);
    for (old, anchor) in anchors {
        gone += targets[place..old].iter().filter(|&&target| deleted.has(target)).count();
        place = old;
        if !deleted.has(targets[old]) {
            kept.push((old - gone, anchor));
        }
    }
    kept
}
