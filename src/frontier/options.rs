//! What a frontier is opened with.

use std::path::PathBuf;
use std::time::Duration;

use super::ScoringOptions;
use crate::pagedb::{PageDbOptions, Rules};
use crate::schedule::temperature::Limits;
use crate::types::{DomainUnit, Naming, SameSite, UrlHasher};

/// What a frontier is opened with; the settings file explains each value.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory of the database; created if absent.
    pub path: PathBuf,
    /// `false` deletes the database when the frontier is closed.
    pub persist: bool,
    pub domain_unit: DomainUnit,
    /// Which sites count as one; a database keeps what it was made with.
    pub same_site: SameSite,
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
    /// What orders the pages; `None`: the scores that spiders and seeds give.
    pub scoring: Option<ScoringOptions>,
    pub hasher: UrlHasher,
}

impl Options {
    /// The defaults, for a database in `path`.
    pub fn new(path: impl Into<PathBuf>) -> Options {
        Options {
            path: path.into(),
            persist: true,
            domain_unit: DomainUnit::Host,
            same_site: SameSite::OFF,
            soft_crawl_limit: 0.25,
            hard_crawl_limit: 100.0,
            crawl_limit_window: Duration::from_secs(60),
            lease: Duration::from_secs(3600),
            max_crawl_depth: None,
            map_size: 64 << 30,
            max_backlog_bytes: 48 << 20,
            scoring: None,
            hasher: UrlHasher::default(),
        }
    }

    pub(super) fn limits(&self) -> Limits {
        Limits::new(self.soft_crawl_limit, self.hard_crawl_limit, self.crawl_limit_window.as_secs_f64())
    }

    pub(super) fn rules(&self) -> Rules {
        Rules { heat_window: self.limits().window(), max_depth: self.max_crawl_depth }
    }

    pub(super) fn page_db(&self) -> PageDbOptions {
        let Options { map_size, domain_unit, same_site, hasher, .. } = *self;
        let naming = Naming { domain_unit, same_site, hasher };
        PageDbOptions { map_size, naming, ..PageDbOptions::default() }
    }
}
