//! Politeness, in simulated time. What would be lost: the good will of every site that is crawled. The
//! danger is the domain that holds most of the best pages: a frontier that walks its list best first either
//! hammers that domain or stands still behind its pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::task::Poll;
use std::time::Duration;

use crate::crawl::{Crawl, Setup, links};
use crate::reference::Limits;

const HOT: &str = "hot.example";
const HOT_PAGES: usize = 4_500;
const OTHERS: usize = 25;
const PAGES_OF_OTHERS: usize = 20;

/// One domain holds nine tenths of the pages, all of them better than all others.
fn crawl(limits: Limits) -> Crawl {
    let mut crawl = Crawl::start(Setup { lease: Duration::from_secs(100_000), ..Setup::new(limits) });
    let hot = (0..HOT_PAGES).map(|n| (format!("http://{HOT}/{n}"), 1.0 + n as f32));
    let others = (0..OTHERS * PAGES_OF_OTHERS)
        .map(|n| (format!("http://d{}.example/{n}", n % OTHERS), (n % 7) as f32 / 10.0));
    crawl.seeded(&links(&hot.chain(others).collect::<Vec<_>>()));
    crawl.settle();
    crawl
}

/// Hand-outs of each domain.
fn by_domain(hand_outs: &[aduana::frontier::HandOut]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for hand_out in hand_outs {
        *counts.entry(hand_out.domain.as_str()).or_default() += 1;
    }
    counts
}

/// No window, wherever it begins, holds more hand-outs than the hard limit allows.
fn assert_hard_limit(name: &str, times: &[u64], limits: Limits) {
    let (window, most) = limits.counted();
    let mut times = times.to_vec();
    times.sort_unstable();
    for group in times.windows(most + 1) {
        let lasted = group[most] - group[0];
        assert!(lasted >= window, "{name}: {} hand-outs within {lasted} ms", most + 1);
    }
}

/// A fleet that asks for far more than it may have, as often as it can, across restarts. The reference
/// judges each hand-out: none of a hotter domain while a colder one has work, the best page first.
fn greedy_fleet(limits: Limits, pauses: &[u64], rounds: usize) -> Crawl {
    let mut crawl = crawl(limits);
    for round in 0..rounds {
        crawl.request(1_000).unwrap();
        crawl.advance(pauses[round % pauses.len()]);
        if round % 29 == 28 {
            crawl.reopen(None);
        }
    }
    for (name, domain) in &crawl.reference.domains {
        assert_hard_limit(name, &domain.hand_outs, limits);
    }
    crawl.compare().unwrap();
    crawl
}

#[test]
fn a_greedy_fleet_gets_no_domain_beyond_the_default_limits() {
    greedy_fleet(Limits::new(0.25, 100.0), &[1, 40, 333, 7, 999, 1_000], 60);
}

#[test]
fn a_greedy_fleet_gets_no_domain_beyond_small_limits() {
    greedy_fleet(Limits::new(1.0, 3.0), &[5, 250, 61, 1_001], 120);
    greedy_fleet(Limits::new(0.2, 19.0), &[5, 90, 61, 301], 120);
    greedy_fleet(Limits { window: 5.0, ..Limits::new(0.25, 10.0) }, &[5, 90, 61, 301], 120);
}

#[test]
fn a_hard_limit_below_one_spaces_hand_outs() {
    let crawl = greedy_fleet(Limits::new(0.1, 0.5), &[300, 100, 1_300], 120);
    let hot = &crawl.reference.domains[HOT].hand_outs;
    assert!(hot.windows(2).all(|pair| pair[1] - pair[0] >= 2_000));
    // And it is not starved: 68 seconds have room for 34, restarts cost none.
    assert!(hot.len() >= 20, "{}", hot.len());
}

#[test]
fn without_a_soft_limit_only_the_hard_one_counts() {
    greedy_fleet(Limits::new(f64::INFINITY, 20.0), &[30, 250, 500], 100);
}

