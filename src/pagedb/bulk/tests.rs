//! Imports against the batches of the live path: the same edits, the same database.

use std::convert::Infallible;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::pagedb::test_db::{NOW, TestDb, url};
use crate::pagedb::{Page, PageAnchors, PageLinks};
use crate::types::{
    Anchor, ContentHash, CrawledPage, Link, Naming, PageUrl, SameSite, Score, Time, UrlHasher, edit,
};

#[derive(Debug, Clone)]
enum Given {
    Crawled(CrawledPage),
    Seeds(Vec<Link>),
}

/// Few hosts, several sites a host.
fn name(n: usize) -> PageUrl {
    let (host, rest) = (n % 5, n / 5);
    let site = ["http://", "https://", "http://www.", "https://www."][rest % 4];
    url(&match rest % 5 {
        0 => format!("{site}h{host}.example:81/{}", rest / 5),
        _ => format!("{site}h{host}.example/{}", rest / 5),
    })
}

fn link() -> impl Strategy<Value = Link> {
    let score = select(vec![0.0, 0.0, 0.25, 0.5, 1.0, -1.0]);
    let anchor = select(vec!["", "", "home", "a text of several words, as links have", "»"]);
    (0..90usize, score, anchor).prop_map(|(n, score, anchor)| Link {
        url: name(n),
        score: Score::new(score).unwrap(),
        anchor: Anchor::new(anchor),
    })
}

fn given() -> impl Strategy<Value = Given> {
    let hash = select(vec![None, None, Some(1), Some(2)]);
    let crawled = (0..90usize, vec(link(), 0..8), 0u64..5, hash).prop_map(|(n, links, ago, hash)| {
        Given::Crawled(CrawledPage {
            url: name(n),
            score: Score::new(n as f64 / 10.0).unwrap(),
            time: Time(NOW.0 - ago),
            content_hash: hash.map(ContentHash::Number),
            links,
        })
    });
    prop_oneof![4 => crawled, 1 => vec(link(), 1..5).prop_map(Given::Seeds)]
}

fn hashers() -> [UrlHasher; 4] {
    [
        UrlHasher::default(),
        UrlHasher { site: |_| 0, path: |path, _| path.len() as u32 & 1, domain: |_| 7 },
        UrlHasher { site: |site| site.len() as u64, path: |_, _| u32::MAX, domain: |_| u32::MAX },
        UrlHasher {
            site: |site| site.len() as u64,
            path: |path, site| u32::MAX - (path.len() as u32 + site as u32) % 7,
            domain: |name| name.as_bytes()[1].into(),
        },
    ]
}

fn apply(db: &mut TestDb, given: &[Given], batch: usize) {
    for given in given.chunks(batch) {
        let encode = |given: &Given| {
            let mut bytes = Vec::new();
            match given {
                Given::Crawled(page) => edit::encode_crawled(page, &mut bytes),
                Given::Seeds(seeds) => edit::encode_seeds(seeds, &mut bytes),
            }
            bytes
        };
        db.apply(&given.iter().map(encode).collect::<Vec<_>>());
    }
}

/// Imports, a few edits a batch; the new database is opened.
fn import(
    old: Option<&TestDb>,
    given: &[Given],
    naming: Naming,
    max_depth: Option<u32>,
    memory: usize,
) -> (PageDb, Imported, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let page_db = PageDbOptions { map_size: 64 << 20, naming, ..PageDbOptions::default() };
    let options = BulkOptions { memory, page_db, max_depth };
    let mut batches = given.chunks(3);
    let source = |batch: &mut EditBatch| {
        let Some(given) = batches.next() else { return Ok::<_, Infallible>(false) };
        for given in given {
            match given {
                Given::Crawled(page) => batch.page(page),
                Given::Seeds(seeds) => {
                    seeds.iter().for_each(|seed| batch.seed(seed.url.as_str(), seed.score).unwrap());
                }
            }
        }
        Ok(true)
    };
    let to = dir.path().join("new");
    let imported = build(old.map(|old| &old.db), &to, &options, source, &mut |_, _, _| ()).unwrap();
    let db = PageDb::open(&to, page_db).unwrap();
    let found: Vec<_> = std::fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(found.iter().all(|name| name == "data.mdb" || name == "lock.mdb"), "{found:?}");
    (db, imported, dir)
}

