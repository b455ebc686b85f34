//! The links to a page. At stake: one that is missed, or told twice, because it came while the link graph was built
//! or beside those that it has.

use std::collections::BTreeSet;

use aduana::types::UrlHasher;

use crate::crawl::{START, page, url};
use crate::webdb::Both;

/// Pages come to link to a target one after the other, and then cease to, while somebody asks all the time who
/// links to it: he must always see some of the first, or of the last, without a hole.
#[test]
fn links_to_a_page_are_exact_while_pages_stream_in() {
    const PAGES: usize = 2_000;
    let both = Both::new(UrlHasher::default());
    let target = url("http://target.example/");
    let source = |n: usize| format!("http://s{}.example/{n}", n % 7);
    let links = [(target.to_string(), 0.0), (source(0), 0.0)];
    both.frontier.submit(&[page(target.as_str(), 0.0, START, None, &[])]).unwrap().wait().unwrap();
    both.settle();
    let writing = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for with in [true, false] {
                for first in (0..PAGES).step_by(20) {
                    let links = if with { &links[..] } else { &[] };
                    let pages: Vec<_> =
                        (first..first + 20).map(|n| page(&source(n), 0.0, START, None, links)).collect();
                    both.frontier.submit(&pages).unwrap().wait().unwrap();
                }
            }
        });
        let mut seen = Vec::new();
        while !writer.is_finished() {
            seen.push(both.frontier.links_to(&target).unwrap().unwrap());
        }
        writer.join().map(|()| seen)
    });
    let seen = writing.unwrap();
    let number = |page: &String| page.rsplit('/').next().unwrap().parse::<usize>().unwrap();
    let mut falling = false;
    let mut last = 0;
    for pages in &seen {
        let numbers: BTreeSet<usize> = both.urls(pages).iter().map(number).collect();
        assert_eq!(numbers.len(), pages.len());
        let (first, end) = (numbers.first().copied(), numbers.last().map_or(0, |last| last + 1));
        assert_eq!(end - first.unwrap_or(end), numbers.len(), "a hole: {numbers:?}");
        falling |= first.is_some_and(|first| first > 0) || numbers.len() < last;
        assert!(if falling { end == PAGES || numbers.is_empty() } else { first.unwrap_or(0) == 0 });
        last = numbers.len();
    }
    both.settle();
    assert_eq!(both.frontier.links_to(&target).unwrap(), Some(vec![]));
    assert!(seen.len() > 3, "asked {} times only", seen.len());
}

/// How fast many links to a page are read, and what it costs those who stream pages in that somebody wants to know.
#[test]
#[ignore = "long: a measurement, which it prints"]
fn a_million_links_to_a_page() {
    use std::time::Instant;
    const PAGES: usize = 1_000_000;
    const PART: usize = 5_000;
    let both = Both::new(UrlHasher::default());
    let target = "http://target.example/";
    let write = |from: usize, to: usize| {
        let started = Instant::now();
        for first in (from..to).step_by(PART) {
            let sources = first..first + PART;
            let told: Vec<_> = sources
                .map(|n| {
                    let near =
                        (0..10).map(|l| (format!("http://h{}.example/{}", (n + l) % 997, (n + l) / 10), 0.0));
                    let links: Vec<(String, f32)> = near.chain([(target.to_owned(), 0.0)]).collect();
                    page(&format!("http://h{}.example/{}", n % 997, n / 10), 0.0, START, None, &links)
                })
                .collect();
            while both.frontier.submit(&told).is_err() {
                both.settle();
            }
        }
        both.settle();
        started.elapsed().as_secs_f64() / (to - from) as f64
    };
    write(0, PAGES - 4 * 50_000);
    let mut cost = [0.0, 0.0];
    for part in 0..4 {
        let first = PAGES - (4 - part) * 50_000;
        // Without anybody who asks at first, then with.
        if part >= 2 {
            both.frontier.links_to(&url(target)).unwrap();
        }
        cost[part / 2] += write(first, first + 50_000);
    }
    let started = Instant::now();
    both.frontier.links_to(&url(target)).unwrap();
    let graph = started.elapsed();
    let started = Instant::now();
    let sources = both.frontier.links_to(&url(target)).unwrap().unwrap();
    let found = started.elapsed();
    let urls = sources.chunks(1_000).map(|pages| both.frontier.urls_of(pages).unwrap().len()).sum::<usize>();
    let all = started.elapsed();
    println!(
        "{} links to a page: graph {graph:?}, links {found:?}, with their URLs {all:?} ({:.0} a second); \
         ingest costs {:.3} times what it costs without",
        sources.len(),
        urls as f64 / all.as_secs_f64(),
        cost[1] / cost[0],
    );
    assert_eq!(sources.len(), urls);
}
