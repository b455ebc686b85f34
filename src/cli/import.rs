//! `aduana import`: many pages at once, without a server.

mod input;
mod link_graph;
mod ndjson;
pub mod nutch;
mod urls;
mod warc;
mod wat;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use indicatif::ProgressBar;

use super::progress;
use super::report::Hint;
use crate::frontier::FrontierError;
use crate::frontier::import::{self, ImportError, ImportOptions, LEAST_MEMORY};
use crate::pagedb::bulk::{EditBatch, Imported, Phase};
use crate::types::{Clock, DomainUnit, SameSite, SystemClock, Time, UrlHasher};
use input::{Bad, ReadError, Reader};

/// Add many pages to a database at once
///
/// The result is what a server would have made of the same pages, in a fraction of the time: the database is
/// written anew, each table in one pass, and takes the place of the old one at the end. Until then the old one can
/// be read, but no server may have it open. An import that ends before its end, however it ends, changes nothing.
///
/// Sources may be compressed (gzip, zstd); - is the standard input.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Formats:
  link-graph  a crawled page a line: url<TAB>link link ... or
              url<TAB>score<TAB>link score link score ...
  urls        a URL a line, then optionally its score: known from now on, to be crawled
  ndjson      a crawled page a line, the JSON objects that POST /crawled takes
  warc        WARC files: each response of status 2xx is a crawled page; its links are those of
              the metadata record behind it, if there is one
  wat         Common Crawl's WAT files: each such response with the links of its HTML
  nutch-segment  folders of fetched segments of Nutch 0.4 or 0.5

Examples:
  aduana synth --pages 1000000 | aduana import aduana.db -
  aduana import aduana.db links.tsv.zst
  aduana import aduana.db --format urls seeds.txt
  aduana import aduana.db --format wat CC-MAIN-*.warc.wat.gz --skip-bad")]
pub struct Args {
    /// The database: the folder that page_db_path names; created if absent
    path: PathBuf,
    /// Files of one format, read one after the other
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// What the sources are
    #[arg(long, value_enum, default_value_t = Format::LinkGraph)]
    format: Format,
    /// Memory for sorting, in bytes or with K, M, G. The more, the fewer and longer the runs on disk
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = parse_bytes)]
    memory: usize,
    /// Leave out lines and records that cannot be used, instead of giving up; the first ones are named
    #[arg(long)]
    skip_bad: bool,
    /// When pages were crawled whose source does not tell, in seconds since the epoch [default: now]
    #[arg(long, value_name = "SECONDS", value_parser = parse_time)]
    time: Option<Time>,
    /// The unit of politeness of a new database
    #[arg(long, value_enum)]
    domain_unit: Option<Unit>,
    /// Which sites of a new database count as one: those that differ by www, scheme, or both (www,scheme)
    #[arg(long, value_name = "FORMS")]
    same_site: Option<SameSite>,
    /// The depth limit of a new database
    #[arg(long, value_name = "DEPTH")]
    max_crawl_depth: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    LinkGraph,
    Urls,
    Ndjson,
    Warc,
    Wat,
    NutchSegment,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Unit {
    Host,
    Registrable,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = ImportOptions {
        memory: args.memory,
        domain_unit: args.domain_unit.map(|unit| match unit {
            Unit::Host => DomainUnit::Host,
            Unit::Registrable => DomainUnit::Registrable,
        }),
        same_site: args.same_site,
        max_crawl_depth: args.max_crawl_depth,
        hasher: UrlHasher::default(),
    };
    let time = args.time.unwrap_or_else(|| SystemClock.now());
    let mut sources = Sources {
        files: args.sources.into_iter(),
        reader: None,
        open: |path: &Path| open(args.format, path, time),
        bad: Bad::new(args.skip_bad),
    };
    let bar = progress::bar("reading")?;
    let imported = import::import(&args.path, options, |batch| sources.fill(batch), &mut phases(&bar)?);
    bar.finish_and_clear();
    match imported {
        Ok(imported) => {
            report(&imported, &sources.bad);
            Ok(ExitCode::SUCCESS)
        }
        Err(ImportError::Source(error)) => Err(error).hint(if sources.bad.refused {
            "nothing was imported; --skip-bad leaves out what cannot be used"
        } else {
            "nothing was imported"
        }),
        Err(ImportError::Frontier(error)) => {
            let in_use = matches!(error, FrontierError::InUse { .. });
            let failed = Err(error).with_context(|| format!("cannot import into {}", args.path.display()));
            if in_use {
                failed.hint("stop the server that has it open: an import needs the database for itself")
            } else {
                failed.hint("the database is as it was")
            }
        }
    }
}

