//! The old database's part in a merge: its URLs sorted as the import's are, and rows in order.

use std::path::PathBuf;

use heed::RoIter;
use heed::types::Bytes;

use super::sites::Sites;
use super::sorter::{Sorted, Sorter, Tie};
use super::{Phase, Progress};
use crate::pagedb::env::{InTable, PageDbError, Snapshot, Table, Tables, corrupted};
use crate::pagedb::url_record::UrlRecord;
use crate::types::codec::put_varint;
use crate::types::{PageIndex, PageKey};

/// Rows between two reports of progress.
const PROGRESS_ROWS: u64 = 100_000;

/// Every URL of the old database under the key that it hashes to: index, actual key, site, path.
pub(super) fn sorted_urls(
    old: Option<&Snapshot>,
    sites: &Sites,
    path: PathBuf,
    memory: usize,
    progress: Progress<'_>,
) -> Result<Sorted, PageDbError> {
    let mut sorter = Sorter::new(path, Tie::Pushed, memory);
    let Some(old) = old else { return sorter.finish(0) };
    let pages = old.tables.urls.len(&old.txn)?;
    let mut payload = Vec::new();
    for (n, row) in (0..).zip(old.tables.urls.iter(&old.txn)?) {
        let (row, bytes) = row?;
        let index = row.try_into().map(PageIndex::from_bytes).map_err(|_| corrupted("urls", row))?;
        let url = UrlRecord::decode(bytes).in_table("urls", row)?;
        let site = sites.number_of_old(url.key.domain(), url.site)?;
        payload.clear();
        put_varint(&mut payload, index.0);
        payload.extend_from_slice(&url.key.to_bytes());
        put_varint(&mut payload, site.into());
        payload.extend_from_slice(url.path.as_bytes());
        sorter.push(sites.natural_key(site, url.path).0, &payload)?;
        if n % PROGRESS_ROWS == 0 {
            progress(Phase::Sorting, n, pages);
        }
    }
    sorter.finish(memory / 8)
}

/// The rows of a table of the old database, in order of key; none if there is no old database, or no table.
pub(super) struct OldRows<'s> {
    rows: Option<RoIter<'s, Bytes, Bytes>>,
    next: Option<OldRow<'s>>,
}

/// Key and value.
pub(super) type OldRow<'s> = (&'s [u8], &'s [u8]);

impl<'s> OldRows<'s> {
    pub fn new<T: Into<Option<Table>>>(
        old: Option<&'s Snapshot>,
        table: impl FnOnce(&Tables) -> T,
    ) -> Result<OldRows<'s>, PageDbError> {
        let table = old.and_then(|old| Some((old, table(&old.tables).into()?)));
        let rows = table.map(|(old, table)| table.iter(&old.txn)).transpose()?;
        let mut rows = OldRows { rows, next: None };
        rows.advance()?;
        Ok(rows)
    }

    /// The next row, if its key is a wanted one.
    pub fn next_if(&mut self, wanted: impl FnOnce(&[u8]) -> bool) -> Result<Option<OldRow<'s>>, PageDbError> {
        let Some(next) = self.next.filter(|next| wanted(next.0)) else { return Ok(None) };
        self.advance()?;
        Ok(Some(next))
    }

    fn advance(&mut self) -> Result<(), PageDbError> {
        self.next = self.rows.as_mut().and_then(Iterator::next).transpose()?;
        Ok(())
    }
}

/// The page key of a row.
pub(super) fn page_key(table: &'static str, row: &[u8]) -> Result<PageKey, PageDbError> {
    row.try_into().map(PageKey::from_bytes).map_err(|_| corrupted(table, row))
}
