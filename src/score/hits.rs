//! HITS: hubs and authorities (Kleinberg 1999; Aduana's manual, 3.18).
//!
//! # Formula
//!
//! A page is a good *authority* if good hubs link to it, and a good *hub* if it links to good authorities:
//!
//! > a = Lᵀ h / ‖Lᵀ h‖₁,  h = L C a / ‖L C a‖₁
//!
//! L has a 1 for each link. C is the diagonal matrix of content scores, if they are used: authority flows back
//! to the hub in proportion to the content's score, hub(A) = Σ content(B) · authority(B) over the links
//! A → B. Negative content scores count as 0; if none is positive all count as 1. Without content scores C is
//! 1, and a and h are the dominant singular vectors of L, each scaled to sum 1 as networkx does. The authority
//! is the score.
//!
//! # Iteration
//!
//! The power method: from a the hub values of the crawled pages (no others have out-links), over the
//! out-links; from them the new a, over the in-links. ‖Lᵀ h‖₁ = Σ h · out-degree is known from the first
//! half; so the second writes each page's new authority over the old one, scaled. Each half runs over
//! the pages in parallel; every sum has its own order, so the result is the same to the last bit for any
//! number of threads. Sums have 64 bits.
//!
//! It starts from a uniform a, or from the scores of an earlier round with an eighth of a uniform one mixed in:
//! what has become dominant among pages that had no score then must be found, too.
//!
//! # What is ambiguous
//!
//! If several groups of pages without links between them are equally dominant, every mixture of their vectors
//! solves the equations; the uniform start decides, each group keeping the share that it had. If no authority
//! can flow (no links, or content scores of 0 for every page that has links) all pages get 1 / pages, as
//! authority and as hub.
//!
//! # Stopping, and the error
//!
//! The change of a loop is that of the authorities, in the norm of the stopping rule (`stop.rs`). The error
//! falls by the ratio of the two largest squared singular values in each loop; as nobody knows that ratio,
//! there is no bound to report, and where it is close to 1 the error can be many times the last change.
//!
//! # Memory
//!
//! Eight bytes a page for the authorities, eight a crawled page for the hubs.

use rayon::prelude::*;

use super::parts::{self, Change};
use super::preference::Weights;
use super::stop::Loops;
use super::{Estimate, Norm, RoundReport, Run, ScoreError, Scorer, Stop, Stopped, team};
use crate::graph::{Crawled, LinkGraph};
use crate::types::PageIndex;

/// Crawled pages in a part of the first half; a multiple of the lists in a packed group.
const CRAWLED: usize = 1 << 11;
/// Share of a uniform vector in the start from an earlier round.
const UNIFORM_SHARE: f64 = 0.125;
/// Values below this are 0: a group of pages that is not dominant dies out exponentially, and computing
/// with the last, denormal numbers is slow.
const NOTHING: f64 = 1e-200;

/// The scorer; see the module.
#[derive(Debug, Clone)]
pub struct Hits {
    stop: Stop,
    authorities: Vec<f64>,
    hubs: Hubs,
    estimate: Estimate,
}

#[derive(Debug, Clone)]
enum Hubs {
    /// By rank among the crawled pages; the others have 0.
    OfCrawled(Vec<f64>, Crawled),
    /// All pages alike: no authority flows.
    Uniform,
}

impl Hits {
    /// # Errors
    /// [`ScoreError::Setting`] for a precision that is no number.
    pub fn new(stop: Stop) -> Result<Self, ScoreError> {
        stop.check()?;
        Ok(Hits { stop, ..Hits::default() })
    }

    /// The authorities of the last round by page index; their sum is 1.
    pub fn scores(&self) -> &[f64] {
        &self.authorities
    }

    /// The hub score of a page after the last round; the sum of all is 1.
    pub fn hub(&self, page: PageIndex) -> Option<f64> {
        let index = u32::try_from(page.0).ok().filter(|&index| (index as usize) < self.authorities.len())?;
        match &self.hubs {
            Hubs::Uniform => Some(1.0 / self.authorities.len() as f64),
            Hubs::OfCrawled(_, crawled) if !crawled.contains(index) => Some(0.0),
            Hubs::OfCrawled(hubs, crawled) => hubs.get(crawled.rank(index) as usize).copied(),
        }
    }
}

