//! Looking up many keys in order: one pass over the table when they are many against its rows, a descent
//! for each when they are few.

use std::ops::Bound;

use heed::types::Bytes;
use heed::{RoRange, RoTxn};

use super::env::{PageDbError, Table};

/// Rows that a pass reads in the time of one descent (measured: some 20 ns against 400 ns).
const ROWS_A_DESCENT: usize = 16;

/// Lookups of ascending keys in one table.
pub(super) struct Sweep<'t> {
    txn: &'t RoTxn<'t>,
    table: Table,
    pass: Option<Pass<'t>>,
}

struct Pass<'t> {
    rows: RoRange<'t, Bytes, Bytes>,
    /// The first row not before the last key asked for.
    next: Option<(&'t [u8], &'t [u8])>,
}

impl<'t> Sweep<'t> {
    /// A sweep that starts at `first` and will look up about `keys` keys.
    pub fn new(
        txn: &'t RoTxn<'t>,
        table: Table,
        first: &[u8],
        keys: usize,
    ) -> Result<Sweep<'t>, PageDbError> {
        let rows = table.len(txn)? as usize;
        let pass = if keys.saturating_mul(ROWS_A_DESCENT) > rows {
            let mut rows = table.range(txn, &(Bound::Included(first), Bound::Unbounded))?;
            let next = rows.next().transpose()?;
            Some(Pass { rows, next })
        } else {
            None
        };
        Ok(Sweep { txn, table, pass })
    }

    /// The value of `key`, which must not be less than the key before.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<&'t [u8]>, PageDbError> {
        let Some(pass) = &mut self.pass else { return Ok(self.table.get(self.txn, key)?) };
        while let Some((row, value)) = pass.next {
            match row.cmp(key) {
                std::cmp::Ordering::Less => pass.next = pass.rows.next().transpose()?,
                std::cmp::Ordering::Equal => return Ok(Some(value)),
                std::cmp::Ordering::Greater => return Ok(None),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heed::EnvOpenOptions;

    #[test]
    fn a_pass_and_descents_find_the_same() {
        let dir = tempfile::tempdir().unwrap();
        // SAFETY: the directory is this test's own.
        let env = unsafe { EnvOpenOptions::new().map_size(1 << 24).open(dir.path()) }.unwrap();
        let mut txn = env.write_txn().unwrap();
        let table: Table = env.create_database(&mut txn, None).unwrap();
        for key in (0..1000u32).step_by(3) {
            table.put(&mut txn, &key.to_be_bytes(), &[key as u8]).unwrap();
        }
        let keys = [1u32, 3, 3, 7, 300, 998, 999, 1200];
        let look = |announced| {
            let mut sweep = Sweep::new(&txn, table, &keys[0].to_be_bytes(), announced).unwrap();
            keys.map(|key| sweep.get(&key.to_be_bytes()).unwrap())
        };
        let (descents, pass) = (look(0), look(1000));
        assert_eq!(descents, pass);
        assert_eq!(pass.map(|found| found.is_some()), [false, true, true, false, true, false, true, false]);
    }
}
