//! What works on a database's directory without its frontier, also while a server in another process has
//! it open: checking and copying.
//!
//! Both read the log before the PageDB. What the log has lost to trimming by then is applied, and so stands in
//! the PageDB that is read afterwards; what was acknowledged before the start stands in one of the two. Edits
//! that were applied in between stand in both: the PageDB's applied position is then beyond them, and
//! [`LocalLog::open`](crate::log::LocalLog::open) goes on after it. In the other order, edits that were applied
//! and trimmed in between would be in neither.

use std::io;
use std::path::Path;

use super::scoring::stored;
use super::{FrontierError, Options, layout, writer};
use crate::log::{self, LocalLog, LogError, LogSnapshot};
use crate::pagedb::{Kind, PageDb, PageDbError, PageDbOptions, Progress, Report, RoundScores, Rules};
use crate::types::{Edit, UrlHasher, WebEdit};

/// What a check of a directory found, and how big the tables are.
#[derive(Debug)]
pub struct Checked {
    pub report: Report,
    /// Whether the scores of the last scoring round were there to compare the pages with.
    pub scores_compared: bool,
    /// Edits in the log that are not applied yet.
    pub edits_waiting: u64,
    /// Name, rows and bytes of each table.
    pub tables: Vec<(&'static str, u64, u64)>,
    /// Bytes of the PageDB's file, and bytes of it that hold live data.
    pub file_bytes: u64,
    pub live_bytes: u64,
}

/// Checks PageDB and log of the database in `path`. `hasher` is the one that it was made with.
///
/// # Errors
/// If there is no database, or what LMDB says. Violations are no errors: they stand in the report.
pub fn check(path: &Path, hasher: UrlHasher, progress: Progress<'_>) -> Result<Checked, FrontierError> {
    let log = match LogSnapshot::open(&path.join(layout::LOG)) {
        Err(LogError::Missing { .. }) => None,
        log => Some(log?),
    };
    let db = PageDb::open_read_only(&path.join(layout::PAGES))?.with_hasher(hasher);
    let snapshot = db.snapshot()?;
    let applied = match snapshot.counters() {
        // What does not decode is told by the check of the PageDB.
        Err(PageDbError::Corrupted { .. }) => None,
        counters => Some(counters?.applied),
    };
    let mut of_log = Report::default();
    let edits_waiting = match (log, applied) {
        (Some(log), Some(applied)) => check_log(&log, applied, &mut of_log)?,
        (None, _) => {
            of_log.add(Kind::LogGap, || "there is no edit log".to_owned());
            0
        }
        (Some(_), None) => 0,
    };
    let scores = match snapshot.scoring() {
        Ok(scoring) => stored(&path.join(layout::SCORES), &scoring),
        Err(_) => None,
    };
    let mut report = snapshot.check(progress, scores.as_ref().map(|scores| scores as &dyn RoundScores))?;
    report.append(of_log);
    let tables = snapshot.table_sizes()?;
    let live_bytes = tables.iter().map(|(_, _, bytes)| bytes).sum();
    drop(snapshot);
    let (file_bytes, _) = db.file_bytes()?;
    let scores_compared = scores.is_some();
    Ok(Checked { report, scores_compared, edits_waiting, tables, file_bytes, live_bytes })
}

/// The edits after the applied position; returns how many there are.
fn check_log(log: &LogSnapshot, applied: log::Position, report: &mut Report) -> Result<u64, LogError> {
    let mut expected = applied + 1;
    log.for_each_after(applied, |position, edit| {
        if position != expected {
            report.add(Kind::LogGap, || format!("edit {position} follows edit {}", expected - 1));
        }
        expected = position + 1;
        if Edit::decode(edit).is_err() {
            report.add(Kind::LogEdit, || format!("edit {position} of {} bytes does not decode", edit.len()));
        }
    })
}

/// Applies edits to the database in `path`, which no server may have open; what its log still holds comes first.
///
/// # Errors
/// [`FrontierError::InUse`] while a server has it open; if there is no database, or what LMDB says.
pub fn edit(path: &Path, edits: &[WebEdit]) -> Result<(), FrontierError> {
    // Nothing is created for a database that is not there; and its settings are those it was made with.
    let db = PageDb::open_read_only(&path.join(layout::PAGES))?;
    let (naming, max_depth) = (db.naming(), db.snapshot()?.max_depth()?);
    drop(db);
    let lock = super::lock(path)?;
    let db = PageDb::open(&path.join(layout::PAGES), PageDbOptions { naming, ..PageDbOptions::default() })?;
    let applied = db.snapshot()?.counters()?.applied;
    let mut log = LocalLog::open(&path.join(layout::LOG), applied)?;
    let encode = |edit: &WebEdit| {
        let mut bytes = Vec::new();
        edit.encode(&mut bytes);
        bytes
    };
    let edits: Vec<Vec<u8>> = edits.iter().map(encode).collect();
    log.append(&edits.iter().map(Vec::as_slice).collect::<Vec<_>>(), applied)?;
    let rules = Rules { max_depth, ..Options::new(path).rules() };
    let applied = writer::recover(&db, &log, rules)?;
    log.append(&[], applied)?;
    drop(lock);
    Ok(())
}

/// Copies the database in `path` into the directory `to`, which must be absent or empty. With `compact` every
/// page of the copy is full ([`PageDb::copy_compact`]); `progress` hears of rows only then. The copy appears
/// when it is complete and durable.
///
/// # Errors
/// [`FrontierError::NotEmpty`]; otherwise what LMDB and the file system say. Nothing is left of the copy then.
pub fn backup(path: &Path, to: &Path, compact: bool, progress: Progress<'_>) -> Result<(), FrontierError> {
    let io = |source| FrontierError::Io { path: to.into(), source };
    let created = match std::fs::read_dir(to) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(FrontierError::NotEmpty { path: to.into() });
            }
            false
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Nothing is created for a database that is not there.
            drop(PageDb::open_read_only(&path.join(layout::PAGES))?);
            std::fs::create_dir_all(to).map_err(io)?;
            true
        }
        Err(error) => return Err(io(error)),
    };
    let copied = copy(path, to, compact, progress);
    if copied.is_err() {
        for name in [PAGES_PARTIAL, LOG_PARTIAL, layout::PAGES, layout::LOG] {
            // What was not created cannot be removed.
            std::fs::remove_dir_all(to.join(name)).ok();
        }
        if created {
            std::fs::remove_dir(to).ok();
        }
    }
    copied
}

