//! Third pass: `urls`.

use super::chains::Displaced;
use super::{Check, Kind};
use crate::pagedb::domain_record::{join, site_key};
use crate::pagedb::env::PageDbError;
use crate::pagedb::url_record::UrlRecord;
use crate::types::{PageIndex, PageKey, PageUrl};

impl Check<'_> {
    pub(super) fn urls(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        for row in snapshot.tables.urls.iter(&snapshot.txn)? {
            let (row, bytes) = row?;
            self.row_done();
            let Some(index) = self.decoded(row.try_into().map(PageIndex::from_bytes), "urls", row) else {
                continue;
            };
            self.counted.pages += 1;
            if let Some(record) = self.decoded(UrlRecord::decode(bytes), "urls", row) {
                self.url(index, &record)?;
            }
        }
        Ok(())
    }

    fn url(&mut self, index: PageIndex, record: &UrlRecord<'_>) -> Result<(), PageDbError> {
        let key = record.key;
        let at = index.0 as usize;
        let known = at < self.pages.keys.len() && self.pages.known.get(at);
        if !known || self.pages.keys[at] != key.0 {
            self.report
                .add(Kind::UrlKey, || format!("page {index} has the key {key} in urls, but not in hash2idx"));
        } else {
            self.parent(index, record.linked_from);
        }
        let site_row = site_key(key.domain(), record.site);
        let Some(&site_hash) = self.sites.get(&u64::from_be_bytes(site_row)) else {
            let site = record.site;
            self.report
                .add(Kind::PageSite, || format!("page {index} is on site {site}, which its domain has not"));
            return Ok(());
        };
        let url = join(self.snapshot.site(key.domain(), record.site)?, record.path);
        if PageUrl::parse(url.as_str()).as_ref() != Ok(&url) {
            self.report.add(Kind::UrlForm, || format!("page {index}: {url:?}"));
        }
        let natural = PageKey::new(key.domain(), (self.snapshot.naming.hasher.path)(record.path, site_hash));
        if natural != key {
            self.displaced.push(Displaced { natural, key, index });
        }
        Ok(())
    }

    fn parent(&mut self, index: PageIndex, parent: Option<PageIndex>) {
        let problem = match parent {
            None if !self.pages.at_depth_0.get(index.0 as usize) => "has none, but is not at depth 0",
            Some(parent) if parent >= index => "came after it",
            _ => return,
        };
        self.report.add(Kind::Parent, || match parent {
            Some(parent) => format!("page {index}: its parent {parent} {problem}"),
            None => format!("page {index} {problem}"),
        });
    }
}
