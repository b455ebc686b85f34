//! What a hand-out costs with a hot domain in the way: with 1,000 and with 1,000,000 of its pages, all better
//! than all others. The original walked past each of them; here the cost must not depend on their number.
//!
//! `cargo bench --bench politeness`. At the end the ratio of both costs; 1.5 or more is a failure.

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use aduana::pagedb::{PageDb, PageDbOptions, Rules};
use aduana::schedule::temperature::Limits;
use aduana::schedule::{Pick, Schedule};
use aduana::types::{Link, PageUrl, Score, Time, edit};
use criterion::{BatchSize, Criterion};

const SIZES: [usize; 2] = [1_000, 1_000_000];
const MOST_ALLOWED: f64 = 1.5;

/// Hand-outs a second that a domain may have.
const LIMIT: f64 = 20.0;

/// Cool domains.
const DOMAINS: usize = 2_500;
const PAGES_OF_A_DOMAIN: usize = 20;

/// Hand-outs of one measurement.
const HAND_OUTS: usize = 2_000;

const NOW: Time = Time(1_700_000_000_000);

fn limits() -> Limits {
    Limits::new(LIMIT, LIMIT, 60.0)
}

fn link(url: &str, score: f64) -> Link {
    Link {
        url: PageUrl::parse(url).expect("a URL"),
        score: Score::new(score).expect("a score"),
        anchor: None,
    }
}

/// A database with a hot domain of so many pages.
fn build(path: &Path, hot_pages: usize) -> PageDb {
    let db = PageDb::open(path, PageDbOptions::default()).expect("a new database");
    let rules = Rules { heat_window: limits().window(), max_depth: None };
    let hot = (0..hot_pages).map(|n| link(&format!("http://hot.example/{n}"), 1.0 + (n % 977) as f64));
    let cool = (0..DOMAINS * PAGES_OF_A_DOMAIN)
        .map(|n| link(&format!("http://cool{}.example/{n}", n % DOMAINS), (n % 89) as f64 / 100.0));
    let pages: Vec<Link> = hot.chain(cool).collect();
    for (position, part) in (1..).zip(pages.chunks(50_000)) {
        let mut bytes = Vec::new();
        edit::encode_seeds(part, &mut bytes);
        db.apply(&[&bytes], position, rules).expect("applied");
    }
    db
}

/// A schedule in which the hot domain is at its hard limit.
fn saturated(db: &PageDb) -> Schedule {
    let mut schedule = Schedule::load(limits(), db.snapshot().expect("a snapshot"), NOW).expect("a schedule");
    let mut picks = Vec::new();
    schedule.take(LIMIT as usize, NOW, &mut picks).expect("picks");
    assert!(picks.iter().all(|pick| pick.domain == picks[0].domain), "the hot domain is the best");
    schedule
}

/// Hand-outs one by one, as spiders take them, while the hot domain must wait.
fn hand_out(mut schedule: Schedule) -> (Schedule, Vec<Pick>) {
    let mut picks = Vec::with_capacity(HAND_OUTS);
    let now = Time(NOW.0 + 1);
    for _ in 0..HAND_OUTS {
        schedule.take(1, now, &mut picks).expect("a pick");
    }
    (schedule, picks)
}

fn main() -> ExitCode {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let databases = SIZES.map(|size| (size, build(&dir.path().join(size.to_string()), size)));
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    for (size, db) in &databases {
        let (_, picks) = hand_out(saturated(db));
        assert_eq!(picks.len(), HAND_OUTS);
        criterion.bench_function(&format!("{HAND_OUTS} hand-outs past {size} hot pages"), |bencher| {
            bencher.iter_batched(|| saturated(db), hand_out, BatchSize::PerIteration);
        });
    }
    criterion.final_summary();
    report(&databases)
}

/// Measures both in turn, so that a machine that drifts does so for both, and prints the ratio.
fn report(databases: &[(usize, PageDb); 2]) -> ExitCode {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..15 {
        for ((_, db), times) in databases.iter().zip(&mut times) {
            let schedule = saturated(db);
            let started = Instant::now();
            let done = black_box(hand_out(schedule));
            times.push(started.elapsed());
            drop(done);
        }
    }
    let [few, many] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e6 / HAND_OUTS as f64
    });
    let ratio = many / few;
    println!(
        "a hand-out: {few:.2} us past {} hot pages, {many:.2} us past {}: ratio {ratio:.2}",
        SIZES[0], SIZES[1]
    );
    if ratio < MOST_ALLOWED { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
