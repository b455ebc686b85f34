use std::collections::HashMap;

use super::*;
use crate::pagedb::test_db::{TestDb, page, url};

/// Pages enough for several chunks, each with a link inside its domain and one to another.
fn many() -> TestDb {
    let mut db = TestDb::new();
    let pages: Vec<_> = (0..1_500)
        .map(|n| {
            let (me, next) = (format!("http://h{}.example/{n}", n % 7), n + 7);
            let links = [format!("http://h{}.example/{next}", n % 7), format!("http://other.example/{n}")];
            let mut bytes = Vec::new();
            let page = page(&me, Some(n), &[&links[0], &links[1]]);
            crate::types::edit::encode_crawled(&page, &mut bytes);
            bytes
        })
        .collect();
    db.apply(&pages);
    db
}

#[test]
fn pages_show_everything_known_in_order_of_key() {
    let db = TestDb::with_everything();
    let pages: Vec<Page> = db.db.pages().map(Result::unwrap).collect();
    assert!(pages.iter().map(|page| page.key).is_sorted());
    let snapshot = db.db.snapshot().unwrap();
    assert_eq!(pages.len() as u64, snapshot.counters().unwrap().pages);
    for page in &pages {
        assert_eq!(snapshot.find(&page.url).unwrap(), Some((page.key, page.state)));
        assert_eq!(snapshot.record(page.key).unwrap(), page.record);
    }
    let of = |text: &str| pages.iter().find(|page| page.url == url(text)).unwrap();
    assert_eq!(of("http://a.example/1").linked_from, Some(of("http://a.example/").state.index));
    assert_eq!(of("http://a.example/").record.as_ref().unwrap().crawls, 1);
    let states: Vec<_> = db.db.states().map(Result::unwrap).collect();
    assert_eq!(states, pages.iter().map(|page| (page.key, page.state)).collect::<Vec<_>>());
}

#[test]
fn links_come_whole_or_only_those_to_other_domains() {
    let db = TestDb::with_everything();
    let snapshot = db.db.snapshot().unwrap();
    let all: Vec<PageLinks> = db.db.links(false).map(Result::unwrap).collect();
    let other: Vec<PageLinks> = db.db.links(true).map(Result::unwrap).collect();
    assert_eq!(all.len(), 3);
    for (all, other) in all.iter().zip(&other) {
        assert_eq!(snapshot.links(all.page).unwrap().as_ref(), Some(&all.links));
        assert_eq!(all.links[..all.to_other_domains], other.links);
    }
    assert_eq!(all[0].to_other_domains, 1);
}

#[test]
fn rows_that_stay_are_seen_once_while_batches_are_written() {
    let mut db = many();
    let before: Vec<PageKey> = db.db.states().map(|row| row.unwrap().0).collect();
    let mut seen: HashMap<PageKey, u32> = HashMap::new();
    let mut cursor = None;
    let mut n = 0;
    loop {
        // Taken up anew for each part, as a caller that stores the cursor would.
        let mut stream = db.db.pages();
        if let Some(cursor) = cursor {
            stream = stream.after(cursor);
        }
        let part: Vec<Page> = stream.by_ref().take(700).map(Result::unwrap).collect();
        cursor = stream.cursor();
        drop(stream);
        for page in &part {
            *seen.entry(page.key).or_default() += 1;
        }
        if part.is_empty() {
            break;
        }
        n += 1;
        db.crawl(&page(&format!("http://h1.example/{n}"), None, &[&format!("http://new.example/{n}")]));
    }
    assert!(n > 3);
    assert!(before.iter().all(|key| seen[key] == 1));
    assert!(seen.values().all(|&times| times == 1));
}

#[test]
fn a_cursor_at_the_end_goes_on_with_what_came_later() {
    let mut db = many();
    let last = db.db.links(false).last().unwrap().unwrap().page;
    let mut stream = db.db.links(false).after(PageIndex(last.0 - 1));
    assert_eq!(stream.next().unwrap().unwrap().page, last);
    let cursor = stream.cursor().unwrap();
    assert!(stream.next().is_none());
    db.crawl(&page("http://late.example/", None, &[]));
    let late: Vec<PageLinks> = db.db.links(false).after(cursor).map(Result::unwrap).collect();
    assert_eq!(late.len(), 1);
    assert!(late[0].links.is_empty());
}

#[test]
fn rows_before_a_corrupted_one_still_come() {
    let db = TestDb::with_everything();
    let last = db.db.links(false).last().unwrap().unwrap().page;
    let mut txn = db.db.write().unwrap();
    db.db.tables.links.put(&mut txn, &last.to_bytes(), &[9]).unwrap();
    txn.commit().unwrap();
    let rows: Vec<_> = db.db.links(false).collect();
    assert_eq!(rows.iter().filter(|row| row.is_ok()).count(), 2);
    assert!(matches!(rows.last(), Some(Err(PageDbError::Corrupted { table: "links", .. }))));
}
