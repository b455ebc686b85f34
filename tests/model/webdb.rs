//! Nutch's WebDB: a test for each method of its two interfaces, by name, and all of them against a plain web in
//! a map, after thousands of random edits. At stake: links to nowhere or from nowhere, duplicates that are not
//! found, counters that drift.
//!
//! In one thing the map is not Nutch's: a link belongs to a page, not to a content, and the links of a content are
//! those of the pages that have it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aduana::frontier::{Frontier, Options, Page, Receipt, Scope, SubmitError};
use aduana::types::edit::web::{History, LinkSource, NewLink, NewPage};
use aduana::types::time::ManualClock;
use aduana::types::{Anchor, ContentHash, Score, Time, UrlHasher};

use crate::crawl::{START, page, scratch, url};
use crate::random::weak_hasher;

#[derive(Debug, Clone, Default, PartialEq)]
struct Known {
    crawled: bool,
    hash: Option<u64>,
    score: f32,
    /// With their texts.
    links: BTreeMap<String, &'static str>,
}

/// What a link leads to, and its text; empty for none.
type Target = (String, &'static str);

/// What is added: without a hash it was never crawled.
#[derive(Debug, Clone)]
struct New {
    url: String,
    score: f32,
    hash: Option<u64>,
}

#[derive(Debug, Clone)]
enum From {
    Url(String),
    Content(u64),
}

#[derive(Debug, Clone)]
enum Edit {
    AddPage(New),
    AddPageWithScore(New),
    AddPageIfNotPresent(New),
    AddPageIfNotPresentWithLink(New, From, Target),
    DeletePage(String),
    AddLink(From, Target),
    Crawled(String, Option<u64>, Vec<Target>),
}

/// The whole web in a map.
#[derive(Debug, Default)]
struct Web(BTreeMap<String, Known>);

impl Web {
    fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::AddPage(new) => {
                let score = self.0.get(&new.url).map_or(new.score, |known| known.score);
                self.put(new, score);
            }
            Edit::AddPageWithScore(new) => self.put(new, new.score),
            Edit::AddPageIfNotPresent(new) => {
                if !self.0.contains_key(&new.url) {
                    self.put(new, new.score);
                }
            }
            Edit::AddPageIfNotPresentWithLink(new, from, to) => {
                let mut with_page = Web(self.0.clone());
                with_page.put(new, new.score);
                if !self.0.contains_key(&new.url) && !with_page.sources(from).is_empty() {
                    *self = with_page;
                    self.add_link(from, to);
                }
            }
            Edit::DeletePage(url) => {
                self.0.remove(url);
                for known in self.0.values_mut() {
                    known.links.remove(url);
                }
            }
            Edit::AddLink(from, to) => self.add_link(from, to),
            Edit::Crawled(url, hash, links) => {
                let known = self.0.entry(url.clone()).or_default();
                known.crawled = true;
                known.hash = hash.or(known.hash);
                known.links.clear();
                for (link, text) in links {
                    // The first text counts.
                    let known = known.links.entry(link.clone()).or_default();
                    *known = if known.is_empty() { text } else { known };
                }
                for (link, _) in links {
                    self.0.entry(link.clone()).or_default();
                }
            }
        }
    }

    fn put(&mut self, new: &New, score: f32) {
        let known = self.0.entry(new.url.clone()).or_default();
        let crawled = new.hash.is_some();
        if !(crawled && known.crawled && known.hash == new.hash) {
            known.links.clear();
        }
        (known.crawled, known.hash, known.score) = (crawled, new.hash, score);
    }

    fn sources(&self, from: &From) -> Vec<String> {
        let stands = |(url, known): &(&String, &Known)| match from {
            _ if !known.crawled => false,
            From::Url(from) => *url == from,
            From::Content(hash) => known.hash == Some(*hash),
        };
        self.0.iter().filter(stands).map(|(url, _)| url.clone()).collect()
    }

    fn add_link(&mut self, from: &From, (to, text): &Target) {
        let sources = self.sources(from);
        if !sources.is_empty() {
            self.0.entry(to.clone()).or_default();
        }
        for source in sources {
            let known = self.0.entry(source).or_default().links.entry(to.clone()).or_default();
            *known = if text.is_empty() { known } else { text };
        }
    }
}

