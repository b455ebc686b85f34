//! The frontier's behaviour, through its handle: order, leases, politeness, restarts. Time is injected.

mod same_site;
mod scoring;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aduana::frontier::{Frontier, Options};
use aduana::types::time::ManualClock;
use aduana::types::{CrawledPage, Link, PageUrl, Score, Time};

const START: Time = Time(1_700_000_000_000);

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn link(text: &str, score: f64) -> Link {
    Link { url: url(text), score: Score::new(score).unwrap(), anchor: None }
}

fn page(text: &str, links: &[(&str, f64)]) -> CrawledPage {
    let links = links.iter().map(|&(text, score)| link(text, score)).collect();
    CrawledPage { url: url(text), score: Score::ZERO, time: START, content_hash: None, links }
}

/// A frontier with a clock that stands still.
struct Crawl {
    frontier: Frontier,
    clock: Arc<ManualClock>,
}

impl Crawl {
    fn open(path: &Path, change: impl FnOnce(&mut Options)) -> Crawl {
        let clock = Arc::new(ManualClock::at(START));
        let mut options = Options::new(path);
        options.map_size = 1 << 30;
        change(&mut options);
        Crawl { frontier: Frontier::open(options, clock.clone()).unwrap(), clock }
    }

    fn crawled(&self, pages: &[CrawledPage]) {
        self.frontier.submit(pages).unwrap().wait().unwrap();
    }

    fn seeds(&self, seeds: &[Link]) {
        self.frontier.submit_seeds(seeds).unwrap().wait().unwrap();
    }

    fn request(&self, n: usize) -> Vec<String> {
        self.hand_outs(n).into_iter().map(|h| h.url.to_string()).collect()
    }

    fn hand_outs(&self, n: usize) -> Vec<aduana::frontier::HandOut> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(self.frontier.request(n)).unwrap()
    }
}

#[test]
fn the_manuals_session() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), |_| {});
    crawl.crawled(&[page(
        "http://scrapinghub.com",
        &[
            ("http://scrapinghub.com/professional-services/", 1.0),
            ("http://scrapinghub.com/platform/", 0.5),
            ("http://scrapinghub.com/pricing/", 0.8),
            ("http://scrapinghub.com/clients/", 0.9),
        ],
    )]);
    assert_eq!(
        crawl.request(3),
        [
            "http://scrapinghub.com/professional-services/",
            "http://scrapinghub.com/clients/",
            "http://scrapinghub.com/pricing/"
        ]
    );
    assert_eq!(crawl.request(3), ["http://scrapinghub.com/platform/"]);
    assert_eq!(crawl.request(3), [""; 0]);
    let stats = crawl.frontier.stats().unwrap();
    assert_eq!((stats.pages, stats.crawled, stats.links, stats.domains), (5, 1, 4, 1));
    crawl.frontier.close().unwrap();
}

#[test]
fn an_unanswered_page_comes_back_when_its_lease_runs_out() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), |o| o.lease = Duration::from_secs(10));
    crawl.seeds(&[link("http://a.example/", 0.0)]);
    assert_eq!(crawl.hand_outs(1)[0].attempts, 0);
    crawl.clock.advance(Duration::from_millis(9_999));
    assert!(crawl.request(1).is_empty());
    crawl.clock.advance(Duration::from_millis(1));
    let again = crawl.hand_outs(1);
    assert_eq!((again[0].url.as_str(), again[0].attempts), ("http://a.example/", 1));
    crawl.crawled(&[page("http://a.example/", &[])]);
    crawl.clock.advance(Duration::from_secs(60));
    assert!(crawl.request(1).is_empty());
}

