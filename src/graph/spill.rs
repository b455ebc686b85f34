//! An external distribution sort of links by target, within a memory budget.
//!
//! Links come in order of source. Pages are cut into ranges of equal length, each with a *bucket*; a link
//! goes to the bucket of its target, as a record in a buffer that is appended to one file when it is full.
//! In the end the buckets are read one after the other, in order, and each is sorted in memory by counting.
//! A bucket that is too large for that (popular pages are clustered) is distributed once more, over ranges
//! that divide its own; one that holds a single page needs no sorting, because sources never lose their order.
//!
//! A record has the links of one source into the bucket: its distance to the record before, the number
//! of targets, and the targets as distances, the first from the bucket's first page, the further ones from the
//! one before; all are varints.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{GraphError, Watch, scratch};
use crate::types::codec::{Malformed, Reader, put_varint};

/// Buffers of less than this would make the file a heap of tiny pieces.
const MIN_BUFFER: usize = 4 << 10;
const MAX_BUFFER: usize = 256 << 10;
/// Bytes of a link in memory while its bucket is sorted: a source, and about four bytes of its record.
const LINK_BYTES: usize = 8;
/// Bytes of a page then: where its next source goes.
const PAGE_BYTES: usize = 4;

/// Takes a page and the sources of the links to it, or a source and its targets.
type Visit<'a> = &'a mut dyn FnMut(u32, &[u32]) -> Result<(), GraphError>;

/// Links on their way from order of source to order of target.
pub struct Spill {
    dir: PathBuf,
    file: File,
    end: u64,
    memory: usize,
    /// Pages of all buckets: from `first`, so many.
    first: u32,
    pages: u32,
    /// Pages of one bucket: two to this power.
    shift: u32,
    buckets: Vec<Bucket>,
    buffer_bytes: usize,
}

#[derive(Default)]
struct Bucket {
    buffer: Vec<u8>,
    /// Place and length of what was appended to the file.
    chunks: Vec<(u64, usize)>,
    last_source: u32,
    links: u64,
}

impl Spill {
    /// For about `links` links to the pages from `first` on.
    ///
    /// # Errors
    /// [`GraphError::Io`], as all methods.
    pub fn create(dir: &Path, memory: usize, first: u32, pages: u32, links: u64) -> Result<Self, GraphError> {
        // A quarter of the memory for a bucket of mean size: few will be more than the whole.
        let of_bucket = (memory / 4).max(1) as u64;
        let bytes = links * LINK_BYTES as u64 + u64::from(pages) * PAGE_BYTES as u64;
        let most = (memory / 2 / MIN_BUFFER).clamp(2, 4096) as u64;
        let wanted = bytes.div_ceil(of_bucket).clamp(2, most);
        let per_bucket = u64::from(pages).div_ceil(wanted).next_power_of_two();
        let n = u64::from(pages).div_ceil(per_bucket) as usize;
        Ok(Spill {
            dir: dir.to_owned(),
            file: scratch::create(dir)?,
            end: 0,
            memory,
            first,
            pages,
            shift: per_bucket.ilog2(),
            buckets: (0..n).map(|_| Bucket::default()).collect(),
            buffer_bytes: (memory / 2 / n.max(1)).clamp(MIN_BUFFER, MAX_BUFFER),
        })
    }

    /// Takes the links of one source. Sources come in ascending order, and so do the targets of each.
    pub fn push(&mut self, source: u32, mut targets: &[u32]) -> Result<(), GraphError> {
        while let Some(&target) = targets.first() {
            let bucket = ((target - self.first) >> self.shift) as usize;
            let base = self.base(bucket);
            let end = u64::from(base) + (1 << self.shift);
            let n = targets.partition_point(|&target| u64::from(target) < end);
            let (inside, rest) = targets.split_at(n);
            self.buckets[bucket].push(source, base, inside);
            if self.buckets[bucket].buffer.len() >= self.buffer_bytes {
                self.flush(bucket)?;
            }
            targets = rest;
        }
        Ok(())
    }

    /// The first page of a bucket.
    fn base(&self, bucket: usize) -> u32 {
        self.first + ((bucket as u32) << self.shift)
    }

    fn flush(&mut self, bucket: usize) -> Result<(), GraphError> {
        let bucket = &mut self.buckets[bucket];
        self.file
            .write_all_at(&bucket.buffer, self.end)
            .map_err(|source| GraphError::Io { path: self.dir.clone(), source })?;
        bucket.chunks.push((self.end, bucket.buffer.len()));
        self.end += bucket.buffer.len() as u64;
        bucket.buffer.clear();
        Ok(())
    }

    /// Calls `visit` for every page, in order, with the sources of the links to it, in order.
    ///
    /// # Errors
    /// [`GraphError::Cancelled`], or what `visit` says.
    pub fn finish(mut self, watch: Watch<'_>, visit: Visit<'_>) -> Result<(), GraphError> {
        for at in 0..self.buckets.len() {
            self.flush(at)?;
        }
        for bucket in &mut self.buckets {
            // Only one bucket at a time takes memory from now on.
            bucket.buffer = Vec::new();
        }
        for at in 0..self.buckets.len() {
            let first = self.base(at);
            let pages = (1u64 << self.shift).min(u64::from(self.pages - (first - self.first))) as u32;
            let bucket = &self.buckets[at];
            let bytes = bucket.links as usize * LINK_BYTES + pages as usize * PAGE_BYTES;
            if pages == 1 {
                let mut sources = Vec::with_capacity(bucket.links as usize);
                self.records(bucket, first, watch, &mut |source, _| {
                    sources.push(source);
                    Ok(())
                })?;
                visit(first, &sources)?;
            } else if bytes > self.memory && self.shift > 0 {
                let mut finer = Spill::create(&self.dir, self.memory, first, pages, bucket.links)?;
                self.records(bucket, first, watch, &mut |source, targets| finer.push(source, targets))?;
                finer.finish(watch, visit)?;
            } else {
                self.sort(bucket, first, pages, watch, visit)?;
            }
        }
        Ok(())
    }

