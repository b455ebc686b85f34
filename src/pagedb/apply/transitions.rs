//! Fourth step of a batch: the edits change the pages' states, in memory and in the order of the log.

use std::ops::Range;

use heed::RwTxn;

use super::domains::Domains;
use super::identity::{Cell, Cells, NO_CELL};
use super::refs::{Mentions, Step};
use crate::pagedb::env::{PageDbError, Tables};
use crate::pagedb::page_state::Status;
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
    mentions: &mut Mentions<'a>,
    cells: &mut Cells,
    domains: &mut Domains,
) -> Result<Outcome<'a>, PageDbError> {
    let mut outcome = Outcome::default();
    for step in std::mem::take(&mut mentions.steps) {
        match step {
            Step::Crawled { page, links, score, time, content_hash } => {
                let cell = cells.of_url[page as usize];
                let depth = crawled(&mut cells.list[cell as usize]);
                for link in links.clone() {
                    cells.prefetch_target(link);
                    let target = &mut cells.list[cells.of_url[link as usize] as usize];
                    linked(target, rules, depth.saturating_add(1), mentions.urls[link as usize].score);
                }
                outcome.crawls.push(Crawl { cell, links, score, time, content_hash });
            }
            Step::Seeds { seeds } => {
                for seed in seeds {
                    let cell = &mut cells.list[cells.of_url[seed as usize] as usize];
                    linked(cell, rules, 0, mentions.urls[seed as usize].score);
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
fn crawled(cell: &mut Cell) -> u32 {
    if !cell.seen {
        cell.seen = true;
        cell.new.depth = 0;
    }
    cell.new.status = Status::Crawled;
    cell.new.attempts = 0;
    cell.new.depth
}

/// A link or a seed: the page becomes known, or its depth and score get better. The best score that
/// anybody gave counts, so that the order of arrival does not matter.
pub(super) fn linked(cell: &mut Cell, rules: Rules, depth: u32, score: Score) {
    let page = &mut cell.new;
    if !cell.seen {
        cell.seen = true;
        (page.depth, page.score) = (depth, score);
        page.status = rules.waiting(depth);
        return;
    }
    page.depth = page.depth.min(depth);
    match page.status {
        Status::Crawled => {}
        Status::Scheduled | Status::Leased { .. } => page.score = page.score.max(score),
        Status::TooDeep => {
            page.score = page.score.max(score);
            page.status = rules.waiting(page.depth);
        }
    }
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
