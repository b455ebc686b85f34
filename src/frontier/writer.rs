//! The single writer: takes the edits that wait, applies them as a batch, tells the schedule.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::batch::{CHANGES_A_LOCK, LINGER, LOADED_EDITS_PER_SECOND, RECOVERED_BYTES, RETRY, SHORT_LINGER};
use super::mover::Mover;
use super::{FrontierError, Inner};
use crate::log::Position;
use crate::pagedb::{Applied, PageDb, PageDbError, Rules};

/// Durable edits that wait for the writer, in order of position.
pub(super) struct Queue {
    /// Most bytes in one batch.
    batch_bytes: usize,
    state: Mutex<State>,
    wake: Condvar,
    drained: Condvar,
}

#[derive(Default)]
struct State {
    edits: std::collections::VecDeque<Vec<u8>>,
    /// Position of the last edit in `edits`.
    last: Position,
    bytes: usize,
    closed: bool,
    hurry: Hurry,
    /// Since when the writer has been waiting for a fuller batch.
    lingers_since: Option<Instant>,
    ended: bool,
}

/// How urgent the queued edits are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hurry {
    /// They may wait for a fuller batch.
    #[default]
    Not,
    /// Requests find nothing to hand out.
    Soon,
    /// Somebody waits for just these.
    Now,
}

/// What the writer is to do next.
enum Work {
    Batch(Batch),
    /// No batch is due: time for a part of a scoring round.
    Part,
    End,
}

/// Edits to apply together.
pub(super) struct Batch {
    pub edits: Vec<Vec<u8>>,
    pub last: Position,
    pub bytes: usize,
}

impl Queue {
    pub fn new(batch_bytes: usize) -> Queue {
        Queue { batch_bytes, state: Mutex::default(), wake: Condvar::default(), drained: Condvar::default() }
    }

    pub fn push(&self, first: Position, edits: Vec<Vec<u8>>) {
        let mut state = self.state.lock();
        state.last = first + edits.len() as Position - 1;
        state.bytes += edits.iter().map(Vec::len).sum::<usize>();
        state.edits.extend(edits);
        self.wake.notify_one();
    }

    /// No more edits come; the writer ends when those here are applied.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.wake.notify_one();
    }

    /// Shortens the writer's wait for a fuller batch.
    pub fn hurry(&self, hurry: Hurry) {
        let mut state = self.state.lock();
        state.hurry = state.hurry.max(hurry);
        self.wake.notify_one();
    }

    pub fn wait_drained(&self) {
        let mut state = self.state.lock();
        while !state.ended {
            self.drained.wait(&mut state);
        }
    }

    fn end(&self) {
        self.state.lock().ended = true;
        self.drained.notify_all();
    }

    /// The next batch; under load it waits until the batch is full, but not longer than the hurry allows. Instead of
    /// waiting it gives out the parts of a scoring round that is on its way into the tables.
    fn next(&self, loaded: bool, mover: &Mover) -> Work {
        let mut state = self.state.lock();
        loop {
            if state.edits.is_empty() {
                if state.closed {
                    return Work::End;
                }
                if mover.has_work() {
                    return Work::Part;
                }
                self.wake.wait(&mut state);
                continue;
            }
            let now = Instant::now();
            let since = *state.lingers_since.get_or_insert(now);
            let deadline = match state.hurry {
                _ if !loaded || state.closed || state.bytes >= self.batch_bytes => break,
                Hurry::Not => since + LINGER,
                Hurry::Soon => since + SHORT_LINGER,
                Hurry::Now => break,
            };
            if now >= deadline {
                break;
            }
            if mover.has_work() {
                return Work::Part;
            }
            self.wake.wait_until(&mut state, deadline);
        }
        Work::Batch(state.take_batch(self.batch_bytes))
    }

    /// Lets the writer look whether there is a scoring round to bring to the tables.
    pub fn nudge(&self) {
        let _held = self.state.lock();
        self.wake.notify_one();
    }

    /// Waits before another try; `false` if the queue is closed meanwhile.
    fn pause(&self) -> bool {
        let mut state = self.state.lock();
        if !state.closed {
            self.wake.wait_for(&mut state, RETRY);
        }
        !state.closed
    }
}

