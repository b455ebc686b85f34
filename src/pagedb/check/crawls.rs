//! The crawl records, found beside the states.

use super::merge::Merge;
use super::{Check, Kind};
use crate::pagedb::env::PageDbError;
use crate::pagedb::page_record::PageRecord;
use crate::pagedb::page_state::{PageState, Status};
use crate::pagedb::schedule_key::content_key;
use crate::types::PageKey;

impl Check<'_> {
    /// A page's row of `hash2info`, or that it has none.
    pub(super) fn record(
        &mut self,
        key: PageKey,
        state: &PageState,
        row: Option<(&[u8], &[u8])>,
    ) -> Result<(), PageDbError> {
        let crawled = state.status == Status::Crawled;
        let Some((row, bytes)) = row else {
            if crawled {
                self.report.add(Kind::RecordMissing, || format!("page {key} is crawled, but has no record"));
            }
            return Ok(());
        };
        self.row_done();
        if !crawled {
            let status = state.status.name();
            self.report.add(Kind::RecordStray, || format!("page {key} is {status}, but has a record"));
        }
        let Some(record) = self.decoded(PageRecord::decode(bytes), "hash2info", row) else { return Ok(()) };
        if record.crawls == 0 || record.changes >= record.crawls || record.last_crawl < record.first_crawl {
            self.report.add(Kind::Record, || {
                format!(
                    "page {key}: {} crawls, {} changes, the first at {}, the last at {}",
                    record.crawls, record.changes, record.first_crawl.0, record.last_crawl.0
                )
            });
        }
        if let Some(hash) = &record.content_hash {
            let snapshot = self.snapshot;
            if snapshot.tables.content.get(&snapshot.txn, &content_key(hash, key))?.is_none() {
                self.report
                    .add(Kind::ContentMissing, || format!("page {key}: content has no row for {hash:?}"));
            }
        }
        Ok(())
    }

    /// Rows of `hash2info` whose page has no row in `hash2idx`.
    pub(super) fn stray_records(
        &mut self,
        records: &mut Merge<'_>,
        before: Option<&[u8]>,
    ) -> Result<(), PageDbError> {
        while let Some((row, bytes)) = records.before(before)? {
            self.row_done();
            self.decoded(PageRecord::decode(bytes), "hash2info", row);
            self.report.add(Kind::RecordStray, || format!("the record {row:02x?} is of no known page"));
        }
        Ok(())
    }
}
