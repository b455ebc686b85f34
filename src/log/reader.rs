//! Reading a log beside the server that writes it.

use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{CompactionOption, Database, Env, EnvFlags, EnvOpenOptions, MdbError, RoTxn, WithoutTls};

use super::local::{self, FORMAT_KEY};
use super::{LogError, Position};

/// The map is larger than the file, so that the server's growth does not outrun the reader.
const HEADROOM: usize = 1 << 30;

/// Tries to open a log that grows beyond the map again and again.
const MAX_TRIES: usize = 10;

/// A log as it was at one moment. While it exists, LMDB does not reuse what is trimmed meanwhile.
pub struct LogSnapshot {
    txn: RoTxn<'static, WithoutTls>,
    edits: Option<Database<Bytes, Bytes>>,
}

impl LogSnapshot {
    /// Opens the log in `path`, which a server in another process may be writing.
    ///
    /// # Errors
    /// [`LogError::Missing`] if there is none, [`LogError::Version`] for one of another format; otherwise what
    /// LMDB says.
    pub fn open(path: &Path) -> Result<LogSnapshot, LogError> {
        with_env(path, |env| {
            let txn = env.clone().static_read_txn()?;
            let info = env.open_database::<Bytes, Bytes>(&txn, Some("info"))?;
            let edits = env.open_database(&txn, Some("edits"))?;
            match info.map(|info| info.get(&txn, FORMAT_KEY)).transpose()?.flatten() {
                Some(format) => local::check_format(format)?,
                None => return Err(LogError::Missing { path: path.into() }),
            }
            Ok(LogSnapshot { txn, edits })
        })
    }

    /// Calls `visit` for each edit after `position`, in order; returns how many there were.
    ///
    /// # Errors
    /// [`LogError::Corrupted`] for a key that is no position; otherwise what LMDB says.
    pub fn for_each_after(
        &self,
        position: Position,
        mut visit: impl FnMut(Position, &[u8]),
    ) -> Result<u64, LogError> {
        let Some(edits) = self.edits else { return Ok(0) };
        let start = position.to_be_bytes();
        let after = (Bound::Excluded(start.as_slice()), Bound::Unbounded);
        let mut n = 0;
        for row in edits.range(&self.txn, &after)? {
            let (key, edit) = row?;
            visit(local::position(key)?, edit);
            n += 1;
        }
        Ok(n)
    }
}

/// Writes a consistent copy of the log in `from` into the directory `to`, which is created; durable when it
/// returns. A server in another process may be writing the log.
///
/// # Errors
/// As [`LogSnapshot::open`], and what the file system says.
pub fn copy(from: &Path, to: &Path) -> Result<(), LogError> {
    let io = |source| LogError::Io { path: to.into(), source };
    std::fs::create_dir_all(to).map_err(io)?;
    // Without the free pages: a log is mostly those, once its edits are applied.
    with_env(from, |env| {
        let file = env.copy_to_path(to.join("data.mdb"), CompactionOption::Enabled)?;
        file.sync_all().map_err(io)
    })?;
    std::fs::File::open(to).and_then(|dir| dir.sync_all()).map_err(io)
}

/// Does something with the environment; again with a larger map if the log has outgrown it meanwhile.
fn with_env<T>(
    path: &Path,
    mut act: impl FnMut(&Env<WithoutTls>) -> Result<T, LogError>,
) -> Result<T, LogError> {
    let file = path.join("data.mdb");
    for tries in 1.. {
        let len = std::fs::metadata(&file).map_err(|_| LogError::Missing { path: path.into() })?.len();
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size((len as usize * 2 + HEADROOM).next_multiple_of(HEADROOM)).max_dbs(2);
        // SAFETY: opened for reading only, and LMDB's lock file coordinates with a server that writes.
        let env = unsafe { options.flags(EnvFlags::READ_ONLY).open(path)? };
        match act(&env) {
            Err(LogError::Lmdb(heed::Error::Mdb(MdbError::MapResized))) if tries < MAX_TRIES => {}
            done => return done,
        }
    }
    Err(LogError::Lmdb(heed::Error::Mdb(MdbError::MapResized)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LocalLog;

    #[test]
    fn a_copy_has_what_was_not_trimmed() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("log"), dir.path().join("copy"));
        let mut log = LocalLog::open(&from, 0).unwrap();
        log.append(&[b"a", b"b"], 0).unwrap();
        log.append(&[b"c"], 1).unwrap();
        drop(log);
        copy(&from, &to).unwrap();
        for path in [&from, &to] {
            let snapshot = LogSnapshot::open(path).unwrap();
            let mut found = Vec::new();
            let n = snapshot.for_each_after(0, |at, edit| found.push((at, edit.to_vec()))).unwrap();
            assert_eq!((n, found), (2, vec![(2, b"b".to_vec()), (3, b"c".to_vec())]));
        }
        let log = LocalLog::open(&to, 0).unwrap();
        assert_eq!(log.read_after(2, usize::MAX).unwrap().len(), 1);
    }

    #[test]
    fn a_folder_without_a_log_is_told() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(LogSnapshot::open(dir.path()), Err(LogError::Missing { .. })));
        assert!(matches!(copy(dir.path(), &dir.path().join("to")), Err(LogError::Missing { .. })));
    }
}
