//! The LMDB environment: opening, versions, transactions, and growing the map while the server runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, MdbError, RoTxn, RwTxn, WithoutTls};
use parking_lot::lock_api::ArcRwLockReadGuard;
use parking_lot::{RawRwLock, RwLock};

use super::anchors::AnchorTable;
use super::apply::Merging;
use super::info;
use super::scoring::Scoring;
use crate::types::codec::{Malformed, Reader};
use crate::types::{Naming, UrlHasher};

/// Why the PageDB failed.
#[derive(Debug, thiserror::Error)]
pub enum PageDbError {
    #[error("the PageDB: {0}")]
    Lmdb(heed::Error),
    /// The map is too small for the batch; the writer grows it and tries again.
    #[error("the PageDB's map is full")]
    MapFull,
    #[error("table {table} is corrupted at key {key}: restore a backup")]
    Corrupted { table: &'static str, key: String },
    #[error(
        "the database in {path} has format {found}; this version reads formats up to {supported}: use the aduana version that wrote it"
    )]
    Version { path: PathBuf, found: u64, supported: u64 },
    #[error(
        "the database was made with {setting} = {stored}, and its keys depend on it: set {setting} = {stored}, or start with a new page_db_path"
    )]
    Setting { setting: &'static str, stored: String },
    #[error("{path} holds no aduana database")]
    Missing { path: PathBuf },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
}

impl From<heed::Error> for PageDbError {
    fn from(error: heed::Error) -> Self {
        match error {
            heed::Error::Mdb(MdbError::MapFull) => PageDbError::MapFull,
            other => PageDbError::Lmdb(other),
        }
    }
}

/// How long a reader whose map is too small waits for its other snapshots to end.
const GROWTH_WAIT: Duration = Duration::from_secs(10);

/// A table of bytes to bytes; the codecs stand beside it.
pub(super) type Table = Database<Bytes, Bytes>;

/// All tables; `docs/format.md` specifies each byte.
#[derive(Clone, Copy)]
pub(super) struct Tables {
    pub info: Table,
    pub hash2idx: Table,
    pub hash2info: Table,
    pub urls: Table,
    pub links: Table,
    pub domains: Table,
    pub sites: Table,
    pub content: Table,
    pub schedule: Table,
    pub leases: Table,
    pub anchors: AnchorTable,
}

impl Tables {
    pub(super) const NAMES: [&'static str; 11] = [
        "info",
        "hash2idx",
        "hash2info",
        "urls",
        "links",
        "domains",
        "sites",
        "content",
        "schedule",
        "leases",
        "anchors",
    ];

    /// Creates the tables that are not there.
    fn create(env: &Env<WithoutTls>, txn: &mut RwTxn<'_>) -> Result<Tables, PageDbError> {
        let mut create = |name| Ok(env.create_database(txn, Some(name))?);
        let anchors = AnchorTable(Some(create("anchors")?));
        Tables::try_new(create, anchors)
    }

