//! `aduana dump`: what a database knows, as text.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;
use time::OffsetDateTime;

use super::report::Hint;
use super::stdout::Stdout;
use crate::frontier::layout;
use crate::pagedb::{Page, PageDb, Status};
use crate::types::{ContentHash, Naming, Time};

/// Print what a database knows, one page a line
///
/// Works beside a running server: each page is as of the moment that it is read, and every page that was
/// there at the start comes once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana dump info aduana.db | grep -c ^-            # pages never crawled
  aduana dump info aduana.db --json | jq 'select(.status == \"leased\") | .url'
  aduana dump links aduana.db --urls | zstd > links.tsv.zst && aduana replay links.tsv.zst")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Pages, domain by domain
    ///
    /// Separated by tabs: first crawl, last crawl (ISO 8601, UTC; - if never), number of crawls, number of
    /// changes of the content, URL.
    Info {
        /// The database: the folder that page_db_path names
        path: PathBuf,
        /// Everything known of a page, as one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Links of the crawled pages, in the order in which the pages were first seen
    ///
    /// The index of the page, then those of the pages that it links to, separated by spaces. `dump info
    /// --json` has the index of each URL.
    Links {
        /// The database: the folder that page_db_path names
        path: PathBuf,
        /// URLs instead of indices, as a link-graph file: url<TAB>link link ...
        #[arg(long)]
        urls: bool,
        /// Only links to other domains
        #[arg(long)]
        other_domains: bool,
    },
    /// Links that have an anchor, one a line
    ///
    /// Separated by tabs: URL of the page, URL that it links to, text of the link.
    Anchors {
        /// The database: the folder that page_db_path names
        path: PathBuf,
    },
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut out = Stdout::lock();
    match args.what {
        What::Info { path, json } => info(&open(&path)?, json, &mut out)?,
        What::Links { path, urls, other_domains } => links(&open(&path)?, urls, other_domains, &mut out)?,
        What::Anchors { path } => anchors(&open(&path)?, &mut out)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub fn open(path: &Path) -> anyhow::Result<PageDb> {
    PageDb::open_read_only(&path.join(layout::PAGES))
        .with_context(|| format!("cannot open {}", path.display()))
        .hint("PATH is the folder that page_db_path names")
}

fn info(db: &PageDb, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    for page in db.pages() {
        let page = page?;
        if json {
            write_json(&page, db.naming(), out)?;
            continue;
        }
        match &page.record {
            Some(record) => {
                let (first, last) = (iso(record.first_crawl), iso(record.last_crawl));
                writeln!(out, "{first}\t{last}\t{}\t{}\t{}", record.crawls, record.changes, page.url)?;
            }
            None => writeln!(out, "-\t-\t0\t0\t{}", page.url)?,
        }
    }
    Ok(())
}

/// Everything known of a page, as a line of JSON.
pub fn write_json(page: &Page, naming: Naming, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &PageJson::new(page, naming)).map_err(io::Error::from)?;
    writeln!(out)
}

fn links(db: &PageDb, urls: bool, other_domains: bool, out: &mut impl Write) -> anyhow::Result<()> {
    for row in db.links(other_domains) {
        let row = row?;
        if !urls {
            write!(out, "{}", row.page)?;
            for target in row.links {
                write!(out, " {target}")?;
            }
            writeln!(out)?;
            continue;
        }
        // URLs never change: it does not matter that this snapshot is a later one. What was deleted meanwhile
        // has none.
        let snapshot = db.snapshot()?;
        let Some((_, page)) = snapshot.url(row.page)? else { continue };
        write!(out, "{page}")?;
        let mut before = '\t';
        for target in row.links {
            if let Some((_, url)) = snapshot.url(target)? {
                write!(out, "{before}{url}")?;
                before = ' ';
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn anchors(db: &PageDb, out: &mut impl Write) -> anyhow::Result<()> {
    for row in db.anchors() {
        let row = row?;
        // As in `links`.
        let snapshot = db.snapshot()?;
        let Some((_, page)) = snapshot.url(row.page)? else { continue };
        for (target, anchor) in row.anchors {
            if let Some((_, url)) = snapshot.url(target)? {
                writeln!(out, "{page}\t{url}\t{}", anchor.as_str())?;
            }
        }
    }
    Ok(())
}

/// ISO 8601, UTC, to the millisecond; plain milliseconds for what no calendar has.
fn iso(time: Time) -> String {
    let Ok(date) = OffsetDateTime::from_unix_timestamp_nanos(i128::from(time.0) * 1_000_000) else {
        return time.0.to_string();
    };
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    let (hour, minute, second, milli) = (date.hour(), date.minute(), date.second(), date.millisecond());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// A page as a JSON object; what does not apply to it is null.
#[derive(Serialize)]
struct PageJson<'a> {
    url: &'a str,
    index: u64,
    key: String,
    domain: &'a str,
    status: &'static str,
    depth: u32,
    score: f32,
    attempts: u32,
    leased_until: Option<String>,
    /// Index of the page that first linked it.
    linked_from: Option<u64>,
    first_crawl: Option<String>,
    last_crawl: Option<String>,
    crawls: u32,
    changes: u32,
    content_score: Option<f32>,
    content_hash: Option<HashJson<'a>>,
}

/// As the spider gave it.
#[derive(Serialize)]
#[serde(untagged)]
enum HashJson<'a> {
    Number(u64),
    Text(&'a str),
}

impl<'a> PageJson<'a> {
    fn new(page: &'a Page, naming: Naming) -> PageJson<'a> {
        let record = page.record.as_ref();
        let hash = record.and_then(|record| record.content_hash.as_ref());
        PageJson {
            url: page.url.as_str(),
            index: page.state.index.0,
            key: page.key.to_string(),
            domain: naming.domain_of(page.url.site()),
            status: page.state.status.name(),
            depth: page.state.depth,
            score: page.state.score.get(),
            attempts: page.state.attempts,
            leased_until: match page.state.status {
                Status::Leased { until } => Some(iso(until)),
                _ => None,
            },
            linked_from: page.linked_from.map(|index| index.0),
            first_crawl: record.map(|record| iso(record.first_crawl)),
            last_crawl: record.map(|record| iso(record.last_crawl)),
            crawls: record.map_or(0, |record| record.crawls),
            changes: record.map_or(0, |record| record.changes),
            content_score: record.map(|record| record.score.get()),
            content_hash: hash.map(|hash| match hash {
                ContentHash::Number(number) => HashJson::Number(*number),
                ContentHash::Text(text) => HashJson::Text(text),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_iso_8601() {
        assert_eq!(iso(Time(1_435_048_846_250)), "2015-06-23T08:40:46.250Z");
        assert_eq!(iso(Time(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(Time(u64::MAX)), u64::MAX.to_string());
    }
}