/// A reader of one file. A format is one line here.
fn open(format: Format, path: &Path, time: Time) -> Result<Box<dyn Reader>, ReadError> {
    Ok(match format {
        Format::LinkGraph => Box::new(link_graph::LinkGraph::open(path, time)?),
        Format::Urls => Box::new(urls::Urls::open(path)?),
        Format::Ndjson => Box::new(ndjson::Ndjson::open(path, time)?),
        Format::Warc => Box::new(warc::Warc::open(path, time)?),
        Format::Wat => Box::new(wat::Wat::open(path, time)?),
        Format::NutchSegment => Box::new(nutch::Segment::open(path)?),
    })
}

/// The files one after the other.
struct Sources<O> {
    files: std::vec::IntoIter<PathBuf>,
    reader: Option<Box<dyn Reader>>,
    open: O,
    bad: Bad,
}

impl<O: Fn(&Path) -> Result<Box<dyn Reader>, ReadError>> Sources<O> {
    /// Fills a batch; returns whether there is more.
    fn fill(&mut self, batch: &mut EditBatch) -> anyhow::Result<bool> {
        while !batch.is_full() {
            let Some(reader) = &mut self.reader else {
                let Some(path) = self.files.next() else { return Ok(false) };
                self.reader = Some((self.open)(&path).map_err(ReadError::into_error)?);
                continue;
            };
            match reader.next(batch) {
                Ok(true) => {}
                Ok(false) => self.reader = None,
                Err(ReadError::Bad(problem)) => self.bad.take(problem)?,
                Err(ReadError::Failed(error)) => return Err(error),
            }
        }
        Ok(true)
    }
}

/// Shows how far the phases are.
fn phases(bar: &ProgressBar) -> anyhow::Result<impl FnMut(Phase, u64, u64)> {
    let mut rows = progress::rows(bar)?;
    let bar = bar.clone();
    let mut shown = Phase::Reading;
    Ok(move |phase, done, all| {
        if phase != shown {
            bar.set_message(match phase {
                Phase::Sorting => "sorting what is there",
                Phase::Reading => "reading",
                Phase::Merging => "merging",
                Phase::Linking => "linking",
                Phase::Writing => "writing",
            });
            shown = phase;
        }
        match all {
            0 => bar.set_message(format!("reading: {done} pages")),
            _ => rows(done, all),
        }
    })
}

fn report(imported: &Imported, bad: &Bad) {
    let (read, counters) = (&imported.read, &imported.counters);
    eprintln!(
        "read {} crawled pages with {} links, {} URLs to crawl; {} links cannot be crawled",
        read.crawls, read.links, read.seeds, read.skipped_links
    );
    bad.report();
    eprintln!(
        "the database has {} pages ({} crawled, {} scheduled) in {} domains, {} links",
        counters.pages, counters.crawled, counters.scheduled, counters.domains, counters.links
    );
}

/// A number, optionally with K, M or G for powers of 1024.
fn parse_bytes(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.to_ascii_uppercase().chars().last() {
        Some('K') => (&text[..text.len() - 1], 10),
        Some('M') => (&text[..text.len() - 1], 20),
        Some('G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    match bytes {
        Some(bytes) if bytes >= LEAST_MEMORY => Ok(bytes),
        Some(_) => Err(format!("give at least {}M", LEAST_MEMORY >> 20)),
        None => Err("give a number of bytes, such as 512M or 2G".to_owned()),
    }
}

fn parse_time(text: &str) -> Result<Time, String> {
    let seconds = text.parse().ok().and_then(Time::from_seconds);
    seconds.ok_or_else(|| "give seconds since the epoch, up to the year 9999".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_a_number_with_a_unit() {
        for (text, bytes) in
            [("1G", 1 << 30), ("512m", 512 << 20), ("100000K", 100_000 << 10), ("33554432", 1 << 25)]
        {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for bad in ["", "G", "1T", "-1", "1.5G", "31M", "99999999999999999999G", "18446744073709551615G", "é"]
        {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
