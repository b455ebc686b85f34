//! Building the link graph and its transpose from a PageDB: time, bytes a link, peak memory.
//!
//! `cargo bench --bench graph -- [PAGES ...]` (default 100000); 500000 is in the README.

#[path = "support/memory.rs"]
mod memory;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use aduana::frontier::{Frontier, Options, SubmitError, layout};
use aduana::graph::{GraphOptions, LinkGraph, Watch};
use aduana::pagedb::PageDb;
use aduana::synth::{Order, Synth};
use aduana::types::{CrawledPage, Link, PageUrl, Score, SystemClock, Time};
use memory::Memory;

/// Bytes for lists and sorting: plain arrays in the first, an external sort in the others.
const BUDGETS: [usize; 4] = [1 << 30, 64 << 20, 32 << 20, 8 << 20];
const REPEATS: usize = 3;

/// In the environment: the folder of the database, for a process that fills it or measures.
const FOLDER: &str = "ADUANA_BENCH_FOLDER";

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    match (std::env::var_os(FOLDER), &numbers[..]) {
        (Some(dir), &[pages, budget]) => measure(pages, budget as usize, Path::new(&dir)),
        (Some(dir), &[pages]) => ingest(pages, Path::new(&dir)),
        (_, []) => all(100_000),
        (_, sizes) => sizes.iter().for_each(|&pages| all(pages)),
    }
}

/// Each step in a process of its own: what one frees would hide what the next takes.
fn all(pages: u64) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let step = |numbers: &[u64]| {
        let program = std::env::current_exe().expect("this program");
        let numbers = numbers.iter().map(u64::to_string);
        let done = Command::new(program).env(FOLDER, dir.path()).args(numbers).status();
        assert!(done.is_ok_and(|status| status.success()), "a step failed");
    };
    step(&[pages]);
    println!(
        "    pages       URLs      links  budget MB  lists   seconds  B/link out  in    peak anonymous MB"
    );
    BUDGETS.iter().for_each(|&budget| step(&[pages, budget as u64]));
}

/// The median of some builds.
fn measure(pages: u64, budget: usize, dir: &Path) {
    let db = PageDb::open_read_only(&dir.join(layout::PAGES)).expect("a database");
    let memory = Memory::watch();
    let mut seconds = Vec::new();
    let mut line = String::new();
    for _ in 0..REPEATS {
        let options = GraphOptions { memory: budget, ..GraphOptions::new(dir) };
        let started = Instant::now();
        let graph = LinkGraph::build(&db, &options, Watch::none()).expect("a graph");
        seconds.push(started.elapsed().as_secs_f64());
        let peak = memory.peak() as f64 / 1e6;
        let (out, into) = graph.bytes();
        let a_link = |bytes: u64| bytes as f64 / graph.links() as f64;
        let lists = if graph.is_packed() { "packed" } else { "plain" };
        seconds.sort_by(f64::total_cmp);
        line = format!(
            "{pages:>9} {:>10} {:>10} {:>10}  {lists:<6} {:>8.2} {:>11.3} {:>5.3} {peak:>13.0}",
            graph.pages(),
            graph.links(),
            budget >> 20,
            seconds[seconds.len() / 2],
            a_link(out),
            a_link(into),
        );
    }
    println!("{line}");
}

fn ingest(pages: u64, dir: &Path) {
    let frontier = Frontier::open(Options::new(dir), Arc::new(SystemClock)).expect("a new database");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut synth = Synth::new(pages, 42, Order::Mix);
    let mut batch = Vec::new();
    loop {
        let page = synth.next_page().map(|page| {
            let link = |(url, score): (&str, f64)| Link {
                url: PageUrl::parse(url).expect("a URL"),
                score: Score::new(score).expect("a score"),
                anchor: None,
            };
            let Link { url, score, .. } = link((page.url, page.score));
            let links = page.links().map(link).collect();
            CrawledPage { url, score, time: Time(0), content_hash: None, links }
        });
        let ended = page.is_none();
        batch.extend(page);
        if batch.len() == 64 || ended {
            loop {
                match frontier.submit(&batch) {
                    Ok(_) => break,
                    Err(SubmitError::Busy) => runtime.block_on(frontier.room()),
                    Err(error) => panic!("{error}"),
                }
            }
            batch.clear();
        }
        if ended {
            break;
        }
    }
    runtime.block_on(frontier.applied());
    frontier.close().expect("closed");
}
