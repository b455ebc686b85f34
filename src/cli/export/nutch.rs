//! `aduana export --format nutch-fetchlist`: the best pages that wait, as a fetch list of Nutch.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::super::progress;
use super::super::report::Hint;
use crate::frontier::layout;
use crate::nutch::segment::{FetchListWriter, ListOptions, ToFetch};
use crate::pagedb::PageDb;
use crate::types::url::host_of_site;
use crate::types::{Clock, ContentHash, SystemClock, Time};

mod anchors;
mod best;

use anchors::Anchors;
use best::{Best, Candidate};

/// Pages between two reports to the progress bar.
const REPORT: u64 = 10_000;

/// What goes into the list.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// nutch-fetchlist: pages in the list, at most; the best ones
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    top: usize,
    /// nutch-fetchlist: pages of one host, at most
    #[arg(long, value_name = "K", default_value_t = usize::MAX, hide_default_value = true)]
    per_host: usize,
    /// nutch-fetchlist: write the number of outlinks into each page, as Nutch's source has it but not its description
    #[arg(long)]
    outlink_counts: bool,
}

/// Three passes: one over the states of all pages, which keeps the best in memory (at most twice `top`), one over
/// the anchors, which keeps those of links to these, one over what was kept, which writes it best first.
pub fn run(path: &Path, output: &Path, options: &Options) -> anyhow::Result<ExitCode> {
    if output == Path::new("-") {
        anyhow::bail!("a fetch list is a folder: give --output");
    }
    let db = PageDb::open_read_only(&path.join(layout::PAGES))
        .with_context(|| format!("cannot open {}", path.display()))
        .hint("PATH is the folder that page_db_path names")?;
    let best = choose(&db, options)?;
    let list = ListOptions { outlink_counts: options.outlink_counts, ..ListOptions::default() };
    let mut writer =
        FetchListWriter::create(output, list).hint("--output names the folder of a new segment")?;
    let now = SystemClock.now();
    let best = best.into_sorted();
    let anchors = Anchors::read(&db, best.iter().map(|candidate| candidate.index))?;
    for candidate in best {
        write(&db, candidate, anchors.of(candidate.index), now, &mut writer)?;
    }
    let pages = writer.finish()?;
    eprintln!("{pages} pages written to {}", output.display());
    Ok(ExitCode::SUCCESS)
}

fn choose(db: &PageDb, options: &Options) -> anyhow::Result<Best> {
    let bar = progress::bar("choosing")?;
    let all = db.snapshot()?.counters()?.pages;
    let mut report = progress::rows(&bar)?;
    let mut best = Best::new(options.top, options.per_host);
    for (done, state) in (0..).zip(db.states()) {
        let (_, state) = state?;
        if done % REPORT == 0 {
            report(done, all);
        }
        let candidate = Candidate { score: state.score, index: state.index };
        if state.is_scheduled() && best.has_room_for(candidate) {
            // URLs never change: it does not matter that this snapshot is a later one.
            let (_, url) = db.snapshot()?.url(state.index)?.with_context(|| no_url(candidate))?;
            best.add(host_of_site(url.site()), candidate);
        }
    }
    bar.finish_and_clear();
    Ok(best)
}

fn write(
    db: &PageDb,
    candidate: Candidate,
    anchors: &[String],
    now: Time,
    writer: &mut FetchListWriter,
) -> anyhow::Result<()> {
    let snapshot = db.snapshot()?;
    let (key, url) = snapshot.url(candidate.index)?.with_context(|| no_url(candidate))?;
    let attempts = snapshot.state(key)?.map_or(0, |state| state.attempts);
    let hash = snapshot.record(key)?.and_then(|record| record.content_hash);
    writer.append(&ToFetch {
        url: url.as_str(),
        score: candidate.score.get(),
        md5: hash.as_ref().and_then(md5_of),
        next_fetch: i64::try_from(now.0).unwrap_or(i64::MAX),
        retries: attempts,
        anchors,
    })?;
    Ok(())
}

fn no_url(candidate: Candidate) -> String {
    format!("page {} has no URL: run aduana check", candidate.index)
}

/// The content hash, if it is an MD5 in hexadecimal.
fn md5_of(hash: &ContentHash) -> Option<[u8; 16]> {
    let ContentHash::Text(text) = hash else { return None };
    let is_md5 = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_md5.then(|| u128::from_str_radix(text, 16).ok().map(u128::to_be_bytes)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_md5_is_taken_for_one() {
        let text = |text: &str| ContentHash::Text(text.to_owned());
        let md5 = md5_of(&text("000102030405060708090a0b0c0d0e0F"));
        assert_eq!(md5, Some([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]));
        for other in ["+00102030405060708090a0b0c0d0e0f", "00", "", "g00102030405060708090a0b0c0d0e0f"] {
            assert_eq!(md5_of(&text(other)), None, "{other}");
        }
        assert_eq!(md5_of(&ContentHash::Number(1)), None);
    }
}
