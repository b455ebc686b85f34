//! Batches against a large database: the same edits applied in batches of several sizes, their changes put into the
//! tables one by one, by merging, and as the writer chooses.
//!
//! `cargo bench --bench batches -- [PAGES [MIB ...]]` (default 200000 pages, batches of 8 and 24 MiB): imports the
//! synthetic graph's pages but for the last ones, and applies these. To see tables that have outgrown memory, run it
//! in a control group with a memory limit; "waits" counts the pages that had to come from disk.

#[path = "support/memory.rs"]
mod memory;

use std::convert::Infallible;
use std::path::Path;
use std::time::Instant;

use aduana::frontier::import::{ImportOptions, import};
use aduana::frontier::layout;
use aduana::pagedb::bulk::{EditBatch, RawPage};
use aduana::pagedb::{Merging, PageDb, PageDbOptions, Rules};
use aduana::synth::{Order, Page, Synth};
use aduana::types::edit::encode_crawled;
use aduana::types::{CrawledPage, Link, PageUrl, Score, Time};
use memory::Memory;

/// Most pages that are applied.
const MOST_APPLIED: u64 = 200_000;

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let (&pages, sizes) = numbers.split_first().unwrap_or((&200_000, &[8, 24]));
    let dir = tempfile::tempdir().expect("a temporary directory");
    let applied = (pages / 4).min(MOST_APPLIED);
    let mut synth = Synth::new(pages, 42, Order::Mix);
    fill(dir.path(), &mut synth, pages - applied);
    let edits: Vec<Vec<u8>> = std::iter::from_fn(|| {
        let mut edit = Vec::new();
        encode_crawled(&crawled(&synth.next_page()?), &mut edit);
        Some(edit)
    })
    .collect();
    println!(
        "      URLs  batch MiB  changes   s a batch  pages/s    waits  MB live  MB file  peak anonymous MB"
    );
    for &mib in sizes {
        for (name, merging) in
            [("single", Merging::Never), ("merged", Merging::Always), ("chosen", Merging::Measured)]
        {
            run(dir.path(), &edits, mib, name, merging);
        }
    }
}

/// Imports the first pages of the graph.
fn fill(dir: &Path, synth: &mut Synth, pages: u64) {
    let options = ImportOptions {
        memory: 1 << 30,
        domain_unit: None,
        same_site: None,
        max_crawl_depth: None,
        hasher: Default::default(),
    };
    let mut left = pages;
    let source = |batch: &mut EditBatch| {
        while !batch.is_full() {
            let Some(page) = (left > 0).then(|| synth.next_page()).flatten() else {
                return Ok::<_, Infallible>(false);
            };
            left -= 1;
            let raw = RawPage {
                url: page.url,
                base: None,
                score: score(page.score),
                time: Time(0),
                content_hash: None,
            };
            batch.crawled(raw, page.links().map(|(url, number)| (url, score(number)))).expect("a URL");
        }
        Ok(true)
    };
    import(dir, options, source, &mut |_, _, _| {}).expect("imported");
}

/// Applies the edits to a copy of the database.
fn run(base: &Path, edits: &[Vec<u8>], mib: u64, name: &str, merging: Merging) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("data.mdb");
    std::fs::copy(base.join(layout::PAGES).join("data.mdb"), &file).expect("a copy");
    std::fs::File::open(&file).and_then(|file| file.sync_all()).expect("synced");
    let db = PageDb::open(dir.path(), PageDbOptions { merging, ..PageDbOptions::default() }).expect("opened");
    let before = db.snapshot().expect("a snapshot").counters().expect("counters");
    let memory = Memory::watch();
    let waited = waits();
    let mut last = before.applied;
    let mut seconds = Vec::new();
    let mut rest = edits;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |edit: &&Vec<u8>| {
            bytes += edit.len() as u64;
            bytes <= mib << 20
        };
        let (batch, after) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        rest = after;
        let batch: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
        last += batch.len() as u64;
        let started = Instant::now();
        db.apply(&batch, last, Rules { heat_window: 60.0, max_depth: None }).expect("applied");
        seconds.push(started.elapsed().as_secs_f64());
    }
    let total: f64 = seconds.iter().sum();
    seconds.sort_unstable_by(f64::total_cmp);
    let (file, live) = db.file_bytes().expect("sizes");
    println!(
        "{:>10} {mib:>10} {name:>8} {:>11.2} {:>8.0} {:>8} {:>8.0} {:>8.0} {:>8.0}",
        before.pages,
        seconds[seconds.len() / 2],
        edits.len() as f64 / total,
        waits() - waited,
        live as f64 / 1e6,
        file as f64 / 1e6,
        memory.peak() as f64 / 1e6,
    );
}

/// How often this process has waited for a page from disk; 0 where the system does not tell.
fn waits() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let majflt = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_ascii_whitespace().nth(9));
    majflt.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn crawled(page: &Page<'_>) -> CrawledPage {
    let url = |text| PageUrl::parse(text).expect("a URL");
    CrawledPage {
        url: url(page.url),
        score: score(page.score),
        time: Time(0),
        content_hash: None,
        links: page
            .links()
            .map(|(text, number)| Link { url: url(text), score: score(number), anchor: None })
            .collect(),
    }
}

fn score(number: f64) -> Score {
    Score::new(number).expect("a score")
}
