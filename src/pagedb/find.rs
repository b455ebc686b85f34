//! Finding a page by its URL: from the key that the URL hashes to, row by row, until a free one.

use heed::RoTxn;

use super::domain_record::{DomainRecord, join, site_key};
use super::env::{InTable, PageDbError, Tables, corrupted};
use super::page_state::{PageState, Slot};
use super::url_record::UrlRecord;
use crate::types::{DomainKey, Naming, PageIndex, PageKey, PageUrl};

/// What looking pages up needs.
#[derive(Clone, Copy)]
pub(super) struct Finder<'t> {
    pub txn: &'t RoTxn<'t>,
    pub tables: &'t Tables,
    pub naming: Naming,
}

impl<'t> Finder<'t> {
    /// The key and state of a URL, if it is known.
    pub fn page(&self, url: &PageUrl) -> Result<Option<(PageKey, PageState)>, PageDbError> {
        let Some(domain) = self.domain(self.naming.domain_of(url.site()))? else { return Ok(None) };
        let hash = (self.naming.hasher.path)(url.path(), self.naming.site_hash(url.site()));
        let mut key = PageKey::new(domain, hash);
        while let Some(slot) = self.slot(key)? {
            if let Slot::Page(state) = slot
                && self.is_url(state.index, url)?
            {
                return Ok(Some((key, state)));
            }
            key = key.next_in_domain();
        }
        Ok(None)
    }

    /// The key of the domain with this name, if it is known.
    pub fn domain(&self, name: &str) -> Result<Option<DomainKey>, PageDbError> {
        let mut domain = DomainKey((self.naming.hasher.domain)(name));
        loop {
            let row = domain.0.to_be_bytes();
            let Some(bytes) = self.tables.domains.get(self.txn, &row)? else { return Ok(None) };
            if DomainRecord::name_of(bytes).in_table("domains", &row)? == name {
                return Ok(Some(domain));
            }
            domain = DomainKey(domain.0.wrapping_add(1));
        }
    }

    /// The row of `hash2idx` with this key; `None` if the key is free.
    pub fn slot(&self, key: PageKey) -> Result<Option<Slot>, PageDbError> {
        let row = key.to_bytes();
        let bytes = self.tables.hash2idx.get(self.txn, &row)?;
        bytes.map(Slot::decode).transpose().in_table("hash2idx", &row)
    }

    /// The row of `urls` with this index; `None` if no page has it.
    pub fn url_record(&self, index: PageIndex) -> Result<Option<UrlRecord<'t>>, PageDbError> {
        let row = index.to_bytes();
        let bytes = self.tables.urls.get(self.txn, &row)?;
        bytes.map(UrlRecord::decode).transpose().in_table("urls", &row)
    }

    /// The text of a site.
    pub fn site(&self, domain: DomainKey, site: u32) -> Result<&'t str, PageDbError> {
        let row = site_key(domain, site);
        let bytes = self.tables.sites.get(self.txn, &row)?.ok_or_else(|| corrupted("sites", &row))?;
        std::str::from_utf8(bytes).map_err(|_| corrupted("sites", &row))
    }

    /// The URL of the page with this index.
    pub fn url(&self, index: PageIndex) -> Result<Option<PageUrl>, PageDbError> {
        let Some(record) = self.url_record(index)? else { return Ok(None) };
        Ok(Some(join(self.site(record.key.domain(), record.site)?, record.path)))
    }

    fn is_url(&self, index: PageIndex, url: &PageUrl) -> Result<bool, PageDbError> {
        let Some(record) = self.url_record(index)? else { return Ok(false) };
        let main = self.site(record.key.domain(), record.site)?;
        Ok(record.path == url.path() && self.naming.is_same_site(main, url.site()))
    }
}
