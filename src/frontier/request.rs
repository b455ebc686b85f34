//! Hand-outs: pages from the schedule to the spiders, under leases.

use std::sync::atomic::Ordering;

use super::batch::{MAX_EXPIRED, VISIBILITY_WAIT};
use super::{Frontier, FrontierError, Inner};
use crate::pagedb::{PageDbError, Snapshot};
use crate::schedule::Pick;
use crate::types::{PageKey, PageUrl, Score, Time, edit};

/// A page handed out to a spider.
#[derive(Debug, Clone, PartialEq)]
pub struct HandOut {
    pub url: PageUrl,
    pub score: Score,
    /// The name of its domain.
    pub domain: String,
    /// Links from the nearest seed, as far as known.
    pub depth: u32,
    /// When the lease ends; unanswered, the page is then handed out again.
    pub leased_until: Time,
    /// How often it was handed out since the last crawl and not answered.
    pub attempts: u32,
}

impl Frontier {
    /// Up to `n` pages, best first, each leased to the caller.
    ///
    /// On a quiet server the call sees every edit acknowledged before it; under load it does not wait for
    /// the writer as long as other pages can be handed out.
    ///
    /// # Errors
    /// What the tables say, or [`FrontierError::Closed`]; no page is lost then.
    pub async fn request(&self, n: usize) -> Result<Vec<HandOut>, FrontierError> {
        let inner = &*self.inner;
        if inner.intake.is_closed() {
            return Err(FrontierError::Closed);
        }
        if n == 0 {
            return Ok(Vec::new());
        }
        if inner.is_quiet() {
            inner.see_acknowledged().await;
        }
        let mut now = inner.clock.now();
        if inner.next_expiry.load(Ordering::Acquire) <= now.0 {
            inner.end_leases(now).await?;
        }
        let mut picks = Vec::with_capacity(n.min(1024));
        inner.take(n, now, &mut picks)?;
        if picks.len() < n && inner.see_acknowledged().await {
            now = inner.clock.now();
            inner.take(n - picks.len(), now, &mut picks)?;
        }
        inner.hand_out(&picks, now)
    }
}

impl Inner {
    /// Whether few edits are under way, so that waiting for them takes no time.
    fn is_quiet(&self) -> bool {
        const FEW: u64 = 16;
        let acknowledged = self.acknowledged.load(Ordering::Acquire);
        acknowledged.saturating_sub(self.applied.load(Ordering::Acquire)) <= FEW
    }

    /// Waits, but not for ever, until the edits acknowledged so far are applied. `false` if there were none.
    async fn see_acknowledged(&self) -> bool {
        let position = self.acknowledged.load(Ordering::Acquire);
        if position <= self.applied.load(Ordering::Acquire) {
            return false;
        }
        self.queue.hurry();
        tokio::time::timeout(VISIBILITY_WAIT, self.wait_applied(position)).await.is_ok()
    }

    fn take(&self, n: usize, now: Time, picks: &mut Vec<Pick>) -> Result<(), PageDbError> {
        let mut schedule = self.schedule.lock();
        let before = picks.len();
        let taken = schedule.take(n, now, picks);
        if taken.is_err() {
            schedule.give_back(&picks[before..], now).ok();
            picks.truncate(before);
        }
        taken
    }

    /// Resolves picks and sends their hand-out edit; on failure the pages go back.
    fn hand_out(&self, picks: &[Pick], now: Time) -> Result<Vec<HandOut>, FrontierError> {
        if picks.is_empty() {
            return Ok(Vec::new());
        }
        let until = now + self.options.lease;
        let resolved = self.db.snapshot().and_then(|snapshot| resolve(&snapshot, picks, until));
        let sent = resolved.map_err(FrontierError::from).and_then(|(keys, hand_outs)| {
            let mut bytes = Vec::with_capacity(32 + 8 * keys.len());
            edit::encode_hand_out(now, until, &keys, &mut bytes);
            self.submit_own(bytes).map_err(|_| FrontierError::Closed)?;
            Ok(hand_outs)
        });
        match &sent {
            Ok(_) => {
                self.next_expiry.fetch_min(until.0, Ordering::AcqRel);
                self.handed_out.fetch_add(picks.len() as u64, Ordering::Relaxed);
            }
            Err(_) => self.schedule.lock().give_back(picks, now)?,
        }
        sent
    }

    /// Ends the leases that are over, and waits until their pages are back in the schedule.
    async fn end_leases(&self, now: Time) -> Result<(), FrontierError> {
        // One caller ends them. The next batch sets the time anew, as there may be more than one edit names.
        if self.next_expiry.swap(u64::MAX, Ordering::AcqRel) > now.0 {
            return Ok(());
        }
        let mut pages = self.db.snapshot()?.leases_ended(now, MAX_EXPIRED)?;
        if pages.is_empty() {
            // The hand-outs are still on their way to the tables; whatever is sent now arrives after them.
            self.expire(now, &[]).await?;
            pages = self.db.snapshot()?.leases_ended(now, MAX_EXPIRED)?;
        }
        if pages.is_empty() { Ok(()) } else { self.expire(now, &pages).await }
    }

    async fn expire(&self, now: Time, pages: &[PageKey]) -> Result<(), FrontierError> {
        let mut bytes = Vec::new();
        edit::encode_expire(now, pages, &mut bytes);
        let position = match self.submit(vec![bytes]) {
            Ok(receipt) => receipt.durable().await,
            Err(error) => Err(error),
        };
        match position {
            Ok(position) => {
                self.queue.hurry();
                tokio::time::timeout(VISIBILITY_WAIT, self.wait_applied(position)).await.ok();
            }
            // Busy, or the disk is full: the next request tries again.
            Err(_) => drop(self.next_expiry.fetch_min(now.0, Ordering::AcqRel)),
        }
        Ok(())
    }
}

fn resolve(
    snapshot: &Snapshot,
    picks: &[Pick],
    leased_until: Time,
) -> Result<(Vec<PageKey>, Vec<HandOut>), PageDbError> {
    let mut keys = Vec::with_capacity(picks.len());
    let mut hand_outs = Vec::with_capacity(picks.len());
    let missing = |pick: &Pick| PageDbError::Corrupted { table: "urls", key: pick.index.to_string() };
    for pick in picks {
        let (key, url) = snapshot.url(pick.index)?.ok_or_else(|| missing(pick))?;
        let state = snapshot.state(key)?.ok_or_else(|| missing(pick))?;
        let domain = snapshot.domain_name(pick.domain)?;
        keys.push(key);
        hand_outs.push(HandOut {
            url,
            score: pick.score,
            domain,
            depth: state.depth,
            leased_until,
            attempts: state.attempts,
        });
    }
    Ok((keys, hand_outs))
}
