//! A batch of edits, sorted and applied in one transaction.
//!
//! The way of a batch: `refs` lays the edits out flat; `domains` gives every site its domain; `identity`
//! sorts the mentions by key and finds or makes the page of each; `transitions` lets the edits change the
//! pages' states in the order of the log (with a scorer, `estimates` what found pages are worth); `write` brings what changed to the tables, each in its own order.
//! Each LMDB page is so touched about once a batch, not once a link.
//!
//! Edits that add or delete single pages and links (`web`, `delete`) cut the batch into runs: each is applied by
//! itself between the runs before and after it, in the same transaction.

mod changes;
mod delete;
mod depth_limit;
mod domains;
mod estimates;
mod identity;
mod links;
mod refs;
mod rescore;
mod rewrite;
#[cfg(test)]
mod tests;
mod transitions;
mod web;
mod write;

pub use rescore::{Part, RoundScores};
pub use rewrite::Merging;
pub use transitions::Rules;
pub use write::ScheduleChange;

use heed::RwTxn;

use changes::Changes;
use domains::Domains;
use identity::{Cells, Context};
use refs::Mentions;
use rewrite::Way;
use transitions::{Crawl, Outcome};
use web::Editor;

use super::env::{InTable, PageDb, PageDbError, corrupted};
use super::info::{self, Counters};
use super::schedule_key::ScheduleKey;
use super::scoring::Scoring;
use crate::types::{Edit, PageIndex, WebEdit};

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
    /// Pages that are no more.
    pub deleted: Vec<PageIndex>,
    /// Pages whose links were written or removed, sorted.
    pub relinked: Vec<PageIndex>,
}

impl PageDb {
    /// Applies encoded edits, of which the last has the log position `last`, all or none, durably.
    ///
    /// # Errors
    /// [`PageDbError::MapFull`] asks to [`PageDb::grow`] and try again; otherwise what LMDB says. Nothing
    /// is changed then.
    pub fn apply(&self, edits: &[&[u8]], last: u64, rules: Rules) -> Result<Applied, PageDbError> {
        let tables = &self.tables;
        let mut txn = self.write()?;
        let stored = tables.info.get(&txn, info::COUNTERS_KEY)?;
        let stored = stored.ok_or_else(|| corrupted("info", info::COUNTERS_KEY))?;
        let mut changes = Changes::new(Counters::decode(stored).in_table("info", info::COUNTERS_KEY)?);

        let scoring = info::scoring(tables, &txn)?;
        for part in edits.chunk_by(|a, b| !WebEdit::is_one(a) && !WebEdit::is_one(b)) {
            match part {
                [edit] if WebEdit::is_one(edit) => {
                    let Edit::Web(edit) = refs::decode(edit)? else { continue };
                    Editor { db: self, rules, scoring: &scoring, changes: &mut changes }
                        .apply(&mut txn, &edit)?;
                }
                run => {
                    let mut mentions = Mentions::collect(run, &self.options.naming)?;
                    let way = self.way(run.len() == edits.len());
                    self.run(
                        &mut txn,
                        way,
                        &scoring,
                        &mut mentions,
                        &mut changes,
                        |txn, mentions, cells, domains| {
                            transitions::run(txn, tables, rules, &scoring, mentions, cells, domains)
                        },
                    )?;
                }
            }
        }
        delete::unlink(&mut txn, tables, &mut changes)?;
        changes.counters.applied = last;
        tables.info.put(&mut txn, info::COUNTERS_KEY, &changes.counters.encode())?;
        txn.commit()?;
        Ok(changes.finish())
    }

    /// How changes may come to the tables; `is_whole`: the transaction changes them at once, by one run.
    fn way(&self, is_whole: bool) -> Way<'_> {
        let merging = if is_whole { self.options.merging } else { Merging::Never };
        Way { env: &self.env, merging, is_cold: false }
    }

    /// Applies the edits of `mentions` together: `steps` lets them change the pages' states.
    fn run<'a>(
        &self,
        txn: &mut RwTxn<'_>,
        way: Way<'_>,
        scoring: &Scoring,
        mentions: &mut Mentions<'a>,
        changes: &mut Changes,
        steps: impl FnOnce(
            &RwTxn<'_>,
            &mut Mentions<'a>,
            &mut Cells,
            &mut Domains,
        ) -> Result<Outcome<'a>, PageDbError>,
    ) -> Result<Cells, PageDbError> {
        let (naming, tables) = (&self.options.naming, &self.tables);
        let counters = &mut changes.counters;
        let mut domains = Domains::default();
        let places = domains.place(txn, tables, naming, scoring, &mentions.sites)?;
        let context = Context { mentions, places: &places, hasher: &naming.hasher, tables, env: &self.env };
        let mut cells = context.identify(txn)?;
        let way = Way { is_cold: cells.is_cold, ..way };
        let site_of = |site: u32| places[site as usize].site;
        write::append_urls(txn, tables, mentions, site_of, &mut cells, counters)?;
        let outcome = steps(txn, mentions, &mut cells, &mut domains)?;

        let schedule = write::states(txn, way, tables, &cells, &mut domains, counters)?;
        write::crawls(txn, way, tables, &cells, &outcome.crawls, &mentions.anchors, counters)?;
        counters.domains += domains.created;
        domains.write(txn, tables)?;
        changes.schedule.extend(schedule);
        changes.expired += outcome.expired;
        let index = |crawl: &Crawl<'_>| cells.list[crawl.cell as usize].new.index;
        changes.relinked.extend(outcome.crawls.iter().map(index));
        for cell in outcome.handed_out {
            let cell = &cells.list[cell as usize];
            changes.handed_out.push(cell.new.index);
            // Handed out and back within the batch: no row changed, but whoever took it must hear of it.
            if cell.new.is_scheduled() {
                let key =
                    ScheduleKey { domain: cell.key.domain(), score: cell.new.score, index: cell.new.index };
                changes.schedule.push(ScheduleChange { key, added: true });
            }
        }
        Ok(cells)
    }
}
