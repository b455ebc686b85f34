//! Second step of a batch: every site gets its domain and its number there. Two domains never share a
//! key: the later one takes the next free key.

use std::collections::HashMap;

use heed::RwTxn;

use super::refs::SiteMention;
use crate::pagedb::domain_record::{DomainRecord, site_key};
use crate::pagedb::env::{InTable, PageDbError, Tables, corrupted};
use crate::pagedb::scoring::Scoring;
use crate::types::{DomainKey, Naming};

/// A domain that the batch touches.
pub(super) struct Domain {
    pub key: DomainKey,
    pub record: DomainRecord,
    pub changed: bool,
}

/// Where a site stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct SitePlace {
    pub domain: DomainKey,
    /// Number of the site in its domain.
    pub site: u32,
}

/// The domains of a batch, loaded once and written once.
#[derive(Default)]
pub(super) struct Domains {
    list: Vec<Domain>,
    by_key: HashMap<DomainKey, usize, foldhash::fast::RandomState>,
    pub created: u64,
}

impl Domains {
    /// The place of each site; domains and sites seen for the first time are created.
    pub(super) fn place(
        &mut self,
        txn: &mut RwTxn<'_>,
        tables: &Tables,
        naming: &Naming,
        scoring: &Scoring,
        sites: &[SiteMention<'_>],
    ) -> Result<Vec<SitePlace>, PageDbError> {
        let mut by_name: HashMap<&str, usize, foldhash::fast::RandomState> = HashMap::default();
        // (domain, site's class, number in the batch), to be grouped by domain.
        let mut wanted = Vec::with_capacity(sites.len());
        for (number, site) in sites.iter().enumerate() {
            let name = naming.domain_of(site.text);
            let domain = match by_name.get(name) {
                Some(&domain) => domain,
                None => {
                    let domain = self.find_or_create(txn, tables, naming, scoring, name)?;
                    by_name.insert(name, domain);
                    domain
                }
            };
            wanted.push((domain, &*site.class, number));
        }
        wanted.sort_unstable();
        let mut places = vec![SitePlace { domain: DomainKey(0), site: 0 }; sites.len()];
        for group in wanted.chunk_by(|a, b| a.0 == b.0) {
            self.number_sites(txn, tables, naming, sites, group, &mut places)?;
        }
        Ok(places)
    }

    /// The domain with this key, loaded if need be; `None` if there is none.
    pub(super) fn get(
        &mut self,
        txn: &RwTxn<'_>,
        tables: &Tables,
        key: DomainKey,
    ) -> Result<Option<&mut Domain>, PageDbError> {
        let at = self.load(txn, tables, key)?;
        Ok(at.map(|at| &mut self.list[at]))
    }

    /// Writes every changed record.
    pub(super) fn write(mut self, txn: &mut RwTxn<'_>, tables: &Tables) -> Result<(), PageDbError> {
        self.list.retain(|domain| domain.changed);
        self.list.sort_unstable_by_key(|domain| domain.key);
        let mut value = Vec::new();
        for domain in &self.list {
            value.clear();
            domain.record.encode(&mut value);
            tables.domains.put(txn, &domain.key.0.to_be_bytes(), &value)?;
        }
        Ok(())
    }

    fn load(
        &mut self,
        txn: &RwTxn<'_>,
        tables: &Tables,
        key: DomainKey,
    ) -> Result<Option<usize>, PageDbError> {
        if let Some(&at) = self.by_key.get(&key) {
            return Ok(Some(at));
        }
        let row = key.0.to_be_bytes();
        let Some(bytes) = tables.domains.get(txn, &row)? else { return Ok(None) };
        let record = DomainRecord::decode(bytes).in_table("domains", &row)?;
        Ok(Some(self.add(Domain { key, record, changed: false })))
    }

    fn add(&mut self, domain: Domain) -> usize {
        self.by_key.insert(domain.key, self.list.len());
        self.list.push(domain);
        self.list.len() - 1
    }

    fn find_or_create(
        &mut self,
        txn: &RwTxn<'_>,
        tables: &Tables,
        naming: &Naming,
        scoring: &Scoring,
        name: &str,
    ) -> Result<usize, PageDbError> {
        let mut key = DomainKey((naming.hasher.domain)(name));
        loop {
            match self.load(txn, tables, key)? {
                Some(at) if self.list[at].record.name == name => return Ok(at),
                Some(_) => key = DomainKey(key.0.wrapping_add(1)),
                None => {
                    self.created += 1;
                    let record = DomainRecord { share: scoring.share_of_new(key), ..DomainRecord::new(name) };
                    return Ok(self.add(Domain { key, record, changed: true }));
                }
            }
        }
    }

    /// Finds the numbers of some sites of one domain (sorted by class) in one pass over its rows. A site that is
    /// there in another form sticks to it; a new one is kept in the form that the batch mentions first.
    fn number_sites(
        &mut self,
        txn: &mut RwTxn<'_>,
        tables: &Tables,
        naming: &Naming,
        sites: &[SiteMention<'_>],
        group: &[(usize, &str, usize)],
        places: &mut [SitePlace],
    ) -> Result<(), PageDbError> {
        let domain = &mut self.list[group[0].0];
        let mut missing = vec![true; group.len()];
        for site in 0..domain.record.sites {
            let key = site_key(domain.key, site);
            let text = tables.sites.get(txn, &key)?.ok_or_else(|| corrupted("sites", &key))?;
            let text = std::str::from_utf8(text).map_err(|_| corrupted("sites", &key))?;
            let class = naming.class(text);
            if let Ok(at) = group.binary_search_by(|wanted| wanted.1.cmp(&class)) {
                places[group[at].2] = SitePlace { domain: domain.key, site };
                missing[at] = false;
            }
        }
        for (&(_, _, number), _) in group.iter().zip(missing).filter(|(_, missing)| *missing) {
            let site = domain.record.sites;
            tables.sites.put(txn, &site_key(domain.key, site), sites[number].text.as_bytes())?;
            domain.record.sites += 1;
            domain.changed = true;
            places[number] = SitePlace { domain: domain.key, site };
        }
        Ok(())
    }
}
