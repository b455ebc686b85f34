//! Scores of the link graph in the schedule: what would be lost without is the order of the crawl, in silence.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aduana::frontier::{Options, RescoreError, RoundSummary, ScoringOptions, layout, offline};
use aduana::graph::LinkGraph;
use aduana::pagedb::Status;
use aduana::score::{Hits, PageRank, RoundReport, Run, ScoreError, Scorer, Stop, Stopped};
use aduana::types::{Estimate, PageIndex, UrlHasher};

use super::{Crawl, link, page, url};

fn with(scorer: fn() -> Box<dyn Scorer>, change: fn(&mut ScoringOptions)) -> impl Fn(&mut Options) {
    move |options: &mut Options| {
        let mut scoring = ScoringOptions::new(Arc::new(scorer));
        (scoring.threads, scoring.automatic) = (1, false);
        change(&mut scoring);
        options.scoring = Some(scoring);
        (options.soft_crawl_limit, options.hard_crawl_limit) = (f64::INFINITY, f64::INFINITY);
    }
}

fn pagerank() -> Box<dyn Scorer> {
    let stop = Stop { precision: 1e-9, max_loops: 1_000, ..Stop::default() };
    Box::new(PageRank::new(0.85, stop).unwrap())
}

fn rescore(crawl: &Crawl) -> Result<RoundSummary, RescoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        crawl.frontier.applied().await;
        crawl.frontier.rescore().await
    })
}

fn check(path: &Path) -> offline::Checked {
    let checked = offline::check(path, UrlHasher::default(), &mut |_, _| ()).unwrap();
    assert!(checked.report.is_ok(), "{:?}", checked.report.violations);
    checked
}

fn close(crawl: Crawl) {
    crawl.frontier.close().unwrap();
}

/// As of now, beside the open frontier.
fn check_open(crawl: &Crawl) {
    let report = crawl.frontier.check(&mut |_, _| ()).unwrap();
    assert!(report.is_ok(), "{:?}", report.violations);
}

/// A small web: two sites, one of which everybody links.
fn crawl_some(crawl: &Crawl) {
    crawl.seeds(&[link("http://a.example/", 0.0), link("http://c.example/waits", 0.0)]);
    crawl.crawled(&[
        page(
            "http://a.example/",
            &[("/1", 0.9), ("/2", 0.1), ("http://b.example/", 0.0)]
                .map(|(path, score)| (if path.starts_with('/') { leak(path) } else { path }, score)),
        ),
        page("http://a.example/1", &[("http://b.example/", 0.5), ("http://a.example/3", 1.0)]),
        page("http://a.example/2", &[("http://b.example/", 0.0), ("http://b.example/x", 0.0)]),
        page("http://b.example/", &[("http://b.example/y", 0.0), ("http://a.example/", 0.0)]),
    ]);
}

fn leak(path: &str) -> &'static str {
    match path {
        "/1" => "http://a.example/1",
        _ => "http://a.example/2",
    }
}

/// PageRank by the power method on a dense matrix, by URL.
fn dense_pagerank(crawl: &Crawl) -> BTreeMap<String, f64> {
    let snapshot = crawl.frontier.snapshot().unwrap();
    let n = snapshot.counters().unwrap().pages as usize;
    let mut links = vec![Vec::new(); n];
    for row in crawl.frontier.links(false) {
        let row = row.unwrap();
        links[row.page.0 as usize] = row.links;
    }
    let mut x = vec![1.0 / n as f64; n];
    for _ in 0..500 {
        let dangling: f64 = (0..n).filter(|&page| links[page].is_empty()).map(|page| x[page]).sum();
        let mut next = vec![(0.15 + 0.85 * dangling) / n as f64; n];
        for (page, targets) in links.iter().enumerate() {
            for target in targets {
                next[target.0 as usize] += 0.85 * x[page] / targets.len() as f64;
            }
        }
        x = next;
    }
    let url = |index: usize| snapshot.url(PageIndex(index as u64)).unwrap().unwrap().1.to_string();
    (0..n).map(|index| (url(index), x[index])).collect()
}

#[test]
fn after_a_round_the_whole_schedule_stands_at_pagerank() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), with(pagerank, |scoring| scoring.site_share = 0.0));
    crawl_some(&crawl);
    let round = rescore(&crawl).unwrap();
    assert_eq!((round.round, round.crawled, round.stopped_by), (1, 4, "precision"));
    let wanted = dense_pagerank(&crawl);
    let mut waiting = 0;
    for page in crawl.frontier.pages() {
        let page = page.unwrap();
        let score = f64::from(page.state.score.get());
        if page.state.depth == 0 && page.state.is_uncrawled() {
            assert_eq!(score, 1.0, "a seed that waits stands first");
        } else {
            assert!((score - wanted[page.url.as_str()]).abs() < 1e-7, "{}: {score}", page.url);
            waiting += u64::from(page.state.status == Status::Scheduled);
        }
    }
    assert_eq!(waiting, 3);
    check_open(&crawl);
    // And they come in that order.
    let mut order = vec!["http://c.example/waits".to_owned()];
    let mut rest: Vec<_> = ["http://a.example/3", "http://b.example/x", "http://b.example/y"].to_vec();
    rest.sort_by(|a, b| wanted[*b].total_cmp(&wanted[*a]));
    order.extend(rest.into_iter().map(str::to_owned));
    assert_eq!(crawl.request(10), order);
}

