//! The distinct URLs of one run: a stretch of the input whose URLs fit into memory. Mentions in the input
//! become numbers of the run's entries, so that only distinct URLs have to be sorted and merged.

use super::batch::Crawl;
use crate::pagedb::prefetch::prefetch;
use crate::types::codec::{flag, put_bytes, put_f32, put_varint};
use crate::types::{PageKey, Score};

/// Stands for "no parent".
pub const NO_PARENT: u32 = u32::MAX;

/// A mention of a URL.
#[derive(Debug, Clone, Copy)]
pub struct Mention<'a> {
    /// The key that the URL hashes to.
    pub key: PageKey,
    /// Its number in [`super::sites::Sites`].
    pub site: u32,
    pub path: &'a str,
    pub score: Score,
}

/// A distinct URL of the run, and what the run's edits do to its page.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub key: PageKey,
    path_start: u32,
    pub site: u32,
    /// The entry of the page that its first mention stands on.
    pub parent: u32,
    score: Score,
    path_len: u16,
    flags: u8,
}

/// A link or a seed named it before its first crawl in the run: `score` is the best that these gave.
const HAS_SCORE: u8 = 1;
const CRAWLED: u8 = 2;

/// The entries of a run, in order of first sight.
pub struct Dictionary {
    pub entries: Vec<Entry>,
    paths: String,
    /// Open addressing: the low half of an entry's key, then its number plus one; 0 is free.
    slots: Vec<u64>,
    crawls: Vec<(u32, Crawl)>,
    hash_bytes: usize,
}

/// Slots at first.
const FEW_SLOTS: usize = 1 << 10;

impl Dictionary {
    pub fn new() -> Dictionary {
        Dictionary {
            entries: Vec::new(),
            paths: String::new(),
            slots: vec![0; FEW_SLOTS],
            crawls: Vec::new(),
            hash_bytes: 0,
        }
    }

    /// Bytes of memory that it takes, with those that sorting it will take.
    pub fn bytes(&self) -> usize {
        // Sorting: 16 bytes an entry. Growing slots are there twice for a moment.
        self.entries.len() * (size_of::<Entry>() + 16)
            + self.paths.len()
            + self.slots.len() * 12
            + self.crawls.len() * size_of::<(u32, Crawl)>()
            + self.hash_bytes
    }

    /// Whether it can take no more, whatever the memory: numbers and places have 32 bits.
    pub fn is_full(&self) -> bool {
        self.paths.len() > 1 << 31 || self.entries.len() > 1 << 30
    }

