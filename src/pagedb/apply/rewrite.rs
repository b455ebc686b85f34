//! Bringing many sorted changes to a table: each by itself or, when they are many against the table's rows, in one
//! pass that merges them with the rows and writes the table anew, as Nutch's WebDB does always (seed 000). A pass
//! reads and writes in order of key and leaves full leaves behind; single changes touch only their own leaves.
//!
//! The other read transactions of a batch, here and in `warm`, need no gate against the growing of the map: only the
//! writer grows it, between batches.

use std::ops::Range;

use heed::{Env, PutFlags, RwTxn, WithoutTls};

use crate::pagedb::env::{PageDbError, Table};
use crate::pagedb::warm::{Reach, Warm};

/// Rows that a merge copies in the time of one change by itself, while the table is in memory (measured by
/// `cargo bench --bench batches`): LMDB puts a row into a leaf that it has at hand as fast as it appends one.
const ROWS_A_CHANGE: usize = 1;

/// The same when leaves come from disk (`docs/architecture.md` has the measurement).
const ROWS_A_COLD_CHANGE: usize = 32;

/// How a batch's changes come to the large tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Merging {
    /// As is faster by what was measured: by a merge when the changes are many against the rows.
    #[default]
    Measured,
    Never,
    Always,
}

/// What the writing of changes needs besides them.
#[derive(Clone, Copy)]
pub(super) struct Way<'e> {
    pub env: &'e Env<WithoutTls>,
    /// [`Merging::Never`] if the transaction may have changed the tables already.
    pub merging: Merging,
    /// The batch has waited for leaves to come from disk.
    pub is_cold: bool,
}

/// Changes of one table whose keys have `N` bytes, in order of key.
#[derive(Default)]
pub(super) struct RowChanges<const N: usize> {
    /// A key, and where its new value stands; none for a row to be deleted.
    rows: Vec<([u8; N], Option<Range<usize>>)>,
    values: Vec<u8>,
}

impl<const N: usize> RowChanges<N> {
    /// `encode` appends the value.
    pub fn put(&mut self, key: [u8; N], encode: impl FnOnce(&mut Vec<u8>)) {
        let start = self.values.len();
        encode(&mut self.values);
        self.rows.push((key, Some(start..self.values.len())));
    }

    pub fn delete(&mut self, key: [u8; N]) {
        self.rows.push((key, None));
    }

    /// Brings the changes to `table`.
    pub fn write(&self, txn: &mut RwTxn<'_>, way: Way<'_>, table: Table) -> Result<(), PageDbError> {
        let rows_a_change = if way.is_cold { ROWS_A_COLD_CHANGE } else { ROWS_A_CHANGE };
        let merges = match way.merging {
            Merging::Never => false,
            Merging::Always => !self.rows.is_empty(),
            Merging::Measured => self.rows.len().saturating_mul(rows_a_change) > table.len(txn)? as usize,
        };
        if merges { self.merge(txn, way.env, table) } else { self.put_each(txn, way.env, table) }
    }

    fn put_each(&self, txn: &mut RwTxn<'_>, env: &Env<WithoutTls>, table: Table) -> Result<(), PageDbError> {
        let mut warm = Warm::new(env, table, Reach::Keys);
        for (at, (key, value)) in self.rows.iter().enumerate() {
            warm.step(at, self.rows.len(), |at| self.rows[at].0);
            match value {
                Some(value) => table.put(txn, key, &self.values[value.clone()])?,
                None => drop(table.delete(txn, key)?),
            }
        }
        Ok(())
    }