#[test]
fn leases_and_schedule_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let seeds: Vec<Link> = (0..10).map(|n| link(&format!("http://h{n}.example/"), f64::from(n))).collect();
    let crawl = Crawl::open(dir.path(), |_| {});
    crawl.seeds(&seeds);
    assert_eq!(crawl.request(2), ["http://h9.example/", "http://h8.example/"]);
    crawl.frontier.close().unwrap();
    drop(crawl);
    let crawl = Crawl::open(dir.path(), |_| {});
    assert_eq!(crawl.request(2), ["http://h7.example/", "http://h6.example/"]);
    crawl.clock.advance(Duration::from_secs(3600));
    assert_eq!(crawl.request(2), ["http://h9.example/", "http://h8.example/"]);
}

#[test]
fn without_scores_the_crawl_is_breadth_first() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), |_| {});
    crawl.crawled(&[page(
        "http://s.example/",
        &[("http://a.example/1", 0.0), ("http://b.example/1", 0.0), ("http://a.example/2", 0.0)],
    )]);
    crawl.crawled(&[page("http://s.example/2", &[("http://c.example/1", 0.0), ("http://b.example/2", 0.0)])]);
    assert_eq!(
        crawl.request(9),
        [
            "http://a.example/1",
            "http://b.example/1",
            "http://c.example/1",
            "http://a.example/2",
            "http://b.example/2"
        ]
    );
}

#[test]
fn a_better_link_moves_a_waiting_page_forward() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), |_| {});
    crawl.crawled(&[page("http://s.example/", &[("http://a.example/", 0.5), ("http://b.example/", 0.2)])]);
    crawl.crawled(&[page("http://s.example/2", &[("http://b.example/", 0.9), ("http://a.example/", 0.1)])]);
    let order = crawl.hand_outs(2);
    assert_eq!(order[0].url.as_str(), "http://b.example/");
    assert_eq!(order[1].score, Score::new(0.5).unwrap());
}

#[test]
fn pages_beyond_the_depth_limit_wait_until_the_limit_is_raised() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), |o| o.max_crawl_depth = Some(1));
    crawl.seeds(&[link("http://a.example/", 0.0)]);
    assert_eq!(crawl.request(5).len(), 1);
    crawl.crawled(&[page("http://a.example/", &[("http://a.example/1", 0.0)])]);
    assert_eq!(crawl.request(5), ["http://a.example/1"]);
    crawl.crawled(&[page("http://a.example/1", &[("http://a.example/2", 0.0)])]);
    assert!(crawl.request(5).is_empty());
    crawl.frontier.close().unwrap();
    drop(crawl);
    let crawl = Crawl::open(dir.path(), |o| o.max_crawl_depth = Some(2));
    // A restart forgets how much of the domain's last second was used, so it waits one out.
    crawl.clock.advance(Duration::from_secs(1));
    let found = crawl.hand_outs(5);
    assert_eq!((found[0].url.as_str(), found[0].depth), ("http://a.example/2", 2));
}

#[test]
fn a_second_frontier_on_the_same_database_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), |_| {});
    let second = Frontier::open(Options::new(dir.path()), Arc::new(ManualClock::at(START)));
    assert!(second.err().unwrap().to_string().contains("in use by another aduana server"));
    crawl.frontier.close().unwrap();
}

#[test]
fn a_database_that_shall_not_persist_is_deleted_at_close() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let crawl = Crawl::open(&path, |o| o.persist = false);
    crawl.seeds(&[link("http://a.example/", 0.0)]);
    crawl.frontier.close().unwrap();
    assert!(!path.exists());
}

#[test]
fn the_map_grows_while_pages_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), |o| {
        o.map_size = 1;
        (o.soft_crawl_limit, o.hard_crawl_limit) = (f64::INFINITY, f64::INFINITY);
    });
    for n in 0..40 {
        let links: Vec<String> =
            (0..200).map(|l| format!("http://h{l}.example/a-rather-long-path/{n}/{l}")).collect();
        let links: Vec<(&str, f64)> = links.iter().map(|l| (l.as_str(), 0.0)).collect();
        crawl.crawled(&[page(&format!("http://s.example/{n}"), &links)]);
    }
    assert_eq!(crawl.request(10_000).len(), 8_000);
}
