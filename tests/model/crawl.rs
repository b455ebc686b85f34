//! A frontier and its reference side by side: whatever is done to one is done to the other, answers are
//! judged, and all that can be seen of the tables is compared.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aduana::frontier::{Frontier, HandOut, Options};
use aduana::pagedb::{PageState, Snapshot, Status as Stored};
use aduana::types::time::ManualClock;
use aduana::types::{
    ContentHash, CrawledPage, DomainKey, Link, PageIndex, PageKey, PageUrl, SameSite, Score, Time, UrlHasher,
    WebEdit,
};

use crate::reference::{Checked, Limits, Page, Reference, Status};

pub const START: u64 = 1_700_000_000_000;

/// Edits that may be under way when a request promises to see them all.
const FEW: usize = 8;

/// Far more than anything here takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub struct Setup {
    pub limits: Limits,
    pub lease: Duration,
    pub max_depth: Option<u32>,
    pub same_site: SameSite,
    pub hasher: UrlHasher,
}

impl Setup {
    pub fn new(limits: Limits) -> Setup {
        Setup {
            limits,
            lease: Duration::from_secs(60),
            max_depth: None,
            same_site: SameSite::OFF,
            hasher: UrlHasher::default(),
        }
    }
}

pub struct Crawl {
    /// Absent only while it is reopened: LMDB wants it dropped before.
    frontier: Option<Frontier>,
    pub clock: Arc<ManualClock>,
    pub reference: Reference,
    setup: Setup,
    runtime: tokio::runtime::Runtime,
    edits_under_way: usize,
    dir: tempfile::TempDir,
}

/// A directory in memory where there is one: these tests are about order, not about durability, and a
/// synced commit on a disk would be most of their time.
pub fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    dir.unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

fn open(path: &Path, setup: &Setup, clock: Arc<ManualClock>) -> Frontier {
    let options = Options {
        soft_crawl_limit: setup.limits.soft,
        hard_crawl_limit: setup.limits.hard,
        crawl_limit_window: Duration::from_secs_f64(setup.limits.window),
        lease: setup.lease,
        max_crawl_depth: setup.max_depth,
        same_site: setup.same_site,
        hasher: setup.hasher,
        // Small, so that it grows on the way.
        map_size: 1 << 20,
        ..Options::new(path)
    };
    Frontier::open(options, clock).unwrap()
}

pub fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

pub fn links(links: &[(String, f32)]) -> Vec<Link> {
    let link = |(text, score): &(String, f32)| Link {
        url: url(text),
        score: Score::new((*score).into()).unwrap(),
        anchor: None,
    };
    links.iter().map(link).collect()
}

pub fn page(
    text: &str,
    score: f32,
    time: u64,
    hash: Option<u64>,
    page_links: &[(String, f32)],
) -> CrawledPage {
    CrawledPage {
        url: url(text),
        score: Score::new(score.into()).unwrap(),
        time: Time(time),
        content_hash: hash.map(ContentHash::Number),
        links: links(page_links),
    }
}

impl Crawl {
    pub fn start(setup: Setup) -> Crawl {
        let dir = scratch();
        let clock = Arc::new(ManualClock::at(Time(START)));
        let frontier = open(dir.path(), &setup, clock.clone());
        let lease = setup.lease.as_millis() as u64;
        let mut reference = Reference::new(START, lease, setup.limits, setup.max_depth);
        reference.same_site = setup.same_site;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Crawl { frontier: Some(frontier), clock, reference, setup, runtime, edits_under_way: 0, dir }
    }

    pub fn frontier(&self) -> &Frontier {
        self.frontier.as_ref().unwrap()
    }

    pub fn now(&self) -> u64 {
        self.reference.now
    }

    pub fn crawled(&mut self, pages: &[CrawledPage]) {
        self.frontier().submit(pages).unwrap().wait().unwrap();
        self.edits_under_way += pages.len();
        for page in pages {
            let hash = match page.content_hash {
                Some(ContentHash::Number(hash)) => Some(hash),
                _ => None,
            };
            let links = scored(&page.links);
            self.reference.crawled(page.url.as_str(), page.score.get(), page.time.0, hash, &links);
        }
    }

    pub fn seeded(&mut self, seeds: &[Link]) {
        self.frontier().submit_seeds(seeds).unwrap().wait().unwrap();
        self.edits_under_way += 1;
        self.reference.seeded(&scored(seeds));
    }

