//! Import in bulk: a database is written anew, each table in one pass in order of its keys, from the rows of
//! an old database (if there is one) and any number of edits, in bounded memory. The method of Nutch's WebDB
//! (edits are sorted in blocks and merged with each table in sequence), on the tables of `docs/format.md`;
//! `docs/bulk.md` describes it.
//!
//! The result is the one that the same edits have when they are applied batch by batch (`pagedb/apply/`): the
//! same indices, states, links, schedule, counters. Only the numbers of sites in their domain and the keys of
//! colliding URLs may differ, as they do between different cuts into batches.
//!
//! 1. `intake`: the input is read once. Its distinct URLs are sorted by key, in runs that fit into memory; the
//!    edits are kept in order, their URLs replaced by numbers.
//! 2. `merge`: all runs and the old pages, in order of key. Each distinct URL gets one page and one key.
//! 3. `linking`: run by run, in the order of the input: indices by first sight, `urls`, depths, link lists.
//! 4. `states`: in order of key: `hash2idx`, `hash2info`, `schedule`, `leases`, `content`.
//! 5. `links` and `anchors`, `domains`, `sites`, `info`.

mod appender;
mod batch;
mod depths;
mod dictionary;
mod disk;
mod intake;
mod linking;
mod merge;
mod old;
mod rank;
mod run;
mod sites;
mod sorter;
mod states;

use std::path::Path;

pub use batch::{EditBatch, RawLink, RawPage};
pub use intake::Counts;

use super::apply::Rules;
use super::env::{InTable, PageDb, PageDbError, PageDbOptions, Snapshot};
use super::info::{self, Counters};
use super::link_list;
use super::scoring::Scoring;
use crate::types::{Naming, PageIndex};
use appender::{Appender, To};
use intake::Read;
use merge::Merged;
use old::OldRows;
use sites::Sites;
use sorter::Sorted;
use states::States;

/// What an import is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The URLs of the old database are sorted.
    Sorting,
    /// The input is read; how much there is is not known.
    Reading,
    /// URLs become pages.
    Merging,
    /// Edits become links.
    Linking,
    /// Tables are written.
    Writing,
}

/// Told how much of a phase is done, of how much (0 if nobody knows).
pub type Progress<'p> = &'p mut dyn FnMut(Phase, u64, u64);

/// What an import is made with. Those that the keys depend on are the old database's, if there is one.
#[derive(Debug, Clone, Copy)]
pub struct BulkOptions {
    /// Bytes of memory for sorting, roughly; besides, some three bytes a page, 100 a site, and 4 for each page of
    /// the largest domain.
    pub memory: usize,
    pub page_db: PageDbOptions,
    /// Pages deeper than this are not scheduled.
    pub max_depth: Option<u32>,
}

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum BulkError<E> {
    /// The source could not be read.
    #[error("{0}")]
    Source(E),
    #[error(transparent)]
    PageDb(#[from] PageDbError),
}

/// What an import has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    pub read: Counts,
    /// Of the new database.
    pub counters: Counters,
}

/// Writes the rows of `old` and all edits of `source` as a new environment into the directory `to`, which must
/// be absent; it is durable and holds nothing else when this returns. `source` fills a batch with a megabyte or
/// so of edits and says whether there is more.
///
/// # Errors
/// What the source says; otherwise what LMDB and the file system say. `to` holds nothing of use then.
pub fn build<E: Send>(
    old: Option<&PageDb>,
    to: &Path,
    options: &BulkOptions,
    source: impl FnMut(&mut EditBatch) -> Result<bool, E> + Send,
    progress: Progress<'_>,
) -> Result<Imported, BulkError<E>> {
    let io = |source| PageDbError::Io { path: to.into(), source };
    // Next to the files of the environment, so that one directory is all that an import leaves behind.
    let work_dir = to.join("work");
    std::fs::create_dir_all(&work_dir).map_err(io)?;
    let old = old.map(PageDb::snapshot).transpose()?;
    let old = old.as_ref();
    let naming = old.map_or(options.page_db.naming, |old| old.naming);
    let memory = options.memory;
    let max_depth = old.map_or(Ok(options.max_depth), Snapshot::max_depth)?;
    let mut sites = Sites::load(old, naming, stored_scoring(old)?)?;
    let old_urls = old::sorted_urls(old, &sites, work_dir.join("old"), memory / 2, progress)?;
    let read = intake::read(source, &mut sites, &work_dir, memory, progress)?;
    let work = Work { read, old, dir: &work_dir, memory };
    let counters = work.write(old_urls, &mut sites, to, max_depth, naming, progress)?;
    std::fs::remove_dir_all(&work_dir).map_err(io)?;
    Ok(Imported { read: work.read.counts, counters })
}

/// An import whose input has been read.
struct Work<'a> {
    read: Read,
    old: Option<&'a Snapshot>,
    dir: &'a Path,
    memory: usize,
}

