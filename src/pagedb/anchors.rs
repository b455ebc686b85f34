//! The table `anchors`: rows beside those of `links`, for pages that have links with a text.

use std::collections::VecDeque;

use heed::{RoTxn, RwTxn};

use super::anchor_list::{self, AnchorList, Encoder};
use super::env::{InTable, PageDb, PageDbError, Snapshot, Table, corrupted};
use super::stream::{CHUNK_BYTES, CHUNK_ROWS, Rows, Stream, range_after};
use crate::types::{Anchor, PageIndex};

/// The table, or none: who opens a database only for reading may find it without, and takes that for an empty one.
#[derive(Clone, Copy)]
pub struct AnchorTable(pub Option<Table>);

impl AnchorTable {
    /// The coded anchors of a page.
    pub fn row<'t>(self, txn: &'t RoTxn<'_>, page: PageIndex) -> Result<Option<&'t [u8]>, PageDbError> {
        match self.0 {
            Some(table) => Ok(table.get(txn, &page.to_bytes())?),
            None => Ok(None),
        }
    }

    /// The anchors of a page with `links` links.
    pub fn get(self, txn: &RoTxn<'_>, page: PageIndex, links: usize) -> Result<AnchorList, PageDbError> {
        let row = self.row(txn, page)?.map(|bytes| anchor_list::decode(bytes, links)).transpose();
        Ok(row.in_table("anchors", &page.to_bytes())?.unwrap_or_default())
    }

    /// Writes the anchors of a page; without any it has no row.
    pub fn put<'a>(
        self,
        txn: &mut RwTxn<'_>,
        page: PageIndex,
        anchors: impl IntoIterator<Item = (usize, &'a str)>,
        encoder: &mut Encoder,
    ) -> Result<(), PageDbError> {
        let mut anchors = anchors.into_iter().peekable();
        if anchors.peek().is_none() {
            return self.delete(txn, page);
        }
        let mut value = Vec::new();
        encoder.encode(anchors, &mut value);
        if let Some(table) = self.0 {
            table.put(txn, &page.to_bytes(), &value)?;
        }
        Ok(())
    }

    pub fn delete(self, txn: &mut RwTxn<'_>, page: PageIndex) -> Result<(), PageDbError> {
        if let Some(table) = self.0 {
            table.delete(txn, &page.to_bytes())?;
        }
        Ok(())
    }
}

/// Anchors as they are written.
pub fn texts(anchors: &AnchorList) -> impl Iterator<Item = (usize, &str)> {
    anchors.iter().map(|(place, anchor)| (*place, anchor.as_str()))
}

impl Snapshot {
    /// The links of a page that have an anchor, in the order of [`Snapshot::links`].
    ///
    /// # Errors
    /// What LMDB says, or [`PageDbError::Corrupted`].
    pub fn anchors(&self, page: PageIndex) -> Result<Vec<(PageIndex, Anchor)>, PageDbError> {
        if self.tables.anchors.row(&self.txn, page)?.is_none() {
            return Ok(Vec::new());
        }
        let links = self.links(page)?.unwrap_or_default();
        let anchors = self.tables.anchors.get(&self.txn, page, links.len())?;
        Ok(anchors.into_iter().map(|(place, anchor)| (links[place], anchor)).collect())
    }
}

/// Pages that have links with anchors, in order of the page's index.
pub type AnchorStream<'db> = Stream<'db, AnchorRows>;

/// A page's links that have an anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAnchors {
    pub page: PageIndex,
    /// Targets in the order of the page's links, with the texts.
    pub anchors: Vec<(PageIndex, Anchor)>,
}

/// The rows of an [`AnchorStream`].
pub struct AnchorRows(());

impl PageDb {
    /// Every link that has an anchor, page by page. Pages without one cost nothing.
    pub fn anchors(&self) -> AnchorStream<'_> {
        Stream::new(self, AnchorRows(()))
    }
}

impl Rows for AnchorRows {
    type Item = PageAnchors;
    type Cursor = PageIndex;

    fn cursor(item: &PageAnchors) -> PageIndex {
        item.page
    }

    fn read(
        &mut self,
        snapshot: &Snapshot,
        after: Option<PageIndex>,
        out: &mut VecDeque<PageAnchors>,
    ) -> Result<bool, PageDbError> {
        let Some(table) = snapshot.tables.anchors.0 else { return Ok(false) };
        let after = after.map(PageIndex::to_bytes);
        let mut bytes_left = CHUNK_BYTES;
        for row in range_after(&snapshot.txn, table, after.as_ref().map(|key| &key[..]))? {
            let (row, bytes) = row?;
            let page = PageIndex::from_bytes(row.try_into().map_err(|_| corrupted("anchors", row))?);
            out.push_back(PageAnchors { page, anchors: snapshot.anchors(page)? });
            bytes_left = bytes_left.saturating_sub(bytes.len());
            if bytes_left == 0 || out.len() == CHUNK_ROWS {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
