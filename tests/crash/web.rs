//! A web without end, made from nothing but page numbers; and what the spiders know of their crawl of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Instant;

use aduana::pagedb::{Snapshot, Status};
use aduana::types::{PageIndex, PageUrl};

const PAGES: u64 = 2_000_000;
const SEEDS: u64 = 40;

/// Mixes numbers well enough for a web (splitmix64).
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

pub fn url(page: u64) -> String {
    format!("http://h{}.example/page/{page}", page % 211)
}

pub fn number(url: &str) -> u64 {
    url.rsplit_once('/').unwrap().1.parse().unwrap()
}

/// A page's links: half of them to a small core that everybody links.
pub fn links(page: u64) -> Vec<u64> {
    let targets = (0..mix(page) % 24).map(|link| mix(page * 100 + link + 1));
    targets.map(|target| if target % 2 == 0 { target % 5_000 } else { target % PAGES }).collect()
}

/// The page as it is posted.
pub fn json(page: u64) -> String {
    let links: Vec<String> = links(page)
        .iter()
        .map(|&link| format!("[\"{}\", {}]", url(link), (link % 100) as f64 / 100.0))
        .collect();
    format!("{{\"url\": \"{}\", \"links\": [{}], \"content_hash\": {page}}}", url(page), links.join(", "))
}

pub fn write_seeds(dir: &Path) {
    let seeds: String = (0..SEEDS).map(|page| url(page) + "\n").collect();
    std::fs::write(dir.join("seeds.txt"), seeds).unwrap();
}

/// A hand-out as a spider saw it.
#[derive(Debug, Clone, Copy)]
struct HandOut {
    life: usize,
    received: Instant,
}

/// What the spiders were told, over all lives of the server.
#[derive(Default)]
pub struct Journal {
    /// Number of the server's life.
    life: usize,
    handed_out: HashMap<u64, HandOut>,
    /// How often each page was sent, acknowledged or not.
    sent: HashMap<u64, u32>,
    pub acknowledged: BTreeMap<u64, usize>,
    /// When the last post that was acknowledged in each life was sent. The log is written in order: what
    /// was handed out before is durable.
    last_acknowledged: Vec<Option<Instant>>,
    /// Pages that were handed out a second time, as their hand-out was not durable when the server died.
    pub repeated: usize,
}

impl Journal {
    pub fn next_life(&mut self) {
        self.life = self.last_acknowledged.len();
        self.last_acknowledged.push(None);
    }

    fn is_durable(&self, hand_out: HandOut) -> bool {
        self.last_acknowledged[hand_out.life].is_some_and(|sent| hand_out.received < sent)
    }

    /// A page was handed out: once while its lease runs, but for the last moments of a life.
    pub fn handed_out(&mut self, page: u64, received: Instant) {
        assert!(!self.acknowledged.contains_key(&page), "page {page} was handed out after it was crawled");
        if let Some(&before) = self.handed_out.get(&page) {
            assert!(before.life != self.life, "page {page} was handed out twice in one life");
            assert!(
                !self.is_durable(before),
                "page {page} was handed out twice, in lives {before:?} and {}",
                self.life
            );
            self.repeated += 1;
        }
        self.handed_out.insert(page, HandOut { life: self.life, received });
    }

    pub fn sent(&mut self, pages: &[u64]) {
        for &page in pages {
            *self.sent.entry(page).or_default() += 1;
        }
    }

    /// A post that was sent at `sent` was answered with 201.
    pub fn acknowledged(&mut self, pages: &[u64], sent: Instant) {
        let last = &mut self.last_acknowledged[self.life];
        *last = (*last).max(Some(sent));
        self.acknowledged.extend(pages.iter().map(|&page| (page, self.life)));
    }

    /// Whether all that was acknowledged in the last `lives` lives is in the tables.
    pub fn verify(&self, snapshot: &Snapshot, lives: usize) {
        let since = self.last_acknowledged.len().saturating_sub(lives);
        let mut known: HashMap<u64, Option<PageIndex>> = HashMap::new();
        let mut index = |page: u64| {
            *known.entry(page).or_insert_with(|| {
                let found = snapshot.find(&PageUrl::parse(&url(page)).unwrap()).unwrap();
                found.map(|(_, state)| state.index)
            })
        };
        for (&page, _) in self.acknowledged.iter().filter(|&(_, &life)| life >= since) {
            let found = snapshot.find(&PageUrl::parse(&url(page)).unwrap()).unwrap();
            let Some((key, state)) = found else { panic!("acknowledged page {page} is lost") };
            assert_eq!(state.status, Status::Crawled, "acknowledged page {page}");
            let record = snapshot.record(key).unwrap().unwrap();
            assert!((1..=self.sent[&page]).contains(&record.crawls), "page {page}: {record:?}");
            let stored: BTreeSet<PageIndex> =
                snapshot.links(state.index).unwrap().unwrap().into_iter().collect();
            let wanted: BTreeSet<PageIndex> = links(page)
                .into_iter()
                .map(|link| index(link).unwrap_or_else(|| panic!("page {link}, linked by {page}, is lost")))
                .collect();
            assert_eq!(stored, wanted, "links of page {page}");
        }
        for (&page, &hand_out) in self.handed_out.iter().filter(|(_, h)| h.life >= since) {
            let found = snapshot.find(&PageUrl::parse(&url(page)).unwrap()).unwrap();
            let Some((_, state)) = found else { panic!("page {page}, once handed out, is lost") };
            let is_free = state.status == Status::Scheduled;
            assert!(!is_free || !self.is_durable(hand_out), "the lease of page {page} is lost");
        }
        let report = snapshot.check(&mut |_, _| (), None).unwrap();
        assert!(report.is_ok(), "{:?}", report.violations);
        let c = snapshot.counters().unwrap();
        assert_eq!(c.crawled + c.leased + c.scheduled, c.pages, "some page is nowhere: {c:?}");
        assert!(c.crawled >= self.acknowledged.len() as u64, "{c:?}");
    }
}
