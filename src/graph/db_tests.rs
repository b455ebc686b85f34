//! Graphs of stored databases.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::*;
use crate::pagedb::{PageDb, PageDbOptions, Rules};
use crate::types::{CrawledPage, Link, PageUrl, Score, Time, edit};

const RULES: Rules = Rules { heat_window: 60.0, max_depth: None };

struct Db {
    db: PageDb,
    dir: tempfile::TempDir,
    position: AtomicU64,
}

fn link(text: &str) -> Link {
    Link { url: PageUrl::parse(text).unwrap(), score: Score::new(0.5).unwrap(), anchor: None }
}

/// The edit of a crawled page.
fn crawled(url: &str, score: f64, links: &[&str]) -> Vec<u8> {
    let page = CrawledPage {
        url: PageUrl::parse(url).unwrap(),
        score: Score::new(score).unwrap(),
        time: Time(1),
        content_hash: None,
        links: links.iter().map(|text| link(text)).collect(),
    };
    let mut bytes = Vec::new();
    edit::encode_crawled(&page, &mut bytes);
    bytes
}

impl Db {
    fn new() -> Db {
        let dir = tempfile::tempdir().unwrap();
        let options = PageDbOptions { map_size: 64 << 20, ..PageDbOptions::default() };
        let db = PageDb::open(&dir.path().join("pages"), options).unwrap();
        Db { db, dir, position: AtomicU64::new(0) }
    }

    fn crawl(&self, url: &str, score: f64, links: &[&str]) {
        self.apply(&[crawled(url, score, links)]);
    }

    fn apply(&self, edits: &[Vec<u8>]) {
        let n = edits.len() as u64;
        let position = self.position.fetch_add(n, Ordering::Relaxed) + n;
        let edits: Vec<&[u8]> = edits.iter().map(Vec::as_slice).collect();
        self.db.apply(&edits, position, RULES).unwrap();
    }

    fn index(&self, url: &str) -> PageIndex {
        self.db.snapshot().unwrap().find(&PageUrl::parse(url).unwrap()).unwrap().unwrap().1.index
    }

    fn graph(&self, memory: usize, only_other_domains: bool) -> LinkGraph {
        let options = GraphOptions { memory, dir: self.dir.path().into(), only_other_domains };
        LinkGraph::build(&self.db, &options, Watch::none()).unwrap()
    }

    /// URLs of the pages that link to this one.
    fn sources(&self, graph: &LinkGraph, url: &str) -> Vec<String> {
        let snapshot = self.db.snapshot().unwrap();
        let sources = graph.in_links(self.index(url)).unwrap();
        sources.into_iter().map(|page| snapshot.url(page).unwrap().unwrap().1.to_string()).collect()
    }
}

fn three_domains() -> Db {
    let db = Db::new();
    db.crawl("http://a.example/", 0.25, &["http://a.example/1", "http://b.example/", "http://c.example/"]);
    db.crawl("http://b.example/", -0.5, &["http://a.example/1", "http://b.example/", "http://b.example/x"]);
    db.crawl("http://a.example/1", 0.0, &["http://a.example/", "http://b.example/x"]);
    db
}

#[test]
fn a_graph_has_the_links_of_the_database() {
    let db = three_domains();
    for memory in [usize::MAX, 0] {
        let all = db.graph(memory, false);
        assert_eq!((all.pages(), all.crawled(), all.links()), (5, 3, 8));
        // In order of index: the first was found on the same page, before the second.
        assert_eq!(db.sources(&all, "http://b.example/x"), ["http://a.example/1", "http://b.example/"]);
        assert!(all.is_crawled(db.index("http://b.example/")));
        assert!(!all.is_crawled(db.index("http://c.example/")));
    }
}

