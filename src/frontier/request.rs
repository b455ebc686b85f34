//! Hand-outs: pages from the schedule to the spiders, under leases.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::batch::{MAX_EXPIRED, MOVING_WAIT, OVERTAKEN_BY, OVERTAKEN_FOR, VISIBILITY_WAIT};
use super::writer::Hurry;
use super::{Frontier, FrontierError, Inner};
use crate::log::Position;
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
    /// the writer as long as other pages can be handed out. Dropping the future hands nothing out.
    ///
    /// # Errors
    /// What the tables say, or [`FrontierError::Closed`]; no page is lost then.
    pub async fn request(&self, n: usize) -> Result<Vec<HandOut>, FrontierError> {
        let taken = self.inner.take(n).await?;
        taken.hand_out(|snapshot, pick, key, url, leased_until| {
            let missing = || PageDbError::Corrupted { table: "hash2idx", key: key.to_string() };
            let state = snapshot.state(key)?.ok_or_else(missing)?;
            let domain = snapshot.domain_name(pick.domain)?;
            let (depth, attempts) = (state.depth, state.attempts);
            Ok(HandOut { url, score: pick.score, domain, depth, leased_until, attempts })
        })
    }

    /// As [`Frontier::request`], but only the URLs, which costs half as much.
    ///
    /// # Errors
    /// As [`Frontier::request`].
    pub async fn request_urls(&self, n: usize) -> Result<Vec<PageUrl>, FrontierError> {
        self.inner.take(n).await?.hand_out(|_, _, _, url, _| Ok(url))
    }
}

/// Pages taken from the schedule; they go back unless they are handed out.
struct Taken<'a> {
    inner: &'a Inner,
    picks: Vec<Pick>,
    now: Time,
}

impl Taken<'_> {
    fn fill(&mut self, n: usize) -> Result<(), PageDbError> {
        let missing = n - self.picks.len();
        let mut schedule = self.inner.schedule.lock();
        // Now, and not when the request came: the limits count when pages really go out.
        self.now = self.inner.clock.now();
        schedule.take(missing, self.now, &mut self.picks)
    }

    /// Resolves the pages and sends their hand-out edit.
    fn hand_out<T>(
        mut self,
        describe: impl Fn(&Snapshot, &Pick, PageKey, PageUrl, Time) -> Result<T, PageDbError>,
    ) -> Result<Vec<T>, FrontierError> {
        if self.picks.is_empty() {
            return Ok(Vec::new());
        }
        let until = self.now + self.inner.options.lease;
        let snapshot = self.inner.db.snapshot()?;
        let mut keys = Vec::with_capacity(self.picks.len());
        let mut hand_outs = Vec::with_capacity(self.picks.len());
        let mut deleted = Vec::new();
        for pick in &self.picks {
            // The schedule may not have heard yet that a page was deleted.
            let Some((key, url)) = snapshot.url(pick.index)? else {
                deleted.push(*pick);
                continue;
            };
            keys.push(key);
            hand_outs.push(describe(&snapshot, pick, key, url, until)?);
        }
        if !deleted.is_empty() {
            self.inner.schedule.lock().give_back(&deleted, self.now)?;
            self.picks.retain(|pick| !deleted.contains(pick));
            if keys.is_empty() {
                return Ok(hand_outs);
            }
        }
        let mut bytes = Vec::with_capacity(32 + 8 * keys.len());
        edit::encode_hand_out(self.now, until, &keys, &mut bytes);
        self.inner.submit_own(bytes).map_err(|_| FrontierError::Closed)?;
        self.inner.next_expiry.fetch_min(until.0, Ordering::AcqRel);
        self.inner.handed_out.fetch_add(keys.len() as u64, Ordering::Relaxed);
        self.picks.clear();
        Ok(hand_outs)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if self.picks.is_empty() {
            return;
        }
        if let Err(error) = self.inner.schedule.lock().give_back(&self.picks, self.now) {
            tracing::error!(%error, "pages taken but not handed out wait for the next start");
        }
    }
}

impl Inner {
    /// Waits, but not for ever, until the edits acknowledged so far are applied; `Hurry::Now` not while
    /// others keep telling of pages. `false` if there was nothing to wait for, or no waiting.
    async fn see_acknowledged(&self, hurry: Hurry) -> bool {
        let position = self.acknowledged.load(Ordering::Acquire);
        if position <= self.applied_position() || (hurry == Hurry::Now && self.overtaken.is_recent()) {
            return false;
        }
        let before = self.acknowledgements.load(Ordering::Acquire);
        self.queue.hurry(hurry);
        let started = Instant::now();
        let mut applied = self.applied_now.subscribe();
        // A part of a scoring round may be in the way; with other pages to hand out that is no reason to wait.
        let patience =
            || if hurry == Hurry::Now && self.mover.has_work() { MOVING_WAIT } else { VISIBILITY_WAIT };
        while started.elapsed() < patience() {
            let reached = applied.wait_for(|&at| at >= position);
            if tokio::time::timeout(Duration::from_millis(2), reached).await.is_ok() {
                return true;
            }
            let later = self.acknowledgements.load(Ordering::Acquire) - before;
            if hurry == Hurry::Now && later > OVERTAKEN_BY {
                self.overtaken.note();
                return false;
            }
        }
        false
    }

    /// Position up to which edits are applied and the schedule knows of them.
    fn applied_position(&self) -> Position {
        *self.applied_now.borrow()
    }

    /// Takes up to `n` pages from the schedule.
    async fn take(&self, n: usize) -> Result<Taken<'_>, FrontierError> {
        if self.intake.is_closed() {
            return Err(FrontierError::Closed);
        }
        let mut taken = Taken { inner: self, picks: Vec::with_capacity(n.min(1024)), now: self.clock.now() };
        if n == 0 {
            return Ok(taken);
        }
        // Hand-outs that cannot be stored gather in memory: as many as edits may wait.
        if !self.has_room(0)
            && let Some(problem) = self.log_problem.lock().clone()
        {
            return Err(FrontierError::Stuck(problem));
        }
        self.see_acknowledged(Hurry::Now).await;
        if self.next_expiry.load(Ordering::Acquire) <= taken.now.0 {
            self.end_leases(taken.now).await?;
        }
        taken.fill(n)?;
        if taken.picks.is_empty() && self.see_acknowledged(Hurry::Soon).await {
            taken.fill(n)?;
        }
        Ok(taken)
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
                self.queue.hurry(Hurry::Now);
                tokio::time::timeout(VISIBILITY_WAIT, self.wait_applied(position)).await.ok();
            }
            // Busy, or the disk is full: the next request tries again.
            Err(_) => drop(self.next_expiry.fetch_min(now.0, Ordering::AcqRel)),
        }
        Ok(())
    }
}

/// When a request was last overtaken, in milliseconds of the process's own clock.
#[derive(Default)]
pub(super) struct Overtaken(AtomicU64);

impl Overtaken {
    fn note(&self) {
        self.0.store(Self::now(), Ordering::Relaxed);
    }

    fn is_recent(&self) -> bool {
        let last = self.0.load(Ordering::Relaxed);
        last != 0 && Self::now() - last < OVERTAKEN_FOR.as_millis() as u64
    }

    fn now() -> u64 {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_millis() as u64 + 1
    }
}