/// The real thing beside the map.
pub struct Both {
    pub frontier: Frontier,
    web: Web,
    runtime: tokio::runtime::Runtime,
    _dir: tempfile::TempDir,
}

fn new_page(new: &New) -> NewPage {
    let history = new.hash.map(|hash| History {
        first_crawl: Time(START),
        last_crawl: Time(START),
        crawls: 1,
        changes: 0,
        score: Score::ZERO,
        content_hash: Some(ContentHash::Number(hash)),
    });
    NewPage { url: url(&new.url), score: Score::new(new.score.into()).unwrap(), history }
}

fn new_link(from: &From, (to, text): &Target) -> NewLink {
    let from = match from {
        From::Url(from) => LinkSource::Page(url(from)),
        From::Content(hash) => LinkSource::Content(ContentHash::Number(*hash)),
    };
    NewLink { from, to: url(to), score: Score::ZERO, anchor: Anchor::new(text) }
}

impl Both {
    pub fn new(hasher: UrlHasher) -> Both {
        let dir = scratch();
        let options = Options { hasher, map_size: 1 << 20, ..Options::new(dir.path()) };
        let frontier = Frontier::open(options, Arc::new(ManualClock::at(Time(START)))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Both { frontier, web: Web::default(), runtime, _dir: dir }
    }

    fn edit(&mut self, edit: Edit) {
        self.submit(&edit).unwrap().wait().unwrap();
        self.web.edit(&edit);
    }

    fn submit(&self, edit: &Edit) -> Result<Receipt, SubmitError> {
        let frontier = &self.frontier;
        match edit {
            Edit::AddPage(new) => frontier.add_page(new_page(new)),
            Edit::AddPageWithScore(new) => frontier.add_page_with_score(new_page(new)),
            Edit::AddPageIfNotPresent(new) => frontier.add_page_if_not_present(new_page(new)),
            Edit::AddPageIfNotPresentWithLink(new, from, to) => {
                frontier.add_page_if_not_present_with_link(new_page(new), new_link(from, to))
            }
            Edit::DeletePage(text) => frontier.delete_page(url(text)),
            Edit::AddLink(from, to) => frontier.add_link(new_link(from, to)),
            Edit::Crawled(text, hash, links) => {
                let urls: Vec<(String, f32)> = links.iter().map(|(link, _)| (link.clone(), 0.0)).collect();
                let mut page = page(text, 0.0, START, *hash, &urls);
                for (link, (_, text)) in page.links.iter_mut().zip(links) {
                    link.anchor = Anchor::new(text);
                }
                frontier.submit(&[page])
            }
        }
    }

    pub fn settle(&self) {
        self.runtime.block_on(self.frontier.applied());
    }

    pub fn urls(&self, pages: &[aduana::types::PageIndex]) -> Vec<String> {
        let urls = self.frontier.urls_of(pages).unwrap();
        urls.into_iter().map(|(_, url)| url.to_string()).collect()
    }

    fn get_page(&self) {
        self.settle();
        for n in 0..NAMES {
            let told = self.frontier.page(&url(&name(n))).unwrap();
            let wanted = self.web.0.get(&name(n));
            assert_eq!(told.is_some(), wanted.is_some(), "{}", name(n));
            if let (Some(told), Some(wanted)) = (told, wanted) {
                assert_eq!(hash_of(&told), wanted.hash, "{}", name(n));
                assert_eq!((told.record.is_some(), told.state.score.get()), (wanted.crawled, wanted.score));
            }
        }
    }

    fn get_pages_and_page_exists(&self) {
        self.settle();
        for hash in 0..HASHES + 1 {
            let pages = self.frontier.pages_with_content(ContentHash::Number(hash));
            let told: BTreeSet<String> = pages.map(|page| page.unwrap().url.to_string()).collect();
            let wanted = self.web.0.iter().filter(|(_, known)| known.hash == Some(hash));
            let wanted: BTreeSet<String> = wanted.map(|(url, _)| url.clone()).collect();
            assert_eq!(told, wanted);
            assert_eq!(self.frontier.has_content(&ContentHash::Number(hash)).unwrap(), !wanted.is_empty());
        }
    }

    fn pages(&self) {
        self.settle();
        let told = self.frontier.pages_by_url(Scope::default());
        let told: Vec<String> = told.map(|page| page.unwrap().url.to_string()).collect();
        assert_eq!(told, self.web.0.keys().cloned().collect::<Vec<_>>());
    }

    fn pages_by_md5(&self) {
        self.settle();
        let told = self.frontier.pages_by_content().map(Result::unwrap);
        let told: Vec<(u64, String)> =
            told.map(|page| (hash_of(&page).unwrap(), page.url.to_string())).collect();
        assert!(told.is_sorted_by_key(|(hash, _)| *hash), "{told:?}");
        let wanted = self.web.0.iter().filter_map(|(url, known)| Some((known.hash?, url.clone())));
        assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), wanted.collect::<BTreeSet<_>>());
    }

    fn get_links_by_url(&self) {
        self.settle();
        for n in 0..NAMES {
            let told = self.frontier.links_to(&url(&name(n))).unwrap();
            assert_eq!(told.is_some(), self.web.0.contains_key(&name(n)));
            let Some(told) = told else { continue };
            let told: Vec<String> = self.urls(&told);
            let wanted = self.web.0.iter().filter(|(_, known)| known.links.contains_key(&name(n)));
            let wanted: BTreeSet<String> = wanted.map(|(url, _)| url.clone()).collect();
            assert_eq!(told.len(), wanted.len());
            assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), wanted, "to {}", name(n));
        }
    }

    fn get_links_by_md5(&self) {
        self.settle();
        for hash in 0..HASHES + 1 {
            let told = self.frontier.links_from_content(&ContentHash::Number(hash)).unwrap();
            let told: BTreeSet<String> = self.urls(&told).into_iter().collect();
            let pages = self.web.0.values().filter(|known| known.hash == Some(hash));
            let wanted: BTreeSet<String> = pages.flat_map(|known| known.links.keys().cloned()).collect();
            assert_eq!(told, wanted, "from content {hash}");
        }
        for (text, known) in &self.web.0 {
            let told = self.frontier.links_from(&url(text)).unwrap().unwrap();
            assert!(self.urls(&told).iter().collect::<BTreeSet<_>>().into_iter().eq(known.links.keys()));
        }
    }

    /// Those of all links, by source and by target, and none beside them.
    fn anchors(&self) {
        self.settle();
        let frontier = &self.frontier;
        let mut with_text = 0;
        for (text, known) in &self.web.0 {
            let page = frontier.page(&url(text)).unwrap().unwrap().state.index;
            let targets = frontier.links_from(&url(text)).unwrap().unwrap();
            let links: Vec<_> = targets.iter().map(|&target| (page, target)).collect();
            let anchors = frontier.anchors_of(&links).unwrap();
            let anchors = anchors.iter().map(|anchor| anchor.as_ref().map_or("", Anchor::as_str));
            let told: BTreeMap<String, &str> = self.urls(&targets).into_iter().zip(anchors).collect();
            assert_eq!(told, known.links, "from {text}");
            with_text += known.links.values().filter(|text| !text.is_empty()).count();
        }
        assert_eq!(frontier.anchors().map(|page| page.unwrap().anchors.len()).sum::<usize>(), with_text);
    }

    fn links(&self) {
        self.settle();
        let mut told = Vec::new();
        let mut after = None;
        // As one whose connection breaks off after every few links.
        loop {
            let before = told.len();
            let visit = |links: &[_]| {
                told.extend(links.iter().take(7).copied());
                false
            };
            self.frontier.links_by_target(after, visit).unwrap();
            after = told.last().copied();
            if told.len() == before {
                break;
            }
        }
        assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
        let (to, from): (Vec<_>, Vec<_>) = told.into_iter().unzip();
        let told: BTreeSet<(String, String)> = self.urls(&to).into_iter().zip(self.urls(&from)).collect();
        let wanted = self
            .web
            .0
            .iter()
            .flat_map(|(from, known)| known.links.keys().map(move |to| (to.clone(), from.clone())));
        assert_eq!(told, wanted.collect());
    }

    fn numbers(&self) {
        self.settle();
        assert_eq!(self.frontier.num_pages(), self.web.0.len() as u64);
        let links: usize = self.web.0.values().map(|known| known.links.len()).sum();
        assert_eq!(self.frontier.num_links(), links as u64);
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        self.frontier.close().ok();
    }
}

