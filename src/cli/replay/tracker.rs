//! Which pages were handed out and acknowledged: that none comes twice and none is missing.

use serde::Serialize;

/// Pages that a report names.
const SHOWN: usize = 10;

/// The history of each page, by its number.
#[derive(Default)]
pub struct Tracker {
    visits: Vec<Visit>,
    /// Grows with each lost connection: the server may have restarted.
    epoch: u32,
    pub distinct: u64,
    pub twice: Named,
    /// Handed out again after its spider died: as it should be.
    pub after_dead_spider: u64,
    /// Handed out again after a connection was lost, and never acknowledged: the server may have died before it
    /// kept the hand-out.
    pub after_lost_connection: u64,
    pub dead_spiders: u64,
}

/// Pages counted, the first of them named.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Named {
    pub count: u64,
    pub first: Vec<String>,
}

#[derive(Default, Clone)]
struct Visit {
    handed_out: u32,
    epoch: u32,
    acknowledged: bool,
    spider_died: bool,
}

impl Named {
    pub fn add(&mut self, url: &str) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(url.to_owned());
        }
    }
}

impl Tracker {
    /// Notes a hand-out of the page.
    pub fn handed_out(&mut self, number: u32, url: &str) {
        let epoch = self.epoch;
        let visit = self.visit(number);
        let (again, before) = (visit.handed_out > 0, visit.clone());
        visit.handed_out += 1;
        visit.epoch = epoch;
        visit.spider_died = false;
        if !again {
            self.distinct += 1;
        } else if before.acknowledged {
            self.twice.add(url);
        } else if before.spider_died {
            self.after_dead_spider += 1;
        } else if before.epoch < epoch {
            self.after_lost_connection += 1;
        } else {
            self.twice.add(url);
        }
    }

    pub fn acknowledged(&mut self, number: u32) {
        self.visit(number).acknowledged = true;
    }

    pub fn spider_died(&mut self, number: u32) {
        self.dead_spiders += 1;
        self.visit(number).spider_died = true;
    }

    pub fn connection_lost(&mut self) {
        self.epoch += 1;
    }

    pub fn was_handed_out(&self, number: u32) -> bool {
        self.visits.get(number as usize).is_some_and(|visit| visit.handed_out > 0)
    }

    /// Pages that were handed out and not acknowledged, and have not come again.
    pub fn unanswered(&self) -> u64 {
        self.visits.iter().filter(|visit| visit.handed_out > 0 && !visit.acknowledged).count() as u64
    }

    fn visit(&mut self, number: u32) -> &mut Visit {
        let at = number as usize;
        if at >= self.visits.len() {
            self.visits.resize(at + 1, Visit::default());
        }
        &mut self.visits[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_comes_again_is_excused_only_by_a_death() {
        let mut tracker = Tracker::default();
        for number in 0..4 {
            tracker.handed_out(number, "url");
        }
        tracker.spider_died(0);
        tracker.acknowledged(1);
        tracker.handed_out(0, "zero");
        tracker.handed_out(0, "zero again");
        tracker.handed_out(2, "two");
        tracker.connection_lost();
        tracker.handed_out(1, "one");
        tracker.handed_out(3, "three");
        assert_eq!(tracker.twice.first, ["zero again", "two", "one"]);
        assert_eq!((tracker.after_dead_spider, tracker.after_lost_connection), (1, 1));
        assert_eq!((tracker.distinct, tracker.unanswered()), (4, 3));
        assert!(tracker.was_handed_out(3) && !tracker.was_handed_out(4));
    }
}
