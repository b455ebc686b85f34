//! Consistent copies of the database, also while a server writes it.
//!
//! A plain copy has the file's pages as they are. A compact one is written anew: every table row by row in
//! order of key. Pages that grew by inserts at random are half to two thirds full; LMDB's own compaction leaves
//! them so and only drops the free ones. Rows that come in order fill each page before the next one begins.

use std::fs::File;
use std::path::Path;

use heed::{CompactionOption, MdbError, PutFlags};

use super::env::{PageDb, PageDbError, Snapshot, Tables, create_env};

/// Bytes written in one commit of a compact copy: LMDB keeps the pages of a transaction in memory.
const COMMIT_BYTES: usize = 64 << 20;

/// Rows between two reports of progress.
const PROGRESS_ROWS: u64 = 10_000;

impl PageDb {
    /// Writes a copy as of the last batch into the directory `to`, which is created; durable when it returns.
    ///
    /// # Errors
    /// What LMDB or the file system says; then `to` holds nothing of use.
    pub fn copy(&self, to: &Path) -> Result<(), PageDbError> {
        let io = |source| PageDbError::Io { path: to.into(), source };
        std::fs::create_dir_all(to).map_err(io)?;
        let file = loop {
            match self.env.copy_to_path(to.join("data.mdb"), CompactionOption::Disabled) {
                Err(heed::Error::Mdb(MdbError::MapResized)) => self.follow_growth()?,
                copied => break copied?,
            }
        };
        file.sync_all().map_err(io)?;
        sync_dir(to)
    }

    /// As [`PageDb::copy`], with every page of the copy as full as it can be. `progress` hears how many rows
    /// are done, of how many. The copy's source keeps all pages freed meanwhile.
    ///
    /// # Errors
    /// As [`PageDb::copy`].
    pub fn copy_compact(&self, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), PageDbError> {
        std::fs::create_dir_all(to).map_err(|source| PageDbError::Io { path: to.into(), source })?;
        let snapshot = self.snapshot()?;
        let (mut bytes, mut rows) = (0, 0);
        for (_, table) in snapshot.tables.named() {
            bytes += super::env::table_bytes(&table.stat(&snapshot.txn)?);
            rows += table.len(&snapshot.txn)?;
        }
        // Full pages need less room than the source's, and each commit frees a few; the map costs nothing.
        let (env, tables) = create_env(to, 2 * bytes as usize + 4 * COMMIT_BYTES)?;
        let mut copy = Copy { env: &env, snapshot: &snapshot, rows_done: 0, rows, progress };
        copy.tables(&tables)?;
        drop(env);
        sync_dir(to)
    }
}

struct Copy<'a> {
    env: &'a heed::Env<heed::WithoutTls>,
    snapshot: &'a Snapshot,
    rows_done: u64,
    rows: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Copy<'_> {
    fn tables(&mut self, to: &Tables) -> Result<(), PageDbError> {
        let mut txn = self.env.write_txn()?;
        let mut uncommitted = 0;
        for ((_, from), (_, to)) in self.snapshot.tables.named().into_iter().zip(to.named()) {
            for row in from.iter(&self.snapshot.txn)? {
                let (key, value) = row?;
                to.put_with_flags(&mut txn, PutFlags::APPEND, key, value)?;
                self.rows_done += 1;
                if self.rows_done.is_multiple_of(PROGRESS_ROWS) {
                    (self.progress)(self.rows_done, self.rows);
                }
                uncommitted += key.len() + value.len();
                if uncommitted >= COMMIT_BYTES {
                    txn.commit()?;
                    txn = self.env.write_txn()?;
                    uncommitted = 0;
                }
            }
        }
        txn.commit()?;
        (self.progress)(self.rows_done, self.rows);
        Ok(())
    }
}

/// Makes the names in a directory durable.
fn sync_dir(path: &Path) -> Result<(), PageDbError> {
    let synced = File::open(path).and_then(|dir| dir.sync_all());
    synced.map_err(|source| PageDbError::Io { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pagedb::PageDbOptions;
    use crate::pagedb::test_db::{TestDb, page};

    fn rows(db: &PageDb) -> Vec<(Vec<u8>, Vec<u8>)> {
        let snapshot = db.snapshot().unwrap();
        let mut out = Vec::new();
        for (_, table) in snapshot.tables.named() {
            out.extend(table.iter(&snapshot.txn).unwrap().map(|row| {
                let (key, value) = row.unwrap();
                (key.to_vec(), value.to_vec())
            }));
        }
        out
    }

    #[test]
    fn both_copies_have_every_row_and_are_sound() {
        let db = TestDb::with_everything();
        let dir = tempfile::tempdir().unwrap();
        let (plain, compact) = (dir.path().join("plain"), dir.path().join("a/compact"));
        db.db.copy(&plain).unwrap();
        let mut last = (0, 1);
        db.db.copy_compact(&compact, &mut |done, all| last = (done, all)).unwrap();
        assert_eq!(last.0, last.1);
        for path in [plain, compact] {
            let copy =
                PageDb::open(&path, PageDbOptions { map_size: 1 << 26, ..Default::default() }).unwrap();
            assert_eq!(rows(&copy), rows(&db.db));
            assert!(copy.check(&mut |_, _| ()).unwrap().is_ok());
        }
    }

    #[test]
    fn a_compact_copy_has_full_pages() {
        let mut db = TestDb::new();
        for part in 0..20 {
            let links: Vec<String> =
                (0..1_000).map(|n| format!("http://h{}.example/{part}/{n}", n % 50)).collect();
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            db.crawl(&page(&format!("http://start.example/{part}"), None, &links));
        }
        let dir = tempfile::tempdir().unwrap();
        db.db.copy_compact(dir.path(), &mut |_, _| ()).unwrap();
        let copy = PageDb::open_read_only(dir.path()).unwrap();
        let filled = |db: &PageDb| {
            let bytes: usize = rows(db).iter().map(|(key, value)| key.len() + value.len() + 10).sum();
            bytes as f64 / db.file_bytes().unwrap().1 as f64
        };
        let (before, after) = (filled(&db.db), filled(&copy));
        assert!(after > 0.9, "{before} {after}");
        assert!(before < 0.85, "{before} {after}");
    }
}
