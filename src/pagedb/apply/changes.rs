//! What a batch changes, gathered over its parts.

use super::{Applied, ScheduleChange};
use crate::pagedb::anchor_list::Encoder;
use crate::pagedb::info::Counters;
use crate::types::PageIndex;

/// As [`Applied`], while the batch is under way.
pub(super) struct Changes {
    pub counters: Counters,
    /// In the order in which they were made.
    pub schedule: Vec<ScheduleChange>,
    pub handed_out: Vec<PageIndex>,
    pub expired: u64,
    pub deleted: Vec<PageIndex>,
    pub relinked: Vec<PageIndex>,
    /// Of anchors; making one takes longer than using it.
    pub encoder: Encoder,
}

impl Changes {
    pub fn new(counters: Counters) -> Changes {
        Changes {
            counters,
            schedule: Vec::new(),
            handed_out: Vec::new(),
            expired: 0,
            deleted: Vec::new(),
            relinked: Vec::new(),
            encoder: Encoder::default(),
        }
    }

    pub fn finish(mut self) -> Applied {
        // Of several changes of one entry the last one tells whether it is there.
        self.schedule.reverse();
        self.schedule.sort_by_key(|change| change.key);
        self.schedule.dedup_by_key(|change| change.key);
        self.relinked.sort_unstable();
        self.relinked.dedup();
        Applied {
            counters: self.counters,
            schedule: self.schedule,
            handed_out: self.handed_out,
            expired: self.expired,
            deleted: self.deleted,
            relinked: self.relinked,
        }
    }
}
