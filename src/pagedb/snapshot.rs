//! Reading single rows of a consistent view.

use std::ops::Bound;

use super::domain_record::{DomainRecord, join};
use super::env::{InTable, PageDbError, Snapshot, corrupted};
use super::find::Finder;
use super::info::{self, Counters};
use super::link_list;
use super::page_record::PageRecord;
use super::page_state::{PageState, Slot};
use super::schedule_key::{LeaseKey, ScheduleKey};
use super::scoring::Scoring;
use super::stream::Page;
use super::url_record::UrlRecord;
use crate::types::{DomainKey, PageIndex, PageKey, PageUrl, Score, Time};

impl Snapshot {
    /// # Errors
    /// As every method here: what LMDB says, or [`PageDbError::Corrupted`].
    pub fn counters(&self) -> Result<Counters, PageDbError> {
        let bytes = self.tables.info.get(&self.txn, info::COUNTERS_KEY)?;
        let bytes = bytes.ok_or_else(|| corrupted("info", info::COUNTERS_KEY))?;
        Counters::decode(bytes).in_table("info", info::COUNTERS_KEY)
    }

    /// Which scorer orders the schedule, and where its rounds stand.
    pub fn scoring(&self) -> Result<Scoring, PageDbError> {
        info::scoring(&self.tables, &self.txn)
    }

    /// The depth limit that the schedule was made for.
    pub fn max_depth(&self) -> Result<Option<u32>, PageDbError> {
        let bytes = self.tables.info.get(&self.txn, info::MAX_DEPTH_KEY)?;
        let bytes = bytes.ok_or_else(|| corrupted("info", info::MAX_DEPTH_KEY))?;
        info::decode_max_depth(bytes).in_table("info", info::MAX_DEPTH_KEY)
    }