/// Names while the copy is not complete: a backup that was killed is not taken for a database.
const PAGES_PARTIAL: &str = "pages.partial";
const LOG_PARTIAL: &str = "log.partial";

fn copy(path: &Path, to: &Path, compact: bool, progress: Progress<'_>) -> Result<(), FrontierError> {
    log::copy(&path.join(layout::LOG), &to.join(LOG_PARTIAL))?;
    let db = PageDb::open_read_only(&path.join(layout::PAGES))?;
    if compact {
        db.copy_compact(&to.join(PAGES_PARTIAL), progress)?;
    } else {
        db.copy(&to.join(PAGES_PARTIAL))?;
    }
    let finish = || {
        std::fs::rename(to.join(PAGES_PARTIAL), to.join(layout::PAGES))?;
        std::fs::rename(to.join(LOG_PARTIAL), to.join(layout::LOG))?;
        std::fs::File::open(to)?.sync_all()?;
        match to.canonicalize()?.parent() {
            Some(parent) => std::fs::File::open(parent)?.sync_all(),
            None => Ok(()),
        }
    };
    finish().map_err(|source| FrontierError::Io { path: to.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::edit;

    /// A database without a frontier: an empty PageDB and a log with these edits.
    fn database(edits: &[&[u8]]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let options = PageDbOptions { map_size: 1 << 26, ..PageDbOptions::default() };
        PageDb::open(&dir.path().join(layout::PAGES), options).unwrap();
        LocalLog::open(&dir.path().join(layout::LOG), 0).unwrap().append(edits, 0).unwrap();
        dir
    }

    fn kinds(path: &Path) -> Vec<Kind> {
        let checked = check(path, UrlHasher::default(), &mut |_, _| ()).unwrap();
        checked.report.counts.into_keys().collect()
    }

    fn seeds() -> Vec<u8> {
        let mut bytes = Vec::new();
        edit::encode_seeds(&[], &mut bytes);
        bytes
    }

    #[test]
    fn edits_that_wait_are_checked() {
        let seeds = seeds();
        let dir = database(&[&seeds, &seeds]);
        let checked = check(dir.path(), UrlHasher::default(), &mut |_, _| ()).unwrap();
        assert!(checked.report.is_ok(), "{checked:?}");
        assert_eq!(checked.edits_waiting, 2);
        assert_eq!(kinds(database(&[&seeds, &[99]]).path()), [Kind::LogEdit]);
    }

    #[test]
    fn a_log_that_lost_edits_is_reported() {
        let dir = database(&[&seeds()]);
        let mut log = LocalLog::open(&dir.path().join(layout::LOG), 5).unwrap();
        log.append(&[&seeds()], 0).unwrap();
        drop(log);
        assert_eq!(kinds(dir.path()), [Kind::LogGap]);
        std::fs::remove_dir_all(dir.path().join(layout::LOG)).unwrap();
        assert_eq!(kinds(dir.path()), [Kind::LogGap]);
    }

    #[test]
    fn a_backup_that_fails_leaves_nothing() {
        let dir = database(&[&seeds()]);
        let to = dir.path().join("a/copy");
        backup(dir.path(), &to, true, &mut |_, _| ()).unwrap();
        assert_eq!(kinds(&to), []);
        let again = backup(dir.path(), &to, true, &mut |_, _| ());
        assert!(matches!(again, Err(FrontierError::NotEmpty { .. })));
        assert_eq!(kinds(&to), []);

        std::fs::write(dir.path().join("log/data.mdb"), b"not a log").unwrap();
        let other = dir.path().join("other");
        assert!(backup(dir.path(), &other, false, &mut |_, _| ()).is_err());
        assert!(!other.exists());
        // A folder that was there stays.
        std::fs::create_dir(&other).unwrap();
        assert!(backup(dir.path(), &other, false, &mut |_, _| ()).is_err());
        assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0);
        let nowhere = dir.path().join("nowhere");
        assert!(backup(&nowhere, &dir.path().join("x"), false, &mut |_, _| ()).is_err());
        assert!(!dir.path().join("x").exists());
    }
}
