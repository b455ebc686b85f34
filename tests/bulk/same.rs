//! An import makes what a frontier makes of the same pages.

use std::path::Path;

use aduana::types::{Anchor, CrawledPage, Link};

use crate::support::{
    CUT, contents, counters, graph_text, import, link, names, open, page, pages_of, request, stdout,
};

fn crawl(db: &Path, pages: &[CrawledPage]) {
    let frontier = open(db, |_| {});
    for pages in pages.chunks(100) {
        frontier.submit(pages).unwrap().wait().unwrap();
    }
    frontier.close().unwrap();
}

#[test]
fn a_piece_of_the_web_is_the_same_either_way() {
    let dir = tempfile::tempdir().unwrap();
    let pages = pages_of(Path::new(CUT));
    assert!(pages.len() > 2_000);
    crawl(&dir.path().join("live"), &pages);
    let told = import(dir.path(), &["bulk", CUT, "--skip-bad"]);
    assert!(told.starts_with("read 2126 crawled pages with "), "{told}");
    assert_eq!(contents(dir.path(), "bulk"), contents(dir.path(), "live"));
    assert_eq!(counters(dir.path(), "bulk"), counters(dir.path(), "live"));
    assert_eq!(names(&dir.path().join("bulk")), ["LOCK", "log", "pages"]);
}

#[test]
fn an_import_goes_on_where_a_server_ended() {
    let dir = tempfile::tempdir().unwrap();
    let pages = pages_of(Path::new(CUT));
    let (before, after) = pages.split_at(pages.len() / 2);
    for db in ["live", "bulk"] {
        let frontier = open(&dir.path().join(db), |options| options.hard_crawl_limit = f64::INFINITY);
        frontier.submit_seeds(&[link("http://seed.test/", 2.0)]).unwrap().wait().unwrap();
        for pages in before.chunks(100) {
            frontier.submit(pages).unwrap().wait().unwrap();
        }
        // Some pages are leased; the import finds a few of them crawled.
        assert!(request(&frontier, 300) > 100);
        frontier.close().unwrap();
    }
    // Pages that were crawled before come once more.
    let again: Vec<CrawledPage> = after.iter().chain(&before[..50]).cloned().collect();
    crawl(&dir.path().join("live"), &again);
    std::fs::write(dir.path().join("second.tsv"), graph_text(&again)).unwrap();
    import(dir.path(), &["bulk", "second.tsv", "--memory", "32M"]);
    assert_eq!(contents(dir.path(), "bulk"), contents(dir.path(), "live"));
    assert_eq!(counters(dir.path(), "bulk"), counters(dir.path(), "live"));
}

#[test]
fn anchors_are_the_same_either_way() {
    let dir = tempfile::tempdir().unwrap();
    let texts = ["", "home", "next page »", "a text of several words", " ", "\u{e9}"];
    let round = |start: usize| -> Vec<CrawledPage> {
        let page_of = |n: usize| {
            let links = (0..n % 9).map(|l| Link {
                anchor: Anchor::new(texts[(n + l + start) % texts.len()]),
                // Links that stand on a page twice are among them.
                ..link(&format!("http://h{}.test/{}", (n + l / 2) % 5, (n * l) % 30), 0.5)
            });
            page(&format!("http://h{}.test/{}", n % 5, n % 30), links.collect())
        };
        (start..start + 60).map(page_of).collect()
    };
    let line = |page: &CrawledPage| {
        let links = page.links.iter();
        let links = links.map(|link| {
            serde_json::json!([link.url.as_str(), link.score.get(), link.anchor.as_ref().map(Anchor::as_str)])
        });
        let page = serde_json::json!({"url": page.url.as_str(), "links": links.collect::<Vec<_>>()});
        format!("{page}\n")
    };
    // Onto nothing; then onto a database of which some pages come once more, with other anchors and with none.
    for pages in [round(0), round(40)] {
        crawl(&dir.path().join("live"), &pages);
        std::fs::write(dir.path().join("pages.ndjson"), pages.iter().map(line).collect::<String>()).unwrap();
        import(dir.path(), &["bulk", "pages.ndjson", "--format", "ndjson"]);
        assert_eq!(contents(dir.path(), "bulk"), contents(dir.path(), "live"));
        assert_eq!(counters(dir.path(), "bulk"), counters(dir.path(), "live"));
    }
    let dump = |db| stdout(dir.path(), &["dump", "anchors", db]);
    assert!(dump("bulk").lines().count() > 50);
    assert_eq!(dump("bulk"), dump("live"));
}

#[test]
fn a_server_goes_on_where_an_import_ended() {
    let dir = tempfile::tempdir().unwrap();
    import(dir.path(), &["db", CUT]);
    let pages = contents(dir.path(), "db").len();
    let frontier = open(&dir.path().join("db"), |options| options.max_crawl_depth = Some(3));
    assert_eq!(request(&frontier, 20), 20);
    let new = page("http://new.test/", vec![link("http://newer.test/", 1.0)]);
    frontier.submit(&[new]).unwrap().wait().unwrap();
    frontier.close().unwrap();
    drop(frontier);
    assert_eq!(contents(dir.path(), "db").len(), pages + 2);
    // The depth limit of the server stays, and so does the log's position.
    import(dir.path(), &["db", CUT]);
    assert_eq!(contents(dir.path(), "db").len(), pages + 2);
    let frontier = open(&dir.path().join("db"), |options| options.max_crawl_depth = Some(3));
    frontier.submit(&[page("http://last.test/", Vec::new())]).unwrap().wait().unwrap();
    frontier.close().unwrap();
    drop(frontier);
    assert_eq!(contents(dir.path(), "db").len(), pages + 3);
}

#[test]
fn what_waits_in_the_log_is_applied_first() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("db");
    let frontier = open(&db, |_| {});
    frontier.submit(&[page("http://a.test/", vec![link("http://a.test/1", 0.5)])]).unwrap().wait().unwrap();
    frontier.close().unwrap();
    drop(frontier);
    // As after a crash: the log has what the tables have not.
    std::fs::remove_dir_all(db.join("pages")).unwrap();
    let mut log = aduana::log::LocalLog::open(&db.join("log"), 0).unwrap();
    let mut edit = Vec::new();
    aduana::types::edit::encode_seeds(&[link("http://of-the-log.test/", 0.0)], &mut edit);
    log.append(&[&edit], 0).unwrap();
    drop(log);
    std::fs::write(dir.path().join("more.txt"), "http://more.test/\n").unwrap();
    import(dir.path(), &["db", "more.txt", "--format", "urls"]);
    let pages = contents(dir.path(), "db").join("\n");
    assert!(pages.contains("http://of-the-log.test/") && pages.contains("http://more.test/"), "{pages}");
}