    pub fn edited(&mut self, edits: &[WebEdit]) {
        self.frontier().submit_edits(edits).unwrap().wait().unwrap();
        self.edits_under_way += edits.len();
        edits.iter().for_each(|edit| self.reference.edited(edit));
    }

    /// Requests pages, and judges them.
    pub fn request(&mut self, n: usize) -> Result<Vec<HandOut>, String> {
        // Beyond a few, a request is allowed not to wait for edits under way; and leases of hand-outs that
        // are themselves under way may end a request later.
        if self.edits_under_way > FEW || self.reference.a_lease_has_ended() {
            self.settle();
        }
        let answer = self.runtime.block_on(self.frontier().request(n)).map_err(|error| error.to_string())?;
        self.reference.handed_out(n, &answer)?;
        self.edits_under_way += 1;
        Ok(answer)
    }

    pub fn advance(&mut self, milliseconds: u64) {
        self.clock.advance(Duration::from_millis(milliseconds));
        self.reference.now += milliseconds;
    }

    pub fn reopen(&mut self, max_depth: Option<u32>) {
        self.frontier.take().unwrap().close().unwrap();
        self.setup.max_depth = max_depth;
        self.frontier = Some(open(self.dir.path(), &self.setup, self.clock.clone()));
        self.reference.restarted(max_depth);
        self.edits_under_way = 0;
    }

    /// Waits until everything is applied, hand-outs as well: they stand in the log before this edit.
    pub fn settle(&mut self) {
        self.frontier().submit_seeds(&[]).unwrap().wait().unwrap();
        self.runtime.block_on(self.frontier().applied());
        self.edits_under_way = 0;
        // The bytes are freed right after; were some never freed, the frontier would end up busy for ever.
        let started = Instant::now();
        while self.frontier().stats().unwrap().backlog_bytes != 0 {
            assert!(started.elapsed() < PATIENCE, "bytes of applied edits still count as waiting");
            std::thread::yield_now();
        }
    }

    /// Compares all that can be seen.
    pub fn compare(&mut self) -> Checked {
        self.settle();
        self.compare_counters()?;
        let snapshot = self.frontier().snapshot().map_err(|error| error.to_string())?;
        let mut keys = BTreeSet::new();
        for (at, page) in self.reference.pages.iter().enumerate() {
            if page.status == Status::Gone {
                same("a deleted page", &ok(snapshot.url(PageIndex(at as u64)))?, &None)?;
                let found = ok(snapshot.find(&url(&page.url)))?.map(|(_, state)| state.index.0 as usize);
                same(&page.url, &found, &self.reference.known(&page.url))?;
                continue;
            }
            let key = compare_page(&snapshot, &self.reference, at, page)
                .map_err(|error| format!("page {at}, {}: {error}", page.url))?;
            if !keys.insert(key) {
                return Err(format!("{} shares its key with another page", page.url));
            }
        }
        let beyond = PageIndex(self.reference.pages.len() as u64);
        same("a page that nobody named", &ok(snapshot.url(beyond))?, &None)?;
        self.compare_domains(&snapshot)?;
        let report = ok(snapshot.check(&mut |_, _| (), None))?;
        if !report.is_ok() {
            return Err(format!("check: {:?}", report.violations));
        }
        let leased: BTreeSet<usize> = ok(snapshot.leases_ended(Time(u64::MAX), usize::MAX))?
            .into_iter()
            .filter_map(|key| Some(snapshot.state(key).ok()??.index.0 as usize))
            .collect();
        let wanted = self.reference.pages.iter().enumerate();
        let wanted: BTreeSet<usize> =
            wanted.filter(|(_, p)| matches!(p.status, Status::Leased { .. })).map(|(at, _)| at).collect();
        same("leases", &leased, &wanted)
    }

    fn compare_counters(&self) -> Checked {
        let stats = self.frontier().stats().map_err(|error| error.to_string())?;
        let r = &self.reference;
        let links: usize = r.pages.iter().map(|page| page.links.len()).sum();
        let told = [
            ("pages", stats.pages, r.count(|status| *status != Status::Gone)),
            ("crawled", stats.crawled, r.count(|status| *status == Status::Crawled)),
            ("scheduled", stats.scheduled, r.count(|status| *status == Status::Waiting)),
            ("leased", stats.leased, r.count(|status| matches!(status, Status::Leased { .. }))),
            ("links", stats.links, links as u64),
            ("domains", stats.domains, r.domains.len() as u64),
            (
                "domains_with_work",
                stats.domains_with_work,
                r.domains.values().filter(|d| !d.waiting.is_empty()).count() as u64,
            ),
            ("backlog_edits", stats.backlog_edits, 0),
        ];
        told.iter().try_for_each(|(name, told, wanted)| same(name, told, wanted))
    }

