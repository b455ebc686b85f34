//! Rounds of PageRank and HITS over a synthetic graph, and `webgraph-algo`'s PageRank over the same graph in
//! the same run.
//!
//! `cargo bench --bench score -- [PAGES ...]` (default 100000); 500000 is in the README.

use std::collections::HashMap;
use std::time::Instant;

use aduana::graph::{GraphOptions, LinkGraph, Watch};
use aduana::score::{Hits, Norm, PageRank, RoundReport, Run, Scorer, Stop};
use aduana::synth::{Order, Synth};
use aduana::types::SystemClock;
use webgraph::graphs::vec_graph::VecGraph;
use webgraph_algo::rank::pagerank::preds::L1Norm;

/// Loops between two measurements of an iteration.
const LOOPS: u32 = 20;
/// Bound of the error, in the sum over all pages, to which both PageRanks compute.
const ERROR: f64 = 1e-8;

type Lists = Vec<(u64, Vec<u64>)>;

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    for pages in if sizes.is_empty() { vec![100_000] } else { sizes } {
        let (urls, lists) = synthetic(pages);
        let dir = tempfile::tempdir().expect("a temporary directory");
        let packed = GraphOptions { memory: 8 << 20, ..GraphOptions::new(dir.path()) };
        let plain = LinkGraph::from_lists(urls, lists.clone()).expect("a graph");
        let packed = LinkGraph::from_lists_with(urls, lists.clone(), &packed).expect("a graph");
        let a_link = |bytes: u64| bytes as f64 / plain.links() as f64;
        let (out, into) = packed.bytes();
        println!("{pages} crawled pages, {urls} URLs, {} links", plain.links());
        println!("packed: {:.3} bytes a link out, {:.3} in", a_link(out), a_link(into));
        println!("{:<34}{:>10}", "", "seconds");
        for (name, graph) in [("plain", &plain), ("packed", &packed)] {
            iterations(name, graph);
            rounds(name, graph);
        }
        let scores = to_error(&plain);
        theirs(urls as usize, &lists, &scores);
    }
}

/// The synthetic graph; pages have the order in which they are first seen, as in a PageDB.
fn synthetic(pages: u64) -> (u64, Lists) {
    let mut synth = Synth::new(pages, 42, Order::Mix);
    let mut indices: HashMap<String, u64> = HashMap::new();
    let mut lists = Vec::new();
    while let Some(page) = synth.next_page() {
        let mut index = |url: &str| {
            let next = indices.len() as u64;
            match indices.get(url) {
                Some(&index) => index,
                None => *indices.entry(url.to_owned()).or_insert(next),
            }
        };
        let source = index(page.url);
        lists.push((source, page.links().map(|(url, _)| index(url)).collect()));
    }
    (indices.len() as u64, lists)
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

fn to_error(graph: &LinkGraph) -> Vec<f64> {
    let stop = Stop { precision: ERROR, norm: Norm::Total, max_loops: 0 };
    let mut scorer = PageRank::new(0.85, stop).expect("settings");
    let (seconds, report) = timed(&mut scorer, graph, None);
    print("PageRank to 1e-8", seconds, &format!("{} loops", report.loops));
    scorer.scores().to_vec()
}

fn theirs(urls: usize, lists: &Lists, ours: &[f64]) {
    let mut transpose = VecGraph::empty(urls);
    transpose.add_arcs(
        lists
            .iter()
            .flat_map(|(source, targets)| targets.iter().map(|&target| (target as usize, *source as usize))),
    );
    let started = Instant::now();
    let mut pagerank = webgraph_algo::rank::pagerank::PageRank::new(&transpose);
    pagerank.run(L1Norm::try_from(ERROR).expect("a threshold"));
    let seconds = started.elapsed().as_secs_f64();
    let total: f64 = ours.iter().zip(pagerank.rank()).map(|(a, b)| (a - b).abs()).sum();
    let more = format!("distance between the two {total:.1e}, all pages together");
    print("webgraph-algo to 1e-8", seconds, &more);
}
