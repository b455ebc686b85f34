//! Rounds of PageRank and HITS over a synthetic graph. (`benches/webgraph` compares with webgraph-algo.)
//!
//! `cargo bench --bench score -- [PAGES ...]` (default 100000); 500000 is in the README.

#[path = "support/synthetic.rs"]
mod synthetic;

use std::time::Instant;

use aduana::graph::{GraphOptions, LinkGraph, Watch};
use aduana::score::{Hits, PageRank, RoundReport, Run, Scorer, Stop};
use aduana::types::SystemClock;
use synthetic::synthetic;

/// Loops between two measurements of an iteration.
const LOOPS: u32 = 20;
fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    for pages in if sizes.is_empty() { vec![100_000] } else { sizes } {
        let (urls, lists) = synthetic(pages);
        let dir = tempfile::tempdir().expect("a temporary directory");
        let packed = GraphOptions { memory: 8 << 20, ..GraphOptions::new(dir.path()) };
        let plain = LinkGraph::from_lists(urls, lists.clone()).expect("a graph");
        let packed = LinkGraph::from_lists_with(urls, lists, &packed).expect("a graph");
        let a_link = |bytes: u64| bytes as f64 / plain.links() as f64;
        let (out, into) = packed.bytes();
        println!("{pages} crawled pages, {urls} URLs, {} links", plain.links());
        println!("packed: {:.3} bytes a link out, {:.3} in", a_link(out), a_link(into));
        println!("{:<34}{:>10}", "", "seconds");
        for (name, graph) in [("plain", &plain), ("packed", &packed)] {
            iterations(name, graph);
            rounds(name, graph);
        }
    }
}

fn timed(scorer: &mut dyn Scorer, graph: &LinkGraph, warm: Option<&[f64]>) -> (f64, RoundReport) {
    let run = Run { threads: 0, watch: Watch::none(), warm, clock: &SystemClock };
    let started = Instant::now();
    let report = scorer.update(graph, None, &run).expect("scores");
    (started.elapsed().as_secs_f64(), report)
}

fn print(what: &str, seconds: f64, more: &str) {
    println!("{what:<34}{seconds:>10.4}  {more}");
}

/// The time of one loop: of a round of many, less that of a round with one.
fn iterations(name: &str, graph: &LinkGraph) {
    let stop = |max_loops| Stop { precision: 0.0, max_loops, ..Stop::default() };
    let pagerank = |loops| timed(&mut PageRank::new(0.85, stop(loops)).expect("settings"), graph, None).0;
    let hits = |loops| timed(&mut Hits::new(stop(loops)).expect("settings"), graph, None).0;
    let (first, many) = (pagerank(1), pagerank(1 + LOOPS));
    print(&format!("PageRank, a loop, {name}"), (many - first) / f64::from(LOOPS), "");
    print(&format!("PageRank, a round of 1 loop, {name}"), first, "all pages");
    let (first, many) = (hits(1), hits(1 + LOOPS));
    print(&format!("HITS, a loop, {name}"), (many - first) / f64::from(LOOPS), "");
}

/// Rounds with the default settings.
fn rounds(name: &str, graph: &LinkGraph) {
    let mut pagerank = PageRank::new(0.85, Stop::default()).expect("settings");
    let (seconds, report) = timed(&mut pagerank, graph, None);
    let loops = |report: &RoundReport| format!("{} loops, {}", report.loops, report.stopped.name());
    print(&format!("PageRank, a round, {name}"), seconds, &loops(&report));
    let scores = pagerank.scores().to_vec();
    let (seconds, report) = timed(&mut pagerank, graph, Some(&scores));
    print(&format!("PageRank, the same warm, {name}"), seconds, &loops(&report));
    let (seconds, report) = timed(&mut Hits::new(Stop::default()).expect("settings"), graph, None);
    print(&format!("HITS, a round, {name}"), seconds, &loops(&report));
}