impl Work<'_> {
    fn write(
        &self,
        old_urls: Sorted,
        sites: &mut Sites,
        to: &Path,
        max_depth: Option<u32>,
        naming: Naming,
        progress: Progress<'_>,
    ) -> Result<Counters, PageDbError> {
        let (read, old, memory) = (&self.read, self.old, self.memory);
        let merged = merge::merge(read, old_urls, old, self.dir, memory, progress)?;
        // What is not needed any more makes room for the tables.
        read.records.delete()?;
        let mut rows = Appender::create(to, self.map_size(&merged)?)?;
        let (linked, lists) =
            linking::link(read, &merged, sites, old, &mut rows, self.dir, memory, progress)?;
        read.edits.delete()?;
        let Merged { ids, pages, displaced, .. } = merged;
        ids.file.delete()?;
        // The temperature plays no part: nothing is handed out.
        let rules = Rules { heat_window: 1.0, max_depth };
        let scoring = stored_scoring(old)?;
        let states = States {
            linked: &linked,
            sites,
            old,
            rules,
            scoring: scoring.clone(),
            rows: &mut rows,
            dir: self.dir,
            memory,
        };
        let changes = pages.records(pages.all(), READ_BUFFER);
        let mut counters = states.write(changes, displaced, progress)?;
        counters.next_index = linked.next_index;
        counters.links = write_links(lists, old, &mut rows)?;
        counters.domains = write_sites(sites, &mut rows)?;
        if let Some(old) = old {
            counters.applied = old.counters()?.applied;
        }
        // In order of key.
        rows.put(To::Info, info::COUNTERS_KEY, &counters.encode())?;
        let unit = info::domain_unit_name(naming.domain_unit);
        rows.put(To::Info, info::DOMAIN_UNIT_KEY, unit.as_bytes())?;
        rows.put(To::Info, info::FORMAT_KEY, &info::encode_format())?;
        rows.put(To::Info, info::MAX_DEPTH_KEY, &info::encode_max_depth(max_depth))?;
        if let Some(same_site) = info::encode_same_site(naming.same_site) {
            rows.put(To::Info, info::SAME_SITE_KEY, same_site.as_bytes())?;
        }
        rows.put(To::Info, info::SCORING_KEY, &scoring.encode())?;
        rows.finish()?;
        Ok(counters)
    }

    /// Address space that is enough for the tables. It costs nothing; the server opens them with its own.
    fn map_size(&self, merged: &Merged) -> Result<usize, PageDbError> {
        let old = self.old.map_or(Ok(0), |old| {
            old.table_sizes().map(|tables| tables.into_iter().map(|(_, _, bytes)| bytes).sum::<u64>())
        })?;
        let (urls, edits) = (self.read.records.bytes, self.read.edits.bytes);
        // A page takes 150 bytes beside its URL; rows that fill half a leaf waste the other half.
        let bytes = 2 * (urls + 150 * merged.entries + 8 * edits + 64 * self.read.counts.crawls + old);
        Ok((bytes as usize + (1 << 30)).next_multiple_of(1 << 20))
    }
}

/// Without an old database there is no scorer until a server sets one.
fn stored_scoring(old: Option<&Snapshot>) -> Result<Scoring, PageDbError> {
    old.map_or_else(|| Ok(Scoring::none()), Snapshot::scoring)
}

/// Bytes read at a time where one file is read.
const READ_BUFFER: usize = 1 << 20;

/// Writes `links` and `anchors`: the lists of a page's last crawl, or the old ones. Returns the number of links.
fn write_links(mut lists: Sorted, old: Option<&Snapshot>, rows: &mut Appender) -> Result<u64, PageDbError> {
    let mut links = 0;
    let mut put = |row: &[u8], value: &[u8], anchors: &[u8]| {
        links += link_list::count(value).in_table("links", row)?;
        rows.put(To::Links, row, value)?;
        if anchors.is_empty() { Ok(()) } else { rows.put(To::Anchors, row, anchors) }
    };
    let mut old_anchors = OldRows::new(old, |tables| tables.anchors.0)?;
    let mut anchors_of = |row: &[u8]| {
        // A row of its own without links would keep all others back.
        while old_anchors.next_if(|old| old < row)?.is_some() {}
        Ok::<_, PageDbError>(old_anchors.next_if(|old| old == row)?.map_or(&[][..], |(_, anchors)| anchors))
    };
    let mut old = OldRows::new(old, |tables| tables.links)?;
    let mut last: Option<PageIndex> = None;
    let mut value = Vec::new();
    loop {
        let next = lists.next()?;
        let next_page = next.map(|(page, _)| PageIndex(page));
        if let Some(page) = last.filter(|_| last != next_page) {
            let row = page.to_bytes();
            while let Some((row, value)) = old.next_if(|old| *old < row[..])? {
                put(row, value, anchors_of(row)?)?;
            }
            old.next_if(|old| *old == row)?;
            let (links, anchors) = linking::split(&value).in_table("links", &row)?;
            put(&row, links, anchors)?;
        }
        let Some((page, list)) = next else { break };
        last = Some(PageIndex(page));
        value.clear();
        value.extend_from_slice(list);
    }
    while let Some((row, value)) = old.next_if(|_| true)? {
        put(row, value, anchors_of(row)?)?;
    }
    Ok(links)
}

/// Writes `domains` and `sites`; returns the number of domains.
fn write_sites(sites: &Sites, rows: &mut Appender) -> Result<u64, PageDbError> {
    let mut value = Vec::new();
    let domains = sites.domains();
    for &(key, record) in &domains {
        value.clear();
        record.encode(&mut value);
        rows.put(To::Domains, &key.0.to_be_bytes(), &value)?;
    }
    for (row, text) in sites.rows() {
        rows.put(To::Sites, &row, text.as_bytes())?;
    }
    Ok(domains.len() as u64)
}

#[cfg(test)]
mod tests;
