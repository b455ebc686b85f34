use std::collections::BTreeMap;

use super::*;
use crate::pagedb::Status;
use crate::pagedb::test_db::{TestDb, link, page, url};
use crate::types::edit;

/// Scores by index, and one share for every domain.
struct Fixed {
    pages: Vec<f64>,
    share: f64,
}

impl RoundScores for Fixed {
    fn of_page(&self, index: PageIndex) -> Option<f64> {
        self.pages.get(index.0 as usize).copied()
    }

    fn of_domain(&self, _: DomainKey) -> f64 {
        self.share
    }
}

fn estimate(base: f64, pages: u64) -> crate::types::Estimate {
    crate::types::Estimate { base, share: 0.5, hub: 0.0, site: 0.0, pages }
}

fn round(number: u64, base: f64, pages: u64) -> Round {
    Round { number, crawled: 1, estimate: estimate(base, pages) }
}

/// Two domains under a scorer: a seed that links to four pages.
fn scored() -> TestDb {
    let mut db = TestDb::new();
    assert!(db.db.set_scorer("pagerank", estimate(1e-3, 0)).unwrap());
    assert!(!db.db.set_scorer("pagerank", estimate(1e-3, 0)).unwrap());
    db.seeds(&["http://a.example/", "http://seed.example/"]);
    db.crawl(&page(
        "http://a.example/",
        None,
        &["http://a.example/1", "http://a.example/2", "http://b.example/3", "http://b.example/4"],
    ));
    db
}

fn score(db: &TestDb, text: &str) -> f64 {
    f64::from(db.db.snapshot().unwrap().find(&url(text)).unwrap().unwrap().1.score.get())
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-6 * b.abs(), "{a} {b}");
}

/// Moves a round with parts of so many pages; returns the parts.
fn move_all(db: &TestDb, round: Round, scores: &Fixed, pages: usize) -> Vec<Part> {
    db.db.begin_move(round).unwrap();
    let mut parts = Vec::new();
    loop {
        parts.push(db.db.move_part(Some(scores), pages).unwrap());
        assert!(db.db.check(&mut |_, _| ()).unwrap().is_ok());
        if parts.last().unwrap().done {
            return parts;
        }
    }
}

#[test]
fn before_a_round_a_found_page_has_the_base_and_its_parents_share_and_seeds_stand_first() {
    let db = scored();
    // A quarter of half of the seed's own score, which is the base.
    for path in ["http://a.example/1", "http://b.example/4"] {
        close(score(&db, path), 1e-3 * (1.0 + 0.5 / 4.0));
    }
    assert!(score(&db, "http://seed.example/") >= 1.0);
}

#[test]
fn further_links_add_until_a_round_has_seen_the_page() {
    let mut db = scored();
    let before = score(&db, "http://b.example/3");
    db.crawl(&page("http://a.example/1", None, &["http://b.example/3", "http://b.example/3"]));
    let gift = 0.5 * score(&db, "http://a.example/1");
    close(score(&db, "http://b.example/3"), before + gift);
    // The same page again passes nothing on, but to pages that it finds.
    db.crawl(&page("http://a.example/1", None, &["http://b.example/3", "http://b.example/new"]));
    close(score(&db, "http://b.example/3"), before + gift);
    close(score(&db, "http://b.example/new"), 1e-3 + gift / 2.0);

    let scores = Fixed { pages: vec![0.1; 7], share: 0.0 };
    move_all(&db, round(1, 0.01, 7), &scores, 100);
    db.crawl(&page("http://a.example/2", None, &["http://b.example/3", "http://b.example/newer"]));
    close(score(&db, "http://b.example/3"), 0.1);
    close(score(&db, "http://b.example/newer"), 0.01 + 0.5 * 0.1 / 2.0);
}

