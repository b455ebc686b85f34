//! What holds for every graph, however odd.

use std::sync::atomic::{AtomicBool, Ordering};

use aduana::graph::{LinkGraph, Watch};
use aduana::score::{Hits, PageRank, Run, ScoreError, Scorer, Stop};
use aduana::types::{PageIndex, SystemClock};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::examples::{Example, Random};
use super::{TIGHT, farthest, hits, pagerank, run};

fn any_graph() -> impl Strategy<Value = LinkGraph> {
    (0u64..60, btree_map(0u64..60, vec(0u64..60, 0..20), 0..40))
        .prop_map(|(pages, lists)| LinkGraph::from_lists(pages, lists).unwrap())
}

fn assert_distribution(scores: impl IntoIterator<Item = f64>, pages: u64) {
    let scores: Vec<f64> = scores.into_iter().collect();
    assert_eq!(scores.len() as u64, pages);
    assert!(scores.iter().all(|score| (0.0..=1.0 + 1e-12).contains(score)), "{scores:?}");
    let sum: f64 = scores.iter().sum();
    assert!(pages == 0 || (sum - 1.0).abs() < 1e-12, "the sum is {sum}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn scores_are_finite_and_sum_to_1(
        graph in any_graph(),
        content in vec(any::<f32>(), 0..70),
        warm in vec(any::<f64>(), 0..70),
        damping in 0.0f64..0.9999,
        (with_content, with_warm, max_loops) in (any::<bool>(), any::<bool>(), 1u32..60),
    ) {
        let content = with_content.then_some(&content[..]);
        let run = run(1, with_warm.then_some(&warm[..]));
        let stop = Stop { max_loops, ..TIGHT };
        let mut pagerank = PageRank::new(damping, stop).unwrap();
        let report = pagerank.update(&graph, content, &run).unwrap();
        prop_assert!(report.change.is_finite() && report.error_bound.unwrap().is_finite());
        let mut hits = Hits::new(stop).unwrap();
        prop_assert!(hits.update(&graph, content, &run).unwrap().change.is_finite());
        let pages = || (0..graph.pages()).map(PageIndex);
        assert_distribution(pages().map(|page| pagerank.get(page).unwrap()), graph.pages());
        assert_distribution(pages().map(|page| hits.get(page).unwrap()), graph.pages());
        assert_distribution(pages().map(|page| hits.hub(page).unwrap()), graph.pages());
        for estimate in [pagerank.estimate(), hits.estimate()] {
            prop_assert!([estimate.base, estimate.share, estimate.hub].iter().all(|n| n.is_finite() && *n >= 0.0));
            prop_assert_eq!(estimate.pages, graph.pages());
        }
    }
}

/// Large enough for several blocks and parts.
fn large() -> LinkGraph {
    let mut random = Random::new(7);
    let pages = 60_000;
    let lists = (0..40_000).map(|page| {
        let page = page * 3 / 2;
        (page, (0..random.below(12)).map(|_| random.below(pages) * random.below(pages) / pages).collect())
    });
    LinkGraph::from_lists(pages, lists.collect::<Vec<_>>()).unwrap()
}

