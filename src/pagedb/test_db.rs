//! A small PageDB for the tests of this module: edits go in as the writer would apply them.

use tempfile::TempDir;

use super::{PageDb, PageDbOptions, Rules};
use crate::types::{
    Anchor, ContentHash, CrawledPage, Link, Naming, PageKey, PageUrl, Score, Time, UrlHasher, WebEdit, edit,
};

pub const NOW: Time = Time(1_700_000_000_000);

pub struct TestDb {
    pub db: PageDb,
    pub dir: TempDir,
    pub rules: Rules,
    position: u64,
}

pub fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

pub fn link(text: &str, score: f64) -> Link {
    Link { url: url(text), score: Score::new(score).unwrap(), anchor: None }
}

pub fn page(text: &str, hash: Option<u64>, links: &[&str]) -> CrawledPage {
    CrawledPage {
        url: url(text),
        score: Score::ZERO,
        time: NOW,
        content_hash: hash.map(ContentHash::Number),
        links: links.iter().map(|text| link(text, 0.5)).collect(),
    }
}

impl TestDb {
    pub fn new() -> TestDb {
        TestDb::with(UrlHasher::default(), None)
    }

    pub fn with(hasher: UrlHasher, max_depth: Option<u32>) -> TestDb {
        TestDb::named(Naming { hasher, ..Naming::default() }, max_depth)
    }

    pub fn named(naming: Naming, max_depth: Option<u32>) -> TestDb {
        let dir = tempfile::tempdir().unwrap();
        let options = PageDbOptions { map_size: 64 << 20, naming, ..PageDbOptions::default() };
        let db = PageDb::open(dir.path(), options).unwrap();
        let rules = Rules { heat_window: 60.0, max_depth };
        db.set_max_depth(rules).unwrap();
        TestDb { db, dir, rules, position: 0 }
    }

    /// A database with rows of every kind in every table: crawled pages with and without content hash,
    /// scheduled ones, a leased one, one too deep, two sites of one domain, links with anchors.
    pub fn with_everything() -> TestDb {
        let mut db = TestDb::with(UrlHasher::default(), Some(2));
        db.seeds(&["http://a.example/", "http://b.example/"]);
        let mut start = page(
            "http://a.example/",
            Some(7),
            &["http://a.example/1", "http://a.example/2", "https://a.example/3", "http://b.example/"],
        );
        start.links[1].anchor = Anchor::new("two");
        start.links[3].anchor = Anchor::new("beyond");
        db.crawl(&start);
        db.crawl(&page("http://a.example/1", None, &["http://a.example/4", "http://c.example/"]));
        db.crawl(&page("http://a.example/4", Some(7), &["http://a.example/deep"]));
        db.hand_out(&["http://a.example/2"], Time(NOW.0 + 1_000));
        db
    }

    pub fn apply(&mut self, edits: &[Vec<u8>]) {
        self.position += edits.len() as u64;
        let edits: Vec<&[u8]> = edits.iter().map(Vec::as_slice).collect();
        self.db.apply(&edits, self.position, self.rules).unwrap();
    }

    pub fn crawl(&mut self, page: &CrawledPage) {
        let mut bytes = Vec::new();
        edit::encode_crawled(page, &mut bytes);
        self.apply(&[bytes]);
    }

    pub fn seeds(&mut self, urls: &[&str]) {
        let seeds: Vec<Link> = urls.iter().map(|text| link(text, 0.0)).collect();
        let mut bytes = Vec::new();
        edit::encode_seeds(&seeds, &mut bytes);
        self.apply(&[bytes]);
    }

    pub fn edit(&mut self, edit: &WebEdit) {
        let mut bytes = Vec::new();
        edit.encode(&mut bytes);
        self.apply(&[bytes]);
    }

    pub fn delete(&mut self, text: &str) {
        self.edit(&WebEdit::DeletePage(url(text)));
    }

    pub fn hand_out(&mut self, urls: &[&str], until: Time) {
        let keys: Vec<PageKey> = urls.iter().map(|text| self.key(text)).collect();
        let mut bytes = Vec::new();
        edit::encode_hand_out(NOW, until, &keys, &mut bytes);
        self.apply(&[bytes]);
    }

    pub fn key(&self, text: &str) -> PageKey {
        self.db.snapshot().unwrap().find(&url(text)).unwrap().unwrap().0
    }
}
