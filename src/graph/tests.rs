use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;

fn index(page: u64) -> PageIndex {
    PageIndex(page)
}

/// The graph as it was given: targets of each crawled page, sources of each page.
fn assert_is(graph: &LinkGraph, pages: u64, lists: &[(u64, Vec<u64>)]) {
    assert_eq!((graph.pages(), graph.crawled()), (pages, lists.len() as u64));
    assert_eq!(graph.links(), lists.iter().map(|(_, targets)| targets.len() as u64).sum::<u64>());
    for page in 0..pages {
        let own = lists.iter().find(|(source, _)| *source == page);
        assert_eq!(graph.is_crawled(index(page)), own.is_some());
        let targets: Vec<_> = own.map_or(&[][..], |(_, t)| t).iter().copied().map(PageIndex).collect();
        assert_eq!(graph.out_links(index(page)).unwrap(), targets, "out of {page}");
        let sources = lists.iter().filter(|(_, targets)| targets.contains(&page));
        let sources: Vec<_> = sources.map(|(source, _)| PageIndex(*source)).collect();
        assert_eq!(graph.in_links(index(page)).unwrap(), sources, "into {page}");
    }
    assert_eq!(graph.out_links(index(pages)).unwrap(), []);
    assert_eq!(graph.in_links(index(u64::MAX)).unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn a_graph_has_the_links_that_it_was_given_in_both_directions(
        pages in 0u64..300, lists in btree_map(0u64..300, vec(0u64..320, 0..30), 0..120), memory in 0usize..20_000
    ) {
        let dir = tempfile::tempdir().unwrap();
        let tight = GraphOptions { memory, ..GraphOptions::new(dir.path()) };
        let graphs = [
            LinkGraph::from_lists(pages, lists.clone()).unwrap(),
            LinkGraph::from_lists_with(pages, lists.clone().into_iter().rev(), &tight).unwrap(),
        ];
        let expected: Vec<(u64, Vec<u64>)> = lists
            .into_iter()
            .filter(|(page, _)| *page < pages)
            .map(|(page, mut targets)| {
                targets.retain(|target| *target < pages);
                targets.sort();
                targets.dedup();
                (page, targets)
            })
            .collect();
        prop_assert!(!graphs[0].is_packed());
        for graph in &graphs {
            assert_is(graph, pages, &expected);
        }
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "files are left");
    }
}

#[test]
fn pages_beyond_32_bits_are_refused() {
    let error = LinkGraph::from_lists(1 << 32, []).err().unwrap();
    assert_eq!(error.to_string(), "4294967296 pages are too many for a link graph: it holds 4294967295");
}

#[test]
fn a_graph_beyond_the_memory_is_packed() {
    let lists = |n: u64| (0..n).map(|page| (page, (0..20).map(|link| page * 7 + link).collect()));
    let dir = tempfile::tempdir().unwrap();
    let options = GraphOptions { memory: 100_000, ..GraphOptions::new(dir.path()) };
    assert!(!LinkGraph::from_lists_with(5_000, lists(500), &options).unwrap().is_packed());
    let packed = LinkGraph::from_lists_with(50_000, lists(5_000), &options).unwrap();
    assert!(packed.is_packed());
    let plain = LinkGraph::from_lists(50_000, lists(5_000)).unwrap();
    assert_eq!(packed.links(), plain.links());
    let (out, into) = packed.bytes();
    assert!(out < plain.bytes().0 / 4 && into < plain.bytes().1 / 2, "{out} {into}");
}
