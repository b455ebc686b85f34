//! A scorer that this crate does not have, by its public interface alone.

use aduana::graph::LinkGraph;
use aduana::score::{Estimate, RoundReport, Run, ScoreError, Scorer, Stopped};
use aduana::types::PageIndex;

use super::run;

/// A page's score is its share of all links.
#[derive(Default)]
struct InLinks {
    scores: Vec<f64>,
    links: u64,
}

impl Scorer for InLinks {
    fn name(&self) -> &'static str {
        "in-links"
    }

    fn update(
        &mut self,
        graph: &LinkGraph,
        _content: Option<&[f32]>,
        run: &Run<'_>,
    ) -> Result<RoundReport, ScoreError> {
        let started = run.clock.now();
        let mut scores = Vec::new();
        for page in 0..graph.pages() {
            if run.watch.is_cancelled() {
                return Err(ScoreError::Cancelled);
            }
            scores.push(graph.in_links(PageIndex(page))?.len() as f64 / graph.links().max(1) as f64);
        }
        (self.scores, self.links) = (scores, graph.links());
        Ok(RoundReport {
            scorer: self.name(),
            pages: graph.pages(),
            crawled: graph.crawled(),
            links: graph.links(),
            loops: 1,
            stopped: Stopped::Precision,
            change: 0.0,
            error_bound: Some(0.0),
            duration: std::time::Duration::from_millis(run.clock.now().0 - started.0),
        })
    }

    fn get(&self, page: PageIndex) -> Option<f64> {
        self.scores.get(page.0 as usize).copied()
    }

    fn estimate(&self) -> Estimate {
        Estimate { pages: self.scores.len() as u64, ..Estimate::default() }
    }
}

#[test]
fn a_third_party_can_write_a_scorer() {
    let graph = LinkGraph::from_lists(3, [(0, vec![1, 2]), (2, vec![1])]).unwrap();
    let mut scorer: Box<dyn Scorer> = Box::<InLinks>::default();
    assert_eq!(scorer.update(&graph, None, &run(1, None)).unwrap().links, 3);
    assert_eq!(scorer.get(PageIndex(1)), Some(2.0 / 3.0));
    assert_eq!(scorer.get(PageIndex(3)), None);
    assert_eq!(scorer.estimate().pages, 3);
}
