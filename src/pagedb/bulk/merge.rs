//! Second step of an import: all runs, and the pages of the old database, in one pass in order of key. Every
//! distinct URL gets one page; two URLs never share a key.
//!
//! Whoever has a key in the old database keeps it. Of the new URLs that want a key the one seen first has it;
//! the others take the next free keys of the domain, in order of first sight, when the domain has been seen to
//! its end (as `pagedb/apply/identity.rs` does it for a batch).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::path::Path;

use super::disk::{Spilled, Spool, SpoolReader, Writer};
use super::intake::Read;
use super::old::{OldRows, page_key};
use super::run::{Record, RunReader};
use super::sorter::{Sorted, Sorter, Tie};
use super::{Phase, Progress};
use crate::pagedb::env::{PageDbError, Snapshot};
use crate::pagedb::page_state::MARK;
use crate::types::codec::{Reader, put_bytes, put_f32, put_varint};
use crate::types::{DomainKey, PageIndex, PageKey, Score};

/// Entries between two reports of progress.
const PROGRESS_ENTRIES: u64 = 100_000;

/// What a run's entry is: the low two bits of its value in the spool.
pub(super) const OF_ENTRY: u64 = 0;
pub(super) const OF_OLD: u64 = 1;
pub(super) const NEW: u64 = 2;

/// The pages that the import mentions.
pub(super) struct Merged {
    /// For each run, what page each of its entries is.
    pub ids: SpoolReader,
    /// What becomes of each page, in order of key.
    pub pages: Spilled,
    /// The same for pages whose key is not the one that their URL hashes to.
    pub displaced: Sorted,
    pub entries: u64,
}

/// A distinct URL of the current key.
#[derive(Debug, Default)]
struct Candidate {
    site: u32,
    path: String,
    /// Its page in the old database.
    old: Option<(PageIndex, PageKey)>,
    /// Run, entry and parent of its first mention.
    first: (u32, u32, Option<u32>),
    score: Option<Score>,
    /// Crawls, coded, in the order of the input.
    crawls: Vec<u8>,
    /// All entries that are this URL: run and number.
    entries: Vec<(u32, u32)>,
}

pub(super) fn merge(
    read: &Read,
    old_urls: Sorted,
    old: Option<&Snapshot>,
    dir: &Path,
    memory: usize,
    progress: Progress<'_>,
) -> Result<Merged, PageDbError> {
    let buffer = (memory / 4 / read.runs.len().max(1)).clamp(1 << 14, 1 << 20);
    let runs =
        read.runs.iter().map(|run| RunReader::new(&read.records, read.records.records(run.records, buffer)));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let mut before = 0;
    let bases = read.runs.iter().map(|run| {
        before += run.entries;
        before - run.entries
    });
    let bases: Vec<u64> = bases.collect();
    let entries = before;
    let sorter = Sorter::new(dir.join("displaced"), Tie::Pushed, memory / 8);
    let mut merge = Merge {
        out: Out {
            bases,
            ids: Spool::create(dir.join("ids"), runs.len())?,
            pages: Writer::create(dir.join("changes"))?,
            last_key: 0,
            late: sorter,
            bytes: Vec::new(),
        },
        runs,
        old_urls: OldUrls { sorted: old_urls, key: None, payload: Vec::new() },
        old_keys: OldRows::new(old, |tables| tables.hash2idx)?,
        used: Vec::new(),
        domain: None,
        waiting: Vec::new(),
        group: Vec::new(),
        members: 0,
    };
    merge.run(entries, progress)?;
    let Out { ids, pages, late, .. } = merge.out;
    Ok(Merged { ids: ids.finish()?, pages: pages.finish()?, displaced: late.finish(memory / 8)?, entries })
}

struct Merge<'s> {
    runs: Vec<RunReader>,
    old_urls: OldUrls,
    /// The keys in use in the old database.
    old_keys: OldRows<'s>,
    /// The low halves of all keys of the current domain that are in use, sorted.
    used: Vec<u32>,
    domain: Option<DomainKey>,
    /// New URLs of the domain whose key another one has.
    waiting: Vec<(PageKey, Candidate)>,
    /// The URLs of the current key; the first `members` of it, the others are empty and wait to be used again.
    group: Vec<Candidate>,
    members: usize,
    out: Out,
}

