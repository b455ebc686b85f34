//! `aduana find`: pages by their URLs. `aduana duplicates`: pages with equal content.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use regex::Regex;

use super::dump::{open, write_json};
use super::report::Hint;
use super::stdout::Stdout;
use crate::pagedb::{Page, Scope};
use crate::types::ContentHash;

/// Print the URLs that are known, in alphabetical order
///
/// A prefix that names a host, and --domain, go straight to the pages of that domain. Works beside a running
/// server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana find aduana.db http://a.example/docs/
  aduana find aduana.db --regex '\\.pdf$' --domain a.example
  aduana find aduana.db --after http://a.example/docs/9 --json | jq .status")]
pub struct Args {
    /// The database: the folder that page_db_path names
    path: PathBuf,
    /// What the URLs begin with
    #[arg(default_value = "", hide_default_value = true)]
    prefix: String,
    /// What the URLs match: a regular expression, found anywhere in them
    #[arg(long)]
    regex: Option<String>,
    /// Only pages of this domain
    #[arg(long)]
    domain: Option<String>,
    /// Go on behind this URL, as it was printed
    #[arg(long)]
    after: Option<String>,
    /// Everything known of a page, as one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Print the pages whose content other pages have, too
///
/// A content hash and a URL a line, separated by a tab; pages with one content stand together. Works beside a
/// running server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana duplicates aduana.db | cut -f1 | uniq -c | sort -rn | head")]
pub struct DuplicatesArgs {
    /// The database: the folder that page_db_path names
    path: PathBuf,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let regex = args.regex.as_deref().map(Regex::new).transpose();
    let regex = regex.context("--regex").hint("give a regular expression, as of the regex crate")?;
    let db = open(&args.path)?;
    let mut pages = db.pages_by_url(Scope { prefix: args.prefix, domain: args.domain });
    if let Some(after) = &args.after {
        pages = pages.after(after);
    }
    let mut out = Stdout::lock();
    for page in pages {
        let page = page?;
        if regex.as_ref().is_some_and(|regex| !regex.is_match(page.url.as_str())) {
            continue;
        }
        if args.json {
            write_json(&page, db.naming(), &mut out)?;
        } else {
            writeln!(out, "{}", page.url)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub fn run_duplicates(args: DuplicatesArgs) -> anyhow::Result<ExitCode> {
    let db = open(&args.path)?;
    let mut out = Stdout::lock();
    // The page before, and whether it was printed.
    let mut before: Option<(Page, bool)> = None;
    for page in db.pages_by_content() {
        let page = page?;
        let mut printed = false;
        if let Some((last, last_printed)) = before.take().filter(|(last, _)| hash_of(last) == hash_of(&page))
        {
            if !last_printed {
                write_line(&last, &mut out)?;
            }
            write_line(&page, &mut out)?;
            printed = true;
        }
        before = Some((page, printed));
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn hash_of(page: &Page) -> Option<&ContentHash> {
    page.record.as_ref()?.content_hash.as_ref()
}

fn write_line(page: &Page, out: &mut impl Write) -> std::io::Result<()> {
    match hash_of(page) {
        Some(ContentHash::Number(number)) => writeln!(out, "{number}\t{}", page.url),
        Some(ContentHash::Text(text)) => writeln!(out, "{text:?}\t{}", page.url),
        None => Ok(()),
    }
}
