//! PageRank against that of `webgraph-algo`, by other authors, from the same formula.

use webgraph_algo::rank::pagerank::{Mode, PageRank, preds::L1Norm};

use aduana::graph::Watch;
use aduana::score::{Norm, PageRank as Ours, Run, Scorer, Stop};
use aduana::types::SystemClock;
use examples::Example;

#[path = "../../../tests/scoring/examples.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod examples;

/// As close as 64 bits come.
const TIGHT: Stop = Stop { precision: 1e-13, norm: Norm::Largest, max_loops: 0 };

#[test]
fn pagerank_is_that_of_webgraph() {
    let mut compared = 0;
    for example in Example::all().filter(|example| example.pages > 0) {
        let n = example.pages as usize;
        let mut transpose = webgraph::graphs::vec_graph::VecGraph::empty(n);
        transpose.add_arcs(example.edges().map(|(source, target)| (target, source)));
        let weights = example.weights();
        let sum: f64 = weights.iter().sum();
        let preference: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        for (content, preference) in
            [(None, vec![1.0 / n as f64; n]), (Some(&example.content[..]), preference)]
        {
            let mut theirs = PageRank::new(&transpose).preference(&preference[..]);
            theirs.alpha(example.damping).mode(Mode::StronglyPreferential);
            theirs.run(L1Norm::try_from(1e-12).unwrap());
            let mut ours = Ours::new(example.damping, TIGHT).unwrap();
            let run = Run { threads: 1, watch: Watch::none(), warm: None, clock: &SystemClock };
            ours.update(&example.graph(), content, &run).unwrap();
            let pairs = ours.scores().iter().zip(theirs.rank());
            let distance = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(distance < 1e-9, "{distance} in {example:?}");
            compared += 1;
        }
    }
    assert!(compared > 700);
}
