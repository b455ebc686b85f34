//! `aduana backup`: a copy of a database.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::progress;
use super::report::Hint;
use crate::frontier::{FrontierError, offline};

/// Copy a database, also while the server runs
///
/// The copy has everything that was acknowledged before the backup began, and may have more. It appears in
/// DEST when it is complete and durable; `aduana serve --page-db-path DEST` serves it. While the copy is
/// written the server's file grows, as nothing freed is used again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana backup aduana.db backups/monday.db
  aduana backup aduana.db small.db --compact && aduana check small.db")]
pub struct Args {
    /// The database: the folder that page_db_path names
    path: PathBuf,
    /// Folder of the copy; must be empty or absent
    dest: PathBuf,
    /// Write the tables anew, every page of the file full: slower, and the smallest file
    #[arg(long)]
    compact: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let bar = progress::bar("copying")?;
    let copied = offline::backup(&args.path, &args.dest, args.compact, &mut progress::rows(&bar)?);
    bar.finish_and_clear();
    let is_dest = matches!(copied, Err(FrontierError::NotEmpty { .. }));
    let copied = copied.with_context(|| format!("cannot back up {}", args.path.display()));
    if is_dest {
        copied?
    } else {
        copied.hint("PATH is the folder that page_db_path names")?
    }
    eprintln!("{} is a copy of {}", args.dest.display(), args.path.display());
    Ok(ExitCode::SUCCESS)
}
