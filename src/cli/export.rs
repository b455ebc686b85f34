//! `aduana export`: a database in formats that others read.

mod link_graph;
mod ndjson;
mod nutch;
mod output;
mod page;
mod parquet;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::progress;
use super::report::Hint;
use crate::frontier::layout;
use crate::pagedb::PageDb;
use output::Output;

/// Write what a database knows, for other programs
///
/// Works beside a running server: each page is as of the moment that it is read, and every page that was there at
/// the start comes once. The memory is that of a few thousand pages, whatever the size of the database.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Formats:
  ndjson      a page a line: url, status, score, depth, crawls and more; domain by domain
  link-graph  a crawled page a line, in the order in which the pages were first seen:
              url<TAB>score<TAB>link score link score ..., which import and replay read.
              The score of a page is its content's, that of a link the best that anybody
              gave the page it leads to
  parquet     the columns of ndjson, in row groups of 100,000 pages
  nutch-fetchlist  the best waiting pages as the fetch list of a new segment of Nutch 0.4 or 0.5,
              the folder that --output names

Examples:
  aduana export aduana.db --format ndjson | jq -r 'select(.crawls > 1) | .url'
  aduana export aduana.db --format link-graph | zstd > links.tsv.zst && aduana import new.db links.tsv.zst
  aduana export aduana.db --format parquet --links --output pages.parquet
  aduana export aduana.db --format nutch-fetchlist --output segment --top 10000 --per-host 100")]
pub struct Args {
    /// The database: the folder that page_db_path names
    path: PathBuf,
    #[arg(long, value_enum)]
    format: Format,
    /// The file to write; - is the standard output. It appears when it is complete
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Also the URLs that each crawled page links to (NDJSON: with their anchors); a link graph has them anyway
    #[arg(long)]
    links: bool,
    #[command(flatten)]
    nutch: nutch::Options,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Ndjson,
    LinkGraph,
    Parquet,
    NutchFetchlist,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let format = match args.format {
        Format::NutchFetchlist => return nutch::run(&args.path, &args.output, &args.nutch),
        Format::Ndjson => ndjson::write,
        Format::LinkGraph => link_graph::write,
        Format::Parquet => parquet::write,
    };
    let db = PageDb::open_read_only(&args.path.join(layout::PAGES))
        .with_context(|| format!("cannot open {}", args.path.display()))
        .hint("PATH is the folder that page_db_path names")?;
    let mut out = Output::create(&args.output)?;
    let bar = progress::bar("exporting")?;
    let mut rows = progress::rows(&bar)?;
    let counters = db.snapshot()?.counters()?;
    let all = if args.format == Format::LinkGraph { counters.crawled } else { counters.pages };
    let exported = format(&db, args.links, &mut out, &mut |done| rows(done, all));
    bar.finish_and_clear();
    exported?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Told how many pages are written.
type Progress<'p> = &'p mut dyn FnMut(u64);

/// Pages between two reports of progress.
const PROGRESS_PAGES: u64 = 1_000;
