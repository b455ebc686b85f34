//! Counters for operators.

use std::sync::atomic::Ordering;

use serde::Serialize;

use super::{Frontier, FrontierError, ScoringStats};

/// Counters of the whole database, as of the last batch.
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
    /// Edits in the log that are not applied yet.
    pub backlog_edits: u64,
    /// Their bytes, with those not acknowledged yet.
    pub backlog_bytes: u64,
    /// Since this process started, as the following.
    pub pages_received: u64,
    pub urls_handed_out: u64,
    pub leases_expired: u64,
    pub batches_applied: u64,
    /// Bytes of the PageDB's file, and of it in use.
    pub file_bytes: u64,
    pub live_bytes: u64,
    /// Only with a scorer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoring: Option<ScoringStats>,
}

impl Frontier {
    /// # Errors
    /// What LMDB says.
    pub fn stats(&self) -> Result<Stats, FrontierError> {
        let inner = &*self.inner;
        let counters = *inner.counters.lock();
        let (file_bytes, live_bytes) = inner.db.file_bytes()?;
        Ok(Stats {
            pages: counters.pages,
            crawled: counters.crawled,
            scheduled: counters.scheduled,
            leased: counters.leased,
            links: counters.links,
            domains: counters.domains,
            domains_with_work: inner.schedule.lock().domains_with_work(),
            backlog_edits: inner
                .logged
                .load(Ordering::Acquire)
                .saturating_sub(inner.applied.load(Ordering::Acquire)),
            backlog_bytes: inner.backlog_bytes.load(Ordering::Acquire),
            pages_received: inner.pages_received.load(Ordering::Relaxed),
            urls_handed_out: inner.handed_out.load(Ordering::Relaxed),
            leases_expired: inner.expired.load(Ordering::Relaxed),
            batches_applied: inner.batches.load(Ordering::Relaxed),
            file_bytes,
            live_bytes,
            scoring: self.scoring_stats(),
        })
    }
}
