//! The best pages, of each host only so many, in bounded memory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::types::{PageIndex, Score};

/// A page that waits. The best is the greatest: the better score or, at the same score, first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub score: Score,
    pub index: PageIndex,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.score, Reverse(self.index)).cmp(&(other.score, Reverse(other.index)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Candidates by host, the worst of each on top. When twice as many are kept as are wanted, all but the best are
/// thrown out. None of those could come back: whatever is added, the last of the best never gets worse, because a
/// host gives up a page only for a better one.
pub struct Best {
    top: usize,
    per_host: usize,
    hosts: HashMap<Box<str>, BinaryHeap<Reverse<Candidate>>, foldhash::fast::RandomState>,
    kept: usize,
    /// Below it nothing is wanted any more.
    least: Option<Candidate>,
}

impl Best {
    pub fn new(top: usize, per_host: usize) -> Best {
        Best { top, per_host, hosts: HashMap::default(), kept: 0, least: None }
    }

    /// Whether it could be among the best, whatever its host.
    pub fn has_room_for(&self, candidate: Candidate) -> bool {
        self.top > 0 && self.per_host > 0 && self.least.is_none_or(|least| candidate > least)
    }

    pub fn add(&mut self, host: &str, candidate: Candidate) {
        if !self.has_room_for(candidate) {
            return;
        }
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.into(), BinaryHeap::new());
        }
        let Some(pages) = self.hosts.get_mut(host) else { return };
        pages.push(Reverse(candidate));
        self.kept += 1;
        if pages.len() > self.per_host {
            pages.pop();
            self.kept -= 1;
        }
        if self.kept >= self.top.saturating_mul(2) {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let mut all: Vec<Candidate> = self.hosts.values().flatten().map(|page| page.0).collect();
        let (_, least, _) = all.select_nth_unstable_by_key(self.top - 1, |&candidate| Reverse(candidate));
        let least = *least;
        self.hosts.retain(|_, pages| {
            pages.retain(|page| page.0 >= least);
            !pages.is_empty()
        });
        self.kept = self.top;
        self.least = Some(least);
    }

    /// The best, best first.
    pub fn into_sorted(self) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = self.hosts.into_values().flatten().map(|page| page.0).collect();
        all.sort_unstable_by_key(|&candidate| Reverse(candidate));
        all.truncate(self.top);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sorts everything.
    fn plain(pages: &[(u8, Candidate)], top: usize, per_host: usize) -> Vec<Candidate> {
        let mut sorted = pages.to_vec();
        sorted.sort_by_key(|&(_, candidate)| Reverse(candidate));
        let mut of_host = [0; 256];
        sorted.retain(|&(host, _)| {
            of_host[usize::from(host)] += 1;
            of_host[usize::from(host)] <= per_host
        });
        sorted.into_iter().map(|(_, candidate)| candidate).take(top).collect()
    }

    proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort(
            pages in proptest::collection::vec((0u8..6, 0u8..20), 0..200), top in 0usize..30, per_host in 0usize..12
        ) {
            let pages: Vec<(u8, Candidate)> = (0..).zip(pages).map(|(index, (host, score))| {
                (host, Candidate { score: Score::new(score.into()).unwrap(), index: PageIndex(index) })
            }).collect();
            let mut best = Best::new(top, per_host);
            for &(host, candidate) in &pages {
                best.add(&host.to_string(), candidate);
                prop_assert!(best.kept <= 2 * top);
            }
            prop_assert_eq!(best.into_sorted(), plain(&pages, top, per_host));
        }
    }
}