impl Merge<'_> {
    fn run(&mut self, entries: u64, progress: Progress<'_>) -> Result<(), PageDbError> {
        self.old_urls.advance()?;
        let mut heap: BinaryHeap<Reverse<(PageKey, usize)>> = BinaryHeap::new();
        heap.extend(self.runs.iter().enumerate().filter_map(|(at, run)| Some(Reverse((run.key()?, at)))));
        let mut done = 0;
        while let Some(&Reverse((key, _))) = heap.peek() {
            self.enter(key)?;
            self.members = 0;
            // Old pages without a mention stay as they are.
            self.old_urls.skip_before(key)?;
            while self.old_urls.key == Some(key) {
                self.take_old()?;
                self.old_urls.advance()?;
            }
            // Runs of one key come in the order of the input.
            while let Some(mut top) = heap.peek_mut() {
                let Reverse((at_key, at)) = *top;
                if at_key != key {
                    break;
                }
                while self.runs[at].key() == Some(key) {
                    done += 1;
                    if done % PROGRESS_ENTRIES == 0 {
                        progress(Phase::Merging, done, entries);
                    }
                    take_entry(&mut self.group, &mut self.members, at as u32, &self.runs[at].record()?);
                    self.runs[at].advance()?;
                }
                match self.runs[at].key() {
                    Some(next) => *top = Reverse((next, at)),
                    None => drop(std::collections::binary_heap::PeekMut::pop(top)),
                }
            }
            self.settle_group(key)?;
        }
        self.leave_domain()?;
        progress(Phase::Merging, entries, entries);
        Ok(())
    }

    fn take_old(&mut self) -> Result<(), PageDbError> {
        let bytes = &self.old_urls.payload;
        let (index, key, site, path) = decode_old(bytes)?;
        let candidate = candidate(&mut self.group, &mut self.members, site, path);
        candidate.old = Some((index, key));
        Ok(())
    }

    /// Comes to a key: those of the old database before it are noted, a domain that is over is settled.
    fn enter(&mut self, key: PageKey) -> Result<(), PageDbError> {
        if self.domain != Some(key.domain()) {
            self.leave_domain()?;
            self.domain = Some(key.domain());
            self.used.clear();
            let first = PageKey::new(key.domain(), 0).to_bytes();
            while self.old_keys.next_if(|old| *old < first[..])?.is_some() {}
        }
        let row = key.to_bytes();
        while let Some((old, _)) = self.old_keys.next_if(|old| *old < row[..])? {
            self.used.push(page_key("hash2idx", old)?.0 as u32);
        }
        Ok(())
    }

    /// Gives the key to its owner; the other new URLs wait.
    fn settle_group(&mut self, key: PageKey) -> Result<(), PageDbError> {
        // Whoever takes the key of a mark is found as what stood there was.
        let old = self.old_keys.next_if(|old| *old == key.to_bytes())?;
        let mut is_taken = old.is_some_and(|(_, value)| value != MARK);
        if old.is_some() {
            self.used.push(key.0 as u32);
        }
        for at in 0..self.members {
            let candidate = &mut self.group[at];
            if candidate.entries.is_empty() {
                continue;
            }
            match candidate.old {
                Some((_, own)) => self.out.page(own, candidate, own != key)?,
                None if !is_taken => {
                    is_taken = true;
                    if old.is_none() {
                        self.used.push(key.0 as u32);
                    }
                    self.out.page(key, candidate, false)?;
                }
                None => self.waiting.push((key, std::mem::take(candidate))),
            }
        }
        Ok(())
    }

    /// Gives each URL that waits the first key from its own on that is free.
    fn leave_domain(&mut self) -> Result<(), PageDbError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let Some(domain) = self.domain else { return Ok(()) };
        let prefix = domain.0.to_be_bytes();
        while let Some((old, _)) = self.old_keys.next_if(|old| old.starts_with(&prefix))? {
            self.used.push(page_key("hash2idx", old)?.0 as u32);
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|(_, candidate)| candidate.first);
        let mut taken: HashSet<u32, foldhash::fast::RandomState> = HashSet::default();
        // Where the search from a key ended: those after it need not walk the same chain.
        let mut ends: std::collections::HashMap<PageKey, PageKey, foldhash::fast::RandomState> =
            std::collections::HashMap::default();
        for (natural, candidate) in &waiting {
            let mut key = ends.get(natural).copied().unwrap_or(*natural);
            while self.used.binary_search(&(key.0 as u32)).is_ok() || taken.contains(&(key.0 as u32)) {
                key = key.next_in_domain();
            }
            taken.insert(key.0 as u32);
            ends.insert(*natural, key);
            self.out.page(key, candidate, true)?;
        }
        Ok(())
    }
}

