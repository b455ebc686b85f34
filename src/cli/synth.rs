//! `aduana synth`: a synthetic link graph.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::stdout::Stdout;
use crate::synth::{MAX_PAGES, Order, Synth, Totals};

/// Write a synthetic link graph that looks like the web, for tests and measurements.
///
/// One crawled page a line, `url<TAB>score<TAB>link score link score ...`, in the order in which a crawl would
/// meet them: about 30 links a page, six known URLs for each crawled one, one domain in 40 pages, sizes by
/// Zipf's law. The same number of pages, seed and order give the same bytes on every machine.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Crawled pages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_PAGES))]
    pages: u64,

    /// Another seed, another graph
    #[arg(long, value_name = "S", default_value_t = 42)]
    seed: u64,

    /// Crawl order: at random among the 5,000 pages that wait longest, or first come first served
    #[arg(long, value_enum, default_value_t = OrderArg::Mix)]
    order: OrderArg,

    /// The file to write instead of the standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum OrderArg {
    Mix,
    Fifo,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let order = match args.order {
        OrderArg::Mix => Order::Mix,
        OrderArg::Fifo => Order::Fifo,
    };
    let mut synth = Synth::new(args.pages, args.seed, order);
    let written = match &args.output {
        Some(path) => {
            let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
            write(&mut synth, file).with_context(|| format!("cannot write {}", path.display()))?
        }
        None => write(&mut synth, Stdout::lock()).context("cannot write to the standard output")?,
    };
    eprintln!("{}", summary(&written));
    Ok(ExitCode::SUCCESS)
}

fn write(synth: &mut Synth, out: impl Write) -> io::Result<Totals> {
    let mut out = BufWriter::with_capacity(1 << 20, out);
    let totals = synth.write_to(&mut out)?;
    out.flush()?;
    Ok(totals)
}

fn summary(totals: &Totals) -> String {
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    format!(
        "pages {} links {} distinct_urls {} domains {} mean_outdeg {:.2} cross {:.1}% mean_url_len {:.1}",
        totals.pages,
        totals.links,
        totals.urls,
        totals.domains,
        share(totals.links, totals.pages),
        100.0 * share(totals.cross_links, totals.links),
        share(totals.link_bytes, totals.links),
    )
}
