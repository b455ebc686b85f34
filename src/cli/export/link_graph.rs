//! The crawled pages and their links as a link-graph file with scores.

use std::io::Write;

use anyhow::Context;

use super::output::Output;
use super::page::url;
use super::{PROGRESS_PAGES, Progress};
use crate::pagedb::{PageDb, Snapshot};
use crate::types::{PageIndex, Score};

pub fn write(db: &PageDb, _: bool, out: &mut Output, progress: Progress<'_>) -> anyhow::Result<()> {
    for (done, row) in (1..).zip(db.links(false)) {
        let row = row?;
        // URLs never change: it does not matter that this snapshot is a later one.
        let snapshot = db.snapshot()?;
        let (key, page) = url(&snapshot, row.page)?;
        let score = snapshot.record(key)?.map_or(Score::ZERO, |record| record.score);
        write!(out, "{page}\t{score}\t")?;
        for (n, &target) in row.links.iter().enumerate() {
            let (url, score) = link(&snapshot, target)?;
            write!(out, "{}{url} {score}", if n == 0 { "" } else { " " })?;
        }
        writeln!(out)?;
        if done % PROGRESS_PAGES == 0 {
            progress(done);
        }
    }
    Ok(())
}

/// The URL that a link leads to, and the best score that anybody gave it.
fn link(snapshot: &Snapshot, target: PageIndex) -> anyhow::Result<(String, Score)> {
    let (key, url) = url(snapshot, target)?;
    let state = snapshot.state(key)?.with_context(|| format!("page {key} has no state: run aduana check"))?;
    Ok((url, state.given))
}