impl Default for Hits {
    fn default() -> Self {
        let (stop, estimate) = (Stop::default(), Estimate::default());
        Hits { stop, authorities: Vec::new(), hubs: Hubs::Uniform, estimate }
    }
}

impl Scorer for Hits {
    fn name(&self) -> &'static str {
        "hits"
    }

    fn update(
        &mut self,
        graph: &LinkGraph,
        content: Option<&[f32]>,
        run: &Run<'_>,
    ) -> Result<RoundReport, ScoreError> {
        let started = run.clock.now();
        let team = team::new(run.threads)?;
        let solved = team.install(|| {
            let weights = Weights::new(content, graph.pages() as usize);
            Solver::new(graph, weights, run.warm).solve(self.stop, run)
        })?;
        self.authorities = solved.authorities;
        self.hubs = solved.hubs;
        self.estimate = Estimate { hub: solved.hub_factor, pages: graph.pages(), ..Estimate::default() };
        Ok(RoundReport {
            scorer: self.name(),
            pages: graph.pages(),
            crawled: graph.crawled(),
            links: graph.links(),
            loops: solved.loops,
            stopped: solved.stopped,
            change: solved.change,
            error_bound: None,
            duration: std::time::Duration::from_millis(run.clock.now().0.saturating_sub(started.0)),
        })
    }

    fn get(&self, page: PageIndex) -> Option<f64> {
        self.authorities.get(usize::try_from(page.0).ok()?).copied()
    }

    /// `hub` times the authorities behind its parents' links is the authority that one more loop would give
    /// a page, without content scores. With them, what they would weigh is not known between rounds: the
    /// factor is such that the estimates of all the pages that had a score would sum to 1, too.
    fn estimate(&self) -> Estimate {
        self.estimate
    }
}

struct Solved {
    authorities: Vec<f64>,
    hubs: Hubs,
    hub_factor: f64,
    loops: u32,
    stopped: Stopped,
    change: f64,
}

struct Solver<'a> {
    graph: &'a LinkGraph,
    weights: Weights<'a>,
    /// By page index; the sum is 1.
    authorities: Vec<f64>,
    /// By rank, of any length.
    hubs: Vec<f64>,
}

/// Sums over the hubs.
#[derive(Clone, Copy, Default)]
struct HubSums {
    hubs: f64,
    /// What all links carry to their targets: ‖Lᵀ h‖₁.
    carried: f64,
    /// The same if all pages had weighed the same.
    unweighted: f64,
}

impl<'a> Solver<'a> {
    fn new(graph: &'a LinkGraph, weights: Weights<'a>, warm: Option<&[f64]>) -> Self {
        let pages = graph.pages() as usize;
        let uniform = 1.0 / pages as f64;
        let mut authorities = vec![uniform; pages];
        if let Some(warm) = warm {
            let sane = |score: f64| if (0.0..=1.0).contains(&score) { score } else { 0.0 };
            let known = warm.iter().chain(std::iter::repeat(&0.0));
            for (authority, &score) in authorities.iter_mut().zip(known) {
                *authority = UNIFORM_SHARE * uniform + (1.0 - UNIFORM_SHARE) * sane(score);
            }
        }
        Solver { graph, weights, authorities, hubs: vec![0.0; graph.crawled() as usize] }
    }

    fn solve(mut self, stop: Stop, run: &Run<'_>) -> Result<Solved, ScoreError> {
        let mut loops = Loops::new(stop);
        let pages = self.authorities.len() as f64;
        let (stopped, change) = loop {
            if run.watch.is_cancelled() {
                return Err(ScoreError::Cancelled);
            }
            let sums = self.hubs(run)?;
            if sums.carried <= 0.0 {
                return Ok(self.uniform(loops.done));
            }
            let change = self.authorities(1.0 / sums.carried, run)?;
            let measured = match stop.norm {
                Norm::Largest => change.largest * pages,
                Norm::Total => change.total,
            };
            let stopped = loops.after(change.total, Some(measured));
            (run.watch.progress)(u64::from(loops.done), u64::from(stop.max_loops.max(loops.done)));
            if let Some(stopped) = stopped {
                break (stopped, measured);
            }
        };
        let sums = self.hubs(run)?;
        if sums.hubs <= 0.0 {
            return Ok(self.uniform(loops.done));
        }
        self.hubs.par_iter_mut().for_each(|hub| *hub /= sums.hubs);
        // Rounding has moved it from 1 by some last bits.
        let length = sum(&self.authorities);
        self.authorities.par_iter_mut().for_each(|authority| *authority /= length);
        Ok(Solved {
            authorities: self.authorities,
            hubs: Hubs::OfCrawled(self.hubs, self.graph.crawled_pages().clone()),
            hub_factor: 1.0 / sums.unweighted,
            loops: loops.done,
            stopped,
            change,
        })
    }

