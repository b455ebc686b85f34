//! `aduana export`: a database in the formats of other programs.

mod nutch;

use std::path::PathBuf;
use std::process::ExitCode;

/// Write what a database knows in the format of another program
///
/// Works beside a running server: each page is as of the moment that it is read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana export aduana.db --format nutch-fetchlist --output segment --top 10000 --per-host 100")]
pub struct Args {
    /// The database: the folder that page_db_path names
    path: PathBuf,
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    #[command(flatten)]
    nutch: nutch::Options,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// The best waiting pages as the fetch list of a new segment of Nutch 0.4 or 0.5
    NutchFetchlist,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.format {
        Format::NutchFetchlist => nutch::run(&args.path, &args.nutch),
    }
}
