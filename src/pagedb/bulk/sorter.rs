//! External sort: what does not fit into memory goes to disk in sorted runs, which are merged while they are
//! read (the block sort of Nutch's WebDB).

use std::path::PathBuf;

use super::disk::{Records, Section, Spilled, Writer};
use crate::pagedb::env::PageDbError;

/// What decides between items of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tie {
    /// The one pushed first comes first.
    Pushed,
    /// The order of the payloads' bytes.
    Payload,
}

/// Takes items of a 64-bit key and a payload.
pub struct Sorter {
    path: PathBuf,
    tie: Tie,
    limit: usize,
    payloads: Vec<u8>,
    items: Vec<Item>,
    spilled: Option<Writer>,
    runs: Vec<Section>,
}

#[derive(Clone, Copy)]
struct Item {
    key: u64,
    start: u32,
    len: u32,
}

const ITEM_BYTES: usize = size_of::<Item>();

impl Sorter {
    /// At most `limit` bytes are held in memory; beyond that `path` is created.
    pub fn new(path: PathBuf, tie: Tie, limit: usize) -> Sorter {
        let limit = limit.clamp(1 << 10, 1 << 31);
        Sorter { path, tie, limit, payloads: Vec::new(), items: Vec::new(), spilled: None, runs: Vec::new() }
    }

    pub fn push(&mut self, key: u64, payload: &[u8]) -> Result<(), PageDbError> {
        if self.bytes() + payload.len() > self.limit && !self.items.is_empty() {
            self.spill()?;
        }
        let start = self.payloads.len() as u32;
        self.payloads.extend_from_slice(payload);
        self.items.push(Item { key, start, len: payload.len() as u32 });
        Ok(())
    }

    /// All items in order. Up to `keep` bytes stay in memory.
    pub fn finish(mut self, keep: usize) -> Result<Sorted, PageDbError> {
        if self.spilled.is_none() && self.bytes() <= keep {
            self.sort();
            return Ok(Sorted(Source::Memory { payloads: self.payloads, items: self.items, next: 0 }));
        }
        self.spill()?;
        // Both are given back before the merge takes its buffers.
        (self.payloads, self.items) = (Vec::new(), Vec::new());
        let Some(writer) = self.spilled else {
            return Ok(Sorted(Source::Memory { payloads: Vec::new(), items: Vec::new(), next: 0 }));
        };
        let file = writer.finish()?;
        let buffer = (keep / self.runs.len()).clamp(1 << 14, 1 << 20);
        let runs = self.runs.iter().map(|&run| Run::new(file.records(run, buffer)));
        let runs = runs.collect::<Result<_, _>>()?;
        Ok(Sorted(Source::Disk { runs, tie: self.tie, file, current: Vec::new() }))
    }

    fn bytes(&self) -> usize {
        self.payloads.len() + self.items.len() * ITEM_BYTES
    }

    fn sort(&mut self) {
        let payloads = &self.payloads;
        let payload = |item: &Item| &payloads[item.start as usize..(item.start + item.len) as usize];
        match self.tie {
            Tie::Pushed => self.items.sort_by_key(|item| item.key),
            Tie::Payload => {
                self.items
                    .sort_unstable_by(|a, b| a.key.cmp(&b.key).then_with(|| payload(a).cmp(payload(b))));
            }
        }
    }

    fn spill(&mut self) -> Result<(), PageDbError> {
        self.sort();
        if self.spilled.is_none() {
            self.spilled = Some(Writer::create(self.path.clone())?);
        }
        let Some(out) = &mut self.spilled else { return Ok(()) };
        let start = out.position();
        let mut record = Vec::new();
        for item in &self.items {
            record.clear();
            record.extend_from_slice(&item.key.to_le_bytes());
            record.extend_from_slice(&self.payloads[item.start as usize..(item.start + item.len) as usize]);
            out.record(&record)?;
        }
        self.runs.push(Section { start, end: out.position() });
        self.payloads.clear();
        self.items.clear();
        Ok(())
    }
}

/// Sorted items, read one after the other.
pub struct Sorted(Source);

enum Source {
    Memory { payloads: Vec<u8>, items: Vec<Item>, next: usize },
    Disk { runs: Vec<Run>, tie: Tie, file: Spilled, current: Vec<u8> },
}

/// A sorted part of the file and its first item that was not given out.
struct Run {
    records: Records,
    key: u64,
    payload: Vec<u8>,
    ended: bool,
}

impl Run {
    fn new(records: Records) -> Result<Run, PageDbError> {
        let mut run = Run { records, key: 0, payload: Vec::new(), ended: false };
        run.advance()?;
        Ok(run)
    }

    fn advance(&mut self) -> Result<(), PageDbError> {
        match self.records.next()?.and_then(|record| record.split_first_chunk::<8>()) {
            Some((key, payload)) => {
                self.key = u64::from_le_bytes(*key);
                self.payload.clear();
                self.payload.extend_from_slice(payload);
            }
            None => self.ended = true,
        }
        Ok(())
    }
}

impl Sorted {
    /// The next item; `None` after the last.
    pub fn next(&mut self) -> Result<Option<(u64, &[u8])>, PageDbError> {
        match &mut self.0 {
            Source::Memory { payloads, items, next } => {
                let Some(item) = items.get(*next) else { return Ok(None) };
                *next += 1;
                Ok(Some((item.key, &payloads[item.start as usize..(item.start + item.len) as usize])))
            }
            Source::Disk { runs, tie, current, .. } => {
                let Some(first) = least(runs, *tie) else { return Ok(None) };
                let run = &mut runs[first];
                let key = run.key;
                std::mem::swap(current, &mut run.payload);
                run.advance()?;
                Ok(Some((key, current)))
            }
        }
    }

    /// Deletes what lies on disk.
    pub fn delete(self) -> Result<(), PageDbError> {
        match self.0 {
            Source::Memory { .. } => Ok(()),
            Source::Disk { file, .. } => file.delete(),
        }
    }
}

/// The run with the least item: there are few runs. Earlier runs were pushed earlier.
fn least(runs: &[Run], tie: Tie) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (at, run) in runs.iter().enumerate().filter(|(_, run)| !run.ended) {
        let is_less = best.is_none_or(|best| match run.key.cmp(&runs[best].key) {
            std::cmp::Ordering::Equal => tie == Tie::Payload && run.payload < runs[best].payload,
            order => order.is_lt(),
        });
        if is_less {
            best = Some(at);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_come_sorted_whatever_fits_into_memory(
            items in proptest::collection::vec((0u64..20, proptest::collection::vec(any::<u8>(), 0..60)), 0..200),
            limit in 0usize..20_000,
        ) {
            let dir = tempfile::tempdir().unwrap();
            for tie in [Tie::Pushed, Tie::Payload] {
                let mut sorter = Sorter::new(dir.path().join("sorted"), tie, limit);
                for (key, payload) in &items {
                    sorter.push(*key, payload).unwrap();
                }
                let mut sorted = sorter.finish(limit).unwrap();
                let mut expected = items.clone();
                match tie {
                    Tie::Pushed => expected.sort_by_key(|item| item.0),
                    Tie::Payload => expected.sort(),
                }
                for (key, payload) in &expected {
                    prop_assert_eq!(sorted.next().unwrap(), Some((*key, &payload[..])));
                }
                prop_assert_eq!(sorted.next().unwrap(), None);
                sorted.delete().unwrap();
                prop_assert!(!dir.path().join("sorted").exists());
            }
        }
    }
}
