//! `aduana check`: proves that a database is sound.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;

use super::progress;
use super::report::Hint;
use super::stdout::Stdout;
use crate::frontier::offline::{self, Checked};
use crate::types::UrlHasher;

/// Check that a database is sound
///
/// Proves that every row decodes and that the tables agree with each other: each page has one key and one
/// index, each page that waits one entry in the schedule, each link leads to a known page, counters equal
/// the rows, the edit log follows what is applied; and shows how big the tables are. Works beside a running
/// server, as of one moment; meanwhile the file grows, as nothing freed is used again.
///
/// The exit code is 0 if all is well, 1 if not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana check aduana.db
  aduana check aduana.db --json | jq .counts")]
pub struct Args {
    /// The database: the folder that page_db_path names
    path: PathBuf,
    /// One JSON object instead of a text
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let bar = progress::bar("checking")?;
    let checked = offline::check(&args.path, UrlHasher::default(), &mut progress::rows(&bar)?);
    bar.finish_and_clear();
    let checked = checked
        .with_context(|| format!("cannot check {}", args.path.display()))
        .hint("PATH is the folder that page_db_path names")?;
    let mut out = Stdout::lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &Json::new(&checked)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write_text(&checked, &mut out)?;
    }
    out.flush()?;
    Ok(if checked.report.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write_text(checked: &Checked, out: &mut impl Write) -> io::Result<()> {
    let (report, counters) = (&checked.report, &checked.report.counters);
    writeln!(out, "{:<16}{:>14}{:>18}", "table", "rows", "bytes")?;
    for (name, rows, bytes) in &checked.tables {
        writeln!(out, "{name:<16}{rows:>14}{bytes:>18}")?;
    }
    writeln!(out, "{:<16}{:>14}{:>18}", "live data", "", checked.live_bytes)?;
    writeln!(out, "{:<16}{:>14}{:>18}", "file", "", checked.file_bytes)?;
    writeln!(
        out,
        "\n{} pages ({} crawled, {} scheduled, {} leased) in {} domains, {} links; {} edits wait in the log",
        counters.pages,
        counters.crawled,
        counters.scheduled,
        counters.leased,
        counters.domains,
        counters.links,
        checked.edits_waiting
    )?;
    let sizes = Sizes::new(checked);
    if let (Some(url), Some(link)) = (sizes.bytes_per_url, sizes.bytes_per_link) {
        writeln!(out, "{url:.1} bytes a URL in all tables, {link:.2} bytes a link in its table")?;
    }
    if report.is_ok() {
        return writeln!(out, "\nok");
    }
    writeln!(out, "\nviolations: {}", report.total())?;
    for (kind, n) in &report.counts {
        writeln!(out, "{n:>14}  {kind}")?;
    }
    writeln!(out)?;
    for violation in &report.violations {
        writeln!(out, "{}: {}", violation.kind, violation.text)?;
    }
    if report.total() > report.violations.len() as u64 {
        writeln!(out, "and {} more", report.total() - report.violations.len() as u64)?;
    }
    Ok(())
}

/// Bytes of what is stored most; none without pages or links.
#[derive(Serialize)]
struct Sizes {
    bytes_per_url: Option<f64>,
    bytes_per_link: Option<f64>,
}

impl Sizes {
    fn new(checked: &Checked) -> Sizes {
        let share = |bytes: u64, of: u64| (of > 0).then(|| bytes as f64 / of as f64);
        let links = checked.tables.iter().find(|(name, _, _)| *name == "links").map_or(0, |t| t.2);
        Sizes {
            bytes_per_url: share(checked.live_bytes, checked.report.counters.pages),
            bytes_per_link: share(links, checked.report.counters.links),
        }
    }
}

#[derive(Serialize)]
struct Json<'a> {
    ok: bool,
    pages: u64,
    crawled: u64,
    scheduled: u64,
    leased: u64,
    links: u64,
    domains: u64,
    /// Position of the last edit applied.
    applied: u64,
    edits_waiting: u64,
    tables: BTreeMap<&'static str, Table>,
    live_bytes: u64,
    file_bytes: u64,
    #[serde(flatten)]
    sizes: Sizes,
    /// By kind.
    counts: BTreeMap<&'static str, u64>,
    /// The first ones.
    violations: Vec<Violation<'a>>,
}

#[derive(Serialize)]
struct Table {
    rows: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Violation<'a> {
    kind: &'static str,
    text: &'a str,
}

impl<'a> Json<'a> {
    fn new(checked: &'a Checked) -> Json<'a> {
        let (report, counters) = (&checked.report, &checked.report.counters);
        Json {
            ok: report.is_ok(),
            pages: counters.pages,
            crawled: counters.crawled,
            scheduled: counters.scheduled,
            leased: counters.leased,
            links: counters.links,
            domains: counters.domains,
            applied: counters.applied,
            edits_waiting: checked.edits_waiting,
            tables: checked.tables.iter().map(|&(name, rows, bytes)| (name, Table { rows, bytes })).collect(),
            live_bytes: checked.live_bytes,
            file_bytes: checked.file_bytes,
            sizes: Sizes::new(checked),
            counts: report.counts.iter().map(|(kind, &n)| (kind.name(), n)).collect(),
            violations: report
                .violations
                .iter()
                .map(|violation| Violation { kind: violation.kind.name(), text: &violation.text })
                .collect(),
        }
    }
}
