//! Which pages were handed out and acknowledged: that none comes twice and none is missing.

use serde::Serialize;

/// Pages that a report names.
const SHOWN: usize = 10;

/// The history of each page, by its number.
#[derive(Default)]
pub struct Tracker {
    visits: Vec<Visit>,
    now: Mark,
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

/// A moment of the run. Answers may overtake each other, so that a hand-out counts from the moment when it was
/// asked for: an acknowledgement that came later says nothing of it.
#[derive(Debug, Default, Clone, Copy)]
pub struct Mark {
    /// Acknowledgements so far.
    acknowledgements: u32,
    /// Connections lost so far: after each the server may be another one.
    losses: u32,
}

#[derive(Default, Clone)]
struct Visit {
    handed_out: u32,
    /// Connections lost when it was asked for.
    losses: u32,
    /// Its place among the acknowledgements, from 1; 0 if it has none.
    acknowledged: u32,
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
    pub fn now(&self) -> Mark {
        self.now
    }

    /// Notes a hand-out of the page, and when it was asked for.
    pub fn handed_out(&mut self, number: u32, url: &str, asked: Mark) {
        let visit = self.visit(number);
        let before = visit.clone();
        visit.handed_out += 1;
        visit.losses = asked.losses;
        visit.spider_died = false;
        let was_acknowledged = before.acknowledged > 0 && before.acknowledged <= asked.acknowledgements;
        if before.handed_out == 0 {
            self.distinct += 1;
        } else if was_acknowledged {
            self.twice.add(url);
        } else if before.spider_died {
            self.after_dead_spider += 1;
        } else if before.losses < self.now.losses {
            self.after_lost_connection += 1;
        } else {
            self.twice.add(url);
        }
    }

    pub fn acknowledged(&mut self, number: u32) {
        self.now.acknowledgements += 1;
        self.visit(number).acknowledged = self.now.acknowledgements;
    }

    pub fn spider_died(&mut self, number: u32) {
        self.dead_spiders += 1;
        self.visit(number).spider_died = true;
    }

    pub fn connection_lost(&mut self) {
        self.now.losses += 1;
    }

    pub fn was_handed_out(&self, number: u32) -> bool {
        self.visits.get(number as usize).is_some_and(|visit| visit.handed_out > 0)
    }

    /// Pages that were handed out and never acknowledged.
    pub fn unanswered(&self) -> u64 {
        self.visits.iter().filter(|visit| visit.handed_out > 0 && visit.acknowledged == 0).count() as u64
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
            tracker.handed_out(number, "url", tracker.now());
        }
        tracker.spider_died(0);
        tracker.acknowledged(1);
        tracker.handed_out(0, "zero", tracker.now());
        tracker.handed_out(0, "zero again", tracker.now());
        tracker.handed_out(2, "two", tracker.now());
        tracker.connection_lost();
        tracker.handed_out(1, "one", tracker.now());
        tracker.handed_out(3, "three", tracker.now());
        assert_eq!(tracker.twice.first, ["zero again", "two", "one"]);
        assert_eq!((tracker.after_dead_spider, tracker.after_lost_connection), (1, 1));
        assert_eq!((tracker.distinct, tracker.unanswered()), (4, 3));
        assert!(tracker.was_handed_out(3) && !tracker.was_handed_out(4));
    }

    #[test]
    fn a_hand_out_that_was_asked_for_before_the_acknowledgement_is_not_against_it() {
        let mut tracker = Tracker::default();
        tracker.handed_out(0, "zero", tracker.now());
        tracker.connection_lost();
        let asked = tracker.now();
        // Sent again to the new server, which had given the page to somebody else in the meantime.
        tracker.acknowledged(0);
        tracker.handed_out(0, "zero", asked);
        assert_eq!((tracker.twice.count, tracker.after_lost_connection), (0, 1));
        tracker.handed_out(0, "zero", tracker.now());
        assert_eq!(tracker.twice.count, 1);
    }
}
