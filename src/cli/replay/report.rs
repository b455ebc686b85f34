//! What a run comes to: counts, rates, latencies, and whether every page came once.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::domains::DomainSummary;
use super::fleet::Fleet;
use super::graph::Counts;
use super::meters::{Errors, LatencySummary};
use super::tracker::Named;

/// Domains that are named.
const TOP_DOMAINS: usize = 5;

#[derive(Debug, Serialize)]
pub struct Report {
    /// From the start to the last hand-out or acknowledgement.
    pub seconds: f64,
    /// What the graph file had; null if none was given.
    pub graph: Option<Counts>,
    pub posted: Posted,
    pub post: Option<LatencySummary>,
    pub get: Option<LatencySummary>,
    pub handed_out: HandedOut,
    /// Null without seeds.
    pub reachable: Option<Reachable>,
    pub domains: Domains,
    pub trouble: Trouble,
    /// Why the run failed, if it did.
    pub failure: Option<String>,
}

/// Pages that the server has acknowledged.
#[derive(Debug, Serialize)]
pub struct Posted {
    pub pages: u64,
    pub links: u64,
    pub pages_per_second: f64,
    pub links_per_second: f64,
}

#[derive(Debug, Serialize)]
pub struct HandedOut {
    pub urls: u64,
    pub distinct: u64,
    pub urls_per_second: f64,
    pub empty_answers: u64,
    /// Again, without a reason.
    pub twice: Named,
    /// Hand-outs whose spider died, and those of them that came again.
    pub dead_spiders: u64,
    pub again_after_dead_spider: u64,
    pub again_after_lost_connection: u64,
    /// Pages not acknowledged at the end.
    pub unanswered: u64,
}

/// The pages that can be reached from the seeds, against those handed out.
#[derive(Debug, Serialize)]
pub struct Reachable {
    pub pages: u64,
    /// Of them on a line of the graph.
    pub crawled_pages: u64,
    pub not_handed_out: Named,
    pub handed_out_unreachable: Named,
}

#[derive(Debug, Serialize)]
pub struct Domains {
    pub count: usize,
    /// Those with the most hand-outs.
    pub top: Vec<DomainSummary>,
    /// The one with the most hand-outs in a second.
    pub hottest: Option<DomainSummary>,
}

#[derive(Debug, Serialize)]
pub struct Trouble {
    pub errors: Errors,
    pub busy_retries: u64,
    pub lost_connections: u64,
    /// Requests whose answer was lost; they were sent again.
    pub uncertain_posts: u64,
    pub uncertain_gets: u64,
}

impl Report {
    /// `reachable`: by number, which pages can be reached from the seeds.
    pub fn new(fleet: &Fleet, counts: Option<Counts>, reachable: Option<&[bool]>) -> Report {
        let (meters, tracker) = (fleet.meters.borrow(), fleet.tracker.borrow());
        let elapsed = fleet.last_progress.get().saturating_duration_since(fleet.started);
        let seconds = elapsed.max(Duration::from_millis(1)).as_secs_f64();
        let rate = |count: u64| count as f64 / seconds;
        let domains = fleet.domains.borrow();
        Report {
            seconds,
            graph: counts,
            posted: Posted {
                pages: meters.pages,
                links: meters.links,
                pages_per_second: rate(meters.pages),
                links_per_second: rate(meters.links),
            },
            post: meters.post.summary(seconds),
            get: meters.get.summary(seconds),
            handed_out: HandedOut {
                urls: meters.urls_handed_out,
                distinct: tracker.distinct,
                urls_per_second: rate(meters.urls_handed_out),
                empty_answers: meters.empty_gets,
                twice: tracker.twice.clone(),
                dead_spiders: tracker.dead_spiders,
                again_after_dead_spider: tracker.after_dead_spider,
                again_after_lost_connection: tracker.after_lost_connection,
                unanswered: tracker.unanswered(),
            },
            reachable: reachable.map(|reached| compare(fleet, reached)),
            domains: Domains {
                count: domains.len(),
                top: domains.top(TOP_DOMAINS),
                hottest: domains.hottest(),
            },
            trouble: Trouble {
                errors: meters.errors.clone(),
                busy_retries: meters.busy,
                lost_connections: meters.lost_connections,
                uncertain_posts: meters.uncertain_posts,
                uncertain_gets: meters.uncertain_gets,
            },
            failure: fleet.failure(),
        }
    }

    pub fn has_errors(&self) -> bool {
        self.failure.is_some() || self.trouble.errors.total() > 0
    }

    /// Every reachable page was handed out, each once, and no other.
    pub fn is_complete(&self) -> bool {
        let bad = |reachable: &Reachable| {
            reachable.not_handed_out.count + reachable.handed_out_unreachable.count > 0
        };
        self.handed_out.twice.count == 0 && !self.reachable.as_ref().is_some_and(bad)
    }

    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

fn compare(fleet: &Fleet, reached: &[bool]) -> Reachable {
    let (graph, tracker) = (fleet.graph.borrow(), fleet.tracker.borrow());
    let mut compared = Reachable {
        pages: 0,
        crawled_pages: 0,
        not_handed_out: Named::default(),
        handed_out_unreachable: Named::default(),
    };
    for number in 0..graph.len() as u32 {
        let reachable = reached.get(number as usize).is_some_and(|&reached| reached);
        let handed_out = tracker.was_handed_out(number);
        compared.pages += u64::from(reachable);
        compared.crawled_pages += u64::from(reachable && graph.has_page(number));
        if reachable && !handed_out {
            compared.not_handed_out.add(graph.url(number));
        } else if handed_out && !reachable {
            compared.handed_out_unreachable.add(graph.url(number));
        }
    }
    compared
}