#[test]
fn every_page_stands_at_its_new_score_whatever_the_size_of_the_parts() {
    for part_pages in [1, 2, 3, 100] {
        let db = scored();
        let scores = Fixed { pages: vec![0.3, 0.05, 0.11, 0.12, 0.13, 0.14], share: 0.5 };
        let parts = move_all(&db, round(1, 0.01, 6), &scores, part_pages);
        let snapshot = db.db.snapshot().unwrap();
        let mut waiting = BTreeMap::new();
        for state in db.db.states() {
            let (key, state) = state.unwrap();
            let own = scores.pages[state.index.0 as usize];
            let wanted = match state.status {
                Status::Crawled => own as f32,
                _ if state.depth == 0 => 1.0,
                _ => (own + 0.5) as f32,
            };
            assert_eq!(state.score.get(), wanted);
            if state.is_scheduled() {
                waiting.insert(state.index, (key.domain(), state.score));
            }
        }
        let mut rows = Vec::new();
        let mut domains: Vec<_> = waiting.values().map(|(domain, _)| *domain).collect();
        domains.dedup();
        for domain in domains {
            snapshot.schedule_of(domain, None, 100, &mut rows).unwrap();
            assert_eq!(snapshot.domain(domain).unwrap().unwrap().share.get(), 0.5);
        }
        rows.sort_unstable();
        rows.dedup();
        let scheduled = rows.iter().map(|row| (row.index, (row.domain, row.score))).collect();
        assert_eq!(waiting, scheduled);
        // Four pages moved, the seed did not.
        assert_eq!(parts.iter().map(|part| part.moved).sum::<u64>(), 4);
        assert_eq!(parts.iter().map(|part| part.pages).sum::<u64>(), 6);
        let report = snapshot.check(&mut |_, _| (), Some(&scores)).unwrap();
        assert!(report.is_ok(), "{report:?}");
        let wrong = Fixed { pages: vec![0.9; 6], share: 0.5 };
        let report = snapshot.check(&mut |_, _| (), Some(&wrong)).unwrap();
        assert_eq!(report.counts.get(&crate::pagedb::Kind::Score), Some(&4));
    }
}

#[test]
fn a_page_found_while_the_round_was_computed_keeps_its_estimate_on_the_new_scale() {
    let mut db = scored();
    let scores = Fixed { pages: vec![0.1; 6], share: 0.0 };
    db.crawl(&page("http://a.example/1", None, &["http://c.example/late"]));
    let before = score(&db, "http://c.example/late");
    move_all(&db, round(1, 5e-3, 6), &scores, 1);
    close(score(&db, "http://c.example/late"), 5.0 * before);
}

#[test]
fn pages_crawled_while_a_round_is_on_its_way_pass_on_in_each_key_s_own_scale() {
    let mut db = scored();
    let scores = Fixed { pages: vec![0.1; 6], share: 0.0 };
    db.db.begin_move(round(1, 0.01, 6)).unwrap();
    // One of the three domains has its new scores.
    let part = db.db.move_part(Some(&scores), 1).unwrap();
    assert!(!part.done);
    let links = ["http://a.example/x", "http://b.example/x", "http://seed.example/x"];
    db.crawl(&page("http://a.example/1", None, &links));
    while !db.db.move_part(Some(&scores), 1).unwrap().done {}
    let found = links.map(|text| score(&db, text));
    for pair in found.windows(2) {
        close(pair[0], pair[1]);
    }
    assert!(db.db.check(&mut |_, _| ()).unwrap().is_ok());
}

#[test]
fn without_a_scorer_again_the_given_scores_order_the_schedule() {
    let mut db = scored();
    let mut bytes = Vec::new();
    edit::encode_seeds(&[link("http://a.example/2", 7.0)], &mut bytes);
    db.apply(&[bytes]);
    move_all(&db, round(1, 0.01, 6), &Fixed { pages: vec![0.1; 6], share: 0.2 }, 2);
    assert!(db.db.set_scorer("none", estimate(1e-3, 0)).unwrap());
    while !db.db.move_part(None, 2).unwrap().done {}
    assert_eq!(score(&db, "http://a.example/2"), 7.0);
    assert_eq!(score(&db, "http://b.example/3"), 0.5);
    assert_eq!(db.db.snapshot().unwrap().scoring().unwrap().last.number, 2);
    assert!(db.db.check(&mut |_, _| ()).unwrap().is_ok());
}
