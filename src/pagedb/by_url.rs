//! Pages in alphabetical order of their URLs (Nutch's `pages()`), all or those with a prefix.
//!
//! No table has this order: keys are hashes. But a site's text stands once in `sites`, and a domain's pages lie
//! together. So the stream goes site by site in order of their texts, reads the pages of the domains of the next
//! few sites, and sorts them. Memory is bounded: so many sites are known ahead, and of more pages than fit
//! the first ones in order are kept, and the rest are read again after them. A prefix with a host, or a domain,
//! goes straight to the rows of that domain.
//!
//! As with the other streams each read is short, and each page is as of its own moment; one that exists
//! throughout comes exactly once. The cursor is the URL of the last page.

use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::ops::Bound;

use super::domain_record::site_key;
use super::env::{InTable, PageDb, PageDbError, Table, corrupted};
use super::page_state::Slot;
use super::stream::{CHUNK_ROWS, Page};
use crate::types::{DomainKey, PageKey, SameSite};

/// Sites known ahead: with what they cost, some megabytes.
const SITES_AHEAD: usize = 16_384;

/// URLs sorted at a time: a hundred bytes each.
const URLS_SORTED: usize = 200_000;

/// Pages, as far as the domains' counters tell, that a group of sites should have: enough to be worth the reads.
const GROUP_PAGES: u64 = 50_000;

/// Rows read in one transaction while looking for the next pages.
const ROWS_A_READ: usize = 10_000;

/// Which pages are wanted.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// What their URLs begin with.
    pub prefix: String,
    /// The name of their domain.
    pub domain: Option<String>,
}

/// A site: its text with a slash behind it, because that is what its URLs begin with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    text: String,
    domain: DomainKey,
    number: u32,
}

/// Pages in order of URL; an iterator that ends after an error.
pub struct UrlStream<'db> {
    db: &'db PageDb,
    scope: Scope,
    /// Sites to come, in order; `more_sites` if others come after these.
    sites: VecDeque<Site>,
    more_sites: bool,
    last_site: Option<String>,
    /// The sites whose pages are being given out; `more_urls` if not all fitted.
    group: Vec<Site>,
    more_urls: bool,
    /// URLs found, in order.
    found: VecDeque<(String, PageKey)>,
    ready: VecDeque<Page>,
    /// The last URL found; all up to it are done.
    after: Option<String>,
    cursor: Option<String>,
    urls_sorted: usize,
}

impl PageDb {
    /// The pages of `scope`, in order of URL.
    pub fn pages_by_url(&self, scope: Scope) -> UrlStream<'_> {
        UrlStream {
            db: self,
            scope,
            sites: VecDeque::new(),
            more_sites: true,
            last_site: None,
            group: Vec::new(),
            more_urls: false,
            found: VecDeque::new(),
            ready: VecDeque::new(),
            after: None,
            cursor: None,
            urls_sorted: URLS_SORTED,
        }
    }
}

impl Scope {
    /// Whether a site (with its slash) can have such pages.
    fn admits_site(&self, site: &str) -> bool {
        site.starts_with(&self.prefix) || self.prefix.starts_with(site)
    }

    /// The domain that all such pages are in, if the scope names one.
    fn domain<'s>(&'s self, db: &PageDb) -> Option<&'s str> {
        let naming = &db.options.naming;
        match &self.domain {
            Some(domain) => Some(naming.same_site.host(domain)),
            None => self.site().map(|site| naming.domain_of(site)),
        }
    }

    /// The site that the prefix names.
    fn site(&self) -> Option<&str> {
        let (_, rest) = self.prefix.split_once("://")?;
        Some(&self.prefix[..self.prefix.len() - rest.len() + rest.find('/')?])
    }
}

