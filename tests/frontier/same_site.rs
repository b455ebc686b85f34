//! Sites that count as one: a page is known, handed out, answered, linked and charged once, whatever form of its site a
//! spider or a link names. What goes out is the form that was seen first.

use std::path::Path;
use std::time::Duration;

use aduana::frontier::Options;
use aduana::pagedb::Status;
use aduana::types::edit::web::{Adding, History, LinkSource, NewLink, NewPage};
use aduana::types::{PageIndex, SameSite, Score, WebEdit};

use super::{Crawl, START, link, page, url};

const BOTH: SameSite = SameSite { www: true, scheme: true };

fn open(path: &Path) -> Crawl {
    Crawl::open(path, |options| options.same_site = BOTH)
}

fn unlimited(path: &Path, same_site: SameSite) -> Crawl {
    let no_limits = |options: &mut Options| {
        options.same_site = same_site;
        (options.soft_crawl_limit, options.hard_crawl_limit) = (f64::INFINITY, f64::INFINITY);
    };
    Crawl::open(path, no_limits)
}

impl Crawl {
    fn settle(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(self.frontier.applied());
    }

    fn known(&self, text: &str) -> aduana::pagedb::Page {
        self.settle();
        self.frontier.page(&url(text)).unwrap().unwrap_or_else(|| panic!("{text} is not known"))
    }

    /// URLs of pages, sorted.
    fn urls(&self, pages: impl IntoIterator<Item = PageIndex>) -> Vec<String> {
        let snapshot = self.frontier.snapshot().unwrap();
        let url = |index| snapshot.url(index).unwrap().unwrap().1.to_string();
        let mut urls: Vec<String> = pages.into_iter().map(url).collect();
        urls.sort_unstable();
        urls
    }

    fn all(&self) -> Vec<String> {
        self.settle();
        self.frontier.pages_by_url(Default::default()).map(|page| page.unwrap().url.to_string()).collect()
    }

    fn sound(&self) {
        self.settle();
        let report = self.frontier.check(&mut |_, _| ()).unwrap();
        assert!(report.is_ok(), "{:?}", report.violations);
    }
}

#[test]
fn a_lease_ends_with_the_answer_in_another_form() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = open(dir.path());
    crawl.seeds(&[link("http://www.a.example/", 0.0), link("https://a.example/", 0.0)]);
    assert_eq!(crawl.request(9), ["http://www.a.example/"]);
    // The spider was redirected, and tells where it ended.
    crawl.crawled(&[page(
        "https://a.example/",
        &[("https://a.example/1", 0.5), ("http://www.a.example/1", 0.7)],
    )]);
    for form in ["http://a.example/", "https://a.example/", "http://www.a.example/", "https://www.a.example/"]
    {
        let page = crawl.known(form);
        assert_eq!((page.url.as_str(), page.state.status), ("http://www.a.example/", Status::Crawled));
        let links = crawl.frontier.links_from(&url(form)).unwrap().unwrap();
        assert_eq!(crawl.urls(links), ["http://www.a.example/1"]);
        let linked_by = crawl.frontier.links_to(&url(&format!("{form}1"))).unwrap().unwrap();
        assert_eq!(crawl.urls(linked_by), ["http://www.a.example/"]);
    }
    crawl.clock.advance(Duration::from_secs(24 * 3600));
    let hand_outs = crawl.hand_outs(9);
    assert_eq!(hand_outs.len(), 1);
    assert_eq!(
        (hand_outs[0].url.as_str(), hand_outs[0].domain.as_str()),
        ("http://www.a.example/1", "a.example")
    );
    // The best score that any form was given.
    assert_eq!(hand_outs[0].score, Score::new(0.7).unwrap());
    crawl.sound();
}

#[test]
fn the_main_form_outlives_restarts_and_its_pages() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = open(dir.path());
    crawl.seeds(&[link("https://www.a.example/1", 0.0)]);
    crawl.frontier.delete_page(url("http://a.example/1")).unwrap().wait().unwrap();
    assert_eq!(crawl.all(), [""; 0]);
    crawl.frontier.close().unwrap();
    drop(crawl);
    let crawl = open(dir.path());
    crawl.seeds(&[link("http://a.example/2", 0.0), link("https://a.example/2", 0.0)]);
    assert_eq!(crawl.all(), ["https://www.a.example/2"]);
    crawl.sound();
}

