//! URLs and domains whose hashes are the same. In one domain of a million pages about 116 pairs share their
//! 32 bits by chance, and whoever knows the hash can forge as many as he likes: a frontier that takes a key
//! for a URL silently drops such pages, and gives their links and their leases to others (P2). Here hashes
//! are so weak that every page collides with hundreds.

use std::collections::BTreeSet;

use aduana::types::{SameSite, UrlHasher};

use crate::crawl::{Crawl, Setup, page, url};
use crate::reference::Limits;

/// One crowded domain, and many small ones whose own keys collide.
fn universe() -> Vec<String> {
    let crowded = (0..500).map(|n| match n % 3 {
        // The same path on three sites of the domain.
        0 => format!("http://crowded.example/{}", n / 3),
        1 => format!("https://crowded.example/{}", n / 3),
        _ => format!("http://crowded.example:81/{}", n / 3),
    });
    let small = (0..600).map(|n| format!("http://d{}.example/page/{n}", n % 40));
    crowded.chain(small).collect()
}

/// What a page links to: near and far pages of the universe, so that all are linked several times.
fn links(urls: &[String], at: usize) -> Vec<(String, f32)> {
    let targets = [1, 2, 3, 17, 400, 401, 800].map(|step| (at * 7 + step) % urls.len());
    targets.into_iter().map(|target| (urls[target].clone(), (target % 5) as f32)).collect()
}

/// A whole crawl: half of the pages come as links only; restarts on the way; each page is handed out once.
fn crawl_all(hasher: UrlHasher, batch: usize) {
    let mut crawl = Crawl::start(Setup { hasher, ..Setup::new(Limits::OFF) });
    let urls = universe();
    let now = crawl.now();
    let told: Vec<_> =
        (0..urls.len() / 4).map(|at| page(&urls[at], 0.0, now, None, &links(&urls, at))).collect();
    for pages in told.chunks(batch) {
        crawl.crawled(pages);
    }
    crawl.seeded(&crate::crawl::links(&urls.iter().map(|url| (url.clone(), 0.5)).collect::<Vec<_>>()));
    crawl.compare().unwrap();
    crawl.reopen(None);
    crawl.compare().unwrap();

    let mut handed_out = BTreeSet::new();
    loop {
        let answer = crawl.request(97).unwrap();
        if answer.is_empty() {
            break;
        }
        for hand_out in &answer {
            assert!(handed_out.insert(hand_out.url.to_string()), "{} came twice", hand_out.url);
        }
        // A third is answered; others are still leased at the restart.
        let answered: Vec<_> = answer.iter().step_by(3).collect();
        let number = |url: &str| urls.iter().position(|known| known == url).unwrap();
        let pages: Vec<_> = answered
            .iter()
            .map(|h| page(h.url.as_str(), 1.0, now, Some(1), &links(&urls, number(h.url.as_str()))))
            .collect();
        for pages in pages.chunks(batch) {
            crawl.crawled(pages);
        }
        if handed_out.len() % 2 == 0 {
            crawl.reopen(None);
        }
    }
    let wanted: BTreeSet<String> = urls[urls.len() / 4..].iter().cloned().collect();
    assert_eq!(handed_out, wanted);
    crawl.compare().unwrap();
    crawl.reopen(None);
    crawl.compare().unwrap();
}

#[test]
fn pages_that_all_share_one_hash_stay_apart() {
    let hasher = UrlHasher { site: |_| 0, path: |_, _| 7, domain: |name| name.len() as u32 };
    for batch in [1, 500] {
        crawl_all(hasher, batch);
    }
}

#[test]
fn keys_that_reach_the_end_of_the_numbers_go_on_at_their_start_in_their_own_domain() {
    let hasher = UrlHasher {
        site: |site| site.len() as u64,
        path: |path, site| u32::MAX - (path.len() as u32 + site as u32) % 7,
        domain: |name| u32::MAX - name.len() as u32 % 3,
    };
    for batch in [7, 64] {
        crawl_all(hasher, batch);
    }
}

#[test]
fn a_url_that_nobody_named_is_not_found_among_those_with_its_hash() {
    let hasher = UrlHasher { site: |_| 0, path: |_, _| u32::MAX, domain: |_| u32::MAX };
    let mut crawl = Crawl::start(Setup { hasher, ..Setup::new(Limits::OFF) });
    let known: Vec<_> = (0..300).map(|n| (format!("http://h{}.example/{n}", n % 5), 0.0)).collect();
    crawl.seeded(&crate::crawl::links(&known));
    crawl.compare().unwrap();
    let snapshot = crawl.frontier().snapshot().unwrap();
    for unknown in
        ["http://h0.example/1", "https://h0.example/0", "http://h0.example:81/0", "http://h6.example/0"]
    {
        assert_eq!(snapshot.find(&url(unknown)).unwrap(), None, "{unknown}");
    }
}

#[test]
fn forms_of_one_site_are_one_page_among_those_with_its_hash() {
    let weak = UrlHasher { site: |_| 0, path: |path, _| path.len() as u32, domain: |_| u32::MAX };
    let same_site = SameSite { www: true, scheme: true };
    let form = |n: usize, host: usize, path: usize| {
        let prefix = ["http://", "https://", "http://www.", "https://www."][n % 4];
        format!("{prefix}h{host}.example/{path}")
    };
    for batch in [1, 7, 200] {
        let mut crawl = Crawl::start(Setup { hasher: weak, same_site, ..Setup::new(Limits::OFF) });
        let now = crawl.now();
        // Each page is named in several forms, within a page's links and in different ones.
        let told: Vec<_> = (0..200)
            .map(|n| {
                let links =
                    [1, 5, 33, 34].map(|step| (form(n + step, (n + step) % 3, n / 2 + step % 4), 0.5));
                page(&form(n, n % 3, n / 3), 0.0, now, None, &links)
            })
            .collect();
        for pages in told.chunks(batch) {
            crawl.crawled(pages);
        }
        crawl.compare().unwrap();
        crawl.reopen(None);
        let snapshot = crawl.frontier().snapshot().unwrap();
        for (at, known) in crawl.reference.pages.iter().enumerate() {
            let (_, path) = known.url.rsplit_once('/').unwrap();
            for n in 0..4 {
                let host = known.domain[1..2].parse().unwrap();
                let (_, state) = snapshot.find(&url(&form(n, host, path.parse().unwrap()))).unwrap().unwrap();
                assert_eq!(state.index.0 as usize, at, "{}", known.url);
            }
        }
        drop(snapshot);
        while !crawl.request(13).unwrap().is_empty() {}
        crawl.compare().unwrap();
    }
}
