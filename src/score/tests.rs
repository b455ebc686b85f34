use super::*;
use crate::types::SystemClock;

fn run(warm: Option<&[f64]>) -> Run<'_> {
    Run { threads: 2, watch: Watch::none(), warm, clock: &SystemClock }
}

#[test]
fn a_chain_has_the_scores_of_its_closed_form() {
    let graph = LinkGraph::from_lists(3, [(0, vec![1]), (1, vec![2])]).unwrap();
    let stop = Stop { precision: 1e-14, ..Stop::default() };
    let mut scorer = PageRank::new(0.85, stop).unwrap();
    scorer.update(&graph, None, &run(None)).unwrap();
    // y = 1/3, 1/3 (1 + d), 1/3 (1 + d + d²)
    let y = [1.0, 1.85, 1.0 + 0.85 + 0.85 * 0.85];
    let length: f64 = y.iter().sum();
    for (page, y) in y.iter().enumerate() {
        assert!((scorer.scores()[page] - y / length).abs() < 1e-15);
    }
}