#[test]
fn a_hot_domain_does_not_hide_the_others() {
    let mut crawl = crawl(Limits::new(0.25, 100.0));
    // The soft limit, a quarter a second over a minute, is 15 pages; all domains reach it before one
    // passes it.
    let answer = crawl.request(15 * (OTHERS + 1)).unwrap();
    let counts = by_domain(&answer);
    assert_eq!(counts.len(), OTHERS + 1);
    assert!(counts.values().all(|&n| n == 15), "{counts:?}");
    // The best come first all the same.
    assert!(answer[..15].iter().all(|hand_out| hand_out.domain == HOT));
    // Then one more of each of the others, which are as hot, and worse.
    let answer = crawl.request(1_000).unwrap();
    let counts = by_domain(&answer);
    assert_eq!(counts.len(), OTHERS + 1, "{counts:?}");
    assert_eq!(counts.values().sum::<usize>() - counts[HOT], OTHERS * (PAGES_OF_OTHERS - 15));
    assert!(counts[HOT] <= 85, "{counts:?}");
}

#[test]
fn what_a_domain_has_had_is_known_after_a_restart() {
    let limits = Limits::new(0.25, 100.0);
    let mut crawl = crawl(limits);
    crawl.request(15).unwrap();
    crawl.reopen(None);
    crawl.advance(1_000);
    // Its 15 are used up; a frontier that forgot them would begin with its pages again.
    let answer = crawl.request(15 * OTHERS).unwrap();
    assert!(answer.iter().all(|hand_out| hand_out.domain != HOT));
    let cooled = (1000.0 * limits.heat_window() * (15.0f64 / 14.0).ln()).ceil() as u64;
    crawl.advance(cooled);
    assert_eq!(by_domain(&crawl.request(1).unwrap()), BTreeMap::from([(HOT, 1)]));
}

#[test]
fn without_limits_the_order_is_the_scores() {
    let mut crawl = crawl(Limits::OFF);
    let answer = crawl.request(10_000).unwrap();
    assert_eq!(answer.len(), HOT_PAGES + OTHERS * PAGES_OF_OTHERS);
    assert!(answer.is_sorted_by(|a, b| a.score >= b.score));
}

#[test]
fn pages_count_from_when_they_are_handed_out_not_from_when_they_were_asked_for() {
    let mut crawl = Crawl::start(Setup::new(Limits::new(0.25, 20.0)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let waited = (0..20).any(|round| {
        // So many that a request right after them has to wait until they are applied.
        let seeds = (0..20_000).map(|n| (format!("http://d{}.example/{round}/{n}", n % 100), 0.0));
        let seeds: Vec<_> = seeds.collect();
        let frontier = crawl.frontier().clone();
        let links = links(&seeds);
        crawl.reference.seeded(&seeds);
        frontier.submit_seeds(&links).unwrap().wait().unwrap();
        let mut request = std::pin::pin!(frontier.request(1));
        let first_look = std::future::poll_fn(|context| Poll::Ready(request.as_mut().poll(context)));
        let (answer, waited) = match runtime.block_on(first_look) {
            Poll::Ready(answer) => (answer.unwrap(), false),
            Poll::Pending => {
                crawl.advance(900);
                (runtime.block_on(request).unwrap(), true)
            }
        };
        // The lease tells the time that the hand-out was counted at.
        crawl.reference.handed_out(1, &answer).unwrap();
        waited
    });
    assert!(waited, "no request had to wait");
}

#[test]
fn a_fleet_of_threads_gets_each_page_once_and_no_domain_beyond_its_limit() {
    const LEASE: u64 = 100_000_000;
    let limits = Limits::new(1.0, 20.0);
    let crawl = crawl(limits);
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for spider in 0..8 {
            let (crawl, seen) = (&crawl, &seen);
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                for round in 0..60 {
                    let n = [1, 10, 1_000][(spider + round) % 3];
                    let answer = runtime.block_on(crawl.frontier().request(n)).unwrap();
                    seen.lock().unwrap().extend(answer);
                    crawl.clock.advance(Duration::from_millis(11));
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    let urls: BTreeSet<&str> = seen.iter().map(|hand_out| hand_out.url.as_str()).collect();
    assert_eq!(urls.len(), seen.len(), "a page was handed out twice");
    let mut times: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for hand_out in &seen {
        times.entry(&hand_out.domain).or_default().push(hand_out.leased_until.0 - LEASE);
    }
    for (name, times) in times {
        assert_hard_limit(name, &times, limits);
    }
}