    pub(super) fn finder(&self) -> Finder<'_> {
        Finder { txn: &self.txn, tables: &self.tables, naming: self.naming }
    }

    /// A page's key and URL by its index; `None` if it was deleted.
    pub fn url(&self, index: PageIndex) -> Result<Option<(PageKey, PageUrl)>, PageDbError> {
        let Some(record) = self.url_record(index)? else { return Ok(None) };
        let site = self.site(record.key.domain(), record.site)?;
        Ok(Some((record.key, join(site, record.path))))
    }

    pub(super) fn url_record(&self, index: PageIndex) -> Result<Option<UrlRecord<'_>>, PageDbError> {
        self.finder().url_record(index)
    }

    pub(super) fn site(&self, domain: DomainKey, site: u32) -> Result<&str, PageDbError> {
        self.finder().site(domain, site)
    }

    pub fn state(&self, key: PageKey) -> Result<Option<PageState>, PageDbError> {
        Ok(self.finder().slot(key)?.and_then(Slot::page))
    }

    /// The score at which a page waits in the schedule; `None` if it does not wait.
    pub fn scheduled_score(&self, index: PageIndex) -> Result<Option<Score>, PageDbError> {
        let Some(record) = self.url_record(index)? else { return Ok(None) };
        let state = self.state(record.key)?;
        Ok(state.filter(PageState::is_scheduled).map(|state| state.score))
    }

    /// One more than the greatest index in use.
    pub(super) fn next_index(&self) -> Result<PageIndex, PageDbError> {
        let Some((row, _)) = self.tables.urls.last(&self.txn)? else { return Ok(PageIndex(0)) };
        let index = row.try_into().map(PageIndex::from_bytes).map_err(|_| corrupted("urls", row))?;
        Ok(PageIndex(index.0 + 1))
    }

    /// A page's crawl history; `None` if it was never crawled.
    pub fn record(&self, key: PageKey) -> Result<Option<PageRecord>, PageDbError> {
        let row = key.to_bytes();
        let bytes = self.tables.hash2info.get(&self.txn, &row)?;
        bytes.map(PageRecord::decode).transpose().in_table("hash2info", &row)
    }

    pub fn domain(&self, key: DomainKey) -> Result<Option<DomainRecord>, PageDbError> {
        let row = key.0.to_be_bytes();
        let bytes = self.tables.domains.get(&self.txn, &row)?;
        bytes.map(DomainRecord::decode).transpose().in_table("domains", &row)
    }

    /// A domain's name.
    pub fn domain_name(&self, key: DomainKey) -> Result<String, PageDbError> {
        let row = key.0.to_be_bytes();
        let bytes = self.tables.domains.get(&self.txn, &row)?.ok_or_else(|| corrupted("domains", &row))?;
        Ok(DomainRecord::name_of(bytes).in_table("domains", &row)?.to_owned())
    }

    /// Calls `visit` for every domain, in order of key.
    pub fn for_each_domain(&self, mut visit: impl FnMut(DomainKey, DomainRecord)) -> Result<(), PageDbError> {
        for row in self.tables.domains.iter(&self.txn)? {
            let (row, bytes) = row?;
            let key = row.try_into().map_err(|_| corrupted("domains", row))?;
            let record = DomainRecord::decode(bytes).in_table("domains", row)?;
            visit(DomainKey(u32::from_be_bytes(key)), record);
        }
        Ok(())
    }

    /// The key and state of a URL, if it is known.
    pub fn find(&self, url: &PageUrl) -> Result<Option<(PageKey, PageState)>, PageDbError> {
        self.finder().page(url)
    }

    /// Everything known of the page with this URL; `None` if there is none.
    pub fn page(&self, url: &PageUrl) -> Result<Option<Page>, PageDbError> {
        let Some((key, state)) = self.find(url)? else { return Ok(None) };
        Ok(Some(self.page_of(key, state)?))
    }

    /// Everything known of the page with this key and state.
    pub(super) fn page_of(&self, key: PageKey, state: PageState) -> Result<Page, PageDbError> {
        let record = self.record(key)?;
        let urls = self.url_record(state.index)?;
        let urls = urls.ok_or_else(|| corrupted("urls", &state.index.to_bytes()))?;
        let url = join(self.site(key.domain(), urls.site)?, urls.path);
        Ok(Page { key, url, state, linked_from: urls.linked_from, record })
    }

    /// The links of a page, those to other domains first; `None` if it was never crawled.
    pub fn links(&self, index: PageIndex) -> Result<Option<Vec<PageIndex>>, PageDbError> {
        let row = index.to_bytes();
        let Some(bytes) = self.tables.links.get(&self.txn, &row)? else { return Ok(None) };
        let mut out = Vec::new();
        link_list::decode(bytes, false, &mut out).in_table("links", &row)?;
        Ok(Some(out))
    }

    /// Whether a page links to another.
    pub fn has_link(&self, page: PageIndex, target: PageIndex) -> Result<bool, PageDbError> {
        let row = page.to_bytes();
        let bytes = self.tables.links.get(&self.txn, &row)?;
        bytes.map_or(Ok(false), |bytes| link_list::has(bytes, target)).in_table("links", &row)
    }

    /// Appends up to `limit` schedule entries of a domain that come after `after` to `out`.
    pub fn schedule_of(
        &self,
        domain: DomainKey,
        after: Option<ScheduleKey>,
        limit: usize,
        out: &mut Vec<ScheduleKey>,
    ) -> Result<(), PageDbError> {
        let first = domain.0.to_be_bytes();
        let after = after.map(ScheduleKey::to_bytes);
        let start = after.as_ref().map_or(Bound::Included(&first[..]), |key| Bound::Excluded(&key[..]));
        for row in self.tables.schedule.range(&self.txn, &(start, Bound::Unbounded))?.take(limit) {
            let (row, _) = row?;
            let key = ScheduleKey::decode(row).in_table("schedule", row)?;
            if key.domain != domain {
                break;
            }
            out.push(key);
        }
        Ok(())
    }

    /// The first lease to end.
    pub fn first_lease(&self) -> Result<Option<LeaseKey>, PageDbError> {
        let Some((row, _)) = self.tables.leases.first(&self.txn)? else { return Ok(None) };
        Ok(Some(LeaseKey::decode(row).in_table("leases", row)?))
    }

    /// Up to `limit` pages whose leases end by `now`, the earliest first.
    pub fn leases_ended(&self, now: Time, limit: usize) -> Result<Vec<PageKey>, PageDbError> {
        let mut out = Vec::new();
        for row in self.tables.leases.iter(&self.txn)?.take(limit) {
            let (row, _) = row?;
            let lease = LeaseKey::decode(row).in_table("leases", row)?;
            if lease.until > now {
                break;
            }
            out.push(lease.page);
        }
        Ok(out)
    }
}