    /// The number of a mention's URL, which gets an entry if it is new to the run.
    pub fn number_of(&mut self, mention: &Mention<'_>, parent: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = self.slot_of(mention.key);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            let number = slot as u32 - 1;
            // URLs, not keys, are compared: two of one key are two entries.
            if (slot >> 32) as u32 == mention.key.0 as u32 && self.is_url(number, mention) {
                return number;
            }
            at = (at + 1) & mask;
        }
        let number = self.entries.len() as u32;
        self.slots[at] = u64::from(mention.key.0 as u32) << 32 | u64::from(number + 1);
        self.entries.push(Entry {
            key: mention.key,
            path_start: self.paths.len() as u32,
            site: mention.site,
            parent,
            score: Score::ZERO,
            path_len: mention.path.len() as u16,
            flags: 0,
        });
        self.paths.push_str(mention.path);
        // At most two thirds of the slots are taken.
        if self.entries.len() * 3 > self.slots.len() * 2 {
            self.grow();
        }
        number
    }

    /// A link or a seed names the page.
    pub fn linked(&mut self, number: u32, score: Score) {
        let entry = &mut self.entries[number as usize];
        if entry.flags & CRAWLED == 0 {
            let is_first = entry.flags & HAS_SCORE == 0;
            entry.score = if is_first { score } else { entry.score.max(score) };
            entry.flags |= HAS_SCORE;
        }
    }

    /// The page is crawled.
    pub fn crawled(&mut self, number: u32, crawl: &Crawl) {
        self.entries[number as usize].flags |= CRAWLED;
        self.hash_bytes += crawl.content_hash.as_ref().map_or(0, |hash| hash.to_bytes().len());
        self.crawls.push((number, crawl.clone()));
    }

    /// Asks the processor for the slot of a key that will be looked up soon.
    pub fn prefetch_slot(&self, key: PageKey) {
        prefetch(&self.slots[self.slot_of(key)]);
    }

    /// Asks for the entry behind a slot that was asked for.
    pub fn prefetch_entry(&self, key: PageKey) {
        let slot = self.slots[self.slot_of(key)];
        if slot != 0 {
            prefetch(&self.entries[slot as u32 as usize - 1]);
        }
    }

    /// Asks for the path behind an entry that was asked for.
    pub fn prefetch_path(&self, key: PageKey) {
        let slot = self.slots[self.slot_of(key)];
        if slot != 0 {
            let entry = &self.entries[slot as u32 as usize - 1];
            prefetch(&self.paths.as_bytes()[entry.path_start as usize..]);
        }
    }

    /// Calls `visit` with the encoded record of each entry, in order of key and first sight.
    pub fn for_each_sorted<E>(mut self, mut visit: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.slots = Vec::new();
        // Stable: the crawls of a page stay in the order of the input.
        self.crawls.sort_by_key(|&(number, _)| number);
        let mut order: Vec<u128> = self.entries.iter().zip(0u128..).map(sortable).collect();
        order.sort_unstable();
        let mut record = Vec::new();
        let mut crawls = Vec::new();
        let mut before = 0;
        for (at, sorted) in order.iter().enumerate() {
            if let Some(next) = order.get(at + 16) {
                prefetch(&self.entries[*next as u32 as usize]);
            }
            if let Some(next) = order.get(at + 8) {
                let entry = &self.entries[*next as u32 as usize];
                prefetch(&self.paths.as_bytes()[entry.path_start as usize..]);
            }
            let number = *sorted as u32;
            let entry = self.entries[number as usize];
            record.clear();
            put_varint(&mut record, entry.key.0 - before);
            before = entry.key.0;
            crawls.clear();
            if entry.flags & CRAWLED != 0 {
                let first = self.crawls.partition_point(|&(of, _)| of < number);
                for (_, crawl) in self.crawls[first..].iter().take_while(|&&(of, _)| of == number) {
                    encode_crawl(crawl, &mut crawls);
                }
            }
            self.encode(number, &entry, &crawls, &mut record);
            visit(&record)?;
        }
        Ok(())
    }

    /// What follows the key in a record of a run; `super::run` reads it.
    fn encode(&self, number: u32, entry: &Entry, crawls: &[u8], out: &mut Vec<u8>) {
        put_varint(out, number.into());
        put_varint(out, entry.site.into());
        put_varint(out, if entry.parent == NO_PARENT { 0 } else { u64::from(entry.parent) + 1 });
        out.push(entry.flags);
        if entry.flags & HAS_SCORE != 0 {
            put_f32(out, entry.score.get());
        }
        if entry.flags & CRAWLED != 0 {
            put_bytes(out, crawls);
        }
        out.extend_from_slice(self.path(entry).as_bytes());
    }

    fn path(&self, entry: &Entry) -> &str {
        let start = entry.path_start as usize;
        &self.paths[start..start + usize::from(entry.path_len)]
    }

    fn is_url(&self, number: u32, mention: &Mention<'_>) -> bool {
        let entry = &self.entries[number as usize];
        entry.key == mention.key && entry.site == mention.site && self.path(entry) == mention.path
    }

    fn slot_of(&self, key: PageKey) -> usize {
        // The slots are a power of two; the upper bits of the product depend on all of the key.
        let bits = self.slots.len().trailing_zeros();
        (key.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        let mask = self.slots.len() - 1;
        for (number, entry) in (0u32..).zip(&self.entries) {
            let mut at = self.slot_of(entry.key);
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = u64::from(entry.key.0 as u32) << 32 | u64::from(number + 1);
        }
    }
}

/// Key and number in one integer, which sorts several times faster than a pair.
fn sortable((entry, number): (&Entry, u128)) -> u128 {
    u128::from(entry.key.0) << 32 | number
}

fn encode_crawl(crawl: &Crawl, out: &mut Vec<u8>) {
    let has_score = crawl.score != Score::ZERO;
    out.push(flag(has_score, 1) | flag(crawl.content_hash.is_some(), 2));
    put_varint(out, crawl.time.0);
    if has_score {
        put_f32(out, crawl.score.get());
    }
    if let Some(hash) = &crawl.content_hash {
        put_bytes(out, &hash.to_bytes());
    }
}
