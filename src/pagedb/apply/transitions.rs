//! Fourth step of a batch: the edits change the pages' states, in memory and in the order of the log.

use std::ops::Range;

use heed::RwTxn;

use super::domains::Domains;
use super::estimates::{Estimates, Parent};
use super::identity::{Cell, Cells, NO_CELL};
use super::refs::{Mentions, Step};
use crate::pagedb::env::{PageDbError, Tables};
use crate::pagedb::page_state::Status;
use crate::pagedb::scoring::Scoring;
use crate::types::{Score, Time};

/// A crawl of a page, as the batch tells it.
pub(super) struct Crawl<'a> {
    pub cell: u32,
    /// Mentions of its links.
    pub links: Range<u32>,
    pub score: Score,
    pub time: Time,
    pub content_hash: Option<&'a [u8]>,
}

/// What the edits did beside changing cells.
#[derive(Default)]
pub(super) struct Outcome<'a> {
    /// In the order of the log.
    pub crawls: Vec<Crawl<'a>>,
    /// Cells of the pages that hand-out edits named, whatever became of them.
    pub handed_out: Vec<u32>,
    pub expired: u64,
}

/// Seconds of the temperature's window, and the depth limit.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The window T of the domain temperature n' = -n/T, in seconds.
    pub heat_window: f64,
    /// Pages deeper than this are not scheduled.
    pub max_depth: Option<u32>,
}

impl Rules {
    /// The status of an uncrawled, unleased page.
    pub(crate) fn waiting(&self, depth: u32) -> Status {
        if self.max_depth.is_some_and(|max| depth > max) { Status::TooDeep } else { Status::Scheduled }
    }
}

pub(super) fn run<'a>(
    txn: &RwTxn<'_>,
    tables: &Tables,
    rules: Rules,
    scoring: &Scoring,
    mentions: &mut Mentions<'a>,
    cells: &mut Cells,
    domains: &mut Domains,
) -> Result<Outcome<'a>, PageDbError> {
    let mut outcome = Outcome::default();
    let mut estimates = scoring.is_scored().then(|| Estimates::new(txn, tables, scoring));
    let mut found = Vec::new();
    for step in std::mem::take(&mut mentions.steps) {
        match step {
            Step::Crawled { page, links, score, time, content_hash } => {
                let cell = cells.of_url[page as usize];
                let (depth, parent) = crawled(cell, cells);
                found.clear();
                for link in links.clone() {
                    cells.prefetch_target(link);
                    let number = cells.of_url[link as usize];
                    let target = &mut cells.list[number as usize];
                    let given = mentions.urls[link as usize].score;
                    if linked(target, rules, depth.saturating_add(1), given, estimates.as_ref()) {
                        found.push(number);
                    }
                }
                if let Some(estimates) = &mut estimates {
                    found.sort_unstable();
                    estimates.pass_on(&parent, links.clone(), &found, cells, domains)?;
                }
                outcome.crawls.push(Crawl { cell, links, score, time, content_hash });
            }
            Step::Seeds { seeds } => {
                for seed in seeds {
                    let cell = &mut cells.list[cells.of_url[seed as usize] as usize];
                    linked(cell, rules, 0, mentions.urls[seed as usize].score, estimates.as_ref());
                }
            }
            Step::HandOut { time, until, keys } => {
                for number in keys {
                    let domain = mentions.keys[number as usize].domain();
                    if let Some(domain) = domains.get(txn, tables, domain)? {
                        domain.record.heat = domain.record.heat.charged(time, rules.heat_window);
                        domain.changed = true;
                    }
                    let cell = cells.of_key[number as usize];
                    if cell != NO_CELL {
                        outcome.handed_out.push(cell);
                        let cell = &mut cells.list[cell as usize];
                        if cell.new.is_scheduled() {
                            cell.new.status = Status::Leased { until };
                        }
                    }
                }
            }
            Step::Expire { time, keys } => {
                for number in keys {
                    let cell = cells.of_key[number as usize];
                    if cell != NO_CELL {
                        outcome.expired += u64::from(expired(&mut cells.list[cell as usize], rules, time));
                    }
                }
            }
        }
    }
    Ok(outcome)
}

/// Returns the page's depth. A page that nobody linked or seeded stands at depth 0.
fn crawled(number: u32, cells: &mut Cells) -> (u32, Parent) {
    let cell = &mut cells.list[number as usize];
    let parent = Parent { cell: number, first_crawl: cell.new.is_uncrawled(), is_new: !cell.seen };
    if !cell.seen {
        cell.seen = true;
        cell.new.depth = 0;
    }
    cell.new.status = Status::Crawled;
    cell.new.attempts = 0;
    (cell.new.depth, parent)
}

/// A link or a seed: the page becomes known (then it returns true), or its depth and given score get better. The
/// best score that anybody gave counts, so that the order of arrival does not matter. With a scorer only a
/// seed's place follows from it.
pub(super) fn linked(
    cell: &mut Cell,
    rules: Rules,
    depth: u32,
    given: Score,
    scorer: Option<&Estimates<'_, '_>>,
) -> bool {
    let page = &mut cell.new;
    let is_new = !cell.seen;
    if is_new {
        cell.seen = true;
        (page.depth, page.given) = (depth, given);
        page.status = rules.waiting(depth);
    } else {
        page.depth = page.depth.min(depth);
        match page.status {
            Status::Crawled => return false,
            Status::Scheduled | Status::Leased { .. } => {}
            Status::TooDeep => page.status = rules.waiting(page.depth),
        }
        page.given = page.given.max(given);
    }
    match scorer {
        None => page.score = page.given,
        Some(scorer) => scorer.place_seed(cell),
    }
    is_new
}

fn expired(cell: &mut Cell, rules: Rules, time: Time) -> bool {
    let page = &mut cell.new;
    let over = matches!(page.status, Status::Leased { until } if until <= time);
    if over {
        page.status = rules.waiting(page.depth);
        page.attempts = page.attempts.saturating_add(1);
    }
    over
}
