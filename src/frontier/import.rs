//! Import in bulk into a database that no server has open: it is written anew beside the old one and takes its
//! place at the end, at once. Until then the old one is what it was, and can be read.

use std::io;
use std::path::Path;

use super::{FrontierError, Options, layout, writer};
use crate::log::LocalLog;
use crate::pagedb::bulk::{BulkError, BulkOptions, EditBatch, Imported, Progress, build};
use crate::pagedb::{PageDb, PageDbError, PageDbOptions};
use crate::types::{DomainUnit, Naming, SameSite, UrlHasher};

/// The new PageDB while it is not complete; after the exchange what is left of the old one.
pub const PAGES_PARTIAL: &str = "pages.partial";

/// Less memory makes more runs than can be merged at once with buffers worth the name.
pub const LEAST_MEMORY: usize = 32 << 20;

/// What an import is made with.
#[derive(Debug, Clone, Copy)]
pub struct ImportOptions {
    /// Bytes of memory for sorting; at least [`LEAST_MEMORY`] are taken.
    pub memory: usize,
    /// For a new database; must be the stored one of an old database, if it is given.
    pub domain_unit: Option<DomainUnit>,
    /// The same.
    pub same_site: Option<SameSite>,
    /// For a new database; an old one keeps its own.
    pub max_crawl_depth: Option<u32>,
    pub hasher: UrlHasher,
}

/// Why an import failed; the database is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ImportError<E> {
    /// The input could not be read.
    #[error("{0}")]
    Source(E),
    #[error(transparent)]
    Frontier(#[from] FrontierError),
}

/// Adds edits to the database in `path`, which is created if absent. `source` fills a batch with a megabyte or so
/// of edits and says whether there is more.
///
/// What an import that was killed has left is removed. What the log still holds is applied first.
///
/// # Errors
/// [`FrontierError::InUse`] if a server has it open; what the source says; otherwise what LMDB and the file system
/// say.
pub fn import<E: Send>(
    path: &Path,
    options: ImportOptions,
    source: impl FnMut(&mut EditBatch) -> Result<bool, E> + Send,
    progress: Progress<'_>,
) -> Result<Imported, ImportError<E>> {
    let was_there = path.exists();
    let lock = super::lock(path)?;
    let imported = import_locked(path, options, source, progress);
    if imported.is_err() {
        remove(&path.join(PAGES_PARTIAL)).ok();
        if !was_there {
            std::fs::remove_file(path.join(layout::LOCK)).ok();
            // Fails if there is more in it: then that stays.
            std::fs::remove_dir(path).ok();
        }
    }
    drop(lock);
    imported
}

/// Removes what an import that was killed has left. Whoever calls it holds the lock, so that none is under way.
pub(super) fn remove_remains(path: &Path) {
    if let Err(error) = remove(&path.join(PAGES_PARTIAL)) {
        tracing::warn!(%error, "cannot remove what an import has left in {PAGES_PARTIAL}");
    }
}

fn import_locked<E: Send>(
    path: &Path,
    options: ImportOptions,
    source: impl FnMut(&mut EditBatch) -> Result<bool, E> + Send,
    progress: Progress<'_>,
) -> Result<Imported, ImportError<E>> {
    let io = |source| FrontierError::Io { path: path.into(), source };
    let (pages, partial) = (path.join(layout::PAGES), path.join(PAGES_PARTIAL));
    remove(&partial).map_err(io)?;
    let old = open_old(path, options)?;
    let naming = Naming {
        domain_unit: options.domain_unit.unwrap_or_default(),
        same_site: options.same_site.unwrap_or_default(),
        hasher: options.hasher,
    };
    let page_db = PageDbOptions { naming, ..PageDbOptions::default() };
    let bulk =
        BulkOptions { memory: options.memory.max(LEAST_MEMORY), page_db, max_depth: options.max_crawl_depth };
    let imported = build(old.as_ref(), &partial, &bulk, source, progress).map_err(|error| match error {
        BulkError::Source(error) => ImportError::Source(error),
        BulkError::PageDb(error) => ImportError::Frontier(error.into()),
    })?;
    // LMDB wants an environment closed before its files go.
    drop(old);
    if !path.join(layout::LOG).exists() {
        drop(LocalLog::open(&path.join(layout::LOG), 0).map_err(FrontierError::from)?);
    }
    exchange(&partial, &pages).and_then(|()| sync(path)).map_err(io)?;
    // The old one now; if it cannot be removed, the next start does.
    remove(&partial).ok();
    Ok(imported)
}

