//! The settings of the server: defaults, then the settings file, then the environment, then flags.
//!
//! [`keys`] is the one table of keys: name, meaning, valid values and the field each sets. The file, the
//! environment and the flags all go through it, so that a value is refused in the same words everywhere.
//! `config/aduana.toml` is the manual.

pub mod error;
pub mod given;
pub mod keys;
pub mod load;
pub mod seeds;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::frontier::{MakeScorer, Options, ScoringOptions};
use crate::score::{self, Hits, PageRank, Stop};
use crate::types::{DomainUnit, SameSite, UrlHasher};

pub use error::SettingsError;
pub use keys::{KEYS, Key};
pub use load::{load, load_from};
pub use seeds::{SeedsError, read_seeds};

/// Everything the server can be told; each field is a key of the settings file, where it is explained.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub page_db_path: PathBuf,
    pub persist: bool,
    pub map_size: usize,
    pub max_backlog_bytes: u64,
    pub scorer: Scorer,
    pub use_scores: bool,
    pub page_rank_damping: f64,
    /// The key `score_links`.
    pub score_only_other_domains: bool,
    pub site_share: f64,
    /// In units of the mean score.
    pub score_precision: f64,
    pub score_max_loops: u32,
    pub score_new_pages: u64,
    pub score_growth: f64,
    pub score_update_interval: Option<Duration>,
    pub score_cpu_share: f64,
    pub score_threads: usize,
    pub score_memory: usize,
    /// Hand-outs a second; `f64::INFINITY` for no limit.
    pub soft_crawl_limit: f64,
    /// Hand-outs a second; `f64::INFINITY` for no limit.
    pub hard_crawl_limit: f64,
    pub crawl_limit_window: Duration,
    pub domain_unit: DomainUnit,
    pub same_site: SameSite,
    pub max_crawl_depth: Option<u32>,
    /// The key `lease_seconds`.
    pub lease: Duration,
    pub seeds: Option<PathBuf>,
    pub default_reqs: usize,
    pub max_reqs: usize,
    pub max_body_bytes: usize,
    pub address: IpAddr,
    pub port: u16,
    pub passwds: Option<Passwds>,
    pub ssl_key: Option<PathBuf>,
    pub ssl_cert: Option<PathBuf>,
    /// `tracing` filter directives.
    pub log_level: String,
}

/// What orders the pages, as named in the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scorer {
    /// The scores that the spiders give.
    None,
    PageRank,
    Hits,
}

impl Scorer {
    pub const NAMES: [(&'static str, Scorer); 3] =
        [("none", Scorer::None), ("pagerank", Scorer::PageRank), ("hits", Scorer::Hits)];
}

/// Logins with their passwords, plain or as argon2 hashes. `Debug` shows the logins only.
#[derive(Clone, PartialEq, Eq)]
pub struct Passwds(pub BTreeMap<String, String>);

impl fmt::Debug for Passwds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            page_db_path: "aduana.db".into(),
            persist: true,
            map_size: 64 << 30,
            max_backlog_bytes: 48 << 20,
            scorer: Scorer::None,
            use_scores: false,
            page_rank_damping: 0.85,
            score_only_other_domains: false,
            site_share: 0.2,
            score_precision: score::DEFAULT_PRECISION,
            score_max_loops: score::DEFAULT_MAX_LOOPS,
            score_new_pages: 100,
            score_growth: 0.05,
            score_update_interval: None,
            score_cpu_share: 0.25,
            score_threads: 0,
            score_memory: 256 << 20,
            soft_crawl_limit: 0.25,
            hard_crawl_limit: 100.0,
            crawl_limit_window: Duration::from_secs(60),
            domain_unit: DomainUnit::Host,
            same_site: SameSite::OFF,
            max_crawl_depth: None,
            lease: Duration::from_secs(3600),
            seeds: None,
            default_reqs: 10,
            max_reqs: 10_000,
            max_body_bytes: 16 << 20,
            address: Ipv4Addr::LOCALHOST.into(),
            port: 8000,
            passwds: None,
            ssl_key: None,
            ssl_cert: None,
            log_level: "info".to_owned(),
        }
    }
}

impl Settings {
    /// What the frontier is opened with.
    pub fn frontier_options(&self) -> Options {
        Options {
            path: self.page_db_path.clone(),
            persist: self.persist,
            domain_unit: self.domain_unit,
            same_site: self.same_site,
            soft_crawl_limit: self.soft_crawl_limit,
            hard_crawl_limit: self.hard_crawl_limit,
            crawl_limit_window: self.crawl_limit_window,
            lease: self.lease,
            max_crawl_depth: self.max_crawl_depth,
            // LMDB maps whole pages of memory, and no machine has larger ones than these.
            map_size: self.map_size.next_multiple_of(64 << 10),
            max_backlog_bytes: self.max_backlog_bytes,
            scoring: self.scoring_options(),
            hasher: UrlHasher::default(),
        }
    }

    fn scoring_options(&self) -> Option<ScoringOptions> {
        let (precision, max_loops, damping) =
            (self.score_precision, self.score_max_loops, self.page_rank_damping);
        let stop = Stop { precision, max_loops, ..Stop::default() };
        // The table of keys has seen to it that the numbers are in range.
        let scorer: MakeScorer = match self.scorer {
            Scorer::None => return None,
            Scorer::PageRank => Arc::new(move || Box::new(PageRank::new(damping, stop).unwrap_or_default())),
            Scorer::Hits => Arc::new(move || Box::new(Hits::new(stop).unwrap_or_default())),
        };
        Some(ScoringOptions {
            scorer,
            use_scores: self.use_scores,
            only_other_domains: self.score_only_other_domains,
            site_share: self.site_share,
            new_pages: self.score_new_pages,
            growth: self.score_growth,
            interval: self.score_update_interval,
            cpu_share: self.score_cpu_share,
            memory: self.score_memory,
            threads: self.score_threads,
            automatic: true,
        })
    }

    /// What is allowed, but seldom meant.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.address.is_loopback() {
            let address = self.address;
            if self.passwds.is_none() {
                warnings.push(format!(
                    "listening on {address} without passwds: whoever reaches this port can read and change \
                     the crawl (`aduana passwd` makes a password)"
                ));
            }
            if self.ssl_key.is_none() {
                warnings.push(format!(
                    "listening on {address} without TLS: pages and passwords travel in clear text \
                     (`aduana cert` makes a key and a certificate)"
                ));
            }
        }
        warnings
    }
}
