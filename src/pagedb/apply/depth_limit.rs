//! A changed `max_crawl_depth`: pages that are no longer too deep join the schedule, others leave it.

use super::Rules;
use crate::pagedb::domain_record::DomainRecord;
use crate::pagedb::env::{InTable, PageDb, PageDbError, corrupted};
use crate::pagedb::info::{self, Counters};
use crate::pagedb::page_state::{Slot, Status};
use crate::pagedb::schedule_key::ScheduleKey;
use crate::types::PageKey;

impl PageDb {
    /// Brings the schedule in line with the depth limit, if it is another than the last time.
    ///
    /// # Errors
    /// As [`PageDb::apply`].
    pub fn set_max_depth(&self, rules: Rules) -> Result<(), PageDbError> {
        let tables = &self.tables;
        let mut txn = self.write()?;
        let wanted = info::encode_max_depth(rules.max_depth);
        if tables.info.get(&txn, info::MAX_DEPTH_KEY)? == Some(&wanted) {
            return Ok(());
        }
        let mut moved = Vec::new();
        for row in tables.hash2idx.iter(&txn)? {
            let (row, bytes) = row?;
            let Slot::Page(state) = Slot::decode(bytes).in_table("hash2idx", row)? else { continue };
            let waits = matches!(state.status, Status::Scheduled | Status::TooDeep);
            if waits && state.status != rules.waiting(state.depth) {
                let key = row.try_into().map_err(|_| corrupted("hash2idx", row))?;
                moved.push((PageKey::from_bytes(key), state));
            }
        }
        let stored = tables.info.get(&txn, info::COUNTERS_KEY)?;
        let stored = stored.ok_or_else(|| corrupted("info", info::COUNTERS_KEY))?;
        let mut counters = Counters::decode(stored).in_table("info", info::COUNTERS_KEY)?;
        let mut value = Vec::new();
        for (key, mut state) in moved {
            state.status = rules.waiting(state.depth);
            let entry = ScheduleKey { domain: key.domain(), score: state.score, index: state.index };
            let change = if state.is_scheduled() {
                tables.schedule.put(&mut txn, &entry.to_bytes(), &[])?;
                1
            } else {
                tables.schedule.delete(&mut txn, &entry.to_bytes())?;
                -1
            };
            value.clear();
            state.encode(&mut value);
            tables.hash2idx.put(&mut txn, &key.to_bytes(), &value)?;
            counters.scheduled = counters.scheduled.wrapping_add_signed(change);
            let row = key.domain().0.to_be_bytes();
            let bytes = tables.domains.get(&txn, &row)?.ok_or_else(|| corrupted("domains", &row))?;
            let mut domain = DomainRecord::decode(bytes).in_table("domains", &row)?;
            domain.counters.scheduled = domain.counters.scheduled.wrapping_add_signed(change);
            value.clear();
            domain.encode(&mut value);
            tables.domains.put(&mut txn, &row, &value)?;
        }
        tables.info.put(&mut txn, info::COUNTERS_KEY, &counters.encode())?;
        tables.info.put(&mut txn, info::MAX_DEPTH_KEY, &wanted)?;
        Ok(txn.commit()?)
    }
}