#[test]
fn links_inside_a_domain_do_not_leak_into_a_graph_between_domains() {
    let db = three_domains();
    for memory in [usize::MAX, 0] {
        let between = db.graph(memory, true);
        assert_eq!((between.pages(), between.crawled(), between.links()), (5, 3, 4));
        assert_eq!(db.sources(&between, "http://b.example/"), ["http://a.example/"]);
        assert_eq!(db.sources(&between, "http://a.example/1"), ["http://b.example/"]);
        assert_eq!(db.sources(&between, "http://a.example/"), Vec::<String>::new());
        assert_eq!(db.sources(&between, "http://b.example/x"), ["http://a.example/1"]);
        assert_eq!(db.sources(&between, "http://c.example/"), ["http://a.example/"]);
    }
}

#[test]
fn content_scores_are_those_of_the_content_or_of_the_best_link() {
    let db = three_domains();
    let scores = weights(&db.db, true).unwrap().unwrap();
    let of = |url: &str| scores[db.index(url).0 as usize];
    assert_eq!(
        (of("http://a.example/"), of("http://b.example/"), of("http://a.example/1")),
        (0.25, -0.5, 0.0)
    );
    assert_eq!((of("http://c.example/"), of("http://b.example/x"), scores.len()), (0.5, 0.5, 5));
}

#[test]
fn pages_that_come_while_it_is_read_leave_a_graph_whole() {
    let db = Db::new();
    let url = |n: usize| format!("http://h{}.example/{n}", n % 7);
    let page = |n: usize| {
        let links = [url(n * 2), url(n * 2 + 1), url(n / 3)];
        crawled(&url(n), 0.0, &links.each_ref().map(String::as_str))
    };
    db.apply(&(0..6_000).map(page).collect::<Vec<_>>());
    let known = db.db.snapshot().unwrap().counters().unwrap().pages;
    let crawled_so_far = AtomicU64::new(6_000);
    // Between two chunks more pages are crawled: known ones, with links to new ones.
    let grow = |_: u64, _: u64| {
        let start = crawled_so_far.fetch_add(40, Ordering::Relaxed) as usize;
        let new = |n: usize| format!("http://new.example/{n}");
        let page = |n: usize| crawled(&url(n), 0.0, &[&new(n), "http://h0.example/0"]);
        db.apply(&(start..start + 40).map(page).collect::<Vec<_>>());
    };
    let dir = tempfile::tempdir().unwrap();
    for memory in [usize::MAX, 1 << 16] {
        let options = GraphOptions { memory, ..GraphOptions::new(dir.path()) };
        let graph = LinkGraph::build(&db.db, &options, Watch { progress: &grow, ..Watch::none() }).unwrap();
        assert!(graph.pages() >= known && graph.crawled() > 6_000, "{graph:?}");
        let mut into = 0;
        for page in (0..graph.pages()).map(PageIndex) {
            let targets = graph.out_links(page).unwrap();
            assert!(targets.is_empty() || graph.is_crawled(page));
            assert!(targets.iter().all(|target| target.0 < graph.pages()));
            let sources = graph.in_links(page).unwrap();
            assert!(sources.iter().all(|&source| graph.is_crawled(source)));
            into += sources.len() as u64;
        }
        assert_eq!(into, graph.links());
    }
}

#[test]
fn building_can_be_cancelled() {
    let db = three_domains();
    let cancel = AtomicBool::new(true);
    for memory in [usize::MAX, 0] {
        let options = GraphOptions { memory, ..GraphOptions::new(db.dir.path()) };
        let watch = Watch { cancel: &cancel, ..Watch::none() };
        assert!(matches!(LinkGraph::build(&db.db, &options, watch), Err(GraphError::Cancelled)));
    }
    // Also while it is sorted: the last report of progress comes before.
    let cancel = AtomicBool::new(false);
    let progress = |done: u64, _: u64| cancel.store(done == 3, Ordering::Relaxed);
    let options = GraphOptions { memory: 0, ..GraphOptions::new(db.dir.path()) };
    let watch = Watch { cancel: &cancel, progress: &progress };
    assert!(matches!(LinkGraph::build(&db.db, &options, watch), Err(GraphError::Cancelled)));
}
