//! The sites and domains of an import, old and new, in memory: some hundred bytes a site.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::pagedb::domain_record::{DomainRecord, site_key};
use crate::pagedb::env::{PageDbError, Snapshot, corrupted};
use crate::pagedb::scoring::Scoring;
use crate::types::{DomainKey, Naming, PageKey};

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// A site that pages of the import, or of the old database, stand on.
pub struct Site {
    /// Its main form.
    pub text: Box<str>,
    /// Seeds the hash of its paths.
    pub hash: u64,
    pub domain: DomainKey,
    /// Its number in its domain.
    pub number: u32,
}

/// Every site by a number of its own, which is not the one in its domain.
pub struct Sites {
    naming: Naming,
    scoring: Scoring,
    list: Vec<Site>,
    /// By each form of a site that was met, and by its class.
    numbers: Map<Box<str>, u32>,
    /// Old ones, by their key in `sites`: the first `old.len()` of the list.
    old: Vec<u64>,
    domains: Map<DomainKey, DomainRecord>,
    domain_of_name: Map<Box<str>, DomainKey>,
}

impl Sites {
    /// No sites, or those of a database.
    pub fn load(old: Option<&Snapshot>, naming: Naming, scoring: Scoring) -> Result<Sites, PageDbError> {
        let mut sites = Sites {
            naming,
            scoring,
            list: Vec::new(),
            numbers: Map::default(),
            old: Vec::new(),
            domains: Map::default(),
            domain_of_name: Map::default(),
        };
        let Some(old) = old else { return Ok(sites) };
        old.for_each_domain(|key, record| {
            sites.domain_of_name.insert(record.name.as_str().into(), key);
            sites.domains.insert(key, record);
        })?;
        for row in old.tables.sites.iter(&old.txn)? {
            let (row, text) = row?;
            let key = row.try_into().map(PageKey::from_bytes).map_err(|_| corrupted("sites", row))?;
            let text = std::str::from_utf8(text).map_err(|_| corrupted("sites", row))?;
            sites.old.push(key.0);
            sites.add(text, key.domain(), key.0 as u32);
        }
        Ok(sites)
    }

    pub fn get(&self, site: u32) -> &Site {
        &self.list[site as usize]
    }

    /// The number of a site; it and its domain are created if they are new.
    pub fn number_of(&mut self, text: &str) -> u32 {
        if let Some(&site) = self.numbers.get(text) {
            return site;
        }
        if let Cow::Owned(class) = self.naming.class(text)
            && let Some(&site) = self.numbers.get(&*class)
        {
            self.numbers.insert(text.into(), site);
            return site;
        }
        let name = self.naming.domain_of(text);
        let key = match self.domain_of_name.get(name) {
            Some(&key) => key,
            None => self.new_domain(name),
        };
        let domain = self.domains.entry(key).or_insert_with(|| DomainRecord::new(name));
        let number = domain.sites;
        domain.sites += 1;
        self.add(text, key, number)
    }

    /// The number of a site by its key in the old database.
    pub fn number_of_old(&self, domain: DomainKey, number: u32) -> Result<u32, PageDbError> {
        let row = site_key(domain, number);
        let found = self.old.binary_search(&u64::from_be_bytes(row));
        found.map(|at| at as u32).map_err(|_| corrupted("sites", &row))
    }

    /// The key of a page before any collision.
    pub fn natural_key(&self, site: u32, path: &str) -> PageKey {
        let site = self.get(site);
        PageKey::new(site.domain, (self.naming.hasher.path)(path, site.hash))
    }

    /// The record of a domain that a page belongs to.
    pub fn domain(&mut self, key: DomainKey) -> Result<&mut DomainRecord, PageDbError> {
        self.domains.get_mut(&key).ok_or_else(|| corrupted("domains", &key.0.to_be_bytes()))
    }

    /// All domains in order of key.
    pub fn domains(&self) -> Vec<(DomainKey, &DomainRecord)> {
        let mut all: Vec<_> = self.domains.iter().map(|(&key, record)| (key, record)).collect();
        all.sort_unstable_by_key(|&(key, _)| key);
        all
    }

    /// Keys in `sites` and texts of all sites, in order of key.
    pub fn rows(&self) -> Vec<([u8; 8], &str)> {
        let mut all: Vec<_> =
            self.list.iter().map(|site| (site_key(site.domain, site.number), &*site.text)).collect();
        all.sort_unstable_by_key(|&(key, _)| key);
        all
    }

    /// As the writer of edits does it: the next free key if another name has the first.
    fn new_domain(&mut self, name: &str) -> DomainKey {
        let mut key = DomainKey((self.naming.hasher.domain)(name));
        while self.domains.contains_key(&key) {
            key = DomainKey(key.0.wrapping_add(1));
        }
        let share = self.scoring.share_of_new(key);
        self.domains.insert(key, DomainRecord { share, ..DomainRecord::new(name) });
        self.domain_of_name.insert(name.into(), key);
        key
    }

    fn add(&mut self, text: &str, domain: DomainKey, number: u32) -> u32 {
        let site = self.list.len() as u32;
        self.numbers.insert(text.into(), site);
        let class = self.naming.class(text);
        let hash = (self.naming.hasher.site)(&class);
        if let Cow::Owned(class) = class {
            self.numbers.insert(class.into(), site);
        }
        self.list.push(Site { text: text.into(), hash, domain, number });
        site
    }
}
