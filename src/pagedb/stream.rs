//! Streams over whole tables (Aduana's LinkStream, HashInfoStream and HashIdxStream, 3.5 to 3.7).
//!
//! A stream reads a chunk of rows in one short transaction and keeps only the place of the last row between
//! chunks: a scan of hours never keeps LMDB from using freed pages again. What it shows is therefore no
//! single moment: each row is as of its chunk. A row that exists throughout comes exactly once, because
//! neither the keys nor the indices of pages change.
//!
//! [`Stream::cursor`] is a plain value that a caller can store, to go on from there with [`Stream::after`],
//! also in another process.

use std::collections::VecDeque;
use std::ops::Bound;

use heed::types::Bytes;
use heed::{RoRange, RoTxn};

use super::domain_record::join;
use super::env::{InTable, PageDb, PageDbError, Snapshot, Table, corrupted};
use super::link_list;
use super::page_record::PageRecord;
use super::page_state::{PageState, Slot};
use crate::types::{PageIndex, PageKey, PageUrl};

/// Rows read in one transaction: a millisecond or two, and little to hold in memory.
pub(super) const CHUNK_ROWS: usize = 1_000;

/// Bytes after which a chunk ends before that: link lists can be long.
pub(super) const CHUNK_BYTES: usize = 1 << 20;

/// A table, or several joined, that a [`Stream`] reads.
pub trait Rows {
    type Item;
    /// The place of an item: what order they come in.
    type Cursor: Clone;

    fn cursor(item: &Self::Item) -> Self::Cursor;

    /// Appends the next items after `after` to `out`; returns whether there may be more.
    ///
    /// # Errors
    /// What LMDB says, or [`PageDbError::Corrupted`].
    fn read(
        &mut self,
        snapshot: &Snapshot,
        after: Option<Self::Cursor>,
        out: &mut VecDeque<Self::Item>,
    ) -> Result<bool, PageDbError>;
}

/// An iterator over [`Rows`]. After an error it ends.
pub struct Stream<'db, R: Rows> {
    db: &'db PageDb,
    rows: R,
    buffer: VecDeque<R::Item>,
    /// Place of the last row read.
    read_to: Option<R::Cursor>,
    /// Place of the last item given out.
    cursor: Option<R::Cursor>,
    more: bool,
    /// What ended the last chunk, told after its items.
    failed: Option<PageDbError>,
}

/// Links of the crawled pages, in order of the linking page's index.
pub type LinkStream<'db> = Stream<'db, LinkRows>;
/// Everything known of each page, in order of key: a domain's pages together.
pub type PageStream<'db> = Stream<'db, PageRows>;
/// Key and state (with the index) of each page, in order of key.
pub type StateStream<'db> = Stream<'db, StateRows>;

/// A crawled page's links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLinks {
    pub page: PageIndex,
    /// Links to other domains first, then those inside the page's own; each group is sorted.
    pub links: Vec<PageIndex>,
    /// How many of `links` lead to other domains.
    pub to_other_domains: usize,
}

/// Everything known of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub key: PageKey,
    pub url: PageUrl,
    pub state: PageState,
    /// The page that first linked it.
    pub linked_from: Option<PageIndex>,
    /// Its crawl history; `None` if it was never crawled.
    pub record: Option<PageRecord>,
}

/// The rows of a [`LinkStream`].
pub struct LinkRows {
    only_other_domains: bool,
}

/// The rows of a [`PageStream`].
pub struct PageRows(());

/// The rows of a [`StateStream`].
pub struct StateRows(());

impl PageDb {
    /// Every crawled page with its links; with `only_other_domains` just those that lead to another domain.
    pub fn links(&self, only_other_domains: bool) -> LinkStream<'_> {
        Stream::new(self, LinkRows { only_other_domains })
    }

    /// Everything known of every page.
    pub fn pages(&self) -> PageStream<'_> {
        Stream::new(self, PageRows(()))
    }

    /// Key and state of every page.
    pub fn states(&self) -> StateStream<'_> {
        Stream::new(self, StateRows(()))
    }
}

impl<'db, R: Rows> Stream<'db, R> {
    pub(super) fn new(db: &'db PageDb, rows: R) -> Self {
        Stream { db, rows, buffer: VecDeque::new(), read_to: None, cursor: None, more: true, failed: None }
    }

    /// Goes on behind the item with this cursor, wherever the stream stands.
    pub fn after(mut self, cursor: R::Cursor) -> Self {
        self.buffer.clear();
        self.failed = None;
        (self.read_to, self.cursor, self.more) = (Some(cursor.clone()), Some(cursor), true);
        self
    }

    /// The place of the last item given out; `None` before the first.
    pub fn cursor(&self) -> Option<R::Cursor> {
        self.cursor.clone()
    }

    /// Reads the next chunk.
    fn fill(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.db.snapshot()?;
        let more = self.rows.read(&snapshot, self.read_to.clone(), &mut self.buffer);
        self.read_to = self.buffer.back().map(R::cursor).or(self.read_to.take());
        self.more = more?;
        Ok(())
    }
}

