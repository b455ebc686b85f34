//! Hashes so weak that every page collides with hundreds: each URL is one page all the same, and is found.

use std::convert::Infallible;

use aduana::frontier::import::{ImportOptions, import};
use aduana::pagedb::Status;
use aduana::pagedb::bulk::{EditBatch, RawPage};
use aduana::types::{Score, UrlHasher};

use crate::support::{START, open, url};

/// One crowded domain, and many small ones whose own keys collide.
fn universe() -> Vec<String> {
    let crowded = (0..400).map(|n| match n % 3 {
        // The same path on three sites of the domain.
        0 => format!("http://crowded.test/{}", n / 3),
        1 => format!("https://crowded.test/{}", n / 3),
        _ => format!("http://crowded.test:81/{}", n / 3),
    });
    let small = (0..400).map(|n| format!("http://d{}.test/page/{n}", n % 40));
    crowded.chain(small).collect()
}

/// Imports a part of the universe as crawled pages that link to what follows them.
fn import_part(path: &std::path::Path, hasher: UrlHasher, urls: &[String], from: usize) {
    let options =
        ImportOptions { memory: 0, domain_unit: None, same_site: None, max_crawl_depth: None, hasher };
    let mut pages = from..urls.len() / 2;
    let source = |batch: &mut EditBatch| {
        let Some(at) = pages.next() else { return Ok::<_, Infallible>(false) };
        let page =
            RawPage { url: &urls[at], base: None, score: Score::ZERO, time: START, content_hash: None };
        let targets =
            [1, 17, 300, 401].map(|step| (urls[(at * 7 + step) % urls.len()].as_str(), Score::ZERO));
        batch.crawled(page, targets).unwrap();
        Ok(true)
    };
    import(path, options, source, &mut |_, _, _| ()).unwrap();
}

#[test]
fn pages_that_share_their_hashes_stay_apart() {
    let weak = UrlHasher { site: |_| 0, path: |_, _| u32::MAX - 3, domain: |name| name.len() as u32 };
    let urls = universe();
    let dir = tempfile::tempdir().unwrap();
    // Twice, so that the second finds displaced pages there.
    import_part(dir.path(), weak, &urls[..300], 0);
    import_part(dir.path(), weak, &urls, 0);
    let frontier = open(dir.path(), |options| options.hasher = weak);
    assert!(frontier.check(&mut |_, _| ()).unwrap().is_ok());
    let snapshot = frontier.snapshot().unwrap();
    for (at, text) in urls.iter().enumerate() {
        let found = snapshot.find(&url(text)).unwrap();
        if at < urls.len() / 2 {
            let (key, state) = found.unwrap_or_else(|| panic!("{text} is not found"));
            assert_eq!(state.status, Status::Crawled, "{text}");
            let crawls = if at < 150 { 2 } else { 1 };
            assert_eq!(snapshot.record(key).unwrap().unwrap().crawls, crawls, "{text}");
        }
    }
    assert_eq!(snapshot.find(&url("http://crowded.test/unknown")).unwrap(), None);
    drop(snapshot);
    frontier.close().unwrap();
}
