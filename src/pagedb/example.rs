//! The small database of `docs/format.md`, "A whole database": every row of it, byte for byte.

use super::apply::Rules;
use super::env::{PageDb, PageDbOptions};
use crate::types::codec::example::{document, hex};
use crate::types::{Anchor, ContentHash, CrawledPage, Link, PageKey, PageUrl, Score, Time, edit};

const START: Time = Time(1_435_048_846_000);
const HOUR: u64 = 3_600_000;

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn link(text: &str, score: f64) -> Link {
    Link { url: url(text), score: Score::new(score).unwrap(), anchor: None }
}

/// A seed, its hand-out, what a spider found there, and the hand-out of a link.
fn edits(key_of: impl Fn(&str) -> PageKey) -> Vec<Vec<u8>> {
    let mut edits = vec![Vec::new(); 4];
    edit::encode_seeds(&[link("http://a.example/", 1.0)], &mut edits[0]);
    let hand_out = |time: u64, page: &str, out: &mut Vec<u8>| {
        edit::encode_hand_out(Time(time), Time(time + HOUR), &[key_of(page)], out);
    };
    hand_out(START.0, "http://a.example/", &mut edits[1]);
    let page = CrawledPage {
        url: url("http://a.example/"),
        score: Score::new(0.5).unwrap(),
        time: Time(START.0 + 1_500),
        content_hash: Some(ContentHash::Number(7)),
        links: vec![
            Link { anchor: Anchor::new("About us"), ..link("http://a.example/about", 0.25) },
            link("https://b.example/", 0.0),
            link("https://a.example/", 0.0),
        ],
    };
    edit::encode_crawled(&page, &mut edits[2]);
    hand_out(START.0 + 2_000, "https://b.example/", &mut edits[3]);
    edits
}

#[test]
fn the_whole_database_of_the_document() {
    let dir = tempfile::tempdir().unwrap();
    let db = PageDb::open(dir.path(), PageDbOptions::default()).unwrap();
    let rules = Rules { heat_window: 60.0, max_depth: None };
    // Keys follow from the URLs alone: no URL of the example is displaced.
    let naming = db.options.naming;
    let hasher = naming.hasher;
    let key_of = |text: &str| {
        let url = url(text);
        let domain = (hasher.domain)(naming.domain_of(url.site()));
        PageKey::new(crate::types::DomainKey(domain), (hasher.path)(url.path(), (hasher.site)(url.site())))
    };
    let edits = edits(key_of);
    let mut rows = String::new();
    for (position, edit) in (1u64..).zip(&edits) {
        db.apply(&[edit], position, rules).unwrap();
        rows += &format!("edits      {} = {}\n", hex(&position.to_be_bytes()), hex(edit));
    }
    let snapshot = db.snapshot().unwrap();
    for (name, table) in snapshot.tables.named() {
        for row in table.iter(&snapshot.txn).unwrap() {
            let (key, value) = row.unwrap();
            // The keys of `info` are words.
            let key = if name == "info" { String::from_utf8_lossy(key).into_owned() } else { hex(key) };
            rows += format!("{name:<10} {key} = {}", hex(value)).trim_end();
            rows.push('\n');
        }
    }
    assert!(document().contains(&rows), "docs/format.md should hold these rows:\n{rows}");
}