impl<R: Rows> Iterator for Stream<'_, R> {
    type Item = Result<R::Item, PageDbError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.buffer.is_empty() && self.more {
            // Unless the chunk comes in whole, it is the last.
            self.more = false;
            self.failed = self.fill().err();
        }
        match self.buffer.pop_front() {
            Some(item) => {
                self.cursor = Some(R::cursor(&item));
                Some(Ok(item))
            }
            // What came before a row that does not decode is still good.
            None => self.failed.take().map(Err),
        }
    }
}

impl Rows for LinkRows {
    type Item = PageLinks;
    type Cursor = PageIndex;

    fn cursor(item: &PageLinks) -> PageIndex {
        item.page
    }

    fn read(
        &mut self,
        snapshot: &Snapshot,
        after: Option<PageIndex>,
        out: &mut VecDeque<PageLinks>,
    ) -> Result<bool, PageDbError> {
        let after = after.map(PageIndex::to_bytes);
        let mut bytes_left = CHUNK_BYTES;
        for row in range_after(&snapshot.txn, snapshot.tables.links, after.as_ref().map(|k| &k[..]))? {
            let (row, bytes) = row?;
            let page = PageIndex::from_bytes(row.try_into().map_err(|_| corrupted("links", row))?);
            let mut links = Vec::new();
            let to_other_domains =
                link_list::decode(bytes, self.only_other_domains, &mut links).in_table("links", row)?;
            out.push_back(PageLinks { page, links, to_other_domains });
            bytes_left = bytes_left.saturating_sub(bytes.len());
            if bytes_left == 0 || out.len() == CHUNK_ROWS {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Rows for StateRows {
    type Item = (PageKey, PageState);
    type Cursor = PageKey;

    fn cursor(item: &(PageKey, PageState)) -> PageKey {
        item.0
    }

    fn read(
        &mut self,
        snapshot: &Snapshot,
        after: Option<PageKey>,
        out: &mut VecDeque<(PageKey, PageState)>,
    ) -> Result<bool, PageDbError> {
        for state in states_after(snapshot, after)? {
            out.push_back(state?);
            if out.len() == CHUNK_ROWS {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Rows for PageRows {
    type Item = Page;
    type Cursor = PageKey;

    fn cursor(item: &Page) -> PageKey {
        item.key
    }

    fn read(
        &mut self,
        snapshot: &Snapshot,
        after: Option<PageKey>,
        out: &mut VecDeque<Page>,
    ) -> Result<bool, PageDbError> {
        // `hash2info` has the same order: the two are merged, instead of a descent for each page.
        let start = after.map(PageKey::to_bytes);
        let mut records =
            range_after(&snapshot.txn, snapshot.tables.hash2info, start.as_ref().map(|k| &k[..]))?;
        let mut next_record = records.next().transpose()?;
        for state in states_after(snapshot, after)? {
            let (key, state) = state?;
            let row = key.to_bytes();
            while next_record.is_some_and(|(key, _)| key < &row[..]) {
                next_record = records.next().transpose()?;
            }
            let record = next_record.filter(|(key, _)| *key == &row[..]);
            let record = record.map(|(_, bytes)| PageRecord::decode(bytes)).transpose();
            let record = record.in_table("hash2info", &row)?;
            let urls = snapshot.url_record(state.index)?;
            let urls = urls.ok_or_else(|| corrupted("urls", &state.index.to_bytes()))?;
            let url = join(snapshot.site(key.domain(), urls.site)?, urls.path);
            out.push_back(Page { key, url, state, linked_from: urls.linked_from, record });
            if out.len() == CHUNK_ROWS {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn states_after(
    snapshot: &Snapshot,
    after: Option<PageKey>,
) -> Result<impl Iterator<Item = Result<(PageKey, PageState), PageDbError>>, PageDbError> {
    let after = after.map(PageKey::to_bytes);
    let rows = range_after(&snapshot.txn, snapshot.tables.hash2idx, after.as_ref().map(|k| &k[..]))?;
    Ok(rows.filter_map(|row| {
        let state = |(row, bytes): (&[u8], &[u8])| {
            let key = PageKey::from_bytes(row.try_into().map_err(|_| corrupted("hash2idx", row))?);
            Ok((key, Slot::decode(bytes).in_table("hash2idx", row)?))
        };
        match row.map_err(PageDbError::from).and_then(state) {
            Ok((key, Slot::Page(state))) => Some(Ok((key, state))),
            Ok((_, Slot::Mark)) => None,
            Err(error) => Some(Err(error)),
        }
    }))
}

pub(super) fn range_after<'t>(
    txn: &'t RoTxn<'_>,
    table: Table,
    after: Option<&[u8]>,
) -> Result<RoRange<'t, Bytes, Bytes>, PageDbError> {
    let start = after.map_or(Bound::Unbounded, Bound::Excluded);
    Ok(table.range(txn, &(start, Bound::Unbounded))?)
}

#[cfg(test)]
mod tests;
