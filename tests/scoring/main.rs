//! The scorers against independent computations. What would be lost: a score that is almost right orders a
//! crawl almost well, and nobody would ever notice.

mod closed_forms;
mod dense;
mod examples;
mod networkx;
mod properties;
mod third_party;

use aduana::graph::{LinkGraph, Watch};
use aduana::score::{Hits, Norm, PageRank, RoundReport, Run, Scorer, Stop};
use aduana::types::SystemClock;

/// As close as 64 bits come.
const TIGHT: Stop = Stop { precision: 1e-13, norm: Norm::Largest, max_loops: 0 };

fn run(threads: usize, warm: Option<&[f64]>) -> Run<'_> {
    Run { threads, watch: Watch::none(), warm, clock: &SystemClock }
}

fn pagerank(graph: &LinkGraph, content: Option<&[f32]>, damping: f64, stop: Stop) -> (Vec<f64>, RoundReport) {
    let mut scorer = PageRank::new(damping, stop).unwrap();
    let report = scorer.update(graph, content, &run(1, None)).unwrap();
    (scorer.scores().to_vec(), report)
}

fn hits(graph: &LinkGraph, content: Option<&[f32]>, stop: Stop) -> (Vec<f64>, Vec<f64>) {
    let mut scorer = Hits::new(stop).unwrap();
    scorer.update(graph, content, &run(1, None)).unwrap();
    let hubs = (0..graph.pages()).map(|page| scorer.hub(aduana::types::PageIndex(page)).unwrap());
    (scorer.scores().to_vec(), hubs.collect())
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
