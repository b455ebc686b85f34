//! PageRank (Brin and Page 1998; Aduana's manual, 3.17).
//!
//! # Formula
//!
//! A reader follows a random link of the page with probability d, the *damping*, and otherwise, or if there is
//! no link, jumps to a page chosen by the *preference vector* v, which sums to 1: uniform, or the content
//! scores (negative ones count as 0; if none is positive, uniform). The score x of a page is the share of time
//! spent there:
//!
//! > x = d Aᵀ x + d δ v + (1 - d) v
//!
//! A is the matrix of links, each row divided by the page's out-degree, and δ the score of all *dangling*
//! pages together, those without out-links: their score goes where v says. A link to the page itself counts as any other.
//!
//! The terms with v can be put together: x = d Aᵀ x + c v with a number c. So x is, up to its length, the
//! solution y of
//!
//! > y = d Aᵀ y + v
//!
//! and x = y / ‖y‖₁, c = 1 / ‖y‖₁ (Del Corso, Gullì, Romani 2005; Bianchini, Gori, Scarselli 2005). In this
//! form dangling pages need no treatment: nothing flows from them. Pages that were not crawled, most of
//! those known, are all dangling; so the iteration runs over the crawled pages only, whose scores depend on
//! nothing else, and one last pass gives the others theirs.
//!
//! # Iteration
//!
//! Block Gauss-Seidel: the crawled pages are cut into at most 32 blocks by rank. One after the other, the
//! pages of a block are computed in parallel from the current values of all pages, then replaced together.
//! Blocks and the order of every sum depend on the graph alone; so the result is the same to the last bit for
//! any number of threads. Sums have 64 bits.
//!
//! A round starts from the scores of an earlier one, if they are given (c then is 1 - d times the score of
//! pages with out-links, which turns x into y), otherwise from v.
//!
//! # Stopping, and the error
//!
//! With δ the change of the crawled pages' values in the last loop, what is left of the equation is
//! r = d Bᵀ δ with a part B of A, so ‖r‖₁ ≤ d ‖δ‖₁, and the distance to the solution is at most
//! ‖r‖₁ / (1 - d). Dividing by the length at most doubles it. Hence the bound that is reported:
//!
//! > ‖x - exact x‖₁ ≤ 2 d / (1 - d) · ‖δ‖₁ / ‖y‖₁
//!
//! It holds over all pages, because those not crawled are computed from the final values, exactly.
//!
//! [`Norm::Largest`] looks at every page: once the crawled ones change by no more than the precision, the
//! others are computed in each loop, too, and must not either. [`Norm::Total`] compares the bound above
//! with the precision. `stop.rs` says what the default means.
//!
//! # Memory
//!
//! Eight bytes a page for the scores, and twelve more a crawled page while a round runs.

use rayon::prelude::*;

use super::parts::{self, Change, Part};
use super::preference::Weights;
use super::stop::Loops;
use super::{Estimate, Norm, RoundReport, Run, ScoreError, Scorer, Stop, Stopped, team};
use crate::graph::{GraphError, LinkGraph};
use crate::types::PageIndex;

/// The scorer; see the module.
#[derive(Debug, Clone)]
pub struct PageRank {
    damping: f64,
    stop: Stop,
    scores: Vec<f64>,
    estimate: Estimate,
}

impl PageRank {
    pub const DEFAULT_DAMPING: f64 = 0.85;

    /// # Errors
    /// [`ScoreError::Setting`] for a damping that is not from 0 to below 1, or a precision that is no number.
    pub fn new(damping: f64, stop: Stop) -> Result<Self, ScoreError> {
        if !(0.0..1.0).contains(&damping) {
            let remedy = "give a number from 0 to below 1";
            return Err(ScoreError::Setting { field: "damping", value: damping, remedy });
        }
        stop.check()?;
        let estimate = Estimate { share: damping, ..Estimate::default() };
        Ok(PageRank { damping, stop, estimate, ..PageRank::default() })
    }

    /// The scores of the last round by page index; their sum is 1.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }
}

impl Default for PageRank {
    /// With damping 0.85, the value of the paper.
    fn default() -> Self {
        let (damping, stop) = (PageRank::DEFAULT_DAMPING, Stop::default());
        let estimate = Estimate { share: damping, ..Estimate::default() };
        PageRank { damping, stop, scores: Vec::new(), estimate }
    }
}

impl Scorer for PageRank {
    fn name(&self) -> &'static str {
        "pagerank"
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
            Solver::new(graph, weights, self.damping, run.warm)?.solve(self.stop, run)
        })?;
        self.scores = solved.scores;
        let (base, share, pages) = (solved.base, self.damping, graph.pages());
        self.estimate = Estimate { base, share, pages, ..Estimate::default() };
        Ok(RoundReport {
            scorer: self.name(),
            pages: graph.pages(),
            crawled: graph.crawled(),
            links: graph.links(),
            loops: solved.loops,
            stopped: solved.stopped,
            change: solved.change,
            error_bound: Some(solved.error_bound),
            duration: std::time::Duration::from_millis(run.clock.now().0.saturating_sub(started.0)),
        })
    }

    fn get(&self, page: PageIndex) -> Option<f64> {
        self.scores.get(usize::try_from(page.0).ok()?).copied()
    }

    /// A new page's preference is taken to be the mean.
    fn estimate(&self) -> Estimate {
        self.estimate
    }
}

