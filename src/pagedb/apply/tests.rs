//! Edits of pages and links, and that a log gives the same tables however it is cut into batches.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::pagedb::test_db::{NOW, TestDb, page, url};
use crate::pagedb::{Merging, PageDb, PageDbError, PageDbOptions, Snapshot, Status};
use crate::types::edit::web::{Adding, History, LinkSource, NewLink, NewPage};
use crate::types::{
    Anchor, ContentHash, Naming, PageIndex, PageKey, SameSite, Score, Time, UrlHasher, WebEdit, edit,
};

type Rows = Vec<(&'static str, Vec<u8>, Vec<u8>)>;

/// Every row of every table.
fn rows(db: &PageDb) -> Rows {
    rows_of(&db.snapshot().unwrap())
}

fn rows_of(snapshot: &Snapshot) -> Rows {
    let mut out = Vec::new();
    for (name, table) in snapshot.tables.named() {
        for row in table.iter(&snapshot.txn).unwrap() {
            let (key, value) = row.unwrap();
            out.push((name, key.to_vec(), value.to_vec()));
        }
    }
    out
}

fn sound(db: &TestDb) {
    let report = db.db.check(&mut |_, _| ()).unwrap();
    assert!(report.is_ok(), "{:#?}", report.violations);
}

fn index(db: &TestDb, text: &str) -> PageIndex {
    db.db.snapshot().unwrap().find(&url(text)).unwrap().unwrap().1.index
}

fn links(db: &TestDb, text: &str) -> Vec<String> {
    let snapshot = db.db.snapshot().unwrap();
    let links = snapshot.links(index(db, text)).unwrap().unwrap();
    let mut urls: Vec<String> =
        links.into_iter().map(|index| snapshot.url(index).unwrap().unwrap().1.to_string()).collect();
    urls.sort_unstable();
    urls
}

#[test]
fn a_deleted_page_leaves_no_row_and_no_link_to_it() {
    let mut db = TestDb::with_everything();
    let counters = db.db.snapshot().unwrap().counters().unwrap();
    // One that is crawled, one leased, one scheduled, one too deep.
    for text in ["http://a.example/1", "http://a.example/2", "http://c.example/", "http://a.example/deep"] {
        db.delete(text);
        sound(&db);
        assert_eq!(db.db.snapshot().unwrap().find(&url(text)).unwrap(), None);
    }
    assert_eq!(links(&db, "http://a.example/"), ["http://b.example/", "https://a.example/3"]);
    assert_eq!(links(&db, "http://a.example/4"), [""; 0]);
    let after = db.db.snapshot().unwrap().counters().unwrap();
    assert_eq!(
        (after.pages, after.crawled, after.scheduled, after.leased),
        (counters.pages - 4, counters.crawled - 1, counters.scheduled - 1, 0)
    );
    assert_eq!((after.links, after.next_index), (2, counters.next_index));
    // What is not there is deleted in silence.
    let before = rows(&db.db);
    db.delete("http://nowhere.example/");
    assert_eq!(rows(&db.db).len(), before.len());
}

#[test]
fn a_page_that_comes_back_is_a_new_one() {
    let mut db = TestDb::with_everything();
    let old = index(&db, "http://a.example/4");
    db.delete("http://a.example/4");
    db.seeds(&["http://a.example/4"]);
    sound(&db);
    let (_, state) = db.db.snapshot().unwrap().find(&url("http://a.example/4")).unwrap().unwrap();
    assert!(state.index > old && state.is_scheduled() && state.depth == 0);
    // The links to the old one do not lead to it.
    assert_eq!(links(&db, "http://a.example/1"), ["http://c.example/"]);
}

#[test]
fn marks_go_with_the_last_page_behind_them() {
    let mut db = TestDb::with(UrlHasher { path: |_, _| u32::MAX, ..UrlHasher::default() }, None);
    let name = |n: u32| format!("http://a.example/{n}");
    let names: Vec<String> = (0..5).map(name).collect();
    db.seeds(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let marks = |db: &TestDb| {
        rows(&db.db).iter().filter(|(table, _, value)| *table == "hash2idx" && value.is_empty()).count()
    };
    for (n, expected) in [(1, 1), (0, 2), (3, 3), (4, 2)] {
        db.delete(&name(n));
        sound(&db);
        assert_eq!(marks(&db), expected, "after {n}");
        assert!(db.db.snapshot().unwrap().find(&url(&name(2))).unwrap().is_some());
    }
    // Who comes takes the first mark; the page behind is not made anew.
    db.seeds(&[&name(2), &name(7)]);
    sound(&db);
    assert_eq!(marks(&db), 1);
    let key = db.key(&name(7));
    assert_eq!(key, PageKey::new(key.domain(), u32::MAX));
    db.delete(&name(2));
    assert_eq!(marks(&db), 0);
    db.delete(&name(7));
    sound(&db);
    assert_eq!(rows(&db.db).iter().filter(|(table, ..)| *table == "hash2idx").count(), 0);
}

#[test]
fn the_space_of_half_of_the_pages_is_used_again() {
    let mut db = TestDb::new();
    let fill = |db: &mut TestDb, round: usize| {
        for part in 0..60 {
            let links: Vec<String> = (0..100)
                .map(|n| format!("http://h{}.example/{round}/{}", n % 20, (part * 37 + n * n) % 9_000))
                .collect();
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            let mut pages = Vec::new();
            edit::encode_crawled(
                &page(&format!("http://s.example/{round}/{part}"), Some(part as u64), &links),
                &mut pages,
            );
            db.apply(&[pages]);
        }
    };
    fill(&mut db, 0);
    let mut sizes = Vec::new();
    for round in 1..13 {
        // Every second page, by a number without a pattern.
        let chosen = |page: &crate::pagedb::Page| {
            let mixed = (page.key.0 ^ page.key.0 >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed >> (40 + round)) & 1 == 1
        };
        let urls: Vec<_> = db.db.pages().map(Result::unwrap).filter(chosen).map(|page| page.url).collect();
        let all = db.db.snapshot().unwrap().counters().unwrap().pages;
        assert!(urls.len() as u64 > all / 3 && (urls.len() as u64) < all * 2 / 3);
        for urls in urls.chunks(200) {
            let edits = urls.iter().map(|url| {
                let mut bytes = Vec::new();
                WebEdit::DeletePage(url.clone()).encode(&mut bytes);
                bytes
            });
            db.apply(&edits.collect::<Vec<_>>());
        }
        sound(&db);
        fill(&mut db, round);
        sound(&db);
        sizes.push(db.db.file_bytes().unwrap().0);
    }
    // After some rounds as many come as go; without reuse each would add what the first one took.
    let (before, after) = (sizes[5], sizes[11]);
    assert!((after as f64) < before as f64 * 1.25, "{sizes:?}");
}

fn history(hash: Option<u64>) -> History {
    let content_hash = hash.map(ContentHash::Number);
    History { first_crawl: NOW, last_crawl: NOW, crawls: 3, changes: 1, score: Score::ZERO, content_hash }
}

fn add(text: &str, score: f64, hash: Option<u64>, adding: Adding) -> WebEdit {
    let history = hash.map(|hash| history(Some(hash)));
    let page = NewPage { url: url(text), score: Score::new(score).unwrap(), history };
    WebEdit::AddPage { page, adding, link: None }
}

fn link_from(from: LinkSource, to: &str) -> NewLink {
    NewLink { from, to: url(to), score: Score::ZERO, anchor: None }
}

#[test]
fn an_added_page_overwrites_all_but_the_score() {
    let mut db = TestDb::with_everything();
    let crawled = "http://a.example/4";
    let state = |db: &TestDb, text: &str| db.db.snapshot().unwrap().find(&url(text)).unwrap().unwrap().1;
    let before = state(&db, crawled);
    db.edit(&add(crawled, 9.0, Some(8), Adding::KeepScore));
    sound(&db);
    let after = state(&db, crawled);
    assert_eq!((after.score, after.index, after.status), (before.score, before.index, Status::Crawled));
    // Its links stood in the content that is gone.
    assert_eq!(links(&db, crawled), [""; 0]);
    db.edit(&add(crawled, 9.0, Some(8), Adding::WithScore));
    assert_eq!(state(&db, crawled).score.get(), 9.0);
    // Without a history it waits again, and has the place that its score gives it.
    db.edit(&add("http://a.example/", 0.0, None, Adding::KeepScore));
    sound(&db);
    assert!(state(&db, "http://a.example/").is_scheduled());
    assert_eq!(db.db.snapshot().unwrap().links(PageIndex(0)).unwrap(), None);
    // A spider that has a page keeps it.
    db.edit(&add("http://a.example/2", 3.0, None, Adding::WithScore));
    let leased = state(&db, "http://a.example/2");
    assert_eq!((leased.status, leased.score.get()), (Status::Leased { until: Time(NOW.0 + 1_000) }, 3.0));
    sound(&db);
}

#[test]
fn links_by_content_stand_on_every_page_that_has_it() {
    let mut db = TestDb::with_everything();
    let from = LinkSource::Content(ContentHash::Number(7));
    db.edit(&WebEdit::AddLink(link_from(from, "http://new.example/")));
    sound(&db);
    for text in ["http://a.example/", "http://a.example/4"] {
        assert!(links(&db, text).contains(&"http://new.example/".to_owned()));
    }
    let (_, state) = db.db.snapshot().unwrap().find(&url("http://new.example/")).unwrap().unwrap();
    assert_eq!(state.depth, 1);
    // Nothing without a source: unknown, not crawled, no such content.
    let before = rows(&db.db).len();
    for from in [
        LinkSource::Page(url("http://nowhere.example/")),
        LinkSource::Page(url("http://b.example/")),
        LinkSource::Content(ContentHash::Number(8)),
    ] {
        db.edit(&WebEdit::AddLink(link_from(from, "http://newer.example/")));
    }
    assert_eq!(rows(&db.db).len(), before);
}

#[test]
fn a_content_hash_that_begins_another_is_another() {
    let mut db = TestDb::new();
    for (n, hash) in ["ab", "abc", "abcdefghijk"].into_iter().enumerate() {
        let mut page = page(&format!("http://a.example/{n}"), None, &[]);
        page.content_hash = Some(ContentHash::Text(hash.into()));
        db.crawl(&page);
    }
    let from = LinkSource::Content(ContentHash::Text("ab".into()));
    db.edit(&WebEdit::AddLink(link_from(from, "http://b.example/")));
    sound(&db);
    assert_eq!(db.db.snapshot().unwrap().counters().unwrap().links, 1);
    assert_eq!(links(&db, "http://a.example/0"), ["http://b.example/"]);
}

/// The links of a page that have an anchor, by URL.
fn anchors(db: &TestDb, text: &str) -> Vec<(String, String)> {
    let snapshot = db.db.snapshot().unwrap();
    let anchors = snapshot.anchors(index(db, text)).unwrap().into_iter();
    let mut anchors: Vec<_> = anchors
        .map(|(target, anchor)| {
            (snapshot.url(target).unwrap().unwrap().1.to_string(), anchor.as_str().to_owned())
        })
        .collect();
    anchors.sort_unstable();
    anchors
}

fn pair(url: &str, anchor: &str) -> (String, String) {
    (url.to_owned(), anchor.to_owned())
}

#[test]
fn anchors_follow_their_links() {
    let mut db = TestDb::new();
    let start = "http://a.example/";
    let urls = ["http://b.example/", "http://a.example/1", "http://b.example/", "http://a.example/2"];
    let mut crawled = page(start, Some(7), &urls);
    for (link, text) in crawled.links.iter_mut().zip(["", "one", "b", "two"]) {
        link.anchor = Anchor::new(text);
    }
    crawled
        .links
        .push(crate::types::Link { anchor: Anchor::new("not the first"), ..crawled.links[1].clone() });
    db.crawl(&crawled);
    let (b, one, two) = (pair(urls[0], "b"), pair(urls[1], "one"), pair(urls[3], "two"));
    assert_eq!(anchors(&db, start), [one.clone(), two.clone(), b.clone()]);

    // A link that comes between them, with and without a text of its own.
    let from = || LinkSource::Page(url(start));
    db.edit(&WebEdit::AddLink(link_from(from(), "http://c.example/")));
    let new = NewLink { anchor: Anchor::new("d"), ..link_from(from(), "http://d.example/") };
    db.edit(&WebEdit::AddLink(new));
    sound(&db);
    let d = pair("http://d.example/", "d");
    assert_eq!(anchors(&db, start), [one.clone(), two.clone(), b.clone(), d.clone()]);
    // A text given by hand counts; that none is given changes nothing.
    db.edit(&WebEdit::AddLink(link_from(from(), urls[0])));
    let again = NewLink { anchor: Anchor::new("better"), ..link_from(from(), urls[1]) };
    db.edit(&WebEdit::AddLink(again));
    let better = pair(urls[1], "better");
    assert_eq!(anchors(&db, start), [better.clone(), two.clone(), b, d.clone()]);

    // One with a text, and one without.
    db.delete(urls[0]);
    db.delete("http://c.example/");
    sound(&db);
    assert_eq!(anchors(&db, start), [better, two, d]);

    // The same content keeps its links, another does not.
    db.edit(&add(start, 0.0, Some(7), Adding::KeepScore));
    assert_eq!(anchors(&db, start).len(), 3);
    db.edit(&add(start, 0.0, Some(8), Adding::KeepScore));
    sound(&db);
    assert_eq!(anchors(&db, start), []);
    assert!(db.db.anchors().next().is_none());

    // A crawl replaces them; one without leaves no row.
    db.crawl(&crawled);
    assert_eq!(anchors(&db, start).len(), 3);
    db.crawl(&page(start, Some(7), &urls));
    sound(&db);
    assert!(db.db.anchors().next().is_none());
    db.crawl(&crawled);
    db.delete(start);
    sound(&db);
    assert!(db.db.anchors().next().is_none());
}

/// The first twelve on one site a domain, then the same in other forms.
fn name(n: u8) -> String {
    let form = ["http://", "https://www.", "http://www.", "https://"][usize::from(n / 12 % 4)];
    format!("{form}h{}.example/{}", n % 3, n % 12 / 3)
}

/// A text for two of three links.
fn text(n: usize) -> Option<Anchor> {
    Anchor::new(["", "home", "a text of some words"][n % 3])
}

fn with_text(link: NewLink, n: u8) -> NewLink {
    NewLink { anchor: text(n.into()), ..link }
}

/// Encoded edits of every kind that need no key.
fn any_edit(names: u8) -> impl Strategy<Value = Vec<u8>> {
    let n = 0..names;
    let adding = prop::sample::select(vec![Adding::KeepScore, Adding::WithScore, Adding::IfAbsent]);
    let hash = prop::option::of(0u64..3);
    let from = prop_oneof![
        n.clone().prop_map(|n| LinkSource::Page(url(&name(n)))),
        (0u64..3).prop_map(|hash| LinkSource::Content(ContentHash::Number(hash)))
    ];
    let web = prop_oneof![
        3 => n.clone().prop_map(|n| WebEdit::DeletePage(url(&name(n)))),
        2 => (n.clone(), adding, hash.clone(), prop::option::of((from.clone(), n.clone()))).prop_map(
            |(n, adding, hash, link)| {
                let WebEdit::AddPage { page, .. } = add(&name(n), 1.0, hash, adding) else { unreachable!() };
                let link = link.map(|(from, to)| with_text(link_from(from, &name(to)), to));
                WebEdit::AddPage { page, adding, link }
            }
        ),
        2 => (from, n.clone()).prop_map(|(from, to)| WebEdit::AddLink(with_text(link_from(from, &name(to)), to))),
    ];
    let encoded = |edit: WebEdit| {
        let mut bytes = Vec::new();
        edit.encode(&mut bytes);
        bytes
    };
    prop_oneof![
        2 => web.prop_map(encoded),
        2 => (n.clone(), vec(n.clone(), 0..5), hash).prop_map(|(n, links, hash)| {
            let links: Vec<String> = links.into_iter().map(name).collect();
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            let mut bytes = Vec::new();
            let mut page = page(&name(n), hash, &links);
            for (at, link) in page.links.iter_mut().enumerate() {
                link.anchor = text(at + usize::from(n));
            }
            edit::encode_crawled(&page, &mut bytes);
            bytes
        }),
        1 => n.prop_map(|n| {
            let mut bytes = Vec::new();
            edit::encode_seeds(&[crate::pagedb::test_db::link(&name(n), 0.0)], &mut bytes);
            bytes
        }),
    ]
}

#[test]
fn a_merge_that_finds_the_map_full_is_done_again() {
    let mut plain = TestDb::new();
    plain.db.options.merging = Merging::Never;
    let dir = tempfile::tempdir().unwrap();
    let options = PageDbOptions { map_size: 1 << 18, merging: Merging::Always, ..PageDbOptions::default() };
    let small = PageDb::open(dir.path(), options).unwrap();
    let mut grown = 0;
    for batch in 1..8 {
        let links: Vec<String> =
            (0..400).map(|link| format!("http://h{}.example/{batch}/{link}", link % 7)).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let mut bytes = Vec::new();
        edit::encode_crawled(&page(&format!("http://h.example/{batch}"), Some(batch), &links), &mut bytes);
        while let Err(error) = small.apply(&[&bytes], batch, plain.rules) {
            assert!(matches!(error, PageDbError::MapFull), "{error}");
            small.grow().unwrap();
            grown += 1;
        }
        plain.apply(&[bytes]);
    }
    assert!(grown > 0);
    assert_eq!(rows(&small), rows(&plain.db));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_log_gives_the_same_tables_however_it_is_cut(
        same: bool, edits in [vec(any_edit(12), 1..60), vec(any_edit(48), 1..60)],
        size in 2usize..30, weak: bool,
        merging in prop::sample::select(vec![Merging::Measured, Merging::Never, Merging::Always]),
    ) {
        // All forms of a site are one where they are equivalent: then a domain has one site here, too.
        let same_site = SameSite { www: same, scheme: same };
        let edits = &edits[usize::from(same)];
        // Which of two colliding pages has which key may differ; whether all is sound may not.
        let hasher = if weak {
            UrlHasher { path: |path, _| u32::MAX - path.len() as u32 % 2, ..UrlHasher::default() }
        } else {
            UrlHasher::default()
        };
        let naming = Naming { same_site, hasher, ..Naming::default() };
        let (mut one, mut many) = (TestDb::named(naming, Some(2)), TestDb::named(naming, Some(2)));
        for edit in edits {
            one.apply(std::slice::from_ref(edit));
        }
        many.db.options.merging = merging;
        for edits in edits.chunks(size) {
            // What a reader sees must stay as it is while tables are written anew.
            let reader = many.db.snapshot().unwrap();
            let before = rows_of(&reader);
            many.apply(edits);
            prop_assert_eq!(rows_of(&reader), before);
        }
        sound(&one);
        sound(&many);
        let counters = |db: &TestDb| db.db.snapshot().unwrap().counters().unwrap();
        prop_assert_eq!(counters(&one), counters(&many));
        if !weak {
            prop_assert_eq!(rows(&one.db), rows(&many.db));
        }
    }
}
