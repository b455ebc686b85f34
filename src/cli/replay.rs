//! `aduana replay`: a simulated fleet of spiders, the load tool and the acceptance test.

mod body;
mod connection;
mod crawl;
mod domains;
mod fleet;
pub(super) mod graph;
mod journal;
mod meters;
mod post;
mod progress;
mod report;
mod run;
mod target;
mod text;
mod tls;
mod tracker;
pub(super) mod urls;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use url::Url;

use super::stdout::Stdout;
use body::Shape;

/// Crawl a link graph instead of the web: a simulated fleet of spiders against a running server.
///
/// The spiders take URLs from GET /request and answer POST /crawled with the page's links from GRAPH, until
/// nothing is left; a URL that the graph has not is a page without links. The report says how fast it went,
/// whether a page came twice and, with --seeds, whether one was forgotten. The server has its seeds from its own
/// --seeds. GRAPH has a crawled page a line, `url<TAB>link link ...` or `url<TAB>score<TAB>link score ...`, as
/// `aduana synth` writes it; plain, gzip or zstd.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The link-graph file; `-` is the standard input. Not needed with --mode get
    #[arg(required_unless_present = "mode")]
    graph: Option<PathBuf>,

    /// The server
    #[arg(long, default_value = "http://127.0.0.1:8000")]
    url: Url,

    /// Name and password
    #[arg(long, value_name = "LOGIN:PASSWORD", env = "ADUANA_REPLAY_USER", hide_env_values = true)]
    user: Option<String>,

    /// Trust the certificates in this PEM file: that of the server itself, or of who signed it
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    cacert: Option<PathBuf>,

    /// Trust any certificate
    #[arg(long)]
    insecure: bool,

    /// Load a server that is not this machine
    #[arg(long)]
    allow_remote: bool,

    /// What the spiders do
    #[arg(long, value_enum, default_value_t = Mode::Crawl)]
    mode: Mode,

    /// The seeds that the server was given: the pages that can be reached from them must be handed out
    #[arg(long, value_name = "FILE")]
    seeds: Option<PathBuf>,

    /// Spiders, each with a connection
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    connections: u64,

    /// URLs that a spider asks for at once
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    request_size: u64,

    /// How pages are posted
    #[arg(long, value_enum, default_value_t = Shape::Single)]
    post: Shape,

    /// Pages a POST of an array or of NDJSON
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    batch: u64,

    /// The share of hand-outs whose spider dies and never answers. They come again when their leases run out:
    /// give the server short ones, and --idle-seconds longer ones
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    dead_spiders: f64,

    /// At most so many POSTs a second
    #[arg(long, value_name = "R", value_parser = positive)]
    rate: Option<f64>,

    /// Stop after so many pages
    #[arg(long, value_name = "N")]
    pages: Option<u64>,

    /// Stop after this time
    #[arg(long, value_name = "S", value_parser = positive)]
    seconds: Option<f64>,

    /// Stop when nothing was handed out for this time and nothing is in flight
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = positive)]
    idle_seconds: f64,

    /// Wait so long for a server that is gone, and send again what it did not answer. URLs that it handed out
    /// with its last breath come again when their leases run out
    #[arg(long, value_name = "S", default_value_t = 0.0, value_parser = not_negative)]
    retry_seconds: f64,

    /// Append each URL that was acknowledged to this file, at once
    #[arg(long, value_name = "FILE")]
    acknowledged: Option<PathBuf>,

    /// Append each URL that was handed out to this file, at once
    #[arg(long, value_name = "FILE")]
    handed_out: Option<PathBuf>,

    /// Remember in this file what was handed out and acknowledged, so that the next run counts on from there
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Fail if a page came twice, or if a reachable one did not come
    #[arg(long)]
    check: bool,

    /// Report as JSON
    #[arg(long)]
    json: bool,

    /// No progress bar
    #[arg(long)]
    no_progress: bool,
}

const EXAMPLES: &str = "\
Examples:
  aduana replay graph.tsv.zst --seeds seeds.txt --check
  aduana synth --pages 100000 | aduana replay - --mode post --post ndjson
  aduana replay --mode get --seconds 10

Exit codes: 0 done; 1 an error answer, a lost server, or what --check found; 2 wrong usage.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Take URLs, tell what the graph has of them
    Crawl,
    /// Only post the graph's pages, in their order, as fast as they are taken
    Post,
    /// Only take URLs, as fast as they are given; nothing is answered
    Get,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(problem) = nonsense(&args) {
        clap::Error::raw(ErrorKind::ArgumentConflict, format!("{problem}\n")).exit();
    }
    let report = run::run(&args)?;
    let mut out = Stdout::lock();
    if args.json {
        report.write_json(&mut out)?
    } else {
        report.write_text(&mut out)?
    }
    std::io::Write::flush(&mut out)?;
    let bad = report.has_errors() || (args.check && !report.is_complete());
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What is wrong with arguments that are right each by itself.
fn nonsense(args: &Args) -> Option<&'static str> {
    let Args { graph, mode, seeds, check, .. } = args;
    match mode {
        Mode::Crawl | Mode::Post if graph.is_none() => {
            Some("the link-graph file is missing: it is needed in every mode but get")
        }
        Mode::Post if *check => Some("--check has nothing to check with --mode post: nothing is handed out"),
        Mode::Crawl if *check && seeds.is_none() => {
            Some("--check needs --seeds to know which pages must be handed out")
        }
        Mode::Post | Mode::Get if seeds.is_some() => Some("--seeds has a meaning with --mode crawl only"),
        _ => None,
    }
}

fn number(text: &str, valid: impl Fn(f64) -> bool, remedy: &str) -> Result<f64, String> {
    text.parse().ok().filter(|&number: &f64| valid(number)).ok_or_else(|| remedy.to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    number(text, |share| (0.0..=1.0).contains(&share), "give a number from 0 to 1")
}

/// Bounded, so that it makes a duration.
fn positive(text: &str) -> Result<f64, String> {
    number(text, |n| (1e-6..=1e9).contains(&n), "give a number from 0.000001 to 1000000000")
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |n| (0.0..=1e9).contains(&n), "give a number from 0 to 1000000000")
}