struct Solved {
    scores: Vec<f64>,
    base: f64,
    loops: u32,
    stopped: Stopped,
    change: f64,
    error_bound: f64,
}

struct Solver<'a> {
    graph: &'a LinkGraph,
    weights: Weights<'a>,
    damping: f64,
    parts: Vec<Part>,
    /// y by page index.
    y: Vec<f64>,
    /// By rank, what the page gives to each page that it links to: d y / out-degree; 0 without out-links.
    given: Vec<f64>,
    /// By rank.
    degrees: Vec<u32>,
    /// New values of the pages of a block.
    fresh: Vec<f64>,
}

/// What a sweep over the crawled pages did.
#[derive(Clone, Copy, Default)]
struct Sweep {
    change: Change,
    /// Sum of y over the pages with out-links.
    flowing: f64,
}

impl<'a> Solver<'a> {
    fn new(
        graph: &'a LinkGraph,
        weights: Weights<'a>,
        damping: f64,
        warm: Option<&[f64]>,
    ) -> Result<Self, GraphError> {
        let crawled = graph.crawled() as usize;
        let degrees = out_degrees(graph)?;
        let mut y = vec![0.0; graph.pages() as usize];
        let preference = |page: usize| weights.get(page) / weights.sum;
        let unit = 1.0 / warm.map_or(1.0, |warm| constant(graph, &degrees, damping, warm));
        y.par_iter_mut().enumerate().for_each(|(page, y)| {
            let known = warm.and_then(|warm| warm.get(page)).map(|&score| sane(score) * unit);
            *y = known.unwrap_or_else(|| preference(page));
        });
        let mut given = Vec::with_capacity(crawled);
        let pages = graph.crawled_pages().iter_from(0);
        given.extend(pages.zip(&degrees).map(|(page, &degree)| share(damping, y[page as usize], degree)));
        let parts = parts::of_crawled(graph.crawled_pages());
        let fresh = vec![0.0; parts::pages_in_block(crawled)];
        Ok(Solver { graph, weights, damping, parts, y, given, degrees, fresh })
    }

    fn solve(mut self, stop: Stop, run: &Run<'_>) -> Result<Solved, ScoreError> {
        let pages = self.y.len() as f64;
        let mut loops = Loops::new(stop);
        loop {
            let sweep = self.sweep(run)?;
            // ‖y‖₁ = 1 + d · the sum over pages with out-links: all of v, and what flows.
            let length = 1.0 + self.damping * sweep.flowing;
            let error_bound = 2.0 * self.damping / (1.0 - self.damping) * sweep.change.total / length;
            let mut change = match stop.norm {
                Norm::Largest => sweep.change.largest * pages / length,
                Norm::Total => error_bound,
            };
            let mut are_others_known = false;
            if stop.norm == Norm::Largest && change <= stop.precision {
                change = change.max(self.others()?.largest * pages / length);
                are_others_known = true;
            }
            let measured = (stop.norm == Norm::Total || are_others_known).then_some(change);
            let stopped = loops.after(sweep.change.total / length, measured);
            (run.watch.progress)(u64::from(loops.done), u64::from(stop.max_loops.max(loops.done)));
            if let Some(stopped) = stopped {
                if !are_others_known {
                    self.others()?;
                }
                let error_bound = error_bound.min(2.0);
                return Ok(self.normalised(loops.done, stopped, change, error_bound));
            }
        }
    }

    /// One loop over the crawled pages.
    fn sweep(&mut self, run: &Run<'_>) -> Result<Sweep, ScoreError> {
        let mut all = Sweep::default();
        let n = parts::in_block(self.degrees.len());
        for block in 0..self.parts.len().div_ceil(n) {
            if run.watch.is_cancelled() {
                return Err(ScoreError::Cancelled);
            }
            let block = block * n..self.parts.len().min((block + 1) * n);
            for sweep in self.compute(block.clone())? {
                all.change = all.change.join(sweep.change);
                all.flowing += sweep.flowing;
            }
            self.replace(block);
        }
        Ok(all)
    }

