//! A batch of edits, sorted and applied in one transaction.
//!
//! The way of a batch: `refs` lays the edits out flat; `domains` gives every site its domain; `identity`
//! sorts the mentions by key and finds or makes the page of each; `transitions` lets the edits change the
//! pages' states in the order of the log (with a scorer, `estimates` what found pages are worth); `write` brings what changed to the tables, each in its own order.
//! Each LMDB page is so touched about once a batch, not once a link.

mod depth_limit;
mod domains;
mod estimates;
mod identity;
mod prefetch;
mod refs;
mod rescore;
mod transitions;
mod write;

pub use rescore::{Part, RoundScores};
pub use transitions::Rules;
pub use write::ScheduleChange;

use domains::Domains;
use identity::Context;
use refs::Mentions;

use super::env::{InTable, PageDb, PageDbError, corrupted};
use super::info::{self, Counters};
use super::schedule_key::ScheduleKey;
use crate::types::PageIndex;

/// What a batch has changed, for those who keep a part of the tables in memory.
#[derive(Debug)]
pub struct Applied {
    pub counters: Counters,
    /// Sorted by key.
    pub schedule: Vec<ScheduleChange>,
    /// Pages whose hand-outs were among the edits.
    pub handed_out: Vec<PageIndex>,
    /// Leases that ended without an answer.
    pub expired: u64,
}

impl PageDb {
    /// Applies encoded edits, of which the last has the log position `last`, all or none, durably.
    ///
    /// # Errors
    /// [`PageDbError::MapFull`] asks to [`PageDb::grow`] and try again; otherwise what LMDB says. Nothing
    /// is changed then.
    pub fn apply(&self, edits: &[&[u8]], last: u64, rules: Rules) -> Result<Applied, PageDbError> {
        let options = &self.options;
        let tables = &self.tables;
        let mut mentions = Mentions::collect(edits, &options.hasher)?;
        let mut txn = self.write()?;
        let stored = tables.info.get(&txn, info::COUNTERS_KEY)?;
        let stored = stored.ok_or_else(|| corrupted("info", info::COUNTERS_KEY))?;
        let mut counters = Counters::decode(stored).in_table("info", info::COUNTERS_KEY)?;
        let scoring = info::scoring(tables, &txn)?;

        let mut domains = Domains::default();
        let places = domains.place(
            &mut txn,
            tables,
            &options.hasher,
            options.domain_unit,
            &scoring,
            &mentions.sites,
        )?;
        let context = Context { mentions: &mentions, places: &places, hasher: &options.hasher, tables };
        let mut cells = context.identify(&txn)?;
        let site_of = |site: u32| places[site as usize].site;
        write::append_urls(&mut txn, tables, &mentions, site_of, &mut cells, &mut counters)?;
        let outcome =
            transitions::run(&txn, tables, rules, &scoring, &mut mentions, &mut cells, &mut domains)?;

        let schedule = write::states(&mut txn, tables, &cells, &mut domains, &mut counters)?;
        write::crawls(&mut txn, tables, &cells, &outcome.crawls, &mut counters)?;
        counters.domains += domains.created;
        domains.write(&mut txn, tables)?;
        counters.applied = last;
        tables.info.put(&mut txn, info::COUNTERS_KEY, &counters.encode())?;
        txn.commit()?;
        let (mut handed_out, mut schedule) = (Vec::with_capacity(outcome.handed_out.len()), schedule);
        for cell in outcome.handed_out {
            let cell = &cells.list[cell as usize];
            handed_out.push(cell.new.index);
            // Handed out and back within the batch: no row changed, but whoever took it must hear of it.
            if cell.new.is_scheduled() {
                let key =
                    ScheduleKey { domain: cell.key.domain(), score: cell.new.score, index: cell.new.index };
                schedule.push(ScheduleChange { key, added: true });
            }
        }
        schedule.sort_by_key(|change| change.key);
        Ok(Applied { counters, schedule, handed_out, expired: outcome.expired })
    }
}
