//! One domain of the schedule in memory: the head of its list, and its temperature.

use std::collections::VecDeque;

use super::temperature::Recent;
use crate::pagedb::{Heat, ScheduleKey};
use crate::types::{DomainKey, PageIndex, Score, Time};

/// Most entries of a domain's list that stay in memory.
pub(super) const MAX_HEAD: usize = 256;

/// An entry of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub score: Score,
    pub index: PageIndex,
}

impl Ord for Entry {
    /// Best score first, then first seen first, as in the table.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.score, self.index).cmp(&(self.score, other.index))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// How much of a domain's list in the table the head stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loaded {
    Nothing,
    /// Every entry up to this one.
    UpTo(Entry),
    Everything,
}

/// A place among the ready domains: best head first; among equal heads the domain unserved for longest,
/// then the page seen first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    score: std::cmp::Reverse<Score>,
    served: (Time, u64),
    index: PageIndex,
    pub slot: u32,
}

pub(super) struct Domain {
    pub key: DomainKey,
    /// Sorted. Every entry of the table that `loaded` covers is here, unless it is handed out.
    pub head: VecDeque<Entry>,
    pub loaded: Loaded,
    pub heat: Heat,
    pub recent: Recent,
    /// Time and number of the last hand-out.
    pub served: (Time, u64),
    /// Step and rank, if it is among the ready.
    pub ready: Option<(usize, Rank)>,
    /// When its place must be looked at again.
    pub wake: Option<Time>,
    /// Whether it was counted among those with work.
    pub working: bool,
    /// Entries to load next time: doubles while the domain is in demand.
    pub load: usize,
}

impl Domain {
    /// A domain with the heat that is stored of it. Its count of the last second is not stored, so it
    /// is taken for exhausted at its last hand-out. If that lies in the future, the clock was set back.
    pub fn new(key: DomainKey, stored: Heat, loaded: Loaded, now: Time) -> Domain {
        let heat = Heat { n: stored.n, at: stored.at.min(now) };
        let recent = if heat.n > 0.0 { Recent::exhausted_at(heat.at) } else { Recent::default() };
        let served = (heat.at, 0);
        let (head, ready, wake) = (VecDeque::new(), None, None);
        Domain { key, head, loaded, heat, recent, served, ready, wake, working: false, load: 4 }
    }

    pub fn rank(&self, slot: u32) -> Option<Rank> {
        let best = self.head.front()?;
        let score = std::cmp::Reverse(best.score);
        Some(Rank { score, served: self.served, index: best.index, slot })
    }

    /// The table's key of the last entry covered.
    pub fn loaded_to(&self) -> Option<ScheduleKey> {
        match self.loaded {
            Loaded::UpTo(Entry { score, index }) => Some(ScheduleKey { domain: self.key, score, index }),
            _ => None,
        }
    }

    fn covers(&self, entry: Entry) -> bool {
        match self.loaded {
            Loaded::Nothing => false,
            Loaded::UpTo(last) => entry <= last,
            Loaded::Everything => true,
        }
    }

    /// An entry came to the table.
    pub fn added(&mut self, entry: Entry) {
        if !self.covers(entry) {
            return;
        }
        if let Err(at) = self.head.binary_search(&entry) {
            self.head.insert(at, entry);
        }
        if self.head.len() > MAX_HEAD {
            self.head.truncate(MAX_HEAD / 2);
            if let Some(&last) = self.head.back() {
                self.loaded = Loaded::UpTo(last);
            }
        }
    }

    /// An entry left the table.
    pub fn removed(&mut self, entry: Entry) {
        if let Ok(at) = self.head.binary_search(&entry) {
            self.head.remove(at);
        }
    }
}
