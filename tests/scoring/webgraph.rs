//! PageRank against that of `webgraph-algo`, by other authors, from the same formula.

use webgraph_algo::rank::pagerank::{Mode, PageRank, preds::L1Norm};

use super::examples::Example;
use super::{TIGHT, farthest};

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
            let (ours, _) = super::pagerank(&example.graph(), content, example.damping, TIGHT);
            let distance = farthest(&ours, theirs.rank());
            assert!(distance < 1e-9, "{distance} in {example:?}");
            compared += 1;
        }
    }
    assert!(compared > 700);
}
