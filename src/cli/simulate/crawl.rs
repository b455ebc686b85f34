//! A crawl of a [`Web`] in simulated time, through the frontier itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::order::{LinkScores, Order, random};
use super::tau::kendall;
use super::web::{PageNumber, Web};
use crate::frontier::{Frontier, Options, ScoringOptions};
use crate::pagedb::Status;
use crate::score::{Hits, PageRank, Scorer};
use crate::types::time::ManualClock;
use crate::types::{Clock, CrawledPage, Link, PageUrl, Score, Time};

/// Any point of time will do.
const START: Time = Time(1_000_000_000_000);
/// While limits hold pages back, spiders that wait ask again after this time.
const RETRY: Duration = Duration::from_millis(100);
/// Pages wait, nothing is in flight, and nothing was handed out for so long.
const STUCK: Duration = Duration::from_secs(86_400);
/// No spider dies.
const LEASE: Duration = Duration::from_secs(100 * 365 * 86_400);
/// How often in a crawl running scores are compared with the final ones: after each tenth.
pub const COMPARISONS: usize = 10;

/// What is the same for all orders.
pub struct Setup<'a> {
    pub web: &'a Web,
    pub seeds: &'a [PageNumber],
    /// By page.
    pub final_scores: &'a [f64],
    /// Pages that can be reached from the seeds.
    pub reachable: usize,
    pub spiders: usize,
    /// The mean; each page takes from half to one and a half of it, always the same.
    pub fetch_time: Duration,
    pub soft_crawl_limit: f64,
    pub hard_crawl_limit: f64,
    /// What [`Order::BestFirst`] means.
    pub scorer: ScorerName,
    /// The weight of the sites' shares in the scores, if not the default.
    pub site_share: Option<f64>,
}

/// What gives the pages their scores, in the order best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ScorerName {
    /// The scores of the links in the file
    None,
    Pagerank,
    Hits,
}

impl Setup<'_> {
    /// As it stands in reports.
    pub fn name_of(&self, order: Order) -> String {
        match (order, self.scorer) {
            (Order::BestFirst, ScorerName::Pagerank) => "pagerank".to_owned(),
            (Order::BestFirst, ScorerName::Hits) => "hits".to_owned(),
            _ => order.name().to_owned(),
        }
    }

    /// Rounds run when the simulation says, so that every run is the same.
    fn scoring(&self, order: Order) -> Option<ScoringOptions> {
        let scorer: fn() -> Box<dyn Scorer> = match self.scorer {
            _ if order != Order::BestFirst => return None,
            ScorerName::None => return None,
            ScorerName::Pagerank => || Box::new(PageRank::default()),
            ScorerName::Hits => || Box::new(Hits::default()),
        };
        let mut scoring = ScoringOptions::new(Arc::new(scorer));
        scoring.automatic = false;
        scoring.site_share = self.site_share.unwrap_or(scoring.site_share);
        Some(scoring)
    }
}

/// What came of a crawl.
pub struct Crawl {
    /// The pages as they were crawled.
    pub pages: Vec<PageNumber>,
    /// After so many pages, Kendall's tau between the scores of the pages that waited and their final ones.
    pub agreement: Vec<(usize, f64)>,
    pub rounds: u64,
    pub simulated: Duration,
}

struct Simulation<'a> {
    setup: &'a Setup<'a>,
    scores: Box<dyn LinkScores + 'a>,
    clock: Arc<ManualClock>,
    frontier: Frontier,
    /// Landing time, order of departure, page.
    flights: BinaryHeap<Reverse<(u64, u64, PageNumber)>>,
    departures: u64,
    known: Vec<bool>,
    pages_known: usize,
    crawl: Crawl,
}

/// Crawls until nothing is left. `dir` is for the database; `progress` hears how many pages were crawled.
pub async fn crawl(
    setup: &Setup<'_>,
    order: Order,
    dir: &Path,
    progress: &dyn Fn(usize),
) -> anyhow::Result<Crawl> {
    let clock = Arc::new(ManualClock::at(START));
    let frontier = Frontier::open(options(setup, order, dir), clock.clone())?;
    let crawl = Crawl { pages: Vec::new(), agreement: Vec::new(), rounds: 0, simulated: Duration::ZERO };
    let mut simulation = Simulation {
        setup,
        scores: order.scores(setup.web, setup.final_scores),
        clock,
        frontier,
        flights: BinaryHeap::new(),
        departures: 0,
        known: vec![false; setup.web.len()],
        pages_known: 0,
        crawl,
    };
    let done = simulation.run(progress).await;
    simulation.frontier.close()?;
    done?;
    Ok(simulation.crawl)
}

fn options(setup: &Setup, order: Order, dir: &Path) -> Options {
    Options {
        soft_crawl_limit: setup.soft_crawl_limit,
        hard_crawl_limit: setup.hard_crawl_limit,
        lease: LEASE,
        scoring: setup.scoring(order),
        ..Options::new(dir)
    }
}