    /// Opens each table by its name.
    fn try_new(
        mut table: impl FnMut(&'static str) -> Result<Table, PageDbError>,
        anchors: AnchorTable,
    ) -> Result<Tables, PageDbError> {
        Ok(Tables {
            info: table("info")?,
            hash2idx: table("hash2idx")?,
            hash2info: table("hash2info")?,
            urls: table("urls")?,
            links: table("links")?,
            domains: table("domains")?,
            sites: table("sites")?,
            content: table("content")?,
            schedule: table("schedule")?,
            leases: table("leases")?,
            anchors,
        })
    }

    /// Each table that is there, in the order of [`Tables::NAMES`].
    pub(super) fn named(&self) -> Vec<(&'static str, Table)> {
        let mut named = vec![
            ("info", self.info),
            ("hash2idx", self.hash2idx),
            ("hash2info", self.hash2info),
            ("urls", self.urls),
            ("links", self.links),
            ("domains", self.domains),
            ("sites", self.sites),
            ("content", self.content),
            ("schedule", self.schedule),
            ("leases", self.leases),
        ];
        named.extend(self.anchors.0.map(|anchors| ("anchors", anchors)));
        named
    }
}

/// What a PageDB is opened with.
#[derive(Debug, Clone, Copy)]
pub struct PageDbOptions {
    /// Bytes of address space reserved at first.
    pub map_size: usize,
    /// Of an existing database: its own.
    pub naming: Naming,
    pub merging: Merging,
}

impl Default for PageDbOptions {
    fn default() -> Self {
        PageDbOptions { map_size: 64 << 30, naming: Naming::default(), merging: Merging::default() }
    }
}

/// The page database: one LMDB environment, one writer, any number of short readers.
pub struct PageDb {
    pub(super) env: Env<WithoutTls>,
    pub(super) tables: Tables,
    pub(super) options: PageDbOptions,
    /// Readers hold it shared while they have a transaction; growing the map takes it alone, because LMDB
    /// moves the map under their feet.
    gate: Arc<RwLock<()>>,
}

/// A consistent view of all tables. Short-lived: while it exists, pages freed since are not reused.
pub struct Snapshot {
    // Dropped in this order: the transaction must end before the gate opens.
    pub(super) txn: RoTxn<'static, WithoutTls>,
    pub(super) tables: Tables,
    pub(super) naming: Naming,
    _gate: ArcRwLockReadGuard<RawRwLock, ()>,
}

impl PageDb {
    /// Opens the database in the directory `path`, creating it if absent.
    ///
    /// # Errors
    /// [`PageDbError::Version`] and [`PageDbError::Setting`] for a database that this process cannot go on
    /// with; otherwise what LMDB or the file system says.
    pub fn open(path: &Path, options: PageDbOptions) -> Result<PageDb, PageDbError> {
        std::fs::create_dir_all(path).map_err(|source| PageDbError::Io { path: path.into(), source })?;
        let env = open_env(path, options.map_size, EnvFlags::empty())?;
        let mut txn = env.write_txn()?;
        if let Some(info) = env.open_database::<Bytes, Bytes>(&txn, Some("info"))? {
            check_format(path, info.get(&txn, info::FORMAT_KEY)?)?;
        }
        let tables = Tables::create(&env, &mut txn)?;
        let Naming { domain_unit, same_site, .. } = options.naming;
        match info::stored_units(&tables, &txn)? {
            None => {
                let unit = info::domain_unit_name(domain_unit);
                tables.info.put(&mut txn, info::DOMAIN_UNIT_KEY, unit.as_bytes())?;
                if let Some(same_site) = info::encode_same_site(same_site) {
                    tables.info.put(&mut txn, info::SAME_SITE_KEY, same_site.as_bytes())?;
                }
                tables.info.put(&mut txn, info::COUNTERS_KEY, &info::Counters::default().encode())?;
                tables.info.put(&mut txn, info::MAX_DEPTH_KEY, &info::encode_max_depth(None))?;
            }
            Some((stored, _)) if stored != domain_unit => {
                let stored = format!("\"{}\"", info::domain_unit_name(stored));
                return Err(PageDbError::Setting { setting: "domain_unit", stored });
            }
            Some((_, stored)) if stored != same_site => {
                let stored = format!("{:?}", stored.names().collect::<Vec<_>>());
                return Err(PageDbError::Setting { setting: "same_site", stored });
            }
            Some(_) => {}
        }
        let mut format = Vec::new();
        crate::types::codec::put_varint(&mut format, info::FORMAT);
        if tables.info.get(&txn, info::FORMAT_KEY)? != Some(&format) {
            // A new database, or one of format 1.
            tables.info.put(&mut txn, info::FORMAT_KEY, &format)?;
            tables.info.put(&mut txn, info::SCORING_KEY, &Scoring::none().encode())?;
        }
        txn.commit()?;
        Ok(PageDb { env, tables, options, gate: Arc::default() })
    }