/// Finds or makes the candidate of a URL among those of the current key.
fn candidate<'g>(
    group: &'g mut Vec<Candidate>,
    members: &mut usize,
    site: u32,
    path: &str,
) -> &'g mut Candidate {
    let found = group[..*members].iter().position(|known| known.site == site && known.path == path);
    let at = found.unwrap_or_else(|| {
        if *members == group.len() {
            group.push(Candidate::default());
        }
        let new = &mut group[*members];
        new.site = site;
        new.path.clear();
        new.path.push_str(path);
        (new.old, new.score) = (None, None);
        new.crawls.clear();
        new.entries.clear();
        *members += 1;
        *members - 1
    });
    &mut group[at]
}

fn take_entry(group: &mut Vec<Candidate>, members: &mut usize, run: u32, record: &Record<'_>) {
    let page = candidate(group, members, record.site, record.path);
    if page.entries.is_empty() {
        page.first = (run, record.number, record.parent);
    }
    // Once crawled, a page's score in the schedule does not change.
    if let (Some(score), true) = (record.score, page.crawls.is_empty()) {
        page.score = Some(page.score.map_or(score, |best| best.max(score)));
    }
    page.crawls.extend_from_slice(record.crawls);
    page.entries.push((run, record.number));
}

/// Where the merge writes to.
struct Out {
    /// Entries of the runs before each run.
    bases: Vec<u64>,
    ids: Spool,
    pages: Writer,
    last_key: u64,
    late: Sorter,
    bytes: Vec<u8>,
}

impl Out {
    /// Tells the entries of a URL what page it is, and notes what becomes of the page.
    fn page(&mut self, key: PageKey, page: &Candidate, is_displaced: bool) -> Result<(), PageDbError> {
        let (run, number, parent) = page.first;
        let first = self.bases[run as usize] + u64::from(number);
        let id = match page.old {
            Some((index, _)) => index.0 << 2 | OF_OLD,
            None => first << 2 | OF_ENTRY,
        };
        for &(entry_run, entry) in &page.entries {
            let is_new = page.old.is_none() && (entry_run, entry) == (run, number);
            self.ids.append(entry_run as usize, |out| {
                put_varint(out, entry.into());
                if is_new {
                    put_varint(out, NEW);
                    out.extend_from_slice(&key.to_bytes());
                    put_varint(out, page.site.into());
                    put_varint(out, parent.map_or(0, |parent| u64::from(parent) + 1));
                    put_bytes(out, page.path.as_bytes());
                } else {
                    put_varint(out, id);
                }
            })?;
        }
        let bytes = &mut self.bytes;
        bytes.clear();
        if !is_displaced {
            put_varint(bytes, key.0 - self.last_key);
            self.last_key = key.0;
        }
        put_varint(bytes, id);
        bytes.push(u8::from(page.score.is_some()));
        if let Some(score) = page.score {
            put_f32(bytes, score.get());
        }
        bytes.extend_from_slice(&page.crawls);
        if is_displaced { self.late.push(key.0, bytes) } else { self.pages.record(bytes) }
    }
}

/// The URLs of the old database, in the order of the keys that they hash to.
struct OldUrls {
    sorted: Sorted,
    key: Option<PageKey>,
    payload: Vec<u8>,
}

impl OldUrls {
    fn advance(&mut self) -> Result<(), PageDbError> {
        self.key = None;
        if let Some((key, payload)) = self.sorted.next()? {
            self.key = Some(PageKey(key));
            self.payload.clear();
            self.payload.extend_from_slice(payload);
        }
        Ok(())
    }

    fn skip_before(&mut self, key: PageKey) -> Result<(), PageDbError> {
        while self.key.is_some_and(|old| old < key) {
            self.advance()?;
        }
        Ok(())
    }
}

fn decode_old(bytes: &[u8]) -> Result<(PageIndex, PageKey, u32, &str), PageDbError> {
    let mut reader = Reader::new(bytes);
    let mut decode = || {
        let index = PageIndex(reader.varint()?);
        let key = PageKey::from_bytes(reader.array()?);
        let site = reader.number()?;
        let path = std::str::from_utf8(reader.rest()).map_err(|_| crate::types::codec::Malformed)?;
        Ok((index, key, site, path))
    };
    decode().map_err(|_: crate::types::codec::Malformed| crate::pagedb::env::corrupted("urls", bytes))
}