#[test]
fn forms_share_the_limits_of_their_domain() {
    let dir = tempfile::tempdir().unwrap();
    let forms = ["http://", "https://", "http://www.", "https://www."];
    let seeds: Vec<_> = (0..40).map(|n| link(&format!("{}a.example/{n}", forms[n % 4]), 0.0)).collect();
    let crawl = Crawl::open(dir.path(), |options| {
        options.same_site = BOTH;
        (options.soft_crawl_limit, options.hard_crawl_limit) = (3.0, 3.0);
    });
    crawl.seeds(&seeds);
    assert_eq!(crawl.request(100).len(), 3);
    assert_eq!(crawl.request(100).len(), 0);
    crawl.clock.advance(Duration::from_secs(1));
    assert_eq!(crawl.request(100).len(), 3);
}

#[test]
fn what_is_off_keeps_sites_apart() {
    let forms =
        ["http://a.example/", "http://www.a.example/", "https://a.example/", "https://www.a.example/"];
    for (www, scheme, expected) in [
        (false, false, &forms[..]),
        (true, false, &["http://a.example/", "https://a.example/"]),
        (false, true, &["http://a.example/", "http://www.a.example/"]),
        (true, true, &["http://a.example/"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let crawl = unlimited(dir.path(), SameSite { www, scheme });
        crawl.seeds(&forms.map(|text| link(text, 0.0)));
        assert_eq!(crawl.all(), expected);
        crawl.sound();
    }
}

#[test]
fn edits_by_hand_find_pages_in_any_form() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = unlimited(dir.path(), BOTH);
    crawl.crawled(&[page("http://www.a.example/", &[])]);
    let edit = |edit: WebEdit| crawl.frontier.submit_edits(&[edit]).unwrap().wait().unwrap();
    let history = || {
        let (score, content_hash) = (Score::ZERO, None);
        Some(History { first_crawl: START, last_crawl: START, crawls: 1, changes: 0, score, content_hash })
    };
    let new = |text| NewPage { url: url(text), score: Score::ZERO, history: history() };
    let from = |text, to| NewLink {
        from: LinkSource::Page(url(text)),
        to: url(to),
        score: Score::ZERO,
        anchor: None,
    };

    edit(WebEdit::AddLink(from("https://a.example/", "https://a.example/2")));
    let links = |text| crawl.urls(crawl.frontier.links_from(&url(text)).unwrap().unwrap());
    crawl.settle();
    assert_eq!(links("http://a.example/"), ["http://www.a.example/2"]);

    // It is there already, in another form.
    let if_absent = |page, link| WebEdit::AddPage { page, adding: Adding::IfAbsent, link };
    edit(if_absent(new("https://a.example/2"), None));
    assert_eq!(crawl.known("http://www.a.example/2").state.status, Status::Scheduled);
    // A link on the page that comes with it, which names that page in another form.
    edit(if_absent(new("https://b.example/"), Some(from("http://www.b.example/", "http://b.example/1"))));
    crawl.settle();
    assert_eq!(links("http://b.example/"), ["https://b.example/1"]);

    edit(WebEdit::DeletePage(url("https://www.a.example/2")));
    assert_eq!(crawl.all(), ["http://www.a.example/", "https://b.example/", "https://b.example/1"]);
    assert_eq!(links("http://a.example/"), [""; 0]);
    crawl.sound();
}

#[test]
fn the_longest_url_fits_in_every_form() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = unlimited(dir.path(), BOTH);
    crawl.seeds(&[link("https://www.a.example/", 0.0)]);
    let path = "a".repeat(aduana::types::url::MAX_URL_BYTES - "http://a.example/".len());
    crawl.seeds(&[link(&format!("http://a.example/{path}"), 1.0)]);
    let longest = crawl.request(1).remove(0);
    assert_eq!(longest, format!("https://www.a.example/{path}"));
    crawl.crawled(&[page(&longest, &[])]);
    let edit = WebEdit::DeletePage(url(&longest));
    assert_eq!(crawl.known(&longest).state.status, Status::Crawled);
    crawl.sound();
    crawl.frontier.submit_edits(&[edit]).unwrap().wait().unwrap();
    assert_eq!(crawl.all(), ["https://www.a.example/"]);
}
