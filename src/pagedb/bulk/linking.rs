//! Third step of an import: run by run, in the order of the input. New pages get their indices and go to
//! `urls`; the edits, replayed with indices instead of URLs, give depths and lists of links.
//!
//! Indices follow first sight, as they do when edits come one by one: the entries of a run are in order of
//! first sight, and so the index of a new page is the number of new pages whose first entry stands before its
//! own ([`Rank`]).

use std::path::Path;

use super::appender::{Appender, To};
use super::depths::Depths;
use super::intake::{CRAWLED_WITH_ANCHORS, Read, Run, SEEDS};
use super::merge::{Merged, NEW, OF_ENTRY, OF_OLD};
use super::rank::Rank;
use super::sites::Sites;
use super::sorter::{Sorted, Sorter, Tie};
use super::{Phase, Progress};
use crate::pagedb::anchor_list::{self, Encoder};
use crate::pagedb::env::{InTable, PageDbError, Snapshot, corrupted};
use crate::pagedb::link_list;
use crate::pagedb::page_state::Slot;
use crate::pagedb::prefetch::prefetch;
use crate::pagedb::url_record::UrlRecord;
use crate::types::anchor::read_one;
use crate::types::codec::{Malformed, Reader, put_bytes};
use crate::types::{PageIndex, PageKey};

/// Edits between two reports of progress.
const PROGRESS_EDITS: u64 = 10_000;

/// How many entries ahead the processor is asked for their descriptions.
const AHEAD: usize = 16;

/// Bytes read at a time.
const BUFFER: usize = 1 << 20;

/// What the edits came to.
pub(super) struct Linked {
    pub depths: Depths,
    pub indices: Indices,
    pub next_index: u64,
}

/// Turns the ids of the merge into indices.
pub(super) struct Indices {
    first_new: u64,
    first_sights: Rank,
}

impl Indices {
    /// The index of a page by its id; `None` for an id of no kind.
    pub fn of(&self, id: u64) -> Option<PageIndex> {
        match id & 3 {
            OF_ENTRY => Some(PageIndex(self.first_new + self.first_sights.get(id >> 2))),
            OF_OLD => Some(PageIndex(id >> 2)),
            _ => None,
        }
    }
}

/// Returns the coded lists of links and anchors, too ([`split`] takes them apart): by the index of the page, a page's
/// lists in the order of its crawls.
#[allow(
    clippy::too_many_arguments,
    reason = "the results of the steps before, and where to put those of this"
)]
pub(super) fn link(
    read: &Read,
    merged: &Merged,
    sites: &Sites,
    old: Option<&Snapshot>,
    rows: &mut Appender,
    dir: &Path,
    memory: usize,
    progress: Progress<'_>,
) -> Result<(Linked, Sorted), PageDbError> {
    let mut depths = Depths::default();
    let first_new = old.map_or(Ok(0), |old| load_old(old, rows, &mut depths))?;
    let mut linking = Linking {
        read,
        merged,
        sites,
        next_index: first_new,
        indices: Indices { first_new, first_sights: Rank::default() },
        depths,
        lists: Sorter::new(dir.join("lists"), Tie::Pushed, memory / 4),
        ids: Vec::new(),
        bytes: Vec::new(),
        value: Vec::new(),
        other: Vec::new(),
        same: Vec::new(),
        links: Vec::new(),
        targets: Vec::new(),
        encoder: Encoder::default(),
        done: 0,
    };
    let all = read.counts.crawls;
    let mut base = 0;
    for (number, run) in read.runs.iter().enumerate() {
        linking.index_entries(number, run, base, rows)?;
        base += run.entries;
        linking.replay(run, &mut |done| progress(Phase::Linking, done, all))?;
    }
    let Linking { indices, depths, lists, next_index, .. } = linking;
    Ok((Linked { depths, indices, next_index }, lists.finish(memory / 4)?))
}

