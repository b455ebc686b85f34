//! The edit log in an LMDB environment of its own, so that its small synced commits never wait for a
//! batch of the PageDB. Append only, trimmed at the front; `docs/format.md`, "The edit log".

use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{Database, Env, EnvOpenOptions, MdbError, PutFlags, WithoutTls};

use super::{LogError, Position};
use crate::types::codec::{Reader, put_varint};

const FORMAT: u64 = 1;
pub(super) const FORMAT_KEY: &[u8] = b"format";

/// The map at first; it doubles when it is full.
const INITIAL_MAP: usize = 1 << 30;

/// Rows trimmed in one commit: a bound, because acknowledgements wait for the commit.
const MAX_TRIM: usize = 4_000;

type Table = Database<Bytes, Bytes>;

/// An edit log in a directory. One thread appends; reads happen before it starts.
pub struct LocalLog {
    env: Env<WithoutTls>,
    edits: Table,
    map_size: usize,
    next: Position,
    /// Every row up to here is trimmed.
    trimmed: Position,
}

impl LocalLog {
    /// Opens the log in `path`, creating it if absent. New edits get positions after both the log's last
    /// one and `applied`.
    ///
    /// # Errors
    /// [`LogError::Version`] for a log of another format; otherwise what LMDB says.
    pub fn open(path: &Path, applied: Position) -> Result<LocalLog, LogError> {
        std::fs::create_dir_all(path).map_err(|source| LogError::Io { path: path.into(), source })?;
        let file_size = std::fs::metadata(path.join("data.mdb")).map_or(0, |m| m.len() as usize);
        let map_size = INITIAL_MAP.max((file_size * 2).next_multiple_of(INITIAL_MAP));
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(map_size).max_dbs(2);
        // SAFETY: the caller holds the lock file of the whole database, so no other process maps this one
        // for writing, and nothing here truncates the file.
        let env = unsafe { options.open(path)? };
        let mut txn = env.write_txn()?;
        let info: Table = env.create_database(&mut txn, Some("info"))?;
        let edits: Table = env.create_database(&mut txn, Some("edits"))?;
        match info.get(&txn, FORMAT_KEY)? {
            Some(bytes) => check_format(bytes)?,
            None => {
                let mut value = Vec::new();
                put_varint(&mut value, FORMAT);
                info.put(&mut txn, FORMAT_KEY, &value)?;
            }
        }
        let last = edits.last(&txn)?.map(|(key, _)| position(key)).transpose()?.unwrap_or(0);
        let first = edits.first(&txn)?.map(|(key, _)| position(key)).transpose()?;
        txn.commit()?;
        let next = last.max(applied) + 1;
        Ok(LocalLog { env, edits, map_size, next, trimmed: first.unwrap_or(next) - 1 })
    }

    /// Appends edits in one durable commit and returns the position of the first. The same commit trims
    /// some of the edits up to `applied`, which nobody needs any more.
    ///
    /// # Errors
    /// What LMDB says (disk full, I/O): then nothing was appended.
    pub fn append(&mut self, edits: &[&[u8]], applied: Position) -> Result<Position, LogError> {
        loop {
            match self.try_append(edits, applied) {
                Err(LogError::Lmdb(heed::Error::Mdb(MdbError::MapFull))) => {
                    self.map_size *= 2;
                    // SAFETY: this is the only thread with transactions on this environment, and the
                    // failed one is over.
                    unsafe { self.env.resize(self.map_size)? };
                }
                done => return done,
            }
        }
    }

    fn try_append(&mut self, edits: &[&[u8]], applied: Position) -> Result<Position, LogError> {
        let mut txn = self.env.write_txn()?;
        let trim_to = applied.min(self.trimmed.saturating_add(MAX_TRIM.max(4 * edits.len()) as u64));
        for position in self.trimmed + 1..=trim_to {
            self.edits.delete(&mut txn, &position.to_be_bytes())?;
        }
        for (position, edit) in (self.next..).zip(edits) {
            self.edits.put_with_flags(&mut txn, PutFlags::APPEND, &position.to_be_bytes(), edit)?;
        }
        txn.commit()?;
        self.trimmed = self.trimmed.max(trim_to);
        let first = self.next;
        self.next += edits.len() as Position;
        Ok(first)
    }

    /// Edits after `position`, in order: as many as fit into `max_bytes`, but at least one if there is one.
    ///
    /// # Errors
    /// [`LogError::Corrupted`] for a key that is no position; otherwise what LMDB says.
    pub fn read_after(
        &self,
        position: Position,
        max_bytes: usize,
    ) -> Result<Vec<(Position, Vec<u8>)>, LogError> {
        let txn = self.env.read_txn()?;
        let start = position.to_be_bytes();
        let after = (Bound::Excluded(start.as_slice()), Bound::Unbounded);
        let mut out = Vec::new();
        let mut bytes = 0;
        for row in self.edits.range(&txn, &after)? {
            let (key, edit) = row?;
            bytes += edit.len();
            if bytes > max_bytes && !out.is_empty() {
                break;
            }
            out.push((self::position(key)?, edit.to_vec()));
        }
        Ok(out)
    }
}

pub(super) fn check_format(bytes: &[u8]) -> Result<(), LogError> {
    let found = Reader::new(bytes).varint().map_err(|_| LogError::Corrupted { key: "format".into() })?;
    if found == FORMAT { Ok(()) } else { Err(LogError::Version { found, supported: FORMAT }) }
}

pub(super) fn position(key: &[u8]) -> Result<Position, LogError> {
    match key.try_into() {
        Ok(bytes) => Ok(Position::from_be_bytes(bytes)),
        Err(_) => Err(LogError::Corrupted { key: format!("{key:02x?}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &Path, applied: Position) -> LocalLog {
        LocalLog::open(dir, applied).unwrap()
    }

    fn texts(log: &LocalLog, after: Position) -> Vec<(Position, String)> {
        let rows = log.read_after(after, usize::MAX).unwrap();
        rows.into_iter().map(|(p, bytes)| (p, String::from_utf8(bytes).unwrap())).collect()
    }

    #[test]
    fn edits_come_back_in_order_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = open(dir.path(), 0);
        assert_eq!(log.append(&[b"a", b"b"], 0).unwrap(), 1);
        assert_eq!(log.append(&[b"c"], 0).unwrap(), 3);
        drop(log);
        let mut log = open(dir.path(), 1);
        assert_eq!(texts(&log, 1), [(2, "b".to_owned()), (3, "c".to_owned())]);
        assert_eq!(log.append(&[b"d"], 0).unwrap(), 4);
    }

    #[test]
    fn applied_edits_are_trimmed_and_positions_never_repeat() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = open(dir.path(), 0);
        log.append(&[b"a", b"b", b"c"], 0).unwrap();
        log.append(&[b"d"], 3).unwrap();
        assert_eq!(texts(&log, 0), [(4, "d".to_owned())]);
        drop(log);
        // A PageDB that is ahead of the log (its copy was made later): positions go on after it.
        assert_eq!(open(dir.path(), 9).append(&[b"e"], 9).unwrap(), 10);
    }

    #[test]
    fn the_byte_limit_bounds_a_read_but_one_edit_always_comes() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = open(dir.path(), 0);
        log.append(&[&[1; 100], &[2; 100], &[3; 100]], 0).unwrap();
        assert_eq!(log.read_after(0, 250).unwrap().len(), 2);
        assert_eq!(log.read_after(0, 1).unwrap().len(), 1);
    }
}
