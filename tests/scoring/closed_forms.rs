//! Graphs whose scores are known.

use aduana::graph::LinkGraph;
use aduana::score::{Hits, PageRank, Scorer, Stop, Stopped};
use aduana::types::PageIndex;

use super::{TIGHT, farthest, hits, pagerank, run};

fn graph(pages: u64, lists: &[(u64, &[u64])]) -> LinkGraph {
    LinkGraph::from_lists(pages, lists.iter().map(|(page, targets)| (*page, targets.to_vec()))).unwrap()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert!(farthest(found, expected) < 1e-14, "{found:?} is not {expected:?}");
}

#[test]
fn all_pages_of_a_cycle_are_equal() {
    for n in [1, 2, 5, 1_000, 40_000] {
        let cycle = LinkGraph::from_lists(n, (0..n).map(|page| (page, vec![(page + 1) % n]))).unwrap();
        let uniform = vec![1.0 / n as f64; n as usize];
        assert_near(&pagerank(&cycle, None, 0.85, TIGHT).0, &uniform);
        assert_near(&hits(&cycle, None, TIGHT).0, &uniform);
    }
}

#[test]
fn a_cycle_with_one_preferred_page_is_a_geometric_series() {
    let (n, d) = (7usize, 0.9f64);
    let cycle = LinkGraph::from_lists(7, (0..7).map(|page| (page, vec![(page + 1) % 7]))).unwrap();
    let content = [3.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0];
    let found = pagerank(&cycle, Some(&content), d, TIGHT).0;
    let first = (1.0 - d) / (1.0 - d.powi(n as i32));
    let expected: Vec<f64> = (0..n).map(|page| first * d.powi(page as i32)).collect();
    assert_near(&found, &expected);
}

#[test]
fn a_chain_ends_in_a_dangling_page() {
    // y = 1, 1 + d, 1 + d + d², each a third.
    let y = [1.0, 1.85, 1.0 + 0.85 + 0.85 * 0.85];
    let length: f64 = y.iter().sum();
    let expected = y.map(|y| y / length);
    // Whether the dangling page was crawled does not matter.
    assert_near(&pagerank(&graph(3, &[(0, &[1]), (1, &[2])]), None, 0.85, TIGHT).0, &expected);
    assert_near(&pagerank(&graph(3, &[(0, &[1]), (1, &[2]), (2, &[])]), None, 0.85, TIGHT).0, &expected);
}

#[test]
fn a_star_has_the_scores_of_its_centre_and_its_leaves() {
    let n = 11u64;
    let star = LinkGraph::from_lists(n, (1..n).map(|leaf| (leaf, vec![0]))).unwrap();
    // Leaves have c / n, the centre c / n (1 + 10 d); together 1.
    let c = 1.0 / (1.0 + 10.0 * 0.85 / n as f64);
    let mut expected = vec![c / n as f64; n as usize];
    expected[0] = c / n as f64 * (1.0 + 10.0 * 0.85);
    assert_near(&pagerank(&star, None, 0.85, TIGHT).0, &expected);
    let (authorities, hubs) = hits(&star, None, TIGHT);
    assert_eq!((authorities[0], authorities[1]), (1.0, 0.0));
    assert_near(&hubs[1..], &[0.1; 10]);
    assert_eq!(hubs[0], 0.0);
}

#[test]
fn the_six_pages_of_langville_and_meyer_have_their_published_scores() {
    // "A survey of eigenvector methods for web information retrieval", section 4; alpha 0.9, the example of
    // networkx's tests.
    let six = graph(6, &[(0, &[1, 2]), (2, &[0, 1, 4]), (3, &[4, 5]), (4, &[3, 5]), (5, &[3])]);
    let published = [0.03721, 0.05396, 0.04151, 0.37508, 0.20600, 0.28624];
    let found = pagerank(&six, None, 0.9, TIGHT).0;
    assert!(farthest(&found, &published) < 1e-5, "{found:?}");
    // With a dangling distribution to the preferred pages, the preference being 1, 2, .. 6 hundredths.
    let content = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let sum: f64 = pagerank(&six, Some(&content), 0.9, TIGHT).0.iter().sum();
    assert!((sum - 1.0).abs() < 1e-14);
}

#[test]
fn hubs_weigh_authorities_by_the_contents_score() {
    // The example of Aduana's manual (3.18): A links to B, C, D; hub(A) = Σ content · authority.
    let graph = graph(5, &[(0, &[1, 2, 3]), (4, &[2, 3])]);
    let content = [0.0, 0.5, 0.1, 0.9, 0.0];
    let (a, h) = hits(&graph, Some(&content), TIGHT);
    let hub_a = 0.5 * a[1] + 0.1 * a[2] + 0.9 * a[3];
    let hub_e = 0.1 * a[2] + 0.9 * a[3];
    assert!((h[0] / h[4] - hub_a / hub_e).abs() < 1e-6);
    assert!(h[0] > h[4] && a[1] < a[2]);
    assert!((a[2] - a[3]).abs() < 1e-15);
}

#[test]
fn where_no_authority_flows_all_pages_are_equal() {
    for (graph, content) in [
        (graph(4, &[]), None),
        (graph(4, &[(0, &[]), (2, &[])]), None),
        // Only a page without in-links has content.
        (graph(4, &[(0, &[1])]), Some([5.0f32, 0.0, 0.0, 0.0])),
    ] {
        let (a, h) = hits(&graph, content.as_ref().map(|content| &content[..]), TIGHT);
        assert_eq!((a, h), (vec![0.25; 4], vec![0.25; 4]));
    }
    let mut scorer = Hits::new(TIGHT).unwrap();
    scorer.update(&graph(0, &[]), None, &run(1, None)).unwrap();
    assert_eq!((scorer.get(PageIndex(0)), scorer.hub(PageIndex(0))), (None, None));
}

#[test]
fn the_rule_that_fired_is_reported() {
    let lists = (0..2_000).map(|page| (page, vec![page * 3 % 2_000, page * page % 2_000, page / 2]));
    let graph = LinkGraph::from_lists(2_000, lists).unwrap();
    let report =
        |precision, max_loops| pagerank(&graph, None, 0.85, Stop { precision, max_loops, ..TIGHT }).1;
    assert_eq!(report(1e-3, 500).stopped, Stopped::Precision);
    assert!(report(1e-3, 500).change <= 1e-3);
    assert_eq!((report(1e-3, 2).stopped, report(1e-3, 2).loops), (Stopped::MaxLoops, 2));
    // Without limits the iteration ends where 64 bits do.
    assert_ne!(report(0.0, 0).stopped, Stopped::MaxLoops);
    assert!(report(0.0, 0).loops < 300);
    let json = serde_json::to_value(report(1e-3, 2)).unwrap();
    assert_eq!((&json["stopped"], &json["pages"]), (&"max_loops".into(), &2_000.into()));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let told = |damping, precision| {
        PageRank::new(damping, Stop { precision, ..TIGHT }).err().map(|error| error.to_string())
    };
    assert_eq!(told(1.0, 1.0).unwrap(), "damping = 1: give a number from 0 to below 1");
    assert!(told(f64::NAN, 1.0).is_some() && told(-0.1, 1.0).is_some());
    assert_eq!(told(0.5, -1.0).unwrap(), "precision = -1: give a finite number, 0 or more");
    assert!(Hits::new(Stop { precision: f64::INFINITY, ..TIGHT }).is_err());
    assert!(told(0.0, 0.0).is_none());
}
