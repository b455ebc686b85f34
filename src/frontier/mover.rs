//! A finished scoring round on its way into the tables: the writer takes it there in parts, between batches.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Instant;

use parking_lot::Mutex;

use super::batch::{MAX_PART_PAGES, MIN_PART_PAGES, PART};
use crate::pagedb::{PageDb, PageDbError, Part, Round, RoundScores};

/// What a round did to the tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    /// Pages looked at.
    pub pages: u64,
    /// Schedule entries that moved.
    pub entries: u64,
}

/// Holds the round that is under way, if any.
#[derive(Default)]
pub(super) struct Mover(Mutex<Held>);

#[derive(Default)]
struct Held {
    under: Option<Under>,
    /// The writer has ended: what comes now would wait for ever.
    closed: bool,
}

/// A round under way.
struct Under {
    /// `None` if the tables know already that it is under way.
    begin: Option<Round>,
    /// `None` brings the given scores back.
    scores: Option<Arc<dyn RoundScores + Send>>,
    part_pages: usize,
    moved: Moved,
    told: Option<mpsc::Sender<Moved>>,
}

impl Mover {
    /// The scores of a finished round go to the tables from now on. The receiver hears when they are there, or is
    /// cut off if the frontier closes before.
    pub fn begin(&self, round: Round, scores: Arc<dyn RoundScores + Send>) -> mpsc::Receiver<Moved> {
        let (told, hears) = mpsc::channel();
        let under = Under {
            begin: Some(round),
            scores: Some(scores),
            part_pages: MIN_PART_PAGES,
            moved: Moved::default(),
            told: Some(told),
        };
        let mut held = self.0.lock();
        if !held.closed {
            held.under = Some(under);
        }
        hears
    }

    /// The given scores come back, as the tables know already.
    pub fn bring_given_back(&self) {
        let (part_pages, moved) = (MIN_PART_PAGES, Moved::default());
        self.0.lock().under = Some(Under { begin: None, scores: None, part_pages, moved, told: None });
    }

    pub fn has_work(&self) -> bool {
        self.0.lock().under.is_some()
    }

    /// Writes the next part, if there is one; the schedule must follow it before [`Mover::done`].
    ///
    /// # Errors
    /// As [`PageDb::move_part`].
    pub fn part(&self, db: &PageDb) -> Result<Option<Part>, PageDbError> {
        let (begin, scores, pages) = match self.0.lock().under.as_ref() {
            Some(under) => (under.begin, under.scores.clone(), under.part_pages),
            None => return Ok(None),
        };
        if let Some(round) = begin {
            db.begin_move(round)?;
            if let Some(under) = self.0.lock().under.as_mut() {
                under.begin = None;
            }
        }
        let started = Instant::now();
        let part = db.move_part(scores.as_deref().map(|scores| scores as &dyn RoundScores), pages)?;
        if let Some(under) = self.0.lock().under.as_mut() {
            let factor = PART.as_secs_f64() / started.elapsed().as_secs_f64().max(1e-4);
            let next = pages as f64 * factor.clamp(0.5, 2.0);
            under.part_pages = (next as usize).clamp(MIN_PART_PAGES, MAX_PART_PAGES);
        }
        Ok(Some(part))
    }

    /// The schedule has followed a part.
    pub fn done(&self, part: &Part) {
        let mut held = self.0.lock();
        let Some(under) = held.under.as_mut() else { return };
        under.moved.pages += part.pages;
        under.moved.entries += part.moved;
        if part.done
            && let Some(Under { moved, told: Some(told), .. }) = held.under.take()
        {
            // Nobody listens for the given scores.
            told.send(moved).ok();
        }
    }

    /// What is not there yet stays away.
    pub fn close(&self) {
        *self.0.lock() = Held { under: None, closed: true };
    }
}