#[test]
fn the_index_of_a_deleted_page_weighs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), with(pagerank, |scoring| scoring.site_share = 0.0));
    crawl_some(&crawl);
    crawl.frontier.delete_page(url("http://a.example/2")).unwrap().wait().unwrap();
    rescore(&crawl).unwrap();
    let deleted = 3;
    assert!(crawl.frontier.snapshot().unwrap().url(PageIndex(deleted)).unwrap().is_none());
    let scores: BTreeMap<String, f64> = crawl
        .frontier
        .pages()
        .map(Result::unwrap)
        .filter(|page| page.state.depth > 0 || !page.state.is_uncrawled())
        .map(|page| (page.url.to_string(), f64::from(page.state.score.get())))
        .collect();
    // Seven pages are left. Nobody links to b.example/x any more: it has a page's share of the jumps and of the
    // dangling pages, as the seed that waits has, whose own score the schedule does not show.
    assert_eq!(scores.len(), 6);
    let sum: f64 = scores.values().sum::<f64>() + scores["http://b.example/x"];
    assert!((sum - 1.0).abs() < 1e-6, "{sum} {scores:?}");
    check_open(&crawl);
}

#[test]
fn a_second_round_moves_only_what_has_changed() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), with(pagerank, |_| ()));
    crawl_some(&crawl);
    assert!(rescore(&crawl).unwrap().entries_moved > 0);
    let again = rescore(&crawl).unwrap();
    assert_eq!((again.round, again.entries_moved), (2, 0));
    close(crawl);
    assert!(check(dir.path()).scores_compared);
}

#[test]
fn rounds_go_on_after_a_restart_and_without_their_vector() {
    let dir = tempfile::tempdir().unwrap();
    let options = || with(pagerank, |_| ());
    let crawl = Crawl::open(dir.path(), options());
    crawl_some(&crawl);
    rescore(&crawl).unwrap();
    close(crawl);
    assert!(check(dir.path()).scores_compared);
    // A bit flips.
    for file in std::fs::read_dir(dir.path().join(layout::SCORES)).unwrap() {
        let path = file.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.len() - 3;
        bytes[at] ^= 4;
        std::fs::write(&path, bytes).unwrap();
    }
    assert!(!check(dir.path()).scores_compared);
    let crawl = Crawl::open(dir.path(), options());
    assert_eq!(rescore(&crawl).unwrap().round, 2);
    close(crawl);
    assert!(check(dir.path()).scores_compared);
    std::fs::remove_dir_all(dir.path().join(layout::SCORES)).unwrap();
    let crawl = Crawl::open(dir.path(), options());
    assert_eq!(rescore(&crawl).unwrap().round, 3);
    close(crawl);
    assert!(check(dir.path()).scores_compared);
}

#[test]
fn another_scorer_and_none_take_over_an_existing_database() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), with(pagerank, |_| ()));
    crawl_some(&crawl);
    rescore(&crawl).unwrap();
    close(crawl);
    let crawl = Crawl::open(dir.path(), with(|| Box::new(Hits::default()), |_| ()));
    assert_eq!(rescore(&crawl).unwrap().round, 2);
    close(crawl);
    assert!(check(dir.path()).scores_compared);
    let crawl = Crawl::open(dir.path(), |options| options.scoring = None);
    assert_eq!(rescore(&crawl), Err(RescoreError::NoScorer));
    // Whatever waits while the given scores come back.
    crawl.crawled(&[page("http://b.example/y", &[("http://b.example/z", 0.7)])]);
    while crawl.frontier.snapshot().unwrap().scoring().unwrap().moving.is_some() {
        std::thread::yield_now();
    }
    check_open(&crawl);
    let got = crawl.request(10);
    assert_eq!(got[..2], ["http://a.example/3", "http://b.example/z"]);
}

/// Counts in-links: what a third party might write.
#[derive(Default)]
struct InLinks(Vec<f64>);

