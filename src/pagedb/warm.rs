//! Reading table pages from disk many at a time.
//!
//! A batch looks its keys up one after the other. When the tables have outgrown memory each lookup waits for the
//! disk alone, which could serve dozens in the same time. So a walk over sorted keys looks back now and then: if it
//! has waited for pages, threads touch the leaves of the keys that come next, all together. That changes no result:
//! whatever fails in them is left to the walk itself.

use std::ops::{Bound, Range};

use heed::{Env, RoTxn, WithoutTls};

use super::env::Table;

/// Keys until a walk looks back for the first time.
const PROBE: usize = 256;

/// Keys whose leaves are read together: at most 32 MiB of them.
const BLOCK: usize = 8_192;

/// Reads under way at a time.
const READERS: usize = 16;

/// The rows that a reader touches at most: its keys may have any number between them.
const MOST_ROWS: usize = BLOCK / READERS * 64;

/// A walk is cold when more than one key in so many had to wait.
const KEYS_A_FAULT: u64 = 8;

/// A walk over ascending keys of one table.
pub(super) struct Warm<'e> {
    env: &'e Env<WithoutTls>,
    table: Table,
    reach: Reach,
    /// Where the walk looks back next, and how often it had waited when it did so last.
    next: usize,
    faults: Option<u64>,
    is_cold: bool,
}

/// What a walk visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The rows of its keys.
    Keys,
    /// Those between them too.
    Between,
}

impl<'e> Warm<'e> {
    pub fn new(env: &'e Env<WithoutTls>, table: Table, reach: Reach) -> Warm<'e> {
        Warm { env, table, reach, next: 0, faults: None, is_cold: false }
    }

    /// To be called before the key number `at` of `n` is visited; the first is number 0.
    #[inline]
    pub fn step<const N: usize>(&mut self, at: usize, n: usize, key: impl Fn(usize) -> [u8; N] + Sync) {
        if at >= self.next {
            self.look(at, n, &key);
        }
    }

    /// Whether the walk has waited for the disk.
    pub fn is_cold(&self) -> bool {
        self.is_cold
    }

    #[cold]
    fn look<const N: usize>(&mut self, at: usize, n: usize, key: &(impl Fn(usize) -> [u8; N] + Sync)) {
        if at == 0 {
            // A short walk is not worth the question.
            self.faults = if n > PROBE { faults() } else { None };
            self.next = PROBE;
            return;
        }
        let now = faults();
        // The keys since the last look are as many as it provided for: those of the probe, or a block.
        let waited = now.zip(self.faults).map_or(0, |(now, before)| now.saturating_sub(before));
        self.is_cold |= waited * KEYS_A_FAULT > self.next.min(BLOCK) as u64;
        (self.faults, self.next) = (now, at + BLOCK);
        if self.is_cold {
            self.read(at..n.min(at + BLOCK), n, key);
        }
    }

    /// Touches the leaves of some of the `n` keys.
    fn read<const N: usize>(&self, keys: Range<usize>, n: usize, key: &(impl Fn(usize) -> [u8; N] + Sync)) {
        let (env, table, reach) = (self.env, self.table, self.reach);
        let share = BLOCK / READERS;
        std::thread::scope(|scope| {
            for first in keys.clone().step_by(share) {
                let keys = first..keys.end.min(first + share);
                let read = move || {
                    let txn = env.read_txn()?;
                    match reach {
                        Reach::Keys => keys.into_iter().try_for_each(|at| touch(&txn, table, &key(at))),
                        Reach::Between => {
                            let end = (keys.end < n).then(|| key(keys.end));
                            let end = end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(&end[..]));
                            touch_all(&txn, table, (Bound::Included(&key(keys.start)[..]), end))
                        }
                    }
                };
                let reader = std::thread::Builder::new().name("aduana-ahead".into());
                if reader.spawn_scoped(scope, read).is_err() {
                    return;
                }
            }
        });
    }
}

fn touch(txn: &RoTxn<'_, WithoutTls>, table: Table, key: &[u8]) -> heed::Result<()> {
    std::hint::black_box(table.get(txn, key)?.and_then(|value| value.first()));
    Ok(())
}

fn touch_all(
    txn: &RoTxn<'_, WithoutTls>,
    table: Table,
    range: (Bound<&[u8]>, Bound<&[u8]>),
) -> heed::Result<()> {
    for row in table.range(txn, &range)?.take(MOST_ROWS) {
        std::hint::black_box(row?);
    }
    Ok(())
}

/// How often this thread has waited for a page from disk; `None` where the system does not tell.
fn faults() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    // proc(5): the name, field 2, is in brackets and may hold blanks; field 12 is `majflt`.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(9)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::pagedb::test_db::TestDb;

    /// Every key of a cold walk is read before the walk comes to it; between keys, every share is.
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
                    warm.step(at, n, |at| {
                        asked.lock().unwrap()[at] = true;
                        (at as u32).to_be_bytes()
                    });
                    let in_block = at.saturating_sub(PROBE) % BLOCK;
                    let first_of_share = at - in_block % (BLOCK / READERS);
                    let wanted = if reach == Reach::Keys { at } else { first_of_share };
                    assert!(at < PROBE || asked.lock().unwrap()[wanted], "{reach:?}: key {at} of {n}");
                }
                assert!(asked.lock().unwrap().iter().take(PROBE).all(|asked| !asked));
            }
        }
    }

    /// Where nothing can be told nothing is read ahead, and nothing fails.
    #[test]
    fn a_walk_that_does_not_know_is_not_cold() {
        let test = TestDb::new();
        let mut warm = Warm::new(&test.db.env, test.db.tables.hash2info, Reach::Keys);
        for at in 0..2 * BLOCK {
            if at == PROBE {
                warm.faults = Some(u64::MAX);
            }
            warm.step(at, 2 * BLOCK, |at| (at as u32).to_be_bytes());
        }
        assert!(!warm.is_cold());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_tells_of_faults() {
        let before = faults().unwrap();
        assert!(faults().unwrap() >= before);
    }
}