    /// Opens an existing database for reading, also while a server writes it.
    ///
    /// # Errors
    /// [`PageDbError::Missing`] if there is none; otherwise as [`PageDb::open`].
    pub fn open_read_only(path: &Path) -> Result<PageDb, PageDbError> {
        let missing = || PageDbError::Missing { path: path.into() };
        let file = std::fs::metadata(path.join("data.mdb")).map_err(|_| missing())?;
        // Room for the server to grow in; `snapshot` makes more when it is used up.
        let map_size = (file.len() as usize * 2).next_multiple_of(1 << 30);
        let env = open_env(path, map_size, EnvFlags::READ_ONLY)?;
        let txn = env.read_txn()?;
        let info = env.open_database::<Bytes, Bytes>(&txn, Some("info"))?.ok_or_else(missing)?;
        check_format(path, info.get(&txn, info::FORMAT_KEY)?)?;
        // Came later than the others.
        let anchors = AnchorTable(env.open_database(&txn, Some("anchors"))?);
        let open = |name| env.open_database(&txn, Some(name))?.ok_or_else(missing);
        let tables = Tables::try_new(open, anchors)?;
        let (domain_unit, same_site) = info::stored_units(&tables, &txn)?.unwrap_or_default();
        // Committing makes the handles of the tables outlive the transaction.
        txn.commit()?;
        let naming = Naming { domain_unit, same_site, ..Naming::default() };
        let options = PageDbOptions { map_size, naming, ..PageDbOptions::default() };
        Ok(PageDb { env, tables, options, gate: Arc::default() })
    }

