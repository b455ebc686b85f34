//! `webgraph-algo`'s PageRank and aduana's over the same synthetic graph, in the same run:
//! `cargo run --release --manifest-path benches/webgraph/Cargo.toml -- [PAGES ...]` (default 100000).

#[path = "../../support/synthetic.rs"]
mod synthetic;

use std::time::Instant;

use aduana::graph::{LinkGraph, Watch};
use aduana::score::{Norm, PageRank, Run, Scorer, Stop};
use aduana::types::SystemClock;
use synthetic::{Lists, synthetic};
use webgraph::graphs::vec_graph::VecGraph;
use webgraph_algo::rank::pagerank::preds::L1Norm;

/// Bound of the error, in the sum over all pages, to which both compute.
const ERROR: f64 = 1e-8;

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    for pages in if sizes.is_empty() { vec![100_000] } else { sizes } {
        let (urls, lists) = synthetic(pages);
        let graph = LinkGraph::from_lists(urls, lists.clone()).expect("a graph");
        println!("{pages} crawled pages, {urls} URLs, {} links", graph.links());
        let (ours, scores) = ours(&graph);
        drop(graph);
        let theirs = theirs(urls as usize, &lists, &scores);
        println!("aduana / webgraph-algo: {:.3}", ours / theirs);
    }
}

fn ours(graph: &LinkGraph) -> (f64, Vec<f64>) {
    let stop = Stop { precision: ERROR, norm: Norm::Total, max_loops: 0 };
    let mut scorer = PageRank::new(0.85, stop).expect("settings");
    let run = Run { threads: 0, watch: Watch::none(), warm: None, clock: &SystemClock };
    let started = Instant::now();
    let report = scorer.update(graph, None, &run).expect("scores");
    let seconds = started.elapsed().as_secs_f64();
    println!("aduana to 1e-8: {seconds:.3} s, {} loops", report.loops);
    (seconds, scorer.scores().to_vec())
}

fn theirs(urls: usize, lists: &Lists, ours: &[f64]) -> f64 {
    let mut transpose = VecGraph::empty(urls);
    let links = lists.iter().flat_map(|(source, targets)| targets.iter().map(|&target| (target as usize, *source as usize)));
    transpose.add_arcs(links);
    let started = Instant::now();
    let mut pagerank = webgraph_algo::rank::pagerank::PageRank::new(&transpose);
    pagerank.run(L1Norm::try_from(ERROR).expect("a threshold"));
    let seconds = started.elapsed().as_secs_f64();
    let total: f64 = ours.iter().zip(pagerank.rank()).map(|(a, b)| (a - b).abs()).sum();
    println!("webgraph-algo to 1e-8: {seconds:.3} s; distance between the two, all pages together: {total:.1e}");
    seconds
}