    fn merge(&self, txn: &mut RwTxn<'_>, env: &Env<WithoutTls>, table: Table) -> Result<(), PageDbError> {
        // What was committed last is what `txn` began with: the pages of the emptied table stay until it commits.
        let before = env.read_txn()?;
        table.clear(txn)?;
        let mut rows = table.iter(&before)?;
        let mut next = rows.next().transpose()?;
        let mut warm = Warm::new(env, table, Reach::Between);
        let append =
            |txn: &mut RwTxn<'_>, key, value| table.put_with_flags(txn, PutFlags::APPEND, key, value);
        for (at, (key, value)) in self.rows.iter().enumerate() {
            warm.step(at, self.rows.len(), |at| self.rows[at].0);
            while let Some((row, old)) = next.filter(|(row, _)| *row <= &key[..]) {
                if row < &key[..] {
                    append(txn, row, old)?;
                }
                next = rows.next().transpose()?;
            }
            if let Some(value) = value {
                append(txn, key, &self.values[value.clone()])?;
            }
        }
        while let Some((row, old)) = next {
            append(txn, row, old)?;
            next = rows.next().transpose()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::pagedb::test_db::TestDb;

    type Rows = BTreeMap<u32, Vec<u8>>;

    fn rows() -> impl Strategy<Value = Rows> {
        proptest::collection::btree_map(0..200u32, proptest::collection::vec(any::<u8>(), 0..40), 0..150)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Both ways end with the rows that a plain map has.
        #[test]
        fn a_merge_does_what_single_changes_do(
            old in rows(),
            changes in proptest::collection::btree_map(
                0..200u32,
                proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40)),
                0..150,
            ),
        ) {
            let test = TestDb::new();
        let db = &test.db;
            let table = db.tables.hash2info;
            let mut expected = old.clone();
            let mut list = RowChanges::<4>::default();
            for (key, value) in &changes {
                match value {
                    Some(value) => {
                        list.put(key.to_be_bytes(), |out| out.extend_from_slice(value));
                        expected.insert(*key, value.clone());
                    }
                    None => {
                        list.delete(key.to_be_bytes());
                        expected.remove(key);
                    }
                }
            }
            for merging in [Merging::Never, Merging::Always, Merging::Measured] {
                for is_cold in [false, true] {
                    let mut txn = db.write().unwrap();
                    table.clear(&mut txn).unwrap();
                    for (key, value) in &old {
                        table.put(&mut txn, &key.to_be_bytes(), value).unwrap();
                    }
                    txn.commit().unwrap();
                    let mut txn = db.write().unwrap();
                    list.write(&mut txn, Way { env: &db.env, merging, is_cold }, table).unwrap();
                    txn.commit().unwrap();
                    let txn = db.env.read_txn().unwrap();
                    let found: Rows = table
                        .iter(&txn)
                        .unwrap()
                        .map(|row| row.unwrap())
                        .map(|(key, value)| (u32::from_be_bytes(key.try_into().unwrap()), value.to_vec()))
                        .collect();
                    prop_assert_eq!(&found, &expected, "{:?}", merging);
                }
            }
        }
    }

    #[test]
    fn the_table_is_merged_when_the_changes_are_many() {
        let test = TestDb::new();
        let db = &test.db;
        let table = db.tables.hash2info;
        let fill = |n: u32, way: Way<'_>| {
            let mut list = RowChanges::<4>::default();
            (0..n).for_each(|key| list.put((key * 7).to_be_bytes(), |out| out.push(1)));
            let mut txn = db.write().unwrap();
            list.write(&mut txn, way, table).unwrap();
            txn.commit().unwrap();
            let txn = db.env.read_txn().unwrap();
            table.stat(&txn).unwrap().leaf_pages
        };
        let way = |is_cold| Way { env: &db.env, merging: Merging::Measured, is_cold };
        let appended = fill(20_000, way(false));
        // One by one into leaves that are full: they split.
        let mut txn = db.write().unwrap();
        (0..20_000u32).for_each(|key| table.put(&mut txn, &(key * 7 + 3).to_be_bytes(), &[1]).unwrap());
        txn.commit().unwrap();
        let split = fill(2_000, way(false));
        assert!(split > 2 * appended, "{split} leaves of {appended}");
        // So few are merged only where leaves come from disk.
        let merged = fill(2_000, way(true));
        assert!(merged <= 2 * appended + 1, "{merged} leaves of {appended}");
    }
}
