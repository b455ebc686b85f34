//! The page database: every page and link ever seen, the schedule and the leases, in one LMDB environment.
//!
//! `docs/format.md` specifies each byte. A batch of edits comes in through [`PageDb::apply`]; everything
//! else reads: single rows through a [`Snapshot`], whole tables through the streams.

mod anchor_list;
mod anchors;
mod apply;
mod backup;
mod bits;
pub mod bulk;
mod by_content;
mod by_url;
mod check;
mod domain_record;
mod env;
#[cfg(test)]
mod example;
mod find;
mod info;
pub mod link_list;
mod page_record;
mod page_state;
mod prefetch;
mod schedule_key;
mod scoring;
mod snapshot;
mod stream;
mod sweep;
#[cfg(test)]
mod test_db;
mod url_record;
mod warm;

pub use anchors::{AnchorStream, PageAnchors};
pub use apply::{Applied, Merging, Part, RoundScores, Rules, ScheduleChange};
pub use by_content::ContentStream;
pub use by_url::{Scope, UrlStream};
pub use check::{Kind, Progress, Report, Violation};
pub use domain_record::{DomainCounters, DomainRecord, Heat};
pub use env::{PageDb, PageDbError, PageDbOptions, Snapshot};
pub use info::Counters;
pub use page_record::PageRecord;
pub use page_state::{PageState, Status};
pub use schedule_key::{LeaseKey, ScheduleKey};
pub use scoring::{Moving, NO_SCORER, Round, Scoring, seed_score};
pub use stream::{LinkStream, Page, PageLinks, PageStream, Rows, StateStream, Stream};