fn hash_of(page: &Page) -> Option<u64> {
    match page.record.as_ref()?.content_hash.as_ref()? {
        ContentHash::Number(number) => Some(*number),
        ContentHash::Text(text) => panic!("{text}"),
    }
}

const NAMES: u64 = 40;
const HASHES: u64 = 4;

fn to(n: u64) -> Target {
    (name(n), "")
}

fn name(n: u64) -> String {
    format!("http://h{}.example/{}", n % 4, n / 4)
}

/// A small generator of numbers: the same for a seed everywhere.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn hash(&mut self) -> Option<u64> {
        let hash = self.below(2 * HASHES);
        (hash < HASHES).then_some(hash)
    }

    fn page(&mut self) -> New {
        New { url: name(self.below(NAMES)), score: self.below(5) as f32, hash: self.hash() }
    }

    fn target(&mut self) -> Target {
        let texts = ["", "", "home", "a text of some words"];
        (name(self.below(NAMES)), texts[self.below(4) as usize])
    }

    fn from(&mut self) -> From {
        if self.below(3) == 0 {
            From::Content(self.below(HASHES))
        } else {
            From::Url(name(self.below(NAMES)))
        }
    }

    fn edit(&mut self) -> Edit {
        match self.below(10) {
            0 => Edit::AddPage(self.page()),
            1 => Edit::AddPageWithScore(self.page()),
            2 => Edit::AddPageIfNotPresent(self.page()),
            3 => {
                let (page, from, to) = (self.page(), self.from(), self.target());
                Edit::AddPageIfNotPresentWithLink(page, from, to)
            }
            4 | 5 => Edit::DeletePage(name(self.below(NAMES))),
            6 | 7 => Edit::AddLink(self.from(), self.target()),
            _ => {
                let links = (0..self.below(6)).map(|_| self.target()).collect();
                Edit::Crawled(name(self.below(NAMES)), self.hash(), links)
            }
        }
    }
}

