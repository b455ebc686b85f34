//! Edits on their way into the log: submissions wait here, and one thread commits all that have gathered
//! while the commit before was being synced.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use super::batch::{GATHER_HAND_OUTS, MAX_GROUP_BYTES, RETRY};
use super::{Inner, SubmitError};
use crate::log::{LocalLog, Position};

/// Edits that are durable together or not at all.
pub(super) struct Submission {
    pub edits: Vec<Vec<u8>>,
    pub bytes: u64,
    /// Who waits for the acknowledgement. Without anybody (hand-outs) a failed commit is tried again.
    pub ack: Option<oneshot::Sender<Result<Position, SubmitError>>>,
}

#[derive(Default)]
pub(super) struct Intake {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Submission>,
    /// Somebody waits for one of them.
    asked: bool,
    closed: bool,
}

impl Intake {
    /// # Errors
    /// [`SubmitError::Closed`] after [`Intake::close`].
    pub fn push(&self, submission: Submission) -> Result<(), SubmitError> {
        let mut queue = self.queue.lock();
        if queue.closed {
            return Err(SubmitError::Closed);
        }
        // Hand-outs that join others need not wake the thread: it waits for them to gather.
        let wakes = submission.ack.is_some() || queue.waiting.is_empty();
        queue.asked |= submission.ack.is_some();
        queue.waiting.push(submission);
        if wakes {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Takes no more submissions; the thread ends when the waiting ones are committed.
    pub fn close(&self) {
        self.queue.lock().closed = true;
        self.wake.notify_one();
    }

    pub fn is_closed(&self) -> bool {
        self.queue.lock().closed
    }

    /// The next group, at most about [`MAX_GROUP_BYTES`]; `None` when closed and empty.
    fn next_group(&self) -> Option<Vec<Submission>> {
        let mut queue = self.queue.lock();
        while queue.waiting.is_empty() {
            if queue.closed {
                return None;
            }
            self.wake.wait(&mut queue);
        }
        let deadline = Instant::now() + GATHER_HAND_OUTS;
        while !queue.closed && !queue.asked {
            if self.wake.wait_until(&mut queue, deadline).timed_out() {
                break;
            }
        }
        let mut bytes = 0;
        let mut fits = |submission: &Submission| {
            bytes += submission.bytes as usize;
            bytes <= MAX_GROUP_BYTES
        };
        let n = queue.waiting.iter().map_while(|s| fits(s).then_some(())).count().max(1);
        let group = queue.waiting.drain(..n).collect();
        queue.asked = queue.waiting.iter().any(|submission| submission.ack.is_some());
        Some(group)
    }

    /// Puts submissions that nobody waits for back in front, and pauses.
    fn put_back(&self, mut group: Vec<Submission>) {
        let mut queue = self.queue.lock();
        group.append(&mut queue.waiting);
        queue.waiting = group;
        if !queue.closed {
            self.wake.wait_for(&mut queue, RETRY);
        }
    }
}

/// The log thread: commits group after group, passes the edits to the writer, acknowledges.
pub(super) fn run(inner: &Arc<Inner>, mut log: LocalLog) {
    while let Some(group) = inner.intake.next_group() {
        let edits: Vec<&[u8]> = group.iter().flat_map(|s| s.edits.iter().map(Vec::as_slice)).collect();
        match log.append(&edits, inner.applied.load(Ordering::Acquire)) {
            Ok(first) => {
                inner.set_problem(&inner.log_problem, None);
                acknowledge(inner, group, first);
            }
            Err(error) => {
                tracing::error!(%error, "cannot append to the edit log");
                inner.set_problem(&inner.log_problem, Some(error.to_string()));
                let (asked, own): (Vec<_>, Vec<_>) = group.into_iter().partition(|s| s.ack.is_some());
                for submission in asked {
                    inner.backlog_bytes.fetch_sub(submission.bytes, Ordering::AcqRel);
                    answer(submission.ack, Err(SubmitError::Storage(error.to_string())));
                }
                if inner.intake.is_closed() {
                    // Hand-outs not stored only mean that pages are handed out again.
                    tracing::warn!("{} hand-outs were not stored at shutdown", own.len());
                } else if !own.is_empty() {
                    inner.intake.put_back(own);
                }
            }
        }
    }
    inner.queue.close();
    // The thread that ends last trims what was applied.
    inner.queue.wait_drained();
    if let Err(error) = log.append(&[], inner.applied.load(Ordering::Acquire)) {
        tracing::warn!(%error, "cannot trim the edit log");
    }
}

fn acknowledge(inner: &Inner, group: Vec<Submission>, first: Position) {
    let mut next = first;
    let mut acks = Vec::with_capacity(group.len());
    let mut edits = Vec::new();
    for submission in group {
        next += submission.edits.len() as Position;
        if submission.ack.is_some() {
            inner.acknowledged.store(next - 1, Ordering::Release);
            inner.acknowledgements.fetch_add(1, Ordering::Release);
        }
        edits.extend(submission.edits);
        acks.push((submission.ack, next - 1));
    }
    inner.logged.store(next - 1, Ordering::Release);
    // The writer first: whoever hears the acknowledgement may ask at once for what it holds.
    inner.queue.push(first, edits);
    for (ack, position) in acks {
        answer(ack, Ok(position));
    }
}

fn answer(
    ack: Option<oneshot::Sender<Result<Position, SubmitError>>>,
    result: Result<Position, SubmitError>,
) {
    if let Some(ack) = ack {
        // Nobody listens any more if the client has gone; the edits stay.
        ack.send(result).ok();
    }
}
