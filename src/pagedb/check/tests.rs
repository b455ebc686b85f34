//! Each kind of damage, done to a real database behind its back, is reported as what it is.

use heed::RwTxn;

use super::*;
use crate::pagedb::anchor_list::Encoder;
use crate::pagedb::domain_record::{DomainRecord, site_key};
use crate::pagedb::env::{Table, Tables};
use crate::pagedb::page_record::PageRecord;
use crate::pagedb::page_state::{PageState, Status};
use crate::pagedb::schedule_key::{LeaseKey, ScheduleKey, content_key};
use crate::pagedb::test_db::{NOW, TestDb, page};
use crate::pagedb::url_record::UrlRecord;
use crate::pagedb::{info, link_list};
use crate::types::{ContentHash, DomainKey, Naming, PageIndex, PageKey, SameSite, Score, Time, UrlHasher};

fn check(db: &TestDb) -> Report {
    db.db.check(&mut |_, _| ()).unwrap()
}

fn kinds(report: &Report) -> Vec<Kind> {
    report.counts.keys().copied().collect()
}

/// A database with rows of every kind, and a hand on its tables.
struct Damage<'a> {
    db: &'a TestDb,
    txn: RwTxn<'a>,
    tables: Tables,
}

impl Damage<'_> {
    fn put(&mut self, table: Table, row: &[u8], value: &[u8]) {
        table.put(&mut self.txn, row, value).unwrap();
    }

    fn delete(&mut self, table: Table, row: &[u8]) {
        assert!(table.delete(&mut self.txn, row).unwrap());
    }

    fn key(&self, url: &str) -> PageKey {
        self.db.key(url)
    }

    fn state(&self, key: PageKey) -> PageState {
        self.db.db.snapshot().unwrap().state(key).unwrap().unwrap()
    }

    fn index(&self, url: &str) -> PageIndex {
        self.state(self.key(url)).index
    }

    fn set_state(&mut self, key: PageKey, change: impl FnOnce(&mut PageState)) {
        let mut state = self.state(key);
        change(&mut state);
        let mut value = Vec::new();
        state.encode(&mut value);
        self.tables.hash2idx.put(&mut self.txn, &key.to_bytes(), &value).unwrap();
    }

    fn set_record(&mut self, key: PageKey, change: impl FnOnce(&mut PageRecord)) {
        let mut record = self.db.db.snapshot().unwrap().record(key).unwrap().unwrap();
        change(&mut record);
        let mut value = Vec::new();
        record.encode(&mut value);
        self.tables.hash2info.put(&mut self.txn, &key.to_bytes(), &value).unwrap();
    }

    fn set_domain(&mut self, key: DomainKey, change: impl FnOnce(&mut DomainRecord)) {
        let mut record = self.db.db.snapshot().unwrap().domain(key).unwrap().unwrap();
        change(&mut record);
        self.put_domain(key, &record);
    }

    fn put_domain(&mut self, key: DomainKey, record: &DomainRecord) {
        let mut value = Vec::new();
        record.encode(&mut value);
        self.tables.domains.put(&mut self.txn, &key.0.to_be_bytes(), &value).unwrap();
    }

    fn set_url(&mut self, index: PageIndex, change: impl FnOnce(&mut UrlRecord<'_>)) {
        let snapshot = self.db.db.snapshot().unwrap();
        let mut record = snapshot.url_record(index).unwrap().unwrap();
        change(&mut record);
        let mut value = Vec::new();
        record.encode(&mut value);
        self.tables.urls.put(&mut self.txn, &index.to_bytes(), &value).unwrap();
    }

    fn set_links(&mut self, url: &str, other: &[PageIndex], same: &[PageIndex]) {
        let (index, mut value) = (self.index(url), Vec::new());
        link_list::encode(other, same, &mut value);
        self.tables.links.put(&mut self.txn, &index.to_bytes(), &value).unwrap();
    }

    fn set_counters(&mut self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.db.db.snapshot().unwrap().counters().unwrap();
        change(&mut counters);
        self.tables.info.put(&mut self.txn, info::COUNTERS_KEY, &counters.encode()).unwrap();
    }

    fn entry(&self, url: &str) -> ScheduleKey {
        let key = self.key(url);
        let state = self.state(key);
        ScheduleKey { domain: key.domain(), score: state.score, index: state.index }
    }
}