/// Checks again and again while random edits are made.
fn while_edited(edits: usize, every: usize, check: impl Fn(&Both)) {
    for (seed, hasher) in [(1, UrlHasher::default()), (2, weak_hasher())] {
        let (mut both, mut numbers) = (Both::new(hasher), Numbers(0x9e37_79b9 + seed));
        check(&both);
        for n in 1..=edits {
            both.edit(numbers.edit());
            if n % every == 0 {
                check(&both);
            }
        }
    }
}

#[test]
fn thousands_of_edits_leave_the_web_of_the_map() {
    while_edited(3_000, 300, |both| {
        both.get_page();
        both.get_pages_and_page_exists();
        both.pages();
        both.pages_by_md5();
        both.get_links_by_url();
        both.get_links_by_md5();
        both.links();
        both.anchors();
        both.numbers();
        let report = both.frontier.snapshot().unwrap().check(&mut |_, _| (), None).unwrap();
        assert!(report.is_ok(), "{:?}", report.violations);
    });
}

#[test]
fn get_page() {
    while_edited(200, 20, Both::get_page);
}

#[test]
fn get_pages() {
    while_edited(200, 20, Both::get_pages_and_page_exists);
}

#[test]
fn page_exists() {
    let mut both = Both::new(UrlHasher::default());
    let exists = |both: &Both| {
        both.settle();
        both.frontier.has_content(&ContentHash::Number(7)).unwrap()
    };
    assert!(!exists(&both));
    both.edit(Edit::Crawled(name(1), Some(7), vec![]));
    both.edit(Edit::Crawled(name(2), Some(7), vec![]));
    both.edit(Edit::DeletePage(name(1)));
    assert!(exists(&both));
    both.edit(Edit::DeletePage(name(2)));
    assert!(!exists(&both));
}

#[test]
fn pages() {
    while_edited(200, 20, Both::pages);
}

#[test]
fn pages_by_md5() {
    while_edited(200, 20, Both::pages_by_md5);
}

