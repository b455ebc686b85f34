//! `aduana score`: a round of scoring on a stored database.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::{Context, bail};
use indicatif::ProgressBar;
use serde::Serialize;

use super::progress;
use super::report::Hint;
use super::stdout::Stdout;
use crate::frontier::layout;
use crate::graph::{GraphOptions, LinkGraph, Watch, weights};
use crate::pagedb::PageDb;
use crate::score::{DEFAULT_MAX_LOOPS, Hits, PageRank, RoundReport, Run, Scorer, Stop, Stopped};
use crate::types::{PageIndex, SystemClock};

/// Score the pages of a database by the links between them
///
/// One round of PageRank or HITS over all pages as they are now, and the best of them, with a line on
/// standard error that tells how the round ended. Changes nothing; works beside a running server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana score aduana.db --scorer pagerank
  aduana score aduana.db --scorer pagerank --use-scores --top 100
  aduana score aduana.db --scorer hits --json --top 0 | jq -c 'select(.hub > 0.001)'")]
pub struct Args {
    /// The database: the folder that page_db_path names
    path: PathBuf,
    /// Whose scores
    #[arg(long, value_enum)]
    scorer: Kind,
    /// Prefer pages by content scores: those of crawled pages, for others the best score of a link to them
    #[arg(long)]
    use_scores: bool,
    /// PageRank: probability of following a link, from 0 to below 1 [default: 0.85]
    #[arg(long, value_name = "D")]
    damping: Option<f64>,
    /// Stop when no score changes by more than this, in units of the mean score (1 / pages)
    #[arg(long, value_name = "P", default_value_t = 1e-6)]
    precision: f64,
    /// Stop after so many loops in any case; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_LOOPS)]
    max_loops: u32,
    /// Print so many pages, best first; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// One JSON object a line: url, score, and hub for HITS
    #[arg(long)]
    json: bool,
    /// Count only links to other domains
    #[arg(long)]
    only_other_domains: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// How often a reader who follows random links comes by
    Pagerank,
    /// Authorities: pages that good hubs link to
    Hits,
}

/// A scorer that has been through its round.
enum Scored {
    PageRank(PageRank),
    Hits(Hits),
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let stop = Stop { precision: args.precision, max_loops: args.max_loops, ..Stop::default() };
    let mut scored = match (args.scorer, args.damping) {
        (Kind::Pagerank, damping) => {
            Scored::PageRank(PageRank::new(damping.unwrap_or(PageRank::DEFAULT_DAMPING), stop)?)
        }
        (Kind::Hits, None) => Scored::Hits(Hits::new(stop)?),
        (Kind::Hits, Some(_)) => bail!("--damping is of PageRank: leave it out with --scorer hits"),
    };
    let db = PageDb::open_read_only(&args.path.join(layout::PAGES))
        .with_context(|| format!("cannot open {}", args.path.display()))
        .hint("PATH is the folder that page_db_path names")?;
    let bar = progress::bar("reading links")?;
    let report = round(&db, &args, scored.scorer(), &bar);
    bar.finish_and_clear();
    let report = report?;
    let best = best(&scored, args.top);
    let mut out = Stdout::lock();
    print(&db, &scored, &best, args.json, &mut out)?;
    out.flush()?;
    eprintln!("{}", summary(&report));
    Ok(ExitCode::SUCCESS)
}

fn round(
    db: &PageDb,
    args: &Args,
    scorer: &mut dyn Scorer,
    bar: &ProgressBar,
) -> anyhow::Result<RoundReport> {
    let rows = Mutex::new(progress::rows(bar)?);
    let read = |done, all| {
        if let Ok(mut rows) = rows.lock() {
            rows(done, all);
        }
    };
    let mut options = GraphOptions::new(std::env::temp_dir());
    options.only_other_domains = args.only_other_domains;
    let graph = LinkGraph::build(db, &options, Watch { progress: &read, ..Watch::none() })
        .context("cannot read the links")?;
    bar.set_message("reading scores");
    let content = weights(db, args.use_scores)?;
    let looped = |done, _| bar.set_message(format!("scoring, loop {done}"));
    let watch = Watch { progress: &looped, ..Watch::none() };
    let run = Run { threads: 0, watch, warm: None, clock: &SystemClock };
    let report = scorer.update(&graph, content.as_deref(), &run)?;
    // The graph counts indices, and those of deleted pages stay.
    let pages = report.pages.min(db.snapshot()?.counters()?.pages);
    Ok(RoundReport { pages, ..report })
}

impl Scored {
    fn scorer(&mut self) -> &mut dyn Scorer {
        match self {
            Scored::PageRank(scorer) => scorer,
            Scored::Hits(scorer) => scorer,
        }
    }

    fn scores(&self) -> &[f64] {
        match self {
            Scored::PageRank(scorer) => scorer.scores(),
            Scored::Hits(scorer) => scorer.scores(),
        }
    }

    fn hub(&self, page: PageIndex) -> Option<f64> {
        match self {
            Scored::PageRank(_) => None,
            Scored::Hits(scorer) => scorer.hub(page),
        }
    }
}

/// The `top` best pages, best first, all if it is 0; among equal ones the page seen first comes first.
fn best(scored: &Scored, top: usize) -> Vec<u32> {
    let scores = scored.scores();
    let order = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b));
    let mut best: Vec<u32> = (0..scores.len() as u32).collect();
    if top > 0 && top < best.len() {
        best.select_nth_unstable_by(top, order);
        best.truncate(top);
    }
    best.sort_unstable_by(order);
    best
}

/// Pages printed from one snapshot of the database, which must be short-lived.
const PRINTED_AT_ONCE: usize = 1_000;

#[derive(Serialize)]
struct PageJson<'a> {
    url: &'a str,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    hub: Option<f64>,
}

fn print(db: &PageDb, scored: &Scored, best: &[u32], json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    if !json {
        writeln!(out, "{:>8}  {:<12}  url", "rank", "score")?;
    }
    let mut rank = 0;
    for pages in best.chunks(PRINTED_AT_ONCE) {
        let snapshot = db.snapshot()?;
        for &page in pages {
            let (score, page) = (scored.scores()[page as usize], PageIndex(u64::from(page)));
            // The index of a deleted page stays, and leads nowhere.
            let Some((_, url)) = snapshot.url(page)? else { continue };
            rank += 1;
            if json {
                let page = PageJson { url: url.as_str(), score, hub: scored.hub(page) };
                serde_json::to_writer(&mut *out, &page).map_err(io::Error::from)?;
                writeln!(out)?;
            } else {
                writeln!(out, "{rank:>8}  {:<12}  {url}", format!("{score:.6e}"))?;
            }
        }
    }
    Ok(())
}

fn summary(report: &RoundReport) -> String {
    let rule = match report.stopped {
        Stopped::Precision => "stopped by precision",
        Stopped::Rounding => "stopped at the limits of 64 bits",
        Stopped::MaxLoops => "stopped by --max-loops",
    };
    let mut text = format!(
        "{}: {} pages ({} crawled, {} links); {rule} after {} loop{} in {:.2} s; last change {:.1e} of the mean",
        report.scorer,
        report.pages,
        report.crawled,
        report.links,
        report.loops,
        if report.loops == 1 { "" } else { "s" },
        report.duration.as_secs_f64(),
        report.change,
    );
    if let Some(bound) = report.error_bound {
        text.push_str(&format!(", all errors together at most {bound:.1e}"));
    }
    text
}