impl State {
    fn take_batch(&mut self, batch_bytes: usize) -> Batch {
        self.hurry = Hurry::Not;
        self.lingers_since = None;
        let mut bytes = 0;
        let mut n = 0;
        for edit in &self.edits {
            if n > 0 && bytes + edit.len() > batch_bytes {
                break;
            }
            bytes += edit.len();
            n += 1;
        }
        let edits: Vec<_> = self.edits.drain(..n).collect();
        self.bytes -= bytes;
        let last = self.last - self.edits.len() as Position;
        Batch { edits, last, bytes }
    }
}

/// The writer thread.
pub(super) fn run(inner: &Arc<Inner>) {
    let mut load = Load::default();
    loop {
        match inner.queue.next(load.is_high(), &inner.mover) {
            Work::End => break,
            Work::Part => move_part(inner),
            Work::Batch(batch) => {
                load.count(batch.edits.len());
                if !apply_until_done(inner, &batch) {
                    // Closing while the disk refuses: the log keeps the edits, the next start applies them.
                    tracing::error!("edits stay in the log, not applied: the next start applies them");
                    break;
                }
                inner.backlog_bytes.fetch_sub(batch.bytes as u64, Ordering::AcqRel);
                inner.room.notify_waiters();
                inner.scoring.nudge();
                // Batch may follow batch without a pause: a round gets on all the same.
                if inner.mover.has_work() {
                    move_part(inner);
                }
            }
        }
    }
    inner.mover.close();
    inner.queue.end();
}

/// A part of the scoring round that is on its way into the tables.
fn move_part(inner: &Inner) {
    let step = || {
        let part = loop {
            match inner.mover.part(&inner.db) {
                Err(PageDbError::MapFull) => grow(inner)?,
                part => break part?,
            }
        };
        Ok(part)
    };
    let Some(Some(part)) = until_done(inner, step) else { return };
    if until_done(inner, || follow(inner, &part.applied)).is_some() {
        inner.mover.done(&part);
    }
}

/// Tries until the batch is applied; `false` if the frontier closes before.
fn apply_until_done(inner: &Inner, batch: &Batch) -> bool {
    let Some(applied) = until_done(inner, || apply(inner, batch)) else { return false };
    // From here on the batch must not be applied again, whatever fails.
    inner.applied.store(batch.last, Ordering::Release);
    inner.in_links.changed(&applied.relinked, batch.last);
    inner.batches.fetch_add(1, Ordering::Relaxed);
    inner.expired.fetch_add(applied.expired, Ordering::Relaxed);
    let told = until_done(inner, || tell(inner, &applied)).is_some();
    inner.applied_now.send_replace(batch.last);
    told
}

/// Tries again and again; `None` if the frontier closes meanwhile.
fn until_done<T>(inner: &Inner, mut step: impl FnMut() -> Result<T, PageDbError>) -> Option<T> {
    loop {
        match step() {
            Ok(done) => {
                inner.set_problem(&inner.writer_problem, None);
                return Some(done);
            }
            Err(error) => {
                tracing::error!(%error, "cannot write to the PageDB");
                inner.set_problem(&inner.writer_problem, Some(error.to_string()));
                if !inner.queue.pause() {
                    return None;
                }
            }
        }
    }
}

fn apply(inner: &Inner, batch: &Batch) -> Result<Applied, PageDbError> {
    let edits: Vec<&[u8]> = batch.edits.iter().map(Vec::as_slice).collect();
    let started = Instant::now();
    let applied = loop {
        match inner.db.apply(&edits, batch.last, inner.rules) {
            Err(PageDbError::MapFull) => grow(inner)?,
            done => break done?,
        }
    };
    tracing::debug!(edits = edits.len(), bytes = batch.bytes, elapsed = ?started.elapsed(), "applied a batch");
    Ok(applied)
}

