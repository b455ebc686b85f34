//! Ingest in process: pages of about 30 links, parsed, made durable in the edit log, applied to the PageDB;
//! beside it, in the same run and on the same graph, the bare tables and an import in bulk. `ONLY=ours`, `bare` or
//! `import` runs one of them.
//!
//! `cargo bench --bench ingest -- [PAGES ...]` (default 20000 100000); 500000 and 2000000 are in the README.

mod bare;
mod import;
#[path = "../support/memory.rs"]
mod memory;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use aduana::frontier::{Frontier, Options, Receipt, SubmitError};
use aduana::synth::{Order, Synth};
use aduana::types::{CrawledPage, Link, PageUrl, Score, SystemClock, Time};
use memory::Memory;

/// Pages in one submission, as a client that posts arrays would send them.
const PAGES_A_SUBMISSION: usize = 64;

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![20_000, 100_000] } else { sizes };
    let only = std::env::var("ONLY").unwrap_or_default();
    println!(
        "    pages  what        seconds  pages/s   links/s    B/URL  B/link  file/live  peak anonymous MB"
    );
    for pages in sizes {
        let graph = graph(pages);
        let wanted = |what: &str| only.is_empty() || only == what;
        let bare = wanted("bare").then(|| bare::run(&graph));
        let ours = wanted("ours").then(|| run(&graph));
        let import = wanted("import").then(|| import::run(&graph));
        for (what, result) in [("bare tables", &bare), ("aduana", &ours), ("import", &import)] {
            if let Some(result) = result {
                result.print(pages, what);
            }
        }
        if let (Some(bare), Some(ours)) = (bare, &ours) {
            println!("{pages:>9}  ratio       {:.2} of the bare tables' rate", bare.seconds / ours.seconds);
        }
        if let (Some(import), Some(ours)) = (import, &ours) {
            println!("{pages:>9}  import      {:.2} times aduana's rate", ours.seconds / import.seconds);
        }
    }
}

/// The figures of one run.
struct Figures {
    seconds: f64,
    pages: u64,
    links: u64,
    urls: u64,
    live_bytes: u64,
    file_bytes: u64,
    link_bytes: u64,
    peak_anonymous: u64,
    tables: Vec<(String, u64, u64)>,
}

impl Figures {
    fn print(&self, pages: u64, what: &str) {
        println!(
            "{pages:>9}  {what:<11} {:>7.2} {:>8.0} {:>9.0} {:>8.1} {:>7.2} {:>10.2} {:>10.0}",
            self.seconds,
            self.pages as f64 / self.seconds,
            self.links as f64 / self.seconds,
            self.live_bytes as f64 / self.urls as f64,
            self.link_bytes as f64 / self.links as f64,
            self.file_bytes as f64 / self.live_bytes as f64,
            self.peak_anonymous as f64 / 1e6,
        );
        if std::env::var_os("TABLES").is_some() {
            for (name, rows, bytes) in &self.tables {
                println!("{:>24} {rows:>10} rows {:>7.1} B/URL", name, *bytes as f64 / self.urls as f64);
            }
        }
    }
}

fn run(graph: &[String]) -> Figures {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let frontier = Frontier::open(Options::new(dir.path()), Arc::new(SystemClock)).expect("a new database");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let memory = Memory::watch();
    let mut receipts: VecDeque<Receipt> = VecDeque::new();
    let started = Instant::now();
    for group in graph.chunks(PAGES_A_SUBMISSION) {
        let pages: Vec<CrawledPage> = group.iter().map(|line| parse(line)).collect();
        loop {
            match frontier.submit(&pages) {
                Ok(receipt) => break receipts.push_back(receipt),
                Err(SubmitError::Busy) => runtime.block_on(frontier.room()),
                Err(error) => panic!("{error}"),
            }
        }
        if receipts.len() > 16 {
            receipts.pop_front().map(|receipt| receipt.wait().expect("durable"));
        }
    }
    for receipt in receipts.drain(..) {
        receipt.wait().expect("durable");
    }
    runtime.block_on(frontier.applied());
    let seconds = started.elapsed().as_secs_f64();
    let peak_anonymous = memory.peak();
    let stats = frontier.stats().expect("stats");
    let tables = frontier.table_sizes().expect("sizes");
    let tables: Vec<_> =
        tables.into_iter().map(|(name, rows, bytes)| (name.to_owned(), rows, bytes)).collect();
    frontier.close().expect("closed");
    Figures {
        seconds,
        pages: stats.crawled,
        links: stats.links,
        urls: stats.pages,
        live_bytes: stats.live_bytes,
        file_bytes: stats.file_bytes,
        link_bytes: tables.iter().find(|(name, ..)| name == "links").map_or(0, |t| t.2),
        peak_anonymous,
        tables,
    }
}

/// The graph as text, a line a page; making it is not part of the figures.
fn graph(pages: u64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut synth = Synth::new(pages, 42, Order::Mix);
    while let Some(page) = synth.next_page() {
        let mut line = format!("{}\t{}", page.url, page.score);
        for (url, score) in page.links() {
            line.push_str(&format!("\t{url} {score}"));
        }
        lines.push(line);
    }
    lines
}

/// URL and score of a line's page, then of its links.
fn fields(line: &str) -> impl Iterator<Item = (&str, f64)> {
    let (url, rest) = line.split_once('\t').expect("a score");
    let (score, links) = rest.split_once('\t').unwrap_or((rest, ""));
    let number = |text: &str| text.parse().expect("a number");
    let links = links.split('\t').filter_map(|link| link.split_once(' '));
    std::iter::once((url, number(score))).chain(links.map(move |(url, score)| (url, number(score))))
}

fn parse(line: &str) -> CrawledPage {
    let mut links = fields(line).map(|(url, score)| Link {
        url: PageUrl::parse(url).expect("a URL"),
        score: Score::new(score).expect("a score"),
        anchor: None,
    });
    let Link { url, score, .. } = links.next().expect("a page");
    CrawledPage { url, score, time: Time(0), content_hash: None, links: links.collect() }
}