impl Scorer for InLinks {
    fn name(&self) -> &'static str {
        "in-links"
    }

    fn update(
        &mut self,
        graph: &LinkGraph,
        _content: Option<&[f32]>,
        _run: &Run<'_>,
    ) -> Result<RoundReport, ScoreError> {
        let count = |page| graph.in_links(PageIndex(page)).map(|sources| sources.len() as f64 / 100.0);
        self.0 = (0..graph.pages()).map(count).collect::<Result<_, _>>()?;
        Ok(RoundReport {
            scorer: self.name(),
            pages: graph.pages(),
            crawled: graph.crawled(),
            links: graph.links(),
            loops: 1,
            stopped: Stopped::Precision,
            change: 0.0,
            error_bound: None,
            duration: std::time::Duration::ZERO,
        })
    }

    fn get(&self, page: PageIndex) -> Option<f64> {
        self.0.get(page.0 as usize).copied()
    }

    fn estimate(&self) -> Estimate {
        Estimate { base: 0.001, pages: self.0.len() as u64, ..Estimate::default() }
    }
}

#[test]
fn a_scorer_of_a_third_party_orders_the_schedule() {
    let dir = tempfile::tempdir().unwrap();
    let crawl =
        Crawl::open(dir.path(), with(|| Box::<InLinks>::default(), |scoring| scoring.site_share = 0.0));
    crawl_some(&crawl);
    crawl.crawled(&[page("http://d.example/", &[("http://b.example/y", 0.0)])]);
    rescore(&crawl).unwrap();
    let found = crawl.frontier.snapshot().unwrap().find(&url("http://b.example/y")).unwrap().unwrap();
    assert_eq!(found.1.score.get(), 0.02);
    assert_eq!(crawl.request(2), ["http://c.example/waits", "http://b.example/y"]);
    close(crawl);
    assert!(check(dir.path()).scores_compared);
}

#[test]
fn a_round_starts_by_itself_when_enough_pages_were_crawled() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(
        dir.path(),
        with(pagerank, |scoring| {
            (scoring.automatic, scoring.new_pages, scoring.growth) = (true, 50, 0.5);
        }),
    );
    let crawl_to = |from: u32, to: u32| {
        let pages: Vec<_> = (from..to)
            .map(|n| page(&format!("http://h{}.example/{n}", n % 7), &[("http://b.example/", 0.0)]))
            .collect();
        crawl.crawled(&pages);
    };
    crawl_to(0, 100);
    while crawl.frontier.scoring_stats().unwrap().rounds == 0 {
        std::thread::yield_now();
    }
    let stats = crawl.frontier.scoring_stats().unwrap();
    assert!((50..=100).contains(&stats.last_round.unwrap().crawled));
}

#[test]
fn pages_stream_in_and_out_while_rounds_follow_each_other_and_none_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), with(pagerank, |_| ()));
    let name = |n: u64| format!("http://h{}.example/{n}", n % 13);
    crawl.seeds(&[link(&name(0), 0.0)]);
    let done = AtomicBool::new(false);
    let crawled = std::thread::scope(|scope| {
        let rounds = scope.spawn(|| {
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) {
                rescore(&crawl).unwrap();
                rounds += 1;
            }
            rounds
        });
        let mut crawled = Vec::new();
        loop {
            let urls = crawl.request(7);
            if urls.is_empty() {
                break;
            }
            let pages: Vec<_> = urls
                .iter()
                .map(|url| {
                    let n: u64 = url.rsplit_once('/').unwrap().1.parse().unwrap();
                    let links: Vec<String> = [2 * n + 1, 2 * n + 2, n / 3, n * n % 3_000]
                        .iter()
                        .filter(|&&n| n < 3_000)
                        .map(|&n| name(n))
                        .collect();
                    let links: Vec<_> = links.iter().map(|url| (url.as_str(), 0.0)).collect();
                    page(url, &links)
                })
                .collect();
            crawl.crawled(&pages);
            crawled.extend(urls);
        }
        done.store(true, Ordering::Relaxed);
        assert!(rounds.join().unwrap() > 1);
        crawled
    });
    assert_eq!(crawled.len(), 3_000);
    let mut once = crawled.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), crawled.len());
    rescore(&crawl).unwrap();
    close(crawl);
    assert!(check(dir.path()).scores_compared);
}

#[test]
fn closing_ends_a_round_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = Crawl::open(dir.path(), with(pagerank, |_| ()));
    crawl_some(&crawl);
    let round = crawl.frontier.begin_rescore().unwrap();
    crawl.frontier.close().unwrap();
    // It was through before, or it is cancelled.
    if let Ok(result) = round.blocking_recv() {
        assert!(matches!(result, Ok(_) | Err(RescoreError::Closed)), "{result:?}");
    }
    assert_eq!(rescore_closed(&crawl), Err(RescoreError::Closed));
    close(crawl);
    check(dir.path());
}

fn rescore_closed(crawl: &Crawl) -> Result<RoundSummary, RescoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(crawl.frontier.rescore())
}