/// Damages a copy of the database and tells which kinds of violation are reported.
fn damaged(damage: impl FnOnce(&mut Damage<'_>)) -> Vec<Kind> {
    let db = TestDb::with_everything();
    let mut at = Damage { db: &db, txn: db.db.write().unwrap(), tables: db.db.tables };
    damage(&mut at);
    at.txn.commit().unwrap();
    let report = check(&db);
    assert_eq!(report.violations.len() as u64, report.total());
    kinds(&report)
}

const CRAWLED: &str = "http://a.example/";
const CRAWLED_1: &str = "http://a.example/1";
const LEASED: &str = "http://a.example/2";
const SCHEDULED: &str = "http://b.example/";
const DEEP: &str = "http://a.example/deep";

#[test]
fn a_sound_database_is_sound() {
    let db = TestDb::with_everything();
    let mut last = (0, 0);
    let report = db.db.check(&mut |done, total| last = (done, total)).unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!(last.0, last.1);
    assert_eq!(report.counters.pages, 8);
    assert!(check(&TestDb::new()).is_ok());
}

#[test]
fn colliding_keys_are_no_violation() {
    let weak =
        UrlHasher { site: |_| 0, path: |path, _| u32::MAX - path.len() as u32 % 3, domain: |_| u32::MAX };
    let mut db = TestDb::with(weak, None);
    for n in 0..60 {
        let links: Vec<String> = (0..5).map(|l| format!("http://h{l}.example/{}", n * l)).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        db.crawl(&page(&format!("http://h{}.example/{n}", n % 4), None, &links));
    }
    let report = check(&db);
    assert!(report.is_ok(), "{:#?}", report.violations);
    // Another hasher would look for the pages elsewhere.
    db.db = db.db.with_hasher(UrlHasher::default());
    assert_eq!(kinds(&check(&db)), [Kind::KeyChain, Kind::DomainChain]);
}

#[test]
fn the_first_hundred_are_told_and_all_are_counted() {
    let mut db = TestDb::new();
    let links: Vec<String> = (0..150).map(|n| format!("http://a.example/{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    db.seeds(&links);
    let mut txn = db.db.write().unwrap();
    db.db.tables.schedule.clear(&mut txn).unwrap();
    txn.commit().unwrap();
    let report = check(&db);
    assert_eq!((report.violations.len(), report.total()), (100, 150));
    assert_eq!(kinds(&report), [Kind::ScheduleMissing]);
}

#[test]
fn rows_that_do_not_decode_are_reported_in_every_table() {
    for name in Tables::NAMES {
        let found = damaged(|at| {
            let (_, table) = at.tables.named().into_iter().find(|(other, _)| *other == name).unwrap();
            // Keys carry the meaning of some tables, values that of the others.
            if ["schedule", "leases", "content"].contains(&name) {
                at.put(table, &[0xff; 3], &[]);
            } else {
                let (row, _) = table.first(&at.txn).unwrap().unwrap();
                let row = row.to_vec();
                at.put(table, &row, &[0xff; 2]);
            }
        });
        assert!(found.contains(&Kind::Malformed), "{name}: {found:?}");
        assert_eq!(found.first(), Some(&Kind::Malformed), "{name}");
    }
}

#[test]
fn damage_to_keys_and_urls_is_reported() {
    // An index beyond those given out, and no key.
    let found = damaged(|at| {
        let mut value = Vec::new();
        UrlRecord { key: at.key(DEEP), site: 0, linked_from: None, path: "/x" }.encode(&mut value);
        at.put(at.tables.urls, &PageIndex(9).to_bytes(), &value);
    });
    assert!(found.contains(&Kind::Counters) && found.contains(&Kind::UrlKey), "{found:?}");

    let found = damaged(|at| at.set_state(at.key(DEEP), |state| state.index = PageIndex(1_000)));
    assert_eq!(found, [Kind::Index, Kind::UrlKey, Kind::LinkTarget]);
    let taken = |at: &Damage<'_>| at.index("https://a.example/3");
    let found = damaged(|at| {
        let taken = taken(at);
        at.set_state(at.key(DEEP), |state| state.index = taken);
    });
    assert!(found.contains(&Kind::Index) && found.contains(&Kind::UrlKey), "{found:?}");

    let found = damaged(|at| at.set_url(at.index(DEEP), |url| url.key = url.key.next_in_domain()));
    assert_eq!(found, [Kind::UrlKey]);
    let found = damaged(|at| at.set_url(at.index(DEEP), |url| url.site = 7));
    assert_eq!(found, [Kind::PageSite]);
    let found = damaged(|at| at.set_url(at.index(DEEP), |url| url.path = "/%7e"));
    assert!(found.contains(&Kind::UrlForm), "{found:?}");
    let found = damaged(|at| at.set_url(at.index(DEEP), |url| url.path = "/other"));
    assert_eq!(found, [Kind::KeyChain]);
}

#[test]
fn a_url_known_twice_is_reported() {
    // The page behind takes the URL of the one before it; the two hash to one key then.
    let found = damaged(|at| at.set_url(at.index("http://a.example/4"), |url| url.path = "/2"));
    assert!(found.contains(&Kind::UrlTwice), "{found:?}");
}

#[test]
fn a_hole_in_a_chain_of_collisions_is_reported() {
    let weak = UrlHasher { path: |_, _| 5, ..UrlHasher::default() };
    let mut db = TestDb::with(weak, None);
    db.seeds(&["http://a.example/1", "http://a.example/2", "http://a.example/3"]);
    let hole = db.key("http://a.example/2");
    let mut txn = db.db.write().unwrap();
    db.db.tables.hash2idx.delete(&mut txn, &hole.to_bytes()).unwrap();
    txn.commit().unwrap();
    let report = check(&db);
    assert!(report.violations.iter().any(|v| v.kind == Kind::KeyChain), "{report:?}");
    // The page itself has lost its key, the last one can no longer be found.
    assert!(kinds(&report).contains(&Kind::UrlKey));
}

#[test]
fn a_wrong_first_parent_is_reported() {
    let found = damaged(|at| at.set_url(at.index(CRAWLED), |url| url.linked_from = Some(PageIndex(5))));
    assert_eq!(found, [Kind::Parent]);
    let found = damaged(|at| at.set_url(at.index(DEEP), |url| url.linked_from = None));
    assert_eq!(found, [Kind::Parent]);
}

#[test]
fn damage_to_domains_and_sites_is_reported() {
    let a = |at: &Damage<'_>| at.key(CRAWLED).domain();
    let found = damaged(|at| at.set_domain(a(at), |domain| domain.counters.crawled += 1));
    assert_eq!(found, [Kind::DomainCounters]);
    let found = damaged(|at| at.set_domain(a(at), |domain| domain.sites += 1));
    assert_eq!(found, [Kind::SiteNumber]);
    let found = damaged(|at| {
        at.delete(at.tables.domains, &a(at).0.to_be_bytes());
        at.set_counters(|counters| counters.domains -= 1);
    });
    // Its sites are lost with it, and so its pages' URLs.
    assert_eq!(found, [Kind::PageSite, Kind::PageDomain, Kind::SiteNumber]);
    let found = damaged(|at| {
        let next = DomainKey(a(at).0.wrapping_add(1));
        at.put_domain(next, &DomainRecord::new("a.example"));
        at.set_counters(|counters| counters.domains += 1);
    });
    assert_eq!(found, [Kind::DomainTwice]);
    let found = damaged(|at| {
        at.put_domain(DomainKey(5), &DomainRecord::new("z.example"));
        at.set_counters(|counters| counters.domains += 1);
    });
    assert_eq!(found, [Kind::DomainChain]);
    let put_site = |at: &mut Damage<'_>, domain, site, text: &str| {
        at.put(at.tables.sites, &site_key(domain, site), text.as_bytes());
    };
    let found = damaged(|at| put_site(at, DomainKey(5), 0, "http://a.example"));
    assert_eq!(found, [Kind::SiteNumber]);
    let found = damaged(|at| put_site(at, a(at), 2, "http://a.example:1"));
    assert_eq!(found, [Kind::SiteNumber]);
    let found = damaged(|at| {
        at.set_domain(a(at), |domain| domain.sites += 1);
        put_site(at, a(at), 2, "http://q.example");
    });
    assert_eq!(found, [Kind::SiteDomain]);
    let found = damaged(|at| {
        at.set_domain(a(at), |domain| domain.sites += 1);
        put_site(at, a(at), 2, "http://a.example");
    });
    assert_eq!(found, [Kind::SiteTwice]);
}

#[test]
fn two_forms_of_one_site_are_reported() {
    let same_site = SameSite { www: true, scheme: false };
    let mut db = TestDb::named(Naming { same_site, ..Naming::default() }, None);
    db.seeds(&["http://www.a.example/", "https://a.example/", "http://a.example/1"]);
    assert!(check(&db).is_ok());
    let domain = db.key("http://a.example/").domain();
    let mut txn = db.db.write().unwrap();
    db.db.tables.sites.put(&mut txn, &site_key(domain, 1), b"http://a.example").unwrap();
    txn.commit().unwrap();
    let found = kinds(&check(&db));
    assert!(found.contains(&Kind::SiteTwice), "{found:?}");
}

#[test]
fn damage_to_the_schedule_and_the_leases_is_reported() {
    let found = damaged(|at| {
        at.delete(at.tables.schedule, &at.entry(SCHEDULED).to_bytes());
    });
    assert_eq!(found, [Kind::ScheduleMissing]);
    for wrong in [
        |entry: ScheduleKey| ScheduleKey { domain: DomainKey(9), ..entry },
        |entry| ScheduleKey { score: Score::new(77.0).unwrap(), ..entry },
        |entry| ScheduleKey { index: PageIndex(500), ..entry },
        // Of a page that does not wait.
        |entry| ScheduleKey { index: PageIndex(0), ..entry },
    ] {
        let found = damaged(|at| {
            at.put(at.tables.schedule, &wrong(at.entry(SCHEDULED)).to_bytes(), &[]);
        });
        assert_eq!(found, [Kind::ScheduleStray]);
    }
    let lease = |at: &Damage<'_>, more| LeaseKey { until: Time(NOW.0 + 1_000 + more), page: at.key(LEASED) };
    let found = damaged(|at| {
        at.delete(at.tables.leases, &lease(at, 0).to_bytes());
    });
    assert_eq!(found, [Kind::LeaseMissing]);
    let found = damaged(|at| at.put(at.tables.leases, &lease(at, 1).to_bytes(), &[]));
    assert_eq!(found, [Kind::LeaseStray]);
    let found = damaged(|at| at.set_state(at.key(SCHEDULED), |state| state.depth = 3));
    assert!(found.contains(&Kind::Depth), "{found:?}");
    let found = damaged(|at| at.set_state(at.key(DEEP), |state| state.depth = 1));
    assert_eq!(found, [Kind::Depth]);
}

#[test]
fn damage_to_the_crawls_is_reported() {
    let found = damaged(|at| {
        at.delete(at.tables.hash2info, &at.key(CRAWLED_1).to_bytes());
    });
    assert_eq!(found, [Kind::RecordMissing]);
    for url in [LEASED, DEEP] {
        let found = damaged(|at| {
            let mut value = Vec::new();
            PageRecord::crawled(None, NOW, Score::ZERO, None).encode(&mut value);
            at.put(at.tables.hash2info, &at.key(url).to_bytes(), &value);
        });
        assert_eq!(found, [Kind::RecordStray]);
    }
    let found = damaged(|at| {
        let mut value = Vec::new();
        PageRecord::crawled(None, NOW, Score::ZERO, None).encode(&mut value);
        at.put(at.tables.hash2info, &[0; 8], &value);
    });
    assert_eq!(found, [Kind::RecordStray]);
    for wrong in [|record: &mut PageRecord| record.crawls = 0, |record: &mut PageRecord| record.changes = 1] {
        let found = damaged(|at| at.set_record(at.key(CRAWLED), wrong));
        assert_eq!(found, [Kind::Record]);
    }
    let other = ContentHash::Number(8);
    let found =
        damaged(|at| at.set_record(at.key(CRAWLED), |record| record.content_hash = Some(other.clone())));
    assert_eq!(found, [Kind::ContentMissing, Kind::ContentStray]);
    let found = damaged(|at| {
        let row = content_key(&ContentHash::Number(7), at.key(CRAWLED));
        at.delete(at.tables.content, &row);
    });
    assert_eq!(found, [Kind::ContentMissing]);
    let found = damaged(|at| {
        let row = content_key(&other, at.key(LEASED));
        at.put(at.tables.content, &row, &[]);
    });
    assert_eq!(found, [Kind::ContentStray]);
}

#[test]
fn damage_to_the_links_is_reported() {
    let found = damaged(|at| {
        at.delete(at.tables.links, &at.index(CRAWLED_1).to_bytes());
        at.set_counters(|counters| counters.links -= 2);
    });
    assert_eq!(found, [Kind::LinksMissing]);
    // With a row of anchors.
    let found = damaged(|at| {
        at.delete(at.tables.links, &at.index(CRAWLED).to_bytes());
        at.set_counters(|counters| counters.links -= 4);
    });
    assert_eq!(found, [Kind::LinksMissing, Kind::AnchorsStray]);
    let found = damaged(|at| at.set_links(LEASED, &[], &[]));
    assert_eq!(found, [Kind::LinksStray]);
    let found = damaged(|at| at.set_links(CRAWLED_1, &[], &[PageIndex(0), PageIndex(99)]));
    assert_eq!(found, [Kind::LinkTarget]);
    let (a, b) = (PageIndex(0), PageIndex(1));
    let found = damaged(|at| at.set_links(CRAWLED_1, &[a], &[b]));
    assert_eq!(found, [Kind::LinkGroup]);
}

#[test]
fn anchors_without_links_are_reported() {
    let put = |at: &mut Damage<'_>, page: &str, places: &[usize], text: &str| {
        let (index, mut value) = (at.index(page), Vec::new());
        Encoder::default().encode(places.iter().map(|&place| (place, text)), &mut value);
        at.put(at.tables.anchors.0.unwrap(), &index.to_bytes(), &value);
    };
    assert_eq!(damaged(|at| put(at, CRAWLED, &[0, 3], "a text")), []);
    assert_eq!(damaged(|at| put(at, CRAWLED, &[0, 4], "a text")), [Kind::Malformed]);
    assert_eq!(damaged(|at| put(at, CRAWLED, &[0], "a  text")), [Kind::Malformed]);
    assert_eq!(damaged(|at| put(at, LEASED, &[0], "a text")), [Kind::AnchorsStray]);
    let found = damaged(|at| at.put(at.tables.anchors.0.unwrap(), &[0; 4], &[0, 0, 1, b'a']));
    assert_eq!(found, [Kind::Malformed]);
}

#[test]
fn wrong_counters_are_reported() {
    for wrong in [
        |counters: &mut Counters| counters.pages += 1,
        |counters: &mut Counters| counters.crawled += 1,
        |counters: &mut Counters| counters.scheduled += 1,
        |counters: &mut Counters| counters.leased += 1,
        |counters: &mut Counters| counters.links += 1,
        |counters: &mut Counters| counters.domains += 1,
    ] {
        assert_eq!(damaged(|at| at.set_counters(wrong)), [Kind::Counters]);
    }
    let found = damaged(|at| at.set_state(at.key(DEEP), |state| state.status = Status::Crawled));
    assert!(found.contains(&Kind::Counters) && found.contains(&Kind::DomainCounters), "{found:?}");
}

#[test]
fn a_row_of_info_that_is_missing_is_reported() {
    for row in [info::COUNTERS_KEY, info::MAX_DEPTH_KEY, info::DOMAIN_UNIT_KEY] {
        let found = damaged(|at| at.delete(at.tables.info, row));
        assert!(found.contains(&Kind::Malformed), "{found:?}");
    }
}