#[test]
fn get_links_to_a_url() {
    while_edited(200, 10, Both::get_links_by_url);
}

#[test]
fn get_links_from_a_content() {
    while_edited(200, 20, Both::get_links_by_md5);
}

#[test]
fn links() {
    while_edited(200, 20, Both::links);
}

#[test]
fn anchors_of_links() {
    while_edited(200, 20, Both::anchors);
}

#[test]
fn num_pages_and_num_links() {
    while_edited(200, 5, Both::numbers);
}

fn new(n: u64, score: f32, hash: Option<u64>) -> New {
    New { url: name(n), score, hash }
}

fn told(both: &Both, n: u64) -> Option<(f32, Option<u64>)> {
    both.settle();
    let page = both.frontier.page(&url(&name(n))).unwrap()?;
    Some((page.state.score.get(), hash_of(&page)))
}

#[test]
fn add_page() {
    let mut both = Both::new(UrlHasher::default());
    both.edit(Edit::AddPage(new(1, 3.0, Some(1))));
    assert_eq!(told(&both, 1), Some((3.0, Some(1))));
    // The score stays, all else is overwritten.
    both.edit(Edit::AddPage(new(1, 4.0, Some(2))));
    assert_eq!(told(&both, 1), Some((3.0, Some(2))));
}

#[test]
fn add_page_with_score() {
    let mut both = Both::new(UrlHasher::default());
    both.edit(Edit::AddPageWithScore(new(1, 3.0, Some(1))));
    both.edit(Edit::AddPageWithScore(new(1, 4.0, None)));
    assert_eq!(told(&both, 1), Some((4.0, None)));
}

#[test]
fn add_page_if_not_present() {
    let mut both = Both::new(UrlHasher::default());
    both.edit(Edit::AddPageIfNotPresent(new(1, 3.0, Some(1))));
    both.edit(Edit::AddPageIfNotPresent(new(1, 4.0, Some(2))));
    assert_eq!(told(&both, 1), Some((3.0, Some(1))));
}

#[test]
fn add_page_if_not_present_with_link() {
    let mut both = Both::new(UrlHasher::default());
    let with_link = |n, from| Edit::AddPageIfNotPresentWithLink(new(n, 1.0, None), from, to(n));
    // No content, no link, no page.
    both.edit(with_link(2, From::Content(1)));
    assert_eq!((told(&both, 2), both.frontier.num_links()), (None, 0));
    both.edit(Edit::AddPage(new(1, 0.0, Some(1))));
    both.edit(with_link(2, From::Content(1)));
    assert_eq!((told(&both, 2), both.frontier.num_links()), (Some((1.0, None)), 1));
    // The page is present: no link either.
    both.edit(Edit::AddPageIfNotPresentWithLink(new(2, 1.0, None), From::Content(1), to(3)));
    assert_eq!((told(&both, 3), both.frontier.num_links()), (None, 1));
}

#[test]
fn delete_page() {
    let mut both = Both::new(UrlHasher::default());
    both.edit(Edit::DeletePage(name(1)));
    both.edit(Edit::Crawled(name(1), Some(1), vec![to(2), to(3)]));
    both.edit(Edit::Crawled(name(2), Some(2), vec![to(1), to(3)]));
    both.edit(Edit::DeletePage(name(1)));
    // Its links went with its content, and the link to it.
    assert_eq!((told(&both, 1), both.frontier.num_pages(), both.frontier.num_links()), (None, 2, 1));
}

#[test]
fn add_link() {
    let mut both = Both::new(UrlHasher::default());
    // The source must be there, and have a content.
    both.edit(Edit::AddLink(From::Url(name(1)), to(2)));
    both.edit(Edit::AddPage(new(1, 0.0, None)));
    both.edit(Edit::AddLink(From::Url(name(1)), to(2)));
    assert_eq!((told(&both, 2), both.frontier.num_links()), (None, 0));
    both.edit(Edit::AddPage(new(1, 0.0, Some(1))));
    // The same link twice is one.
    both.edit(Edit::AddLink(From::Url(name(1)), to(2)));
    both.edit(Edit::AddLink(From::Content(1), to(2)));
    both.settle();
    assert_eq!((both.frontier.num_pages(), both.frontier.num_links()), (2, 1));
}
