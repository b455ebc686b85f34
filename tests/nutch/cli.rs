//! `aduana export --format nutch-fetchlist` and what `aduana import --format nutch-segment` takes from a segment.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use aduana::cli::import::nutch::{SegmentPages, Skipped};
use aduana::frontier::{Frontier, Options};
use aduana::nutch::Record;
use aduana::nutch::map_file::ArrayReader;
use aduana::nutch::record::FetchListEntry;
use aduana::types::time::ManualClock;
use aduana::types::{Anchor, ContentHash, CrawledPage, Link, PageUrl, Score, Time};
use tempfile::TempDir;

use crate::segment::{segment_0_4, segment_0_5};
use crate::support::NOTES;

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

/// Hosts a, b and c with ten waiting pages each, and a crawled page that is better than all.
fn database(path: &Path) {
    let mut options = Options::new(path);
    options.map_size = 1 << 30;
    let frontier = Frontier::open(options, Arc::new(ManualClock::at(Time(1)))).unwrap();
    let seeds: Vec<Link> = (0..30)
        .map(|n| {
            let host = ["a", "b", "c"][n % 3];
            let score = Score::new(n as f64).unwrap();
            Link { url: url(&format!("http://{host}.example/{n}")), score, anchor: None }
        })
        .collect();
    let crawled = CrawledPage {
        url: url("http://a.example/crawled"),
        score: Score::new(100.0).unwrap(),
        time: Time(1),
        content_hash: None,
        links: vec![],
    };
    frontier.submit_seeds(&seeds).unwrap().wait().unwrap();
    frontier.submit(&[crawled]).unwrap().wait().unwrap();
    frontier.close().unwrap();
}

/// Exit code and stderr.
fn export(folder: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_aduana"))
        .args(["export", "db", "--format", "nutch-fetchlist", "--output", "segment"])
        .args(more)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn listed(folder: &Path) -> Vec<FetchListEntry> {
    let mut list = ArrayReader::open(&folder.join("segment/fetchlist")).unwrap();
    let mut entries = Vec::new();
    while let Some(record) = list.next().unwrap() {
        assert_eq!(record.number, entries.len() as i64);
        entries.push(FetchListEntry::decode(record.value).unwrap());
    }
    entries
}

#[test]
fn the_best_waiting_pages_become_a_fetch_list() {
    let folder = TempDir::new().unwrap();
    database(&folder.path().join("db"));
    let done = export(folder.path(), &["--top", "8", "--per-host", "3"]);
    assert_eq!(done, (Some(0), "8 pages written to segment\n".to_owned()));
    let entries = listed(folder.path());
    let scores: Vec<f32> = entries.iter().map(|entry| entry.page.score).collect();
    assert_eq!(scores, [29.0, 28.0, 27.0, 26.0, 25.0, 24.0, 23.0, 22.0]);
    assert_eq!(entries[0].page.url, "http://c.example/29");
    assert!(entries.iter().all(|entry| entry.fetch && entry.page.outlink_count.is_none()));
    // The list is not written over.
    let (code, error) = export(folder.path(), &[]);
    assert_eq!(code, Some(1));
    assert!(error.contains("hint: --output names the folder of a new segment"), "{error}");
}

#[test]
fn a_fetch_list_has_the_anchors_of_the_links_to_its_pages() {
    let folder = TempDir::new().unwrap();
    let mut options = Options::new(folder.path().join("db"));
    options.map_size = 1 << 30;
    let frontier = Frontier::open(options, Arc::new(ManualClock::at(Time(1)))).unwrap();
    let page = |text: &str, anchor: &str| CrawledPage {
        url: url(text),
        score: Score::ZERO,
        time: Time(1),
        content_hash: None,
        links: vec![
            Link { url: url("http://t.example/"), score: Score::ZERO, anchor: Anchor::new(anchor) },
            Link { url: url(&format!("{text}2")), score: Score::ZERO, anchor: None },
        ],
    };
    let texts = ["Home", "", "home page", "Home"];
    let pages = (0..).zip(texts).map(|(n, text)| page(&format!("http://s{n}.example/"), text));
    frontier.submit(&pages.collect::<Vec<_>>()).unwrap().wait().unwrap();
    frontier.close().unwrap();
    assert_eq!(export(folder.path(), &[]).0, Some(0));
    let entries = listed(folder.path());
    assert_eq!(entries.len(), 5);
    for entry in entries {
        let anchors: &[&str] =
            if entry.page.url == "http://t.example/" { &["Home", "home page"] } else { &[] };
        assert_eq!(entry.anchors, anchors, "{}", entry.page.url);
    }
}

#[test]
fn a_host_gives_no_more_than_its_part() {
    let folder = TempDir::new().unwrap();
    database(&folder.path().join("db"));
    let done = export(folder.path(), &["--top", "8", "--per-host", "2", "--outlink-counts"]);
    assert_eq!(done, (Some(0), "6 pages written to segment\n".to_owned()));
    let entries = listed(folder.path());
    let scores: Vec<f32> = entries.iter().map(|entry| entry.page.score).collect();
    assert_eq!(scores, [29.0, 28.0, 27.0, 26.0, 25.0, 24.0]);
    assert!(entries.iter().all(|entry| entry.page.outlink_count == Some(0)));
}

#[test]
fn a_segment_becomes_crawled_pages() {
    for write in [segment_0_4, segment_0_5] {
        let folder = TempDir::new().unwrap();
        write(folder.path(), &["http://A.example:80/x", "ftp://a.example/", "http://a.example/y"]);
        let mut segment = SegmentPages::open(folder.path()).unwrap();
        let pages: Vec<CrawledPage> = segment.by_ref().collect::<Result<_, _>>().unwrap();
        let link = |text| Link { url: url(text), score: Score::ZERO, anchor: None };
        let first = CrawledPage {
            url: url("http://a.example/x"),
            score: Score::new(1.5).unwrap(),
            time: Time(NOTES as u64 + 1),
            content_hash: Some(ContentHash::Text("66656463626139383736353433323130".into())),
            links: vec![
                Link { anchor: Anchor::new("b"), ..link("http://b.example/") },
                link("http://a.example/c"),
            ],
        };
        assert_eq!(pages[0], first);
        assert_eq!(pages[1].url, url("http://a.example/y"));
        assert_eq!(segment.skipped(), Skipped { not_fetched: 0, pages: 1, links: 0 });
    }
}