/// Copies `urls`, notes the depths; returns the next index.
fn load_old(old: &Snapshot, rows: &mut Appender, depths: &mut Depths) -> Result<u64, PageDbError> {
    let next_index = old.counters()?.next_index;
    depths.resize(next_index);
    for row in old.tables.hash2idx.iter(&old.txn)? {
        let (row, bytes) = row?;
        let Slot::Page(state) = Slot::decode(bytes).in_table("hash2idx", row)? else { continue };
        if state.index.0 >= next_index {
            return Err(corrupted("hash2idx", row));
        }
        depths.set(state.index, state.depth);
    }
    for row in old.tables.urls.iter(&old.txn)? {
        let (row, bytes) = row?;
        rows.put(To::Urls, row, bytes)?;
    }
    Ok(next_index)
}

struct Linking<'a> {
    read: &'a Read,
    merged: &'a Merged,
    sites: &'a Sites,
    next_index: u64,
    indices: Indices,
    depths: Depths,
    lists: Sorter,
    /// The index of each entry of the current run.
    ids: Vec<u64>,
    bytes: Vec<u8>,
    value: Vec<u8>,
    other: Vec<PageIndex>,
    same: Vec<PageIndex>,
    /// A page's links as they are coded, and the pages they lead to.
    links: Vec<u64>,
    targets: Vec<PageIndex>,
    encoder: Encoder,
    done: u64,
}

impl Linking<'_> {
    /// Finds the index of each entry of a run, and appends the new pages to `urls`. `base` entries came before.
    fn index_entries(
        &mut self,
        number: usize,
        run: &Run,
        base: u64,
        rows: &mut Appender,
    ) -> Result<(), PageDbError> {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.merged.ids.read(number, &mut bytes)?;
        self.ids.clear();
        self.ids.resize(run.entries as usize, u64::MAX);
        let places = place(&bytes, &mut self.ids);
        places.map_err(|Malformed| self.merged.ids.file.damaged())?;
        for entry in 0..self.ids.len() {
            if let Some(&soon) = self.ids.get(entry + AHEAD)
                && let Some(description) = bytes.get((soon >> 2) as usize..)
            {
                prefetch(description);
            }
            let id = self.ids[entry];
            self.ids[entry] = match self.indices.of(id) {
                Some(index) => index.0,
                None => self.new_page(&bytes, id, base + entry as u64, rows)?,
            };
        }
        self.bytes = bytes;
        self.depths.resize(self.next_index);
        Ok(())
    }

    /// `id` tells where in `bytes` the page stands, `entry` its first entry of all.
    fn new_page(
        &mut self,
        bytes: &[u8],
        id: u64,
        entry: u64,
        rows: &mut Appender,
    ) -> Result<u64, PageDbError> {
        let damaged = || self.merged.ids.file.damaged();
        let at = usize::try_from(id >> 2).ok().and_then(|at| bytes.get(at..)).ok_or_else(damaged)?;
        let (key, site, parent, path) = decode_new(at).map_err(|Malformed| damaged())?;
        // The parent was mentioned before its link, so it has its index already.
        let linked_from = match parent {
            Some(parent) => Some(PageIndex(*self.ids.get(parent).ok_or_else(damaged)?)),
            None => None,
        };
        let index = PageIndex(self.next_index);
        self.next_index += 1;
        self.indices.first_sights.set(entry);
        self.value.clear();
        UrlRecord { key, site: self.sites.get(site).number, linked_from, path }.encode(&mut self.value);
        rows.put(To::Urls, &index.to_bytes(), &self.value)?;
        Ok(index.0)
    }

    /// Lets the edits of a run give depths and links.
    fn replay(&mut self, run: &Run, progress: &mut dyn FnMut(u64)) -> Result<(), PageDbError> {
        let mut edits = self.read.edits.records(run.edits, BUFFER);
        while let Some(edit) = edits.next()? {
            let page = self.edit(edit).map_err(|Malformed| self.read.edits.damaged())?;
            if let Some(page) = page {
                self.lists.push(page.0, &self.value)?;
                self.done += 1;
                if self.done.is_multiple_of(PROGRESS_EDITS) {
                    progress(self.done);
                }
            }
        }
        progress(self.done);
        Ok(())
    }

    /// The page that was crawled; its coded links and anchors stand in `value` then.
    fn edit(&mut self, edit: &[u8]) -> Result<Option<PageIndex>, Malformed> {
        let mut reader = Reader::new(edit);
        let kind = reader.u8()?;
        if kind == SEEDS {
            while reader.remaining() > 0 {
                let seed = index_of(&self.ids, reader.number()?)?;
                self.depths.linked(seed, 0);
            }
            return Ok(None);
        }
        let page = index_of(&self.ids, reader.number()?)?;
        let depth = self.depths.crawled(page).saturating_add(1);
        let has_anchors = kind == CRAWLED_WITH_ANCHORS;
        let links = if has_anchors { reader.number()? } else { usize::MAX };
        self.links.clear();
        while reader.remaining() > 0 && self.links.len() < links {
            let link = reader.varint()?;
            self.ids.get((link >> 1) as usize).inspect(|id| prefetch(*id));
            self.links.push(link);
        }
        self.targets.clear();
        for link in &self.links {
            let target = index_of(&self.ids, (link >> 1) as usize)?;
            self.depths.prefetch(target);
            self.targets.push(target);
        }
        self.other.clear();
        self.same.clear();
        for (link, &target) in self.links.iter().zip(&self.targets) {
            self.depths.linked(target, depth);
            let group = if link & 1 == 1 { &mut self.same } else { &mut self.other };
            group.push(target);
        }
        for group in [&mut self.other, &mut self.same] {
            group.sort_unstable();
            group.dedup();
        }
        self.value.clear();
        self.value.push(u8::from(has_anchors));
        if has_anchors {
            self.bytes_of_links_and_anchors(reader)?;
        } else {
            link_list::encode(&self.other, &self.same, &mut self.value);
        }
        Ok(Some(page))
    }

    /// Appends the length of the coded links, these, and the coded anchors, which `reader` is at. Of a link that
    /// stands on the page more than once the first text counts.
    fn bytes_of_links_and_anchors(&mut self, mut reader: Reader<'_>) -> Result<(), Malformed> {
        let mut links = Vec::new();
        link_list::encode(&self.other, &self.same, &mut links);
        put_bytes(&mut self.value, &links);
        let mut anchors = Vec::new();
        let mut next = 0;
        while reader.remaining() > 0 {
            let (link, text) = read_one(&mut reader, next, self.targets.len())?;
            next = link + 1;
            let place = link_list::place(&self.other, &self.same, self.targets[link]).ok_or(Malformed)?;
            anchors.push((place, text));
        }
        anchor_list::first_of_each(&mut anchors);
        self.encoder.encode(anchors, &mut self.value);
        Ok(())
    }
}