/// Pages by URL without their keys, links and their anchors by index.
fn contents(db: &PageDb) -> (Vec<Page>, Vec<PageLinks>, Vec<PageAnchors>) {
    let mut pages: Vec<Page> = db.pages().map(Result::unwrap).collect();
    pages.sort_by(|a, b| a.url.cmp(&b.url));
    pages.iter_mut().for_each(|page| page.key.0 = 0);
    let anchors = db.anchors().map(Result::unwrap).collect();
    (pages, db.links(false).map(Result::unwrap).collect(), anchors)
}

fn assert_same(live: &PageDb, imported: &PageDb) {
    let report = imported.check(&mut |_, _| ()).unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!(contents(imported), contents(live));
    let counters = |db: &PageDb| {
        let mut counters = db.snapshot().unwrap().counters().unwrap();
        // The import leaves the log where it is.
        counters.applied = 0;
        counters
    };
    assert_eq!(counters(imported), counters(live));
    let schedule = |db: &PageDb| {
        let mut entries: Vec<(PageIndex, Score)> = Vec::new();
        let snapshot = db.snapshot().unwrap();
        for row in snapshot.tables.schedule.iter(&snapshot.txn).unwrap() {
            let key = crate::pagedb::ScheduleKey::decode(row.unwrap().0).unwrap();
            entries.push((key.index, key.score));
        }
        entries.sort_unstable();
        entries
    };
    assert_eq!(schedule(imported), schedule(live));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_import_makes_what_batches_make(
        before in vec(given(), 0..20),
        given in vec(given(), 0..30),
        handed_out in vec(0..90usize, 0..6),
        deleted in vec(0..90usize, 0..12),
        hasher in 0..4usize,
        (www, scheme) in any::<(bool, bool)>(),
        max_depth in select(vec![None, Some(0), Some(1), Some(2)]),
        batch in 1..9usize,
        // A run an edit, a few runs, one.
        memory in select(vec![0, 100_000, 1 << 20]),
    ) {
        let same_site = SameSite { www, scheme };
        let naming = Naming { hasher: hashers()[hasher], same_site, ..Naming::default() };
        let mut live = TestDb::named(naming, max_depth);
        let (imported, ..) = import(None, &given, naming, max_depth, memory);
        apply(&mut live, &given, batch);
        assert_same(&live.db, &imported);

        // Onto a database with pages of every status.
        let mut live = TestDb::named(naming, max_depth);
        apply(&mut live, &before, batch);
        for &page in &handed_out {
            if live.db.snapshot().unwrap().find(&name(page)).unwrap().is_some() {
                live.hand_out(&[name(page).as_str()], Time(NOW.0 + page as u64));
            }
        }
        for &page in &deleted {
            live.delete(name(page).as_str());
        }
        let applied = live.db.snapshot().unwrap().counters().unwrap().applied;
        let (imported, ..) = import(Some(&live), &given, naming, Some(99), memory);
        prop_assert_eq!(imported.snapshot().unwrap().counters().unwrap().applied, applied);
        apply(&mut live, &given, batch);
        assert_same(&live.db, &imported);
    }
}

#[test]
fn under_a_scorer_new_pages_get_what_a_page_without_links_is_worth() {
    let mut live = TestDb::new();
    let estimate = crate::types::Estimate { base: 0.25, site: 0.5, ..Default::default() };
    live.db.set_scorer("pagerank", estimate).unwrap();
    live.seeds(&["http://old.example/"]);
    let old_score = live.db.snapshot().unwrap().find(&url("http://old.example/")).unwrap().unwrap().1.score;
    let page = CrawledPage {
        url: url("http://new.example/"),
        score: Score::ZERO,
        time: NOW,
        content_hash: None,
        links: vec![Link { url: url("http://new.example/1"), score: Score::new(9.0).unwrap(), anchor: None }],
    };
    let (imported, ..) = import(Some(&live), &[Given::Crawled(page)], Naming::default(), None, 0);
    let report = imported.check(&mut |_, _| ()).unwrap();
    assert!(report.is_ok(), "{report:?}");
    let state = |text| imported.snapshot().unwrap().find(&url(text)).unwrap().unwrap().1;
    assert_eq!(state("http://new.example/").score.get(), 0.25);
    assert_eq!(
        (state("http://new.example/1").score.get(), state("http://new.example/1").given.get()),
        (0.75, 9.0)
    );
    assert_eq!(state("http://old.example/").score, old_score);
    assert!(imported.snapshot().unwrap().scoring().unwrap().is_scored());
}
