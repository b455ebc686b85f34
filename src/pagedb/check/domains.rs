//! First pass: `domains` beside `sites`.

use std::collections::HashSet;

use super::merge::Merge;
use super::{Check, Kind};
use crate::pagedb::domain_record::{DomainRecord, site_key};
use crate::pagedb::env::PageDbError;
use crate::types::{DomainKey, PageKey};

impl Check<'_> {
    pub(super) fn domains(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        let mut sites = Merge::new(&snapshot.txn, snapshot.tables.sites)?;
        for row in snapshot.tables.domains.iter(&snapshot.txn)? {
            let (row, bytes) = row?;
            self.row_done();
            self.counted.domains += 1;
            self.stray_sites(&mut sites, Some(row))?;
            let key = self.decoded(row.try_into(), "domains", row);
            let record = self.decoded(DomainRecord::decode(bytes), "domains", row);
            if let (Some(key), Some(record)) = (key, record) {
                let key = DomainKey(u32::from_be_bytes(key));
                self.domain_chain(key, &record.name)?;
                self.sites_of(key, &record, &mut sites)?;
            }
        }
        self.stray_sites(&mut sites, None)
    }

    /// Rows of `sites` whose domain has no row.
    fn stray_sites(&mut self, sites: &mut Merge<'_>, before: Option<&[u8]>) -> Result<(), PageDbError> {
        while let Some((row, _)) = sites.before(before)? {
            self.row_done();
            self.report.add(Kind::SiteNumber, || format!("the site {row:02x?} belongs to no domain"));
        }
        Ok(())
    }

    fn sites_of(
        &mut self,
        domain: DomainKey,
        record: &DomainRecord,
        sites: &mut Merge<'_>,
    ) -> Result<(), PageDbError> {
        let mut classes = HashSet::new();
        let mut expected = 0;
        let name = &record.name;
        while let Some((row, text)) = sites.next_if(|row| row.starts_with(&domain.0.to_be_bytes()))? {
            self.row_done();
            let Some(number) = self.decoded(<[u8; 8]>::try_from(row), "sites", row) else { continue };
            let number = PageKey::from_bytes(number).0;
            if row != site_key(domain, expected) || expected >= record.sites {
                self.report.add(Kind::SiteNumber, || {
                    format!(
                        "domain {name}: site {} is not one of 0 to {} in turn",
                        number as u32, record.sites
                    )
                });
            }
            expected = (number as u32).wrapping_add(1);
            let Some(text) = self.decoded(std::str::from_utf8(text), "sites", row) else { continue };
            if self.snapshot.naming.domain_of(text) != name {
                self.report.add(Kind::SiteDomain, || format!("domain {name}: {text} is no site of it"));
            }
            let class = self.snapshot.naming.class(text);
            self.sites.insert(number, (self.snapshot.naming.hasher.site)(&class));
            if !classes.insert(class) {
                self.report.add(Kind::SiteTwice, || format!("domain {name}: {text} is there twice"));
            }
        }
        if expected < record.sites {
            self.report.add(Kind::SiteNumber, || {
                format!("domain {name}: {expected} of its {} sites are there", record.sites)
            });
        }
        Ok(())
    }

    /// From the key that the name hashes to up to its own, every key is another domain's.
    fn domain_chain(&mut self, key: DomainKey, name: &str) -> Result<(), PageDbError> {
        let snapshot = self.snapshot;
        let mut at = DomainKey((snapshot.naming.hasher.domain)(name));
        while at != key {
            let row = at.0.to_be_bytes();
            let Some(bytes) = snapshot.tables.domains.get(&snapshot.txn, &row)? else {
                self.report.add(Kind::DomainChain, || {
                    format!("domain {name} has the key {:08x}, but {:08x} before it is free", key.0, at.0)
                });
                return Ok(());
            };
            if DomainRecord::name_of(bytes) == Ok(name) {
                self.report.add(Kind::DomainTwice, || {
                    format!("domain {name} has the keys {:08x} and {:08x}", at.0, key.0)
                });
            }
            at = DomainKey(at.0.wrapping_add(1));
        }
        Ok(())
    }
}