#[test]
fn scores_are_the_same_to_the_last_bit_for_any_number_of_threads() {
    let graph = large();
    let content: Vec<f32> = (0..60_000).map(|page| (page % 17) as f32 - 3.0).collect();
    let scores = |threads: usize| {
        let mut pagerank = PageRank::new(0.85, Stop::default()).unwrap();
        let mut hits = Hits::new(Stop { max_loops: 20, ..TIGHT }).unwrap();
        let reports = [
            pagerank.update(&graph, Some(&content), &run(threads, None)).unwrap(),
            hits.update(&graph, Some(&content), &run(threads, None)).unwrap(),
        ];
        let bits = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
        (bits(pagerank.scores()), bits(hits.scores()), reports.map(|r| (r.loops, r.change.to_bits())))
    };
    let one = scores(1);
    for threads in [2, 3, 8] {
        assert!(scores(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_warm_start_saves_loops_and_ends_at_the_same_scores() {
    let graph = large();
    let stop = Stop { precision: 1e-10, ..Stop::default() };
    let mut scorer = PageRank::new(0.85, stop).unwrap();
    let cold = scorer.update(&graph, None, &run(2, None)).unwrap();
    let scores = scorer.scores().to_vec();
    let again = scorer.update(&graph, None, &run(2, Some(&scores))).unwrap();
    assert!(again.loops * 4 < cold.loops, "{} and {}", again.loops, cold.loops);
    assert!(farthest(&scores, scorer.scores()) < 1e-13);
    // What was known before the graph grew, or nonsense, is no worse than that.
    for warm in [&scores[..30_000], &[f64::NAN; 100], &[1e300; 60_000]] {
        scorer.update(&graph, None, &run(2, Some(warm))).unwrap();
        assert!(farthest(&scores, scorer.scores()) < 1e-13);
    }
}

#[test]
fn hits_finds_what_has_become_dominant_since_the_last_round() {
    // A group of pages that the round before did not know.
    let old = LinkGraph::from_lists(10, [(0, vec![1, 2]), (3, vec![1, 2])]).unwrap();
    let lists =
        [(0, vec![1, 2]), (3, vec![1, 2]), (4, vec![7, 8, 9]), (5, vec![7, 8, 9]), (6, vec![7, 8, 9])];
    let new = LinkGraph::from_lists(10, lists).unwrap();
    let mut scorer = Hits::new(TIGHT).unwrap();
    scorer.update(&old, None, &run(1, None)).unwrap();
    let warm = scorer.scores().to_vec();
    assert_eq!(warm[7], 0.0);
    scorer.update(&new, None, &run(1, Some(&warm))).unwrap();
    assert!(farthest(scorer.scores(), &hits(&new, None, TIGHT).0) < 1e-12);
    assert!((scorer.scores()[7] - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn a_round_can_be_cancelled_and_leaves_the_last_scores() {
    let (small, graph) = (Example::new(50).graph(), large());
    let cancel = AtomicBool::new(false);
    // The flag is set from within the second loop.
    let progress = |done: u64, _: u64| cancel.store(done == 2, Ordering::Relaxed);
    let watch = Watch { cancel: &cancel, progress: &progress };
    let run = Run { threads: 2, watch, warm: None, clock: &SystemClock };
    let scorers: [Box<dyn Scorer>; 2] =
        [Box::new(PageRank::new(0.85, TIGHT).unwrap()), Box::new(Hits::new(TIGHT).unwrap())];
    for mut scorer in scorers {
        cancel.store(false, Ordering::Relaxed);
        let free = Run { watch: Watch::none(), ..run };
        scorer.update(&small, None, &free).unwrap();
        let before = scorer.get(PageIndex(1));
        assert!(matches!(scorer.update(&graph, None, &run), Err(ScoreError::Cancelled)));
        assert_eq!((scorer.get(PageIndex(1)), scorer.estimate().pages), (before, small.pages()));
    }
}

/// The estimate of a page, by the words of its documentation.
fn estimated(scorer: &dyn Scorer, graph: &LinkGraph, parents: &[PageIndex]) -> f64 {
    let estimate = scorer.estimate();
    let score = |page: PageIndex| scorer.get(page).unwrap_or(0.0);
    let of_parent = |&parent: &PageIndex| {
        let links = graph.out_links(parent).unwrap();
        let behind: f64 = links.iter().map(|&target| score(target)).sum();
        estimate.share * score(parent) / links.len() as f64 + estimate.hub * behind
    };
    estimate.base + parents.iter().map(of_parent).sum::<f64>()
}

#[test]
fn the_estimate_of_a_page_that_was_there_is_its_score() {
    for example in Example::all().filter(|example| example.pages > 0).step_by(7) {
        let graph = example.graph();
        let mut scorers: Vec<Box<dyn Scorer>> =
            vec![Box::new(PageRank::new(example.damping, TIGHT).unwrap())];
        // Without links nothing can be said of new pages by HITS.
        if graph.links() > 0 {
            scorers.push(Box::new(Hits::new(TIGHT).unwrap()));
        }
        for mut scorer in scorers {
            scorer.update(&graph, None, &run(1, None)).unwrap();
            for page in (0..graph.pages()).map(PageIndex) {
                let estimate = estimated(&*scorer, &graph, &graph.in_links(page).unwrap());
                let score = scorer.get(page).unwrap();
                assert!((estimate - score).abs() < 1e-9, "{}: {estimate} for {score}", scorer.name());
            }
        }
    }
}

#[test]
fn the_default_precision_orders_pages_as_the_exact_scores_do() {
    let graph = large();
    let (exact, _) = pagerank(&graph, None, 0.85, TIGHT);
    let (found, report) = pagerank(&graph, None, 0.85, Stop::default());
    let mean = 1.0 / exact.len() as f64;
    assert!(report.loops > 4 && farthest(&exact, &found) < 0.01 * mean);
    let misplaced = (1..exact.len()).filter(|&page| {
        let by = (exact[page] - exact[page - 1]) / mean;
        by.abs() > 0.01 && (by > 0.0) != (found[page] > found[page - 1])
    });
    assert_eq!(misplaced.count(), 0, "pairs that differ by a hundredth of the mean stand in the wrong order");
}