    /// Sorts a bucket by counting.
    fn sort(
        &self,
        bucket: &Bucket,
        first: u32,
        pages: u32,
        watch: Watch<'_>,
        visit: Visit<'_>,
    ) -> Result<(), GraphError> {
        let mut ends = vec![0u32; pages as usize];
        self.records(bucket, first, watch, &mut |_, targets| {
            targets.iter().for_each(|&target| ends[(target - first) as usize] += 1);
            Ok(())
        })?;
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut sources = vec![0u32; start as usize];
        // Each start moves up to the end of its page.
        self.records(bucket, first, watch, &mut |source, targets| {
            for &target in targets {
                let at = &mut ends[(target - first) as usize];
                *sources.get_mut(*at as usize).ok_or(GraphError::Damaged)? = source;
                *at += 1;
            }
            Ok(())
        })?;
        let mut start = 0;
        for (page, &end) in (first..).zip(&ends) {
            visit(page, sources.get(start..end as usize).ok_or(GraphError::Damaged)?)?;
            start = end as usize;
        }
        Ok(())
    }

    /// Reads a bucket's records: each source with its targets.
    fn records(
        &self,
        bucket: &Bucket,
        first: u32,
        watch: Watch<'_>,
        visit: Visit<'_>,
    ) -> Result<(), GraphError> {
        let last = (u64::from(first) + (1 << self.shift)).min(u64::from(self.first) + u64::from(self.pages));
        let (mut bytes, mut targets, mut source) = (Vec::new(), Vec::new(), 0);
        for &(at, length) in &bucket.chunks {
            if watch.is_cancelled() {
                return Err(GraphError::Cancelled);
            }
            bytes.resize(length, 0);
            self.file
                .read_exact_at(&mut bytes, at)
                .map_err(|source| GraphError::Io { path: self.dir.clone(), source })?;
            let mut reader = Reader::new(&bytes);
            while reader.remaining() > 0 {
                source = read_record(&mut reader, source, first, last, &mut targets)
                    .map_err(|Malformed| GraphError::Damaged)?;
                visit(source, &targets)?;
            }
        }
        Ok(())
    }
}

impl Bucket {
    fn push(&mut self, source: u32, base: u32, targets: &[u32]) {
        put_varint(&mut self.buffer, u64::from(source - self.last_source));
        put_varint(&mut self.buffer, targets.len() as u64);
        let mut before = base;
        for &target in targets {
            put_varint(&mut self.buffer, u64::from(target - before));
            before = target;
        }
        self.last_source = source;
        self.links += targets.len() as u64;
    }
}

/// Reads what [`Bucket::push`] wrote into `targets`, which must be below `last`; returns the source.
fn read_record(
    reader: &mut Reader<'_>,
    before: u32,
    first: u32,
    last: u64,
    targets: &mut Vec<u32>,
) -> Result<u32, Malformed> {
    let source = before.checked_add(reader.number()?).ok_or(Malformed)?;
    let n: usize = reader.number()?;
    if n > reader.remaining() {
        return Err(Malformed);
    }
    targets.clear();
    let mut target = u64::from(first);
    for _ in 0..n {
        target = target.checked_add(reader.varint()?).filter(|&target| target < last).ok_or(Malformed)?;
        targets.push(target as u32);
    }
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    /// The links sorted in the same way in memory.
    fn expected(first: u32, pages: u32, lists: &[(u32, Vec<u32>)]) -> Vec<(u32, Vec<u32>)> {
        let sources = |page| {
            lists.iter().filter(|(_, targets)| targets.contains(&page)).map(|(source, _)| *source).collect()
        };
        (first..first + pages).map(|page| (page, sources(page))).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn links_come_out_by_target_whatever_the_memory(
            lists in vec((1u32..1000, btree_set(0u32..60, 0..40)), 0..150),
            memory in 0usize..4_000, first in 0u32..100, estimate in 0u64..10_000
        ) {
            let mut source = 0;
            let lists: Vec<(u32, Vec<u32>)> = lists
                .into_iter()
                .map(|(step, targets)| {
                    source += step;
                    (source, targets.into_iter().map(|target| first + target).collect())
                })
                .collect();
            let dir = tempfile::tempdir().unwrap();
            let mut spill = Spill::create(dir.path(), memory, first, 60, estimate).unwrap();
            lists.iter().for_each(|(source, targets)| spill.push(*source, targets).unwrap());
            let mut found = Vec::new();
            spill.finish(Watch::none(), &mut |page, sources| {
                found.push((page, sources.to_vec()));
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, expected(first, 60, &lists));
        }

        #[test]
        fn arbitrary_bytes_are_records_or_malformed(bytes in vec(any::<u8>(), 0..60)) {
            let mut targets = Vec::new();
            let mut reader = Reader::new(&bytes);
            if read_record(&mut reader, 7, 100, 200, &mut targets).is_ok() {
                prop_assert!(targets.iter().all(|target| (100..200).contains(target)));
            }
        }
    }
}
