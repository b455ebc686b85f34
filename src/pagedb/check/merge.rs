//! A second table read beside the first, both in order of key.

use heed::types::Bytes;
use heed::{RoIter, RoTxn};

use crate::pagedb::env::{PageDbError, Table};

/// Key and value.
type Row<'t> = (&'t [u8], &'t [u8]);

pub struct Merge<'t> {
    rows: RoIter<'t, Bytes, Bytes>,
    next: Option<Row<'t>>,
}

impl<'t> Merge<'t> {
    pub fn new(txn: &'t RoTxn<'_>, table: Table) -> Result<Merge<'t>, PageDbError> {
        let mut rows = table.iter(txn)?;
        let next = rows.next().transpose()?;
        Ok(Merge { rows, next })
    }

    /// The next row if its key is less than `key` (without one: any row).
    pub fn before(&mut self, key: Option<&[u8]>) -> Result<Option<Row<'t>>, PageDbError> {
        self.next_if(|row| key.is_none_or(|key| row < key))
    }

    /// The next row if `wanted` says so of its key.
    pub fn next_if(&mut self, wanted: impl FnOnce(&[u8]) -> bool) -> Result<Option<Row<'t>>, PageDbError> {
        let Some(row) = self.next.filter(|(key, _)| wanted(key)) else { return Ok(None) };
        self.next = self.rows.next().transpose()?;
        Ok(Some(row))
    }
}
