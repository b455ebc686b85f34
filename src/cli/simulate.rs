//! `aduana simulate`: crawls of a fixed graph in simulated time, to choose an order before paying for a crawl.

mod crawl;
mod curve;
mod order;
mod picture;
mod png;
mod report;
mod svg;
mod tau;
mod web;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::replay::graph::Graph;
use super::stdout::Stdout;
use crate::settings::read_seeds;
use crate::types::PageUrl;
use crawl::{ScorerName, Setup};
use order::Order;
use report::{Entry, Report};
use web::Web;

/// Crawl a link graph in simulated time, without a network, to see which order of pages collects most soonest.
///
/// Each order runs through the frontier itself, into a database that is deleted afterwards, until all that can be
/// reached from the seeds is crawled. What is measured: the share of the final PageRank of all pages of GRAPH
/// collected against the share of pages crawled; the area under this curve, over the whole crawl and over its first
/// fifth, is told as a fraction of that of the omniscient order, which always runs, too. Kendall's tau says how far the scores of
/// the waiting pages agree with their final PageRank. The table goes to the standard output; curves go to
/// OUTPUT.csv, OUTPUT.svg and OUTPUT.png. GRAPH is what `aduana replay` reads.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The link-graph file; `-` is the standard input
    graph: PathBuf,

    /// The pages to start from, a URL a line
    #[arg(long, value_name = "FILE")]
    seeds: PathBuf,

    /// The orders to compare, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Order::BestFirst, Order::Opic, Order::InLinks,
        Order::BreadthFirst, Order::Random, Order::LargestSitesFirst])]
    order: Vec<Order>,

    /// What scores the pages in the order best-first, with the defaults of the settings
    #[arg(long, value_enum, default_value_t = ScorerName::Pagerank)]
    scorer: ScorerName,

    /// How much a waiting page gains from what its domain has still to show; by default that of the settings, 0 for
    /// the scorer alone
    #[arg(long, value_name = "W", value_parser = not_negative)]
    site_share: Option<f64>,

    /// Pages that are fetched at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    spiders: u64,

    /// Mean time of a fetch; each page takes from half to one and a half of it
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = positive)]
    fetch_seconds: f64,

    /// Hand-outs a second of a domain up to which it is preferred
    #[arg(long, value_name = "R", default_value_t = f64::INFINITY, value_parser = limit)]
    soft_crawl_limit: f64,

    /// Hand-outs a second of a domain that are never exceeded
    #[arg(long, value_name = "R", default_value_t = f64::INFINITY, value_parser = limit)]
    hard_crawl_limit: f64,

    /// The beginning of the names of the files that are written
    #[arg(long, short, value_name = "PATH", default_value = "simulation")]
    output: PathBuf,

    /// Where the database of the simulation may lie; best in memory. By default /dev/shm if it exists, else the folder for
    /// temporary files
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// No progress bar
    #[arg(long)]
    no_progress: bool,
}

const EXAMPLES: &str = "\
Examples:
  aduana simulate graph.tsv.zst --seeds seeds.txt
  aduana simulate graph.tsv --seeds seeds.txt --order best-first,opic --spiders 16 --hard-crawl-limit 1";

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let seeds: Vec<PageUrl> = read_seeds(&args.seeds)?.into_iter().map(|seed| seed.url).collect();
    if seeds.is_empty() {
        bail!("{} has no seeds: name a URL to start from", args.seeds.display());
    }
    let (web, seeds) = Web::new(Graph::read(&args.graph)?, &seeds);
    let final_scores = web.final_scores();
    let setup = Setup {
        web: &web,
        seeds: &seeds,
        final_scores: &final_scores,
        reachable: web.reachable(&seeds),
        spiders: args.spiders as usize,
        fetch_time: Duration::from_secs_f64(args.fetch_seconds),
        soft_crawl_limit: args.soft_crawl_limit,
        hard_crawl_limit: args.hard_crawl_limit,
        scorer: args.scorer,
        site_share: args.site_share,
    };
    let mut entries = Vec::new();
    for order in orders(&args.order) {
        entries.push(simulate(args, &setup, order)?);
    }
    let report = Report::new(&setup, entries);
    report.write_files(&args.output)?;
    let mut out = Stdout::lock();
    report.write_text(&mut out)?;
    std::io::Write::flush(&mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// The orders asked for, each once, and the omniscient one first: the others are measured by it.
fn orders(asked: &[Order]) -> Vec<Order> {
    let mut seen = HashSet::new();
    let all = [Order::Omniscient].iter().chain(asked).copied();
    all.filter(|order| seen.insert(order.name())).collect()
}

fn simulate(args: &Args, setup: &Setup, order: Order) -> anyhow::Result<Entry> {
    let parent = args.dir.clone().unwrap_or_else(fast_dir);
    let prefix = "aduana-simulate-";
    let dir = tempfile::Builder::new().prefix(prefix).tempdir_in(&parent);
    let dir =
        dir.with_context(|| format!("cannot make a folder in {}: give another --dir", parent.display()))?;
    let bar = bar(args, setup.reachable as u64, order)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let began = Instant::now();
    let crawl =
        runtime.block_on(crawl::crawl(setup, order, dir.path(), &|pages| bar.set_position(pages as u64)));
    bar.finish_and_clear();
    let crawl = crawl.with_context(|| format!("the simulation of {} failed", order.name()))?;
    Ok(Entry::new(order, setup, &crawl, began.elapsed()))
}

fn bar(args: &Args, pages: u64, order: Order) -> anyhow::Result<ProgressBar> {
    let target = if args.no_progress { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(pages), target);
    let template = "{msg:19} {elapsed_precise} {wide_bar} {human_pos}/{human_len} pages, {eta} left";
    bar.set_style(ProgressStyle::with_template(template)?);
    bar.set_message(order.name());
    Ok(bar)
}

/// Every step waits for the database: memory is much faster than a disk.
fn fast_dir() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (1e-3..=1e6).contains(number));
    number.ok_or_else(|| "give a number from 0.001 to 1000000".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1e6).contains(number));
    number.ok_or_else(|| "give a number from 0 to 1000000".to_owned())
}

/// So low a limit that a page takes longer than a simulated day is none that ends.
fn limit(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|&number: &f64| number >= 1e-3);
    number.ok_or_else(|| "give a number from 0.001, or inf for no limit".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_omniscient_order_always_runs_and_none_twice() {
        assert_eq!(orders(&[Order::Opic, Order::Opic]), [Order::Omniscient, Order::Opic]);
        assert_eq!(orders(&[Order::Random, Order::Omniscient]), [Order::Omniscient, Order::Random]);
    }
}