    fn compare_domains(&self, snapshot: &Snapshot) -> Checked {
        let mut seen: Vec<(DomainKey, String, f64)> = Vec::new();
        let mut counted = Vec::new();
        ok(snapshot.for_each_domain(|key, record| {
            let c = record.counters;
            counted.push((record.name.clone(), [c.pages, c.crawled, c.scheduled, c.leased]));
            seen.push((key, record.name, record.heat.n));
        }))?;
        counted.sort();
        let count = |name: &str| {
            let pages = self.reference.pages.iter().filter(|page| page.domain == name);
            pages.fold([0; 4], |[all, crawled, scheduled, leased], page| match page.status {
                Status::Crawled => [all + 1, crawled + 1, scheduled, leased],
                Status::Waiting => [all + 1, crawled, scheduled + 1, leased],
                Status::Leased { .. } => [all + 1, crawled, scheduled, leased + 1],
                Status::TooDeep => [all + 1, crawled, scheduled, leased],
                Status::Gone => [all, crawled, scheduled, leased],
            })
        };
        let wanted: Vec<_> = self.reference.domains.keys().map(|name| (name.clone(), count(name))).collect();
        same("domains", &counted, &wanted)?;
        for (key, name, heat) in seen {
            let domain = &self.reference.domains[&name];
            let mut rows = Vec::new();
            ok(snapshot.schedule_of(key, None, usize::MAX, &mut rows))?;
            let rows: Vec<usize> = rows.into_iter().map(|row| row.index.0 as usize).collect();
            let wanted: Vec<usize> = domain.waiting.iter().map(|&(_, at)| at).collect();
            same(&format!("schedule of {name}"), &rows, &wanted)?;
            if (heat - domain.heat).abs() > 1e-6 * (1.0 + domain.heat) {
                return Err(format!("heat of {name}: {heat}, should be {}", domain.heat));
            }
        }
        Ok(())
    }
}

impl Drop for Crawl {
    fn drop(&mut self) {
        // Also when a check has failed; the database goes with its directory.
        self.frontier.take().map(|frontier| frontier.close());
    }
}

fn scored(links: &[Link]) -> Vec<(String, f32)> {
    links.iter().map(|link| (link.url.to_string(), link.score.get())).collect()
}

fn ok<T>(result: Result<T, aduana::pagedb::PageDbError>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, told: &T, wanted: &T) -> Checked {
    if told == wanted { Ok(()) } else { Err(format!("{what}: {told:?}, should be {wanted:?}")) }
}

fn compare_page(
    snapshot: &Snapshot,
    reference: &Reference,
    at: usize,
    page: &Page,
) -> Result<PageKey, String> {
    let index = PageIndex(at as u64);
    let (key, stored) = ok(snapshot.url(index))?.ok_or("has no row in urls")?;
    same("url", &stored.as_str(), &page.url.as_str())?;
    let state = ok(snapshot.state(key))?.ok_or("has no state")?;
    same("found by its URL", &ok(snapshot.find(&stored))?, &Some((key, state)))?;
    let status = match page.status {
        Status::Waiting => Stored::Scheduled,
        Status::Leased { until } => Stored::Leased { until: Time(until) },
        Status::Crawled => Stored::Crawled,
        Status::TooDeep => Stored::TooDeep,
        Status::Gone => return Err("was deleted".into()),
    };
    let score = Score::new(page.score.into()).map_err(|error| error.to_string())?;
    let wanted = PageState { index, status, depth: page.depth, score, given: score, attempts: page.attempts };
    same("state", &state, &wanted)?;

    let history = ok(snapshot.record(key))?.map(|record| {
        let hash = match record.content_hash {
            Some(ContentHash::Number(hash)) => Some(hash),
            _ => None,
        };
        let (first, last) = (record.first_crawl.0, record.last_crawl.0);
        let (crawls, changes, score) = (record.crawls, record.changes, record.score.get());
        crate::reference::History { first, last, crawls, changes, score, hash }
    });
    same("history", &history, &page.history)?;

    let is_other = |&&target: &&usize| reference.pages[target].domain != page.domain;
    let (other, own): (Vec<&usize>, Vec<&usize>) = page.links.iter().partition(is_other);
    let links = other.into_iter().chain(own).map(|&target| PageIndex(target as u64)).collect();
    same("links", &ok(snapshot.links(index))?, &page.history.is_some().then_some(links))?;
    Ok(key)
}