    /// The hubs from the authorities.
    fn hubs(&mut self, run: &Run<'_>) -> Result<HubSums, ScoreError> {
        let Solver { graph, weights, authorities, hubs } = self;
        let compute = |scratch: &mut Vec<u32>, (part, hubs): (usize, &mut [f64])| {
            let mut sums = HubSums::default();
            let first = part * CRAWLED;
            if run.watch.is_cancelled() {
                return Err(ScoreError::Cancelled);
            }
            graph.out_lists().for_each(first..first + hubs.len(), scratch, |rank, targets| {
                let degree = targets.len() as f64;
                let plain: f64 = targets.iter().map(|&target| authorities[target as usize]).sum();
                let weigh = |&target: &u32| weights.get(target as usize) * authorities[target as usize];
                let weighed = if weights.is_uniform() { plain } else { targets.iter().map(weigh).sum() };
                let hub = if weighed < NOTHING { 0.0 } else { weighed };
                hubs[rank - first] = hub;
                sums.hubs += hub;
                sums.carried += hub * degree;
                sums.unweighted += plain * degree;
            })?;
            Ok(sums)
        };
        let parts = hubs.par_chunks_mut(CRAWLED).enumerate().map_init(Vec::new, compute);
        let sums: Vec<HubSums> = parts.collect::<Result<_, ScoreError>>()?;
        Ok(sums.into_iter().fold(HubSums::default(), |a, b| HubSums {
            hubs: a.hubs + b.hubs,
            carried: a.carried + b.carried,
            unweighted: a.unweighted + b.unweighted,
        }))
    }

    /// The authorities from the hubs, times `scale`.
    fn authorities(&mut self, scale: f64, run: &Run<'_>) -> Result<Change, ScoreError> {
        let Solver { graph, authorities, hubs, .. } = self;
        let compute = |scratch: &mut Vec<u32>, (part, authorities): (usize, &mut [f64])| {
            let mut change = Change::default();
            let first = part * parts::PAGES;
            let pages = first as u32..(first + authorities.len()) as u32;
            if run.watch.is_cancelled() {
                return Err(ScoreError::Cancelled);
            }
            let mut set = |page: u32, sources: &[u32]| {
                let value = scale * sources.iter().map(|&source| hubs[source as usize]).sum::<f64>();
                let value = if value < NOTHING { 0.0 } else { value };
                let authority = &mut authorities[page as usize - first];
                change.add((value - *authority).abs());
                *authority = value;
            };
            let crawled = graph.crawled_pages();
            let ranks = crawled.rank(pages.start) as usize..crawled.rank(pages.end) as usize;
            let mut of_ranks = crawled.iter_from(ranks.start as u32);
            graph.lists_into_crawled().for_each(ranks, scratch, |_, sources| {
                if let Some(page) = of_ranks.next() {
                    set(page, sources);
                }
            })?;
            graph.for_each_other(pages, scratch, set)?;
            Ok(change)
        };
        let parts = authorities.par_chunks_mut(parts::PAGES).enumerate().map_init(Vec::new, compute);
        let changes: Vec<Change> = parts.collect::<Result<_, ScoreError>>()?;
        Ok(changes.into_iter().fold(Change::default(), Change::join))
    }

    /// The answer where no authority flows.
    fn uniform(mut self, loops: u32) -> Solved {
        let uniform = 1.0 / self.authorities.len() as f64;
        self.authorities.fill(uniform);
        Solved {
            authorities: self.authorities,
            hubs: Hubs::Uniform,
            hub_factor: 0.0,
            loops,
            stopped: Stopped::Precision,
            change: 0.0,
        }
    }
}

fn sum(values: &[f64]) -> f64 {
    let sums: Vec<f64> = values.par_chunks(parts::PAGES).map(|chunk| chunk.iter().sum()).collect();
    sums.into_iter().sum()
}