    /// The new values of a block's pages, into `fresh`.
    fn compute(&mut self, block: std::ops::Range<usize>) -> Result<Vec<Sweep>, GraphError> {
        let Solver { graph, weights, parts, y, given, degrees, fresh, .. } = self;
        let parts = &parts[block];
        let first = parts.first().map_or(0, |part| part.ranks.start);
        let ranks = parts.iter().map(|part| part.ranks.start - first..part.ranks.end - first);
        let fresh = parts::split(fresh, ranks);
        let compute = |scratch: &mut Vec<u32>, (part, fresh): (&Part, &mut [f64])| {
            let mut sweep = Sweep::default();
            let mut pages = graph.crawled_pages().iter_from(part.ranks.start as u32);
            graph.lists_into_crawled().for_each(part.ranks.clone(), scratch, |rank, sources| {
                let page = pages.next().unwrap_or(0) as usize;
                let value = weights.get(page) / weights.sum + sum(given, sources);
                sweep.change.add((value - y[page]).abs());
                if degrees[rank] > 0 {
                    sweep.flowing += value;
                }
                fresh[rank - part.ranks.start] = value;
            })?;
            Ok(sweep)
        };
        parts.par_iter().zip(fresh).map_init(Vec::new, compute).collect()
    }

    /// Replaces the values of a block's pages by those in `fresh`.
    fn replace(&mut self, block: std::ops::Range<usize>) {
        let damping = self.damping;
        let (crawled, degrees, fresh) = (self.graph.crawled_pages(), &self.degrees, &self.fresh);
        let parts = &self.parts[block];
        let first = parts.first().map_or(0, |part| part.ranks.start);
        let y = parts::split(&mut self.y, parts.iter().map(|part| part.pages.clone()));
        let given = parts::split(&mut self.given, parts.iter().map(|part| part.ranks.clone()));
        parts.par_iter().zip(y).zip(given).for_each(|((part, y), given)| {
            let fresh = &fresh[part.ranks.start - first..part.ranks.end - first];
            let degrees = &degrees[part.ranks.clone()];
            let pages = crawled.iter_from(part.ranks.start as u32);
            for (((page, &value), given), &degree) in pages.zip(fresh).zip(given).zip(degrees) {
                y[page as usize - part.pages.start] = value;
                *given = share(damping, value, degree);
            }
        });
    }

    /// The values of the pages that were not crawled, and how much they differ from what was there.
    fn others(&mut self) -> Result<Change, GraphError> {
        let Solver { graph, weights, y, given, .. } = self;
        let compute = |scratch: &mut Vec<u32>, (at, y): (usize, &mut [f64])| {
            let mut change = Change::default();
            let first = at * parts::PAGES;
            let pages = first as u32..(first + y.len()) as u32;
            graph.for_each_other(pages, scratch, |page, sources| {
                let value = weights.get(page as usize) / weights.sum + sum(given, sources);
                let y = &mut y[page as usize - first];
                change.add((value - *y).abs());
                *y = value;
            })?;
            Ok(change)
        };
        let parts = y.par_chunks_mut(parts::PAGES).enumerate();
        let changes: Result<Vec<Change>, GraphError> = parts.map_init(Vec::new, compute).collect();
        Ok(changes?.into_iter().fold(Change::default(), Change::join))
    }

    fn normalised(self, loops: u32, stopped: Stopped, change: f64, error_bound: f64) -> Solved {
        let mut scores = self.y;
        let sums: Vec<f64> = scores.par_chunks(parts::PAGES).map(|chunk| chunk.iter().sum()).collect();
        let length: f64 = sums.into_iter().sum();
        scores.par_iter_mut().for_each(|score| *score /= length);
        // Without pages there is no length.
        let base = if scores.is_empty() { 0.0 } else { 1.0 / length / scores.len() as f64 };
        Solved { scores, base, loops, stopped, change, error_bound }
    }
}

/// What all sources give together.
#[inline]
fn sum(given: &[f64], sources: &[u32]) -> f64 {
    sources.iter().map(|&source| given[source as usize]).sum()
}

#[inline]
fn share(damping: f64, value: f64, degree: u32) -> f64 {
    if degree == 0 { 0.0 } else { damping * value / f64::from(degree) }
}

/// By rank.
fn out_degrees(graph: &LinkGraph) -> Result<Vec<u32>, GraphError> {
    let mut degrees = vec![0; graph.crawled() as usize];
    graph.out_lists().for_each(0..degrees.len(), &mut Vec::new(), |rank, targets| {
        degrees[rank] = targets.len() as u32;
    })?;
    Ok(degrees)
}

/// The number c for scores of an earlier round, were they those of this graph.
fn constant(graph: &LinkGraph, degrees: &[u32], damping: f64, warm: &[f64]) -> f64 {
    let pages = graph.crawled_pages().iter_from(0).zip(degrees).filter(|(_, degree)| **degree > 0);
    let flowing: f64 = pages.map(|(page, _)| warm.get(page as usize).map_or(0.0, |&score| sane(score))).sum();
    (1.0 - damping * flowing).clamp(1.0 - damping, 1.0)
}

/// A score of an earlier round; what can be none counts as 0.
fn sane(score: f64) -> f64 {
    if (0.0..=1.0).contains(&score) { score } else { 0.0 }
}
