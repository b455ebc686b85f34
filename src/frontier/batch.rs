//! The limits of commits and batches, and why they are what they are.

use std::time::Duration;

/// Most bytes of edits in one commit of the log. Group commit pays off long before: this only bounds how
/// long an acknowledgement can wait behind a flood.
pub(super) const MAX_GROUP_BYTES: usize = 4 << 20;

/// Most bytes of edits in one batch of the writer, for a backlog of at most so many: one batch fills up while the one
/// before is applied. By default 24 MiB, about 20,000 pages of 30 links. A larger batch touches fewer table pages an
/// edit, but it and the table pages that it dirties are held in memory.
pub(super) fn max_batch_bytes(max_backlog_bytes: u64) -> usize {
    (max_backlog_bytes / 2).min(LARGEST_BATCH) as usize
}

/// Most bytes of edits in one batch when a start applies what the log still holds.
pub(super) const RECOVERED_BYTES: usize = 24 << 20;

/// Ten times the default. It takes some gigabytes of memory (`docs/architecture.md`).
const LARGEST_BATCH: u64 = 256 << 20;

/// Changes of the schedule followed under one lock: requests wait for it about a millisecond.
pub(super) const CHANGES_A_LOCK: usize = 1_000;

/// While more edits a second than this come in, the writer waits for batches to fill.
pub(super) const LOADED_EDITS_PER_SECOND: f64 = 200.0;

/// How long it waits then. A batch of a second's edits dirties far fewer table pages than ten batches of a
/// tenth each, which leaves the cores to the requests.
pub(super) const LINGER: Duration = Duration::from_millis(500);

/// How long it waits then if requests find nothing to hand out.
pub(super) const SHORT_LINGER: Duration = Duration::from_millis(50);

/// How long a request waits for edits that were acknowledged before it, so that a spider sees what it has
/// just told.
pub(super) const VISIBILITY_WAIT: Duration = Duration::from_secs(1);

/// How long it waits while a scoring round is on its way into the tables: two parts of it.
pub(super) const MOVING_WAIT: Duration = Duration::from_millis(20);

/// While a request waits for the edits before it, as many later submissions show that others are busy
/// telling: then it takes what is there, because what is best will change all the time anyway.
pub(super) const OVERTAKEN_BY: u64 = 8;

/// How long all requests do not wait after one was overtaken.
pub(super) const OVERTAKEN_FOR: Duration = Duration::from_millis(500);

/// Most leases ended by one edit: bounds its size when a whole fleet has died.
pub(super) const MAX_EXPIRED: usize = 10_000;

/// Pause before a failed commit is tried again (disk full).
pub(super) const RETRY: Duration = Duration::from_millis(500);

/// How long hand-outs gather before they are committed to the log, if no edit that somebody waits for takes
/// them along. These are the last moments whose hand-outs a crash may repeat.
pub(super) const GATHER_HAND_OUTS: Duration = Duration::from_millis(10);

/// How long a part of a scoring round may keep the writer: edits and requests that wait for them notice less than
/// this, and a round is through soon all the same.
pub(super) const PART: Duration = Duration::from_millis(10);

/// Pages in the first part of a round, and the least in any.
pub(super) const MIN_PART_PAGES: usize = 1_000;

/// Most pages in a part: the changes of a part are held in memory.
pub(super) const MAX_PART_PAGES: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_half_of_the_backlog_within_bounds() {
        for (backlog, batch) in [(1 << 10, 512), (48 << 20, 24 << 20), (1 << 40, 256 << 20)] {
            assert_eq!(max_batch_bytes(backlog), batch);
        }
    }
}