    /// A view of the tables as of the last batch.
    ///
    /// # Errors
    /// What LMDB says.
    pub fn snapshot(&self) -> Result<Snapshot, PageDbError> {
        loop {
            // Recursive: a thread that reads already must not wait for a writer that waits for it.
            let gate = RwLock::read_arc_recursive(&self.gate);
            match self.env.clone().static_read_txn() {
                Ok(txn) => {
                    let naming = self.options.naming;
                    return Ok(Snapshot { txn, tables: self.tables, naming, _gate: gate });
                }
                Err(heed::Error::Mdb(MdbError::MapResized)) => {
                    drop(gate);
                    self.follow_growth()?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes the map of a reader larger than the file, which a server in another process has grown.
    pub(super) fn follow_growth(&self) -> Result<(), PageDbError> {
        // Whoever holds a snapshot and asks for another would wait for itself.
        let alone = self.gate.try_write_for(GROWTH_WAIT);
        let Some(_alone) = alone else { return Err(heed::Error::Mdb(MdbError::MapResized).into()) };
        let size = self.env.real_disk_size()? as usize * 2;
        if size > self.env.info().map_size {
            // SAFETY: the gate is held alone, so no thread of this process has a transaction.
            unsafe { self.env.resize(size.next_multiple_of(1 << 20))? };
        }
        Ok(())
    }

    /// The same database, whose keys were made with another hasher than the default.
    #[must_use]
    pub fn with_hasher(mut self, hasher: UrlHasher) -> PageDb {
        self.options.naming.hasher = hasher;
        self
    }

    /// How its pages and domains got their names.
    pub fn naming(&self) -> Naming {
        self.options.naming
    }

    pub(super) fn write(&self) -> Result<RwTxn<'_>, PageDbError> {
        Ok(self.env.write_txn()?)
    }

    /// Doubles the map. Waits until every snapshot is dropped: the caller must hold none.
    ///
    /// # Errors
    /// What LMDB says (no address space left).
    pub fn grow(&self) -> Result<(), PageDbError> {
        let _alone = self.gate.write();
        let size = self.env.info().map_size * 2;
        // SAFETY: the gate is held alone, so no reader has a transaction; the writer, the only other user,
        // is the caller and has ended its own.
        unsafe { self.env.resize(size)? };
        Ok(())
    }

    /// Bytes of the file, and bytes of it that hold live data.
    ///
    /// # Errors
    /// What LMDB or the file system says.
    pub fn file_bytes(&self) -> Result<(u64, u64), PageDbError> {
        let live = self.table_sizes()?.into_iter().map(|(_, _, bytes)| bytes).sum();
        Ok((self.env.real_disk_size()?, live))
    }

    /// Rows and bytes of each table, by name.
    ///
    /// # Errors
    /// What LMDB says.
    pub fn table_sizes(&self) -> Result<Vec<(&'static str, u64, u64)>, PageDbError> {
        self.snapshot()?.table_sizes()
    }
}

impl Snapshot {
    /// Rows and bytes of each table, by name.
    ///
    /// # Errors
    /// What LMDB says.
    pub fn table_sizes(&self) -> Result<Vec<(&'static str, u64, u64)>, PageDbError> {
        let mut out = Vec::new();
        for (name, table) in self.tables.named() {
            let stat = table.stat(&self.txn)?;
            out.push((name, stat.entries as u64, table_bytes(&stat)));
        }
        Ok(out)
    }
}

pub(super) fn table_bytes(stat: &heed::DatabaseStat) -> u64 {
    ((stat.branch_pages + stat.leaf_pages + stat.overflow_pages) * stat.page_size as usize) as u64
}

fn open_env(path: &Path, map_size: usize, flags: EnvFlags) -> Result<Env<WithoutTls>, PageDbError> {
    let page = 4096;
    let file_size = std::fs::metadata(path.join("data.mdb")).map_or(0, |m| m.len() as usize);
    let map_size = map_size.max(file_size).max(64 * page).next_multiple_of(page);
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(map_size).max_dbs(Tables::NAMES.len() as u32).max_readers(1024);
    // SAFETY: one process writes (the lock file sees to that), and nothing truncates the file. The one flag
    // that weakens durability, `NO_SYNC`, is given only to a file that is synced before it is used.
    Ok(unsafe { options.flags(flags | EnvFlags::NO_READ_AHEAD).open(path)? })
}

/// A new environment with empty tables, for a copy.
pub(super) fn create_env(path: &Path, map_size: usize) -> Result<(Env<WithoutTls>, Tables), PageDbError> {
    let env = open_env(path, map_size, EnvFlags::empty())?;
    let mut txn = env.write_txn()?;
    let tables = Tables::create(&env, &mut txn)?;
    txn.commit()?;
    Ok((env, tables))
}

/// A new environment with empty tables, which nobody uses before [`Env::force_sync`]: its commits are not
/// synced.
pub(super) fn create_unsynced_env(
    path: &Path,
    map_size: usize,
) -> Result<(Env<WithoutTls>, Tables), PageDbError> {
    let env = open_env(path, map_size, EnvFlags::NO_SYNC)?;
    let mut txn = env.write_txn()?;
    let tables = Tables::create(&env, &mut txn)?;
    txn.commit()?;
    Ok((env, tables))
}

fn check_format(path: &Path, bytes: Option<&[u8]>) -> Result<(), PageDbError> {
    let found = match bytes {
        Some(bytes) => Reader::new(bytes).varint().map_err(|_| corrupted("info", info::FORMAT_KEY))?,
        None => return Err(PageDbError::Missing { path: path.into() }),
    };
    if (info::OLDEST_FORMAT..=info::FORMAT).contains(&found) {
        Ok(())
    } else {
        Err(PageDbError::Version { path: path.into(), found, supported: info::FORMAT })
    }
}

/// The error for a row that does not decode.
pub(super) fn corrupted(table: &'static str, key: &[u8]) -> PageDbError {
    let key = key.iter().map(|byte| format!("{byte:02x}")).collect();
    PageDbError::Corrupted { table, key }
}

/// Names the row whose value did not decode.
pub(super) trait InTable<T> {
    fn in_table(self, table: &'static str, key: &[u8]) -> Result<T, PageDbError>;
}

impl<T> InTable<T> for Result<T, Malformed> {
    fn in_table(self, table: &'static str, key: &[u8]) -> Result<T, PageDbError> {
        self.map_err(|Malformed| corrupted(table, key))
    }
}

#[cfg(test)]
mod tests;