impl Simulation<'_> {
    async fn run(&mut self, progress: &dyn Fn(usize)) -> anyhow::Result<()> {
        self.plant_seeds().await?;
        let mut idle_since = START;
        while self.crawl.pages.len() < self.pages_known {
            let now = self.clock.now();
            self.land(now).await?;
            progress(self.crawl.pages.len());
            let idle = self.setup.spiders - self.flights.len();
            let urls = self.frontier.request_urls(idle).await?;
            if urls.len() + self.flights.len() > 0 {
                idle_since = now;
            }
            ensure!(now.seconds_since(idle_since) < STUCK.as_secs_f64(), self.stuck());
            let all_busy = urls.len() == idle;
            for url in urls {
                self.depart(now, &url)?;
            }
            self.clock.set(self.next_event(now, all_busy));
        }
        self.crawl.simulated = Duration::from_millis(self.clock.now().0 - START.0);
        Ok(())
    }

    async fn plant_seeds(&mut self) -> anyhow::Result<()> {
        let mut seeds = Vec::new();
        for &page in self.setup.seeds {
            let score = self.scores.seed(page);
            seeds.push(self.link(page, score)?);
            self.find(page);
        }
        self.frontier.submit_seeds(&seeds)?.durable().await?;
        self.frontier.applied().await;
        Ok(())
    }

    fn find(&mut self, page: PageNumber) {
        if !std::mem::replace(&mut self.known[page as usize], true) {
            self.pages_known += 1;
        }
    }

    fn depart(&mut self, now: Time, url: &PageUrl) -> anyhow::Result<()> {
        let page = self.setup.web.number_of(url).with_context(|| format!("{url} is not of the graph"))?;
        let landing = now + self.setup.fetch_time.mul_f64(0.5 + random(page));
        self.flights.push(Reverse((landing.0, self.departures, page)));
        self.departures += 1;
        Ok(())
    }

    /// When there is something to do again.
    fn next_event(&self, now: Time, all_busy: bool) -> Time {
        let landing = self.flights.peek().map(|&Reverse((landing, ..))| Time(landing));
        let waiting = self.pages_known > self.crawl.pages.len() + self.flights.len();
        match landing {
            Some(landing) if all_busy || !waiting => landing,
            Some(landing) => landing.min(now + RETRY),
            None => now + RETRY,
        }
    }

    /// Tells the frontier of the pages that have arrived.
    async fn land(&mut self, now: Time) -> anyhow::Result<()> {
        let mut arrived = Vec::new();
        while let Some(&Reverse((landing, _, page))) = self.flights.peek()
            && landing <= now.0
        {
            self.flights.pop();
            arrived.push(self.crawled(page, now)?);
        }
        if arrived.is_empty() {
            return Ok(());
        }
        self.frontier.submit(&arrived)?.durable().await?;
        self.frontier.applied().await;
        if self.frontier.round_is_due()? {
            self.frontier.rescore().await?;
            self.crawl.rounds += 1;
        }
        let crawled = self.crawl.pages.len();
        let tenths = |pages: usize| pages * COMPARISONS / self.setup.reachable;
        if tenths(crawled) > tenths(crawled - arrived.len()) && crawled < self.setup.reachable {
            self.compare()?;
        }
        Ok(())
    }

    fn crawled(&mut self, page: PageNumber, time: Time) -> anyhow::Result<CrawledPage> {
        let mut links = Vec::new();
        self.scores.push_links(page, &mut links);
        self.crawl.pages.push(page);
        for &(target, _) in &links {
            self.find(target);
        }
        let links = links.into_iter().map(|(target, score)| self.link(target, score));
        Ok(CrawledPage {
            url: self.setup.web.urls[page as usize].clone(),
            score: Score::ZERO,
            time,
            content_hash: None,
            links: links.collect::<anyhow::Result<_>>()?,
        })
    }

    fn link(&self, page: PageNumber, score: f64) -> anyhow::Result<Link> {
        Ok(Link { url: self.setup.web.urls[page as usize].clone(), score: Score::new(score)?, anchor: None })
    }

    /// Notes how far the scores of the waiting pages agree with their final ones.
    fn compare(&mut self) -> anyhow::Result<()> {
        let mut pairs = Vec::new();
        for row in self.frontier.pages() {
            let row = row?;
            if row.state.status == Status::Scheduled
                && let Some(page) = self.setup.web.number_of(&row.url)
            {
                pairs.push((f64::from(row.state.score.get()), self.setup.final_scores[page as usize]));
            }
        }
        self.crawl.agreement.extend(kendall(&mut pairs).map(|tau| (self.crawl.pages.len(), tau)));
        Ok(())
    }

    fn stuck(&self) -> String {
        let waiting = self.pages_known - self.crawl.pages.len();
        format!("{waiting} pages wait, but for a simulated day none was handed out: give higher limits")
    }
}
