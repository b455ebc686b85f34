//! The parts that ingest and hand-outs are made of, one by one: a change of one of them shows here before it
//! drowns in the whole. `cargo bench --bench parts`

use std::hint::black_box;
use std::time::Duration;

use aduana::pagedb::{PageDb, PageDbOptions, Rules, link_list};
use aduana::schedule::Schedule;
use aduana::schedule::temperature::Limits;
use aduana::types::{CrawledPage, Edit, Link, PageIndex, PageUrl, Score, Time, edit};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

fn link(url: &str, score: f64) -> Link {
    Link {
        url: PageUrl::parse(url).expect("a URL"),
        score: Score::new(score).expect("a score"),
        anchor: None,
    }
}

fn urls(criterion: &mut Criterion) {
    let cases = [
        ("URL in normal form", "http://www.example.com/some/path/to/a/page.html?with=a&query=1"),
        ("URL to be normalised", "HTTP://www.Example.com:80/some/./path/to/%61/page.html?with=a#fragment"),
    ];
    for (name, url) in cases {
        criterion.bench_function(name, |bencher| bencher.iter(|| PageUrl::parse(black_box(url))));
    }
}

fn edits(criterion: &mut Criterion) {
    let links = (0..30).map(|n| link(&format!("http://host{}.example.com/path/to/page/{n}", n / 6), 0.5));
    let page = CrawledPage {
        url: PageUrl::parse("http://host0.example.com/path").expect("a URL"),
        score: Score::ZERO,
        time: Time(1_700_000_000_000),
        content_hash: None,
        links: links.collect(),
    };
    let mut bytes = Vec::new();
    criterion.bench_function("edit of 30 links, encoded", |bencher| {
        bencher.iter(|| {
            bytes.clear();
            edit::encode_crawled(black_box(&page), &mut bytes);
        });
    });
    criterion.bench_function("edit of 30 links, decoded", |bencher| {
        bencher.iter(|| Edit::decode(black_box(&bytes)).expect("an edit"));
    });
}

fn link_lists(criterion: &mut Criterion) {
    let other: Vec<PageIndex> = (0..10).map(|n| PageIndex(n * n * 977)).collect();
    let same: Vec<PageIndex> = (0..20).map(|n| PageIndex(1_000_000 + 3 * n)).collect();
    let (mut bytes, mut out) = (Vec::new(), Vec::new());
    criterion.bench_function("list of 30 links, encoded", |bencher| {
        bencher.iter(|| {
            bytes.clear();
            link_list::encode(black_box(&other), black_box(&same), &mut bytes);
        });
    });
    criterion.bench_function("list of 30 links, decoded", |bencher| {
        bencher.iter(|| {
            out.clear();
            link_list::decode(black_box(&bytes), false, &mut out).expect("a list")
        });
    });
}

/// A thousand pages of a thousand domains, in requests of ten, with the default limits and with none.
fn schedule(criterion: &mut Criterion) {
    let now = Time(1_700_000_000_000);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let db = PageDb::open(dir.path(), PageDbOptions::default()).expect("a new database");
    let seeds: Vec<Link> =
        (0..20_000).map(|n| link(&format!("http://d{}.example/{n}", n % 1_000), f64::from(n % 97))).collect();
    let mut bytes = Vec::new();
    edit::encode_seeds(&seeds, &mut bytes);
    db.apply(&[&bytes], 1, Rules { heat_window: 60.0, max_depth: None }).expect("applied");
    let load = |limits| Schedule::load(limits, db.snapshot().expect("a snapshot"), now).expect("a schedule");
    let cases = [("no limits", f64::INFINITY, f64::INFINITY), ("the default limits", 0.25, 100.0)];
    for (name, soft, hard) in cases {
        let limits = Limits::new(soft, hard, 60.0);
        let take = |mut schedule: Schedule| {
            let mut picks = Vec::with_capacity(1_000);
            for _ in 0..100 {
                schedule.take(10, now, &mut picks).expect("picks");
            }
            assert_eq!(picks.len(), 1_000);
            (schedule, picks)
        };
        criterion.bench_function(&format!("1000 pages taken, {name}"), |bencher| {
            bencher.iter_batched(|| load(limits), take, BatchSize::PerIteration);
        });
    }
}

criterion_group! {
    name = parts;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = urls, edits, link_lists, schedule
}
criterion_main!(parts);
