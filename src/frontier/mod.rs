//! The one handle on a crawl: what the server, the tools and the tests talk to. Cloneable, thread-safe.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::types::{Clock, CrawledPage, DomainUnit, Link, PageUrl, Score, Time, UrlHasher};

/// What a frontier is opened with.
#[derive(Clone)]
pub struct Options {
    /// The directory of the database; created if absent.
    pub path: PathBuf,
    /// `false` deletes the database when the frontier is closed.
    pub persist: bool,
    pub domain_unit: DomainUnit,
    /// Hand-outs a second of a domain up to which it is preferred; `f64::INFINITY` for no limit.
    pub soft_crawl_limit: f64,
    /// Hand-outs a second of a domain that are never exceeded; `f64::INFINITY` for no limit.
    pub hard_crawl_limit: f64,
    /// The window T of the domain temperature n' = -n/T.
    pub crawl_limit_window: Duration,
    pub lease: Duration,
    /// Pages deeper than this are known but never scheduled.
    pub max_crawl_depth: Option<u32>,
    /// Bytes of address space reserved for the tables at first; it grows by itself.
    pub map_size: usize,
    /// Bytes of acknowledged edits that may wait to be applied; beyond it edits are refused as busy.
    pub max_backlog_bytes: u64,
    pub hasher: UrlHasher,
}

#[derive(Clone)]
pub struct Frontier {
    _inner: Arc<()>,
}

/// Why edits were not taken.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    #[error("the server has more edits waiting than max_backlog_bytes allows; try again in a moment")]
    Busy,
    #[error("the frontier is closing")]
    Closed,
    /// Disk full, I/O error: the edits are not stored.
    #[error("cannot store the edits: {0}")]
    Storage(String),
}

/// Any other failure: database of another version, locked, corrupted, I/O.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    #[error("{0}")]
    Other(String),
}

/// A page handed out to a spider.
#[derive(Debug, Clone, PartialEq)]
pub struct HandOut {
    pub url: PageUrl,
    pub score: Score,
    /// The name of its domain.
    pub domain: String,
    /// Links from the nearest seed.
    pub depth: u32,
    /// When the lease ends and the page is handed out again.
    pub leased_until: Time,
    /// How often it was handed out before and did not come back.
    pub attempts: u32,
}

/// Counters of the whole database.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// Known URLs.
    pub pages: u64,
    pub crawled: u64,
    pub scheduled: u64,
    pub leased: u64,
    pub links: u64,
    pub domains: u64,
    /// Domains that have pages waiting.
    pub domains_with_work: u64,
    /// Edits acknowledged but not applied yet, and their bytes.
    pub backlog_edits: u64,
    pub backlog_bytes: u64,
    /// Since this process started.
    pub pages_received: u64,
    pub urls_handed_out: u64,
    pub leases_expired: u64,
    pub batches_applied: u64,
    /// Bytes of the PageDB file, and of it in use.
    pub file_bytes: u64,
    pub live_bytes: u64,
}

/// Resolves when the edits it stands for are durable.
pub struct Receipt {}

impl Receipt {
    pub async fn durable(self) -> Result<(), SubmitError> {
        todo!()
    }
}

impl Frontier {
    /// Opens or creates the database, applies what the log still holds, loads the schedule.
    pub fn open(_options: Options, _clock: Arc<dyn Clock>) -> Result<Frontier, FrontierError> {
        todo!()
    }

    /// Takes crawled pages as a unit: all or none become durable. Never blocks on the disk.
    pub fn submit(&self, _pages: &[CrawledPage]) -> Result<Receipt, SubmitError> {
        todo!()
    }

    /// Resolves when the backlog has room again (for streams, instead of refusing them as busy).
    pub async fn room(&self) {
        todo!()
    }

    /// Makes URLs known at depth 0; those known already keep their place, with the better score.
    pub fn submit_seeds(&self, _seeds: &[Link]) -> Result<Receipt, SubmitError> {
        todo!()
    }

    /// Up to `n` pages, best first; each is leased. Sees every edit acknowledged before the call unless
    /// the writer is far behind.
    pub async fn request(&self, _n: usize) -> Result<Vec<HandOut>, FrontierError> {
        todo!()
    }

    pub fn stats(&self) -> Result<Stats, FrontierError> {
        todo!()
    }

    /// `Err` says why the frontier cannot take edits (disk full, closing); `Ok` if it can.
    pub fn ready(&self) -> Result<(), String> {
        todo!()
    }

    /// Takes no more edits, applies all that wait, commits, closes; idempotent.
    pub fn close(&self) -> Result<(), FrontierError> {
        todo!()
    }
}