/// The database that is there, with all that its log holds applied.
fn open_old(path: &Path, options: ImportOptions) -> Result<Option<PageDb>, FrontierError> {
    let (pages, log) = (path.join(layout::PAGES), path.join(layout::LOG));
    if !pages.exists() && !log.exists() {
        return Ok(None);
    }
    let stored = match PageDb::open_read_only(&pages) {
        Err(PageDbError::Missing { .. }) => None,
        found => Some(found?),
    };
    let depth = stored.as_ref().map(|db| db.snapshot()?.max_depth()).transpose()?;
    let kept = stored.as_ref().map(PageDb::naming).unwrap_or_default();
    drop(stored);
    let frontier = Options {
        domain_unit: options.domain_unit.unwrap_or(kept.domain_unit),
        same_site: options.same_site.unwrap_or(kept.same_site),
        max_crawl_depth: depth.unwrap_or(options.max_crawl_depth),
        hasher: options.hasher,
        ..Options::new(path)
    };
    let db = PageDb::open(&pages, frontier.page_db())?;
    writer::growing(&db, || db.set_max_depth(frontier.rules()))?;
    let applied = db.snapshot()?.counters()?.applied;
    let log = LocalLog::open(&log, applied)?;
    writer::recover(&db, &log, frontier.rules())?;
    Ok(Some(db))
}

/// Puts the new environment into the old one's place. Whenever the process or the machine ends, one of the two
/// stands there, whole.
fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    if !old.exists() {
        return std::fs::rename(new, old);
    }
    match swap(new, old) {
        Err(error) if is_unsupported(&error) => replace_file(new, old),
        swapped => swapped,
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn swap(new: &Path, old: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn swap(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// File systems differ in how they say that they cannot exchange names.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

/// As [`exchange`], where names cannot be exchanged: the table of readers goes first, as it is one of the old file,
/// then the file is replaced.
fn replace_file(new: &Path, old: &Path) -> io::Result<()> {
    match std::fs::remove_file(old.join("lock.mdb")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => (),
    }
    std::fs::rename(new.join("data.mdb"), old.join("data.mdb"))?;
    sync(old)
}

/// Makes the names in a directory durable.
fn sync(path: &Path) -> io::Result<()> {
    std::fs::File::open(path)?.sync_all()
}

fn remove(dir: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_files_stand_in_the_place_of_the_old_ones_either_way() {
        for way in [exchange, replace_file] {
            let dir = tempfile::tempdir().unwrap();
            let (new, old) = (dir.path().join("new"), dir.path().join("old"));
            for (environment, text) in [(&new, "new"), (&old, "old")] {
                std::fs::create_dir(environment).unwrap();
                for file in ["data.mdb", "lock.mdb"] {
                    std::fs::write(environment.join(file), text).unwrap();
                }
            }
            way(&new, &old).unwrap();
            assert_eq!(std::fs::read(old.join("data.mdb")).unwrap(), b"new");
            // No reader of the new file may find the old one's table.
            assert!(
                std::fs::read(old.join("lock.mdb")).is_ok_and(|text| text == b"new")
                    || !old.join("lock.mdb").exists()
            );
            remove(&new).unwrap();
            remove(&new).unwrap();
        }
    }
}