fn tell(inner: &Inner, applied: &Applied) -> Result<(), PageDbError> {
    let snapshot = inner.db.snapshot()?;
    let first_lease = snapshot.first_lease()?;
    inner.next_expiry.store(first_lease.map_or(u64::MAX, |lease| lease.until.0), Ordering::Release);
    *inner.counters.lock() = applied.counters;
    drop(snapshot);
    follow(inner, applied)
}

/// The schedule in memory follows what the tables have gone through.
fn follow(inner: &Inner, applied: &Applied) -> Result<(), PageDbError> {
    let snapshot = inner.db.snapshot()?;
    let changes = inner.schedule.lock().begin(applied, snapshot);
    // A domain's changes stay together: in between, a page that moved would stand at both its places.
    let mut domains = changes.chunk_by(|a, b| a.key.domain == b.key.domain).peekable();
    while domains.peek().is_some() {
        let mut schedule = inner.schedule.lock();
        let mut followed = 0;
        while let Some(domain) = domains.next_if(|_| followed < CHANGES_A_LOCK) {
            schedule.follow(domain, inner.clock.now())?;
            followed += domain.len();
        }
        // Whoever waits comes first.
        MutexGuard::unlock_fair(schedule);
    }
    Ok(())
}

/// Grows the map: nobody may read meanwhile, so the schedule lets go of its snapshot.
fn grow(inner: &Inner) -> Result<(), PageDbError> {
    let mut schedule = inner.schedule.lock();
    schedule.release_snapshot();
    let grown = inner.db.grow();
    schedule.renew_snapshot(inner.db.snapshot()?);
    grown
}

/// Applies what the log held when the last process ended.
pub(super) fn recover(
    db: &PageDb,
    log: &crate::log::LocalLog,
    rules: Rules,
) -> Result<Position, FrontierError> {
    let mut applied = db.snapshot()?.counters()?.applied;
    loop {
        let rows = log.read_after(applied, RECOVERED_BYTES)?;
        let Some(&(last, _)) = rows.last() else { return Ok(applied) };
        let edits: Vec<&[u8]> = rows.iter().map(|(_, edit)| edit.as_slice()).collect();
        growing(db, || db.apply(&edits, last, rules))?;
        tracing::info!(edits = edits.len(), "applied edits that the log still held");
        applied = last;
    }
}

/// Does something before anybody reads, growing the map until it fits.
pub(super) fn growing<T>(
    db: &PageDb,
    mut write: impl FnMut() -> Result<T, PageDbError>,
) -> Result<T, PageDbError> {
    loop {
        match write() {
            Err(PageDbError::MapFull) => db.grow()?,
            done => return done,
        }
    }
}

/// How many edits a second come in, as a moving average over about a second.
#[derive(Default)]
struct Load {
    rate: f64,
    since: Option<Instant>,
}

impl Load {
    fn count(&mut self, edits: usize) {
        let now = Instant::now();
        let elapsed = self.since.replace(now).map_or(1.0, |since| (now - since).as_secs_f64());
        let decay = (-elapsed).exp();
        self.rate = self.rate * decay + edits as f64 / elapsed.max(0.001) * (1.0 - decay);
    }

    fn is_high(&self) -> bool {
        let quiet = self.since.map_or(0.0, |since| since.elapsed().as_secs_f64());
        self.rate * (-quiet).exp() > LOADED_EDITS_PER_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_takes_what_fits_and_one_edit_at_least() {
        let queue = Queue::new(100);
        let sizes = [60, 40, 1, 300, 99];
        queue.push(1, sizes.iter().map(|&size| vec![0; size]).collect());
        let mut state = queue.state.lock();
        let mut batches = Vec::new();
        while !state.edits.is_empty() {
            let batch = state.take_batch(queue.batch_bytes);
            batches.push((batch.edits.len(), batch.bytes, batch.last));
        }
        assert_eq!(batches, [(2, 100, 2), (1, 1, 3), (1, 300, 4), (1, 99, 5)]);
        assert_eq!(state.bytes, 0);
    }
}