impl UrlStream<'_> {
    /// Goes on behind this URL.
    pub fn after(mut self, url: &str) -> Self {
        let scope = std::mem::take(&mut self.scope);
        let urls_sorted = self.urls_sorted;
        self = self.db.pages_by_url(scope);
        let slash = url.find("://").and_then(|at| Some(at + 3 + url[at + 3..].find('/')?));
        // What is no URL stands before the sites that come after it.
        self.last_site = Some(slash.map_or_else(|| url.to_owned(), |slash| url[..=slash].to_owned()));
        (self.after, self.cursor) = (Some(url.to_owned()), Some(url.to_owned()));
        self.urls_sorted = urls_sorted;
        self
    }

    /// The URL of the last page given out; `None` before the first.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    fn fill(&mut self) -> Result<(), PageDbError> {
        while self.ready.is_empty() {
            if !self.found.is_empty() {
                self.resolve()?;
            } else if self.more_urls {
                self.find_urls()?;
            } else if !self.sites.is_empty() {
                self.next_group()?;
                self.find_urls()?;
            } else if self.more_sites {
                self.find_sites()?;
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads the pages of the next URLs found, unless they were deleted since.
    fn resolve(&mut self) -> Result<(), PageDbError> {
        let snapshot = self.db.snapshot()?;
        for _ in 0..CHUNK_ROWS {
            let Some((url, key)) = self.found.pop_front() else { break };
            if let Some(Slot::Page(state)) = snapshot.finder().slot(key)? {
                let page = snapshot.page_of(key, state)?;
                if page.url.as_str() == url {
                    self.ready.push_back(page);
                }
            }
        }
        Ok(())
    }

    /// The next sites in order.
    fn find_sites(&mut self) -> Result<(), PageDbError> {
        // The site of the cursor itself may have more, at the first call.
        let first_call = self.sites.is_empty() && self.group.is_empty();
        let mut best: BinaryHeap<Site> = BinaryHeap::new();
        let domain = match self.scope.domain(self.db) {
            Some(name) => match self.db.snapshot()?.finder().domain(name)? {
                Some(domain) => Some(domain),
                None => {
                    self.more_sites = false;
                    return Ok(());
                }
            },
            None => None,
        };
        if let Some(domain) = domain {
            self.name_main_form(domain)?;
        }
        self.more_sites = false;
        let (scope, last) = (&self.scope, self.last_site.as_deref());
        each_row(self.db, self.db.tables.sites, domain, |_, row, value| {
            let key = PageKey::from_bytes(row.try_into().map_err(|_| corrupted("sites", row))?);
            let text = std::str::from_utf8(value).map_err(|_| corrupted("sites", row))?;
            let text = format!("{text}/");
            let is_after = last.is_none_or(|last| text.as_str() > last || (first_call && text == last));
            if is_after && scope.admits_site(&text) {
                best.push(Site { text, domain: key.domain(), number: key.0 as u32 });
            }
            if best.len() > SITES_AHEAD {
                best.pop();
                self.more_sites = true;
            }
            Ok(())
        })?;
        self.sites = best.into_sorted_vec().into();
        self.last_site = self.sites.back().map(|site| site.text.clone());
        Ok(())
    }

    /// A prefix may name its site in any form; URLs begin with the main one.
    fn name_main_form(&mut self, domain: DomainKey) -> Result<(), PageDbError> {
        let naming = self.db.options.naming;
        let Some(site) = self.scope.site().filter(|_| naming.same_site != SameSite::OFF) else {
            return Ok(());
        };
        let snapshot = self.db.snapshot()?;
        for number in 0..snapshot.domain(domain)?.map_or(0, |domain| domain.sites) {
            let main = snapshot.site(domain, number)?;
            if naming.is_same_site(main, site) {
                self.scope.prefix = [main, &self.scope.prefix[site.len()..]].concat();
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes sites until they should have enough pages.
    fn next_group(&mut self) -> Result<(), PageDbError> {
        self.group.clear();
        let snapshot = self.db.snapshot()?;
        let mut pages = 0;
        while pages < GROUP_PAGES
            && let Some(site) = self.sites.pop_front()
        {
            let domain = snapshot.domain(site.domain)?;
            pages += domain.map_or(1, |domain| domain.counters.pages / u64::from(domain.sites.max(1)) + 1);
            self.group.push(site);
        }
        Ok(())
    }

    /// The first URLs of the group after the last one.
    fn find_urls(&mut self) -> Result<(), PageDbError> {
        let texts: HashMap<[u8; 8], &str> = self
            .group
            .iter()
            .map(|site| (site_key(site.domain, site.number), site.text.trim_end_matches('/')))
            .collect();
        let domains: BTreeMap<DomainKey, ()> = self.group.iter().map(|site| (site.domain, ())).collect();
        let mut best: BinaryHeap<(String, PageKey)> = BinaryHeap::new();
        self.more_urls = false;
        let (scope, after, limit) = (&self.scope, self.after.as_deref(), self.urls_sorted);
        for &domain in domains.keys() {
            each_row(self.db, self.db.tables.hash2idx, Some(domain), |snapshot, row, value| {
                let key = PageKey::from_bytes(row.try_into().map_err(|_| corrupted("hash2idx", row))?);
                let Slot::Page(state) = Slot::decode(value).in_table("hash2idx", row)? else { return Ok(()) };
                let Some(record) = snapshot.url_record(state.index)? else { return Ok(()) };
                let Some(site) = texts.get(&site_key(domain, record.site)) else { return Ok(()) };
                let url = format!("{site}{}", record.path);
                if after.is_none_or(|after| url.as_str() > after) && url.starts_with(&scope.prefix) {
                    best.push((url, key));
                }
                if best.len() > limit {
                    best.pop();
                    self.more_urls = true;
                }
                Ok(())
            })?;
        }
        self.found = best.into_sorted_vec().into();
        if let Some((last, _)) = self.found.back() {
            self.after = Some(last.clone());
        }
        Ok(())
    }
}

impl Iterator for UrlStream<'_> {
    type Item = Result<Page, PageDbError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty()
            && let Err(error) = self.fill()
        {
            (self.more_sites, self.more_urls) = (false, false);
            self.sites.clear();
            self.found.clear();
            return Some(Err(error));
        }
        let page = self.ready.pop_front()?;
        self.cursor = Some(page.url.to_string());
        Some(Ok(page))
    }
}

/// Visits the rows of a table, or only those whose keys begin with a domain, in short reads.
fn each_row(
    db: &PageDb,
    table: Table,
    domain: Option<DomainKey>,
    mut visit: impl FnMut(&super::Snapshot, &[u8], &[u8]) -> Result<(), PageDbError>,
) -> Result<(), PageDbError> {
    let first = domain.map(|domain| domain.0.to_be_bytes());
    let mut after: Option<Vec<u8>> = None;
    loop {
        let snapshot = db.snapshot()?;
        let start = match (&after, &first) {
            (Some(after), _) => Bound::Excluded(&after[..]),
            (None, Some(first)) => Bound::Included(&first[..]),
            (None, None) => Bound::Unbounded,
        };
        let mut last: Option<&[u8]> = None;
        for row in table.range(&snapshot.txn, &(start, Bound::Unbounded))?.take(ROWS_A_READ) {
            let (row, value) = row?;
            if first.as_ref().is_some_and(|first| !row.starts_with(first)) {
                return Ok(());
            }
            visit(&snapshot, row, value)?;
            last = Some(row);
        }
        match last {
            Some(last) => after = Some(last.to_vec()),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pagedb::test_db::TestDb;
    use crate::types::{Naming, UrlHasher};
    use proptest::prelude::*;

    fn told(stream: UrlStream<'_>) -> Vec<String> {
        stream.map(|page| page.unwrap().url.to_string()).collect()
    }

    /// Sites whose order with a slash is another than without.
    const SITES: [&str; 6] = [
        "http://a.example",
        "http://a.example-b.example",
        "http://a.example.com",
        "http://a.example:81",
        "https://a.example",
        "http://b.example",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn pages_come_in_order_of_url_from_any_cursor(
            paths in proptest::collection::btree_set((0..SITES.len(), "[a-c/]{0,4}"), 1..40),
            prefix in "(http://(a\\.|b\\.example/a?))?", from in 0usize..40, limit in 1usize..7, weak: bool
        ) {
            let hasher = if weak {
                UrlHasher { domain: |_| u32::MAX, path: |_, _| 1, ..UrlHasher::default() }
            } else {
                UrlHasher::default()
            };
            let mut db = TestDb::with(hasher, None);
            let mut urls: Vec<String> = paths.iter().map(|(site, path)| format!("{}/{path}", SITES[*site])).collect();
            db.seeds(&urls.iter().map(String::as_str).collect::<Vec<_>>());
            urls.retain(|url| url.starts_with(&prefix));
            urls.sort_unstable();
            let stream = || {
                let mut stream = db.db.pages_by_url(Scope { prefix: prefix.clone(), domain: None });
                stream.urls_sorted = limit;
                stream
            };
            prop_assert_eq!(&told(stream()), &urls);
            if let Some(after) = urls.get(from) {
                prop_assert_eq!(&told(stream().after(after))[..], &urls[from + 1..]);
            }
            // A cursor whose page was deleted meanwhile is still a place.
            if let Some(after) = urls.get(from) {
                db.delete(after);
                let mut stream = db.db.pages_by_url(Scope { prefix: prefix.clone(), domain: None }).after(after);
                stream.urls_sorted = limit;
                prop_assert_eq!(&told(stream)[..], &urls[from + 1..]);
            }
        }
    }

    #[test]
    fn a_domain_is_a_scope() {
        let mut db = TestDb::new();
        db.seeds(&["http://b.example/", "http://a.example/2", "https://a.example/1", "http://a.example/1"]);
        let scope = |domain: &str| Scope { domain: Some(domain.into()), ..Scope::default() };
        let found = told(db.db.pages_by_url(scope("a.example")));
        assert_eq!(found, ["http://a.example/1", "http://a.example/2", "https://a.example/1"]);
        assert_eq!(told(db.db.pages_by_url(scope("c.example"))), [""; 0]);
    }

    #[test]
    fn a_scope_may_name_a_site_in_any_form() {
        let same_site = SameSite { www: true, scheme: true };
        let mut db = TestDb::named(Naming { same_site, ..Naming::default() }, None);
        // The order is that of the main forms, whatever form the pages came in.
        db.seeds(&[
            "https://www.a.example/2",
            "http://c.example/",
            "http://a.example/1",
            "http://www.a.example/3",
        ]);
        db.seeds(&["https://a.example:81/1", "https://www.c.example/0"]);
        let a = ["https://www.a.example/1", "https://www.a.example/2", "https://www.a.example/3"];
        let all = ["http://c.example/", "http://c.example/0", "https://a.example:81/1", a[0], a[1], a[2]];
        let scoped = |prefix: &str, domain: Option<&str>| {
            told(db.db.pages_by_url(Scope { prefix: prefix.into(), domain: domain.map(Into::into) }))
        };
        assert_eq!(scoped("", None), all);
        for site in
            ["http://a.example/", "https://a.example/", "http://www.a.example/", "https://www.a.example/"]
        {
            assert_eq!(scoped(site, None), a, "{site}");
            assert_eq!(scoped(&format!("{site}2"), None), a[1..2], "{site}");
            let after = db.db.pages_by_url(Scope { prefix: site.into(), domain: None }).after(a[1]);
            assert_eq!(told(after), a[2..]);
        }
        assert_eq!(scoped("https://www.a.example:81/", None), all[2..3]);
        assert_eq!(scoped("", Some("www.a.example")), all[2..]);
        assert_eq!(scoped("http://b.example/", None), [""; 0]);
    }
}
