//! Reading table pages from disk many at a time.
//!
//! A batch looks its keys up one after the other. When the tables have outgrown memory each lookup waits for the
//! disk alone, which could serve dozens in the same time. So a walk over sorted keys looks back now and then: if it
//! has waited for pages, threads touch the leaves of the keys that come next, all together.

use std::ops::Bound;

use heed::{Env, RoTxn, WithoutTls};

use super::env::{PageDbError, Table};

/// Keys until a walk looks back for the first time.
const PROBE: usize = 256;

/// Keys whose leaves are read together: at most 32 MiB of them.
const BLOCK: usize = 8_192;

/// Reads under way at a time.
const READERS: usize = 16;

/// Reading pays when more than one key in so many had to wait.
const KEYS_A_FAULT: u64 = 32;

/// A walk over ascending keys of one table.
pub(super) struct Warm<'e> {
    env: &'e Env<WithoutTls>,
    table: Table,
    reach: Reach,
    /// Where the walk looks back next.
    next: usize,
    faults: u64,
    is_cold: bool,
}

/// What a walk visits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The rows of its keys.
    Keys,
    /// Those between them too.
    Between,
}

impl<'e> Warm<'e> {
    pub fn new(env: &'e Env<WithoutTls>, table: Table, reach: Reach) -> Warm<'e> {
        Warm { env, table, reach, next: PROBE, faults: faults(), is_cold: false }
    }

    /// To be called before the key number `at` of `n` is visited.
    #[inline]
    pub fn step<const N: usize>(
        &mut self,
        at: usize,
        n: usize,
        key: impl Fn(usize) -> [u8; N] + Sync,
    ) -> Result<(), PageDbError> {
        if at < self.next { Ok(()) } else { self.look(at, n, &key) }
    }

    /// Whether the walk has waited for the disk.
    pub fn is_cold(&self) -> bool {
        self.is_cold
    }

    #[cold]
    fn look<const N: usize>(
        &mut self,
        at: usize,
        n: usize,
        key: &(impl Fn(usize) -> [u8; N] + Sync),
    ) -> Result<(), PageDbError> {
        let (faults, keys) = (faults(), self.next.min(BLOCK) as u64);
        self.is_cold |= (faults - self.faults) * KEYS_A_FAULT > keys;
        self.faults = faults;
        self.next = at + BLOCK;
        if !self.is_cold {
            return Ok(());
        }
        let share = BLOCK.div_ceil(READERS);
        let (env, table, reach) = (self.env, self.table, self.reach);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (at..n.min(at + BLOCK))
                .step_by(share)
                .map(|first| {
                    let keys = first..n.min(first + share).min(at + BLOCK);
                    scope.spawn(move || {
                        let txn = env.read_txn()?;
                        match reach {
                            Reach::Keys => keys.into_iter().try_for_each(|at| touch(&txn, table, &key(at))),
                            Reach::Between => {
                                let last = if keys.end < n { Some(key(keys.end)) } else { None };
                                touch_all(&txn, table, &key(keys.start), last.as_ref().map(|key| &key[..]))
                            }
                        }
                    })
                })
                .collect();
            let join = |reader: std::thread::ScopedJoinHandle<'_, _>| match reader.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            readers.into_iter().try_for_each(join)
        })
    }
}

fn touch(txn: &RoTxn<'_, WithoutTls>, table: Table, key: &[u8]) -> Result<(), PageDbError> {
    std::hint::black_box(table.get(txn, key)?.and_then(|value| value.first()));
    Ok(())
}

fn touch_all(
    txn: &RoTxn<'_, WithoutTls>,
    table: Table,
    first: &[u8],
    last: Option<&[u8]>,
) -> Result<(), PageDbError> {
    let end = last.map_or(Bound::Unbounded, Bound::Excluded);
    for row in table.range(txn, &(Bound::Included(first), end))? {
        std::hint::black_box(row?);
    }
    Ok(())
}

/// How often this thread has waited for a page from disk; always 0 where the system does not tell.
fn faults() -> u64 {
    let Ok(stat) = std::fs::read_to_string("/proc/thread-self/stat") else { return 0 };
    // proc(5): the name, field 2, is in brackets and may hold blanks; field 12 is `majflt`.
    let field = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_ascii_whitespace().nth(9));
    field.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::pagedb::test_db::TestDb;

    /// Every key of a cold walk is read ahead of it, whatever its length.
    #[test]
    fn a_cold_walk_reads_all_its_keys_ahead() {
        let test = TestDb::new();
        let db = &test.db;
        let table = db.tables.hash2info;
        let mut txn = db.write().unwrap();
        for key in (0..50_000u32).step_by(2) {
            table.put(&mut txn, &key.to_be_bytes(), &[1; 9]).unwrap();
        }
        txn.commit().unwrap();
        for n in [0, 1, PROBE, PROBE + 1, PROBE + BLOCK, PROBE + BLOCK + 1, 3 * BLOCK] {
            for reach in [Reach::Keys, Reach::Between] {
                let asked = Mutex::new(vec![false; n]);
                let mut warm = Warm { is_cold: true, ..Warm::new(&db.env, table, reach) };
                for at in 0..n {
                    let key = |at| {
                        asked.lock().unwrap()[at] = true;
                        (at as u32).to_be_bytes()
                    };
                    warm.step(at, n, key).unwrap();
                    let is_ahead = reach == Reach::Between || at < PROBE || asked.lock().unwrap()[at];
                    assert!(is_ahead, "key {at} of {n}");
                }
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_tells_of_faults() {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        assert!(stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().count() > 40);
        assert!(faults() < u64::MAX / 2);
    }
}