/// Takes the coded links and the coded anchors of a list apart; those are empty if there are none.
pub(super) fn split(list: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let mut reader = Reader::new(list);
    if reader.u8()? == 0 {
        return Ok((reader.rest(), &[]));
    }
    let links = reader.bytes()?;
    Ok((links, reader.rest()))
}

fn index_of(ids: &[u64], entry: usize) -> Result<PageIndex, Malformed> {
    ids.get(entry).copied().map(PageIndex).ok_or(Malformed)
}

/// Brings the ids of a run's entries into the order of the entries. The id of a new page becomes the place in
/// `bytes` where it is described.
fn place(bytes: &[u8], ids: &mut [u64]) -> Result<(), Malformed> {
    let mut reader = Reader::new(bytes);
    let mut placed = 0;
    while reader.remaining() > 0 {
        let entry = reader.number::<usize>()?;
        let mut id = reader.varint()?;
        if id == NEW {
            id |= ((bytes.len() - reader.remaining()) as u64) << 2;
            reader.take(8)?;
            reader.varint()?;
            reader.varint()?;
            reader.bytes()?;
        }
        *ids.get_mut(entry).ok_or(Malformed)? = id;
        placed += 1;
    }
    if placed == ids.len() { Ok(()) } else { Err(Malformed) }
}

/// Key, site, parent's entry and path.
fn decode_new(bytes: &[u8]) -> Result<(PageKey, u32, Option<usize>, &str), Malformed> {
    let mut reader = Reader::new(bytes);
    let key = PageKey::from_bytes(reader.array()?);
    let site = reader.number()?;
    let parent = reader.number::<usize>()?.checked_sub(1);
    Ok((key, site, parent, reader.str()?))
}
