//! Reading single rows of a consistent view.

use std::ops::Bound;

use super::domain_record::{DomainRecord, join, site_key};
use super::env::{InTable, PageDbError, Snapshot, corrupted};
use super::info::{self, Counters};
use super::link_list;
use super::page_record::PageRecord;
use super::page_state::PageState;
use super::schedule_key::{LeaseKey, ScheduleKey};
use super::scoring::Scoring;
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

    /// A page's key and URL by its index.
    pub fn url(&self, index: PageIndex) -> Result<Option<(PageKey, PageUrl)>, PageDbError> {
        let Some(record) = self.url_record(index)? else { return Ok(None) };
        let site = self.site(record.key.domain(), record.site)?;
        Ok(Some((record.key, join(site, record.path))))
    }

    pub(super) fn url_record(&self, index: PageIndex) -> Result<Option<UrlRecord<'_>>, PageDbError> {
        let row = index.to_bytes();
        let bytes = self.tables.urls.get(&self.txn, &row)?;
        bytes.map(UrlRecord::decode).transpose().in_table("urls", &row)
    }

    pub(super) fn site(&self, domain: DomainKey, site: u32) -> Result<&str, PageDbError> {
        let row = site_key(domain, site);
        let bytes = self.tables.sites.get(&self.txn, &row)?.ok_or_else(|| corrupted("sites", &row))?;
        std::str::from_utf8(bytes).map_err(|_| corrupted("sites", &row))
    }

    pub fn state(&self, key: PageKey) -> Result<Option<PageState>, PageDbError> {
        let row = key.to_bytes();
        let bytes = self.tables.hash2idx.get(&self.txn, &row)?;
        bytes.map(PageState::decode).transpose().in_table("hash2idx", &row)
    }

    /// The score at which a page waits in the schedule; `None` if it does not wait.
    pub fn scheduled_score(&self, index: PageIndex) -> Result<Option<Score>, PageDbError> {
        let Some(record) = self.url_record(index)? else { return Ok(None) };
        let state = self.state(record.key)?;
        Ok(state.filter(PageState::is_scheduled).map(|state| state.score))
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
        let name = self.domain_unit.domain_of(url.site());
        let mut domain = DomainKey((self.hasher.domain)(name));
        loop {
            match self.domain(domain)? {
                None => return Ok(None),
                Some(record) if record.name == name => break,
                Some(_) => domain = DomainKey(domain.0.wrapping_add(1)),
            }
        }
        let hash = (self.hasher.path)(url.path(), (self.hasher.site)(url.site()));
        let mut key = PageKey::new(domain, hash);
        while let Some(state) = self.state(key)? {
            if let Some((_, found)) = self.url(state.index)?
                && found == *url
            {
                return Ok(Some((key, state)));
            }
            key = key.next_in_domain();
        }
        Ok(None)
    }

    /// The links of a page, those to other domains first; `None` if it was never crawled.
    pub fn links(&self, index: PageIndex) -> Result<Option<Vec<PageIndex>>, PageDbError> {
        let row = index.to_bytes();
        let Some(bytes) = self.tables.links.get(&self.txn, &row)? else { return Ok(None) };
        let mut out = Vec::new();
        link_list::decode(bytes, false, &mut out).in_table("links", &row)?;
        Ok(Some(out))
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
