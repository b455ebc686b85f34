//! Lists of ascending numbers below 2^32, packed into bits and mapped.
//!
//! Lists stand in groups of [`GROUP`], in order, each group from a full byte on; an array in memory has the
//! place of each. A group begins with the orders of its codes (`bits.rs`), four bits each, chosen so that it
//! becomes smallest: of the lengths, of the first numbers, of gaps after a gap of zero, and of other gaps.
//! Then each list:
//!
//! * its length;
//! * its first number less that of the last list before it in the group that was not empty (0 at first), as
//!   a zigzag number: a page that a crawl finds is often found on the same page as the one before it;
//! * for each further number the distance to the one before, less one: the gap. Pages that were found
//!   together have neighbouring numbers, so a gap of zero is often followed by another.

use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;

use super::GraphError;
use super::bits::{BitReader, BitWriter, ORDERS, bits, unzigzag, zigzag};
use super::scratch::ScratchWriter;

/// Lists in a group: eight bytes for its place are an eighth of a byte a list, and to find one list at most
/// so many are decoded.
pub const GROUP: usize = 64;

/// Lists that were written by a [`PackedWriter`].
pub struct Packed {
    map: Option<Mmap>,
    /// First byte of each group, and at the end the number of bytes.
    groups: Vec<u64>,
    len: usize,
    items: u64,
    limit: u32,
}

/// Writes lists one after the other.
pub struct PackedWriter {
    out: ScratchWriter,
    groups: Vec<u64>,
    len: usize,
    items: u64,
    limit: u32,
    /// The lists of the group, one after the other, and where each ends.
    numbers: Vec<u32>,
    ends: Vec<usize>,
    bits: BitWriter,
}

impl PackedWriter {
    /// All numbers will be less than `limit`.
    ///
    /// # Errors
    /// [`GraphError::Io`], as all methods.
    pub fn create(dir: &Path, limit: u32) -> Result<Self, GraphError> {
        Ok(PackedWriter {
            out: ScratchWriter::create(dir)?,
            groups: Vec::new(),
            len: 0,
            items: 0,
            limit,
            numbers: Vec::new(),
            ends: Vec::new(),
            bits: BitWriter::default(),
        })
    }

    /// Appends a list, which must be ascending, without duplicates.
    pub fn push(&mut self, list: &[u32]) -> Result<(), GraphError> {
        debug_assert!(list.is_sorted_by(|a, b| a < b) && list.last().is_none_or(|&last| last < self.limit));
        self.numbers.extend_from_slice(list);
        self.ends.push(self.numbers.len());
        self.len += 1;
        self.items += list.len() as u64;
        if self.ends.len() == GROUP { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), GraphError> {
        let mut sizes = [[0u64; ORDERS as usize]; 4];
        each_number(&self.numbers, &self.ends, |kind, number| {
            for (order, size) in (0..).zip(&mut sizes[kind]) {
                *size += bits(number, order);
            }
        });
        let best = |sizes: &[u64]| (0..).zip(sizes).min_by_key(|(_, size)| **size).map_or(0, |(k, _)| k);
        let orders = sizes.map(|sizes| best(&sizes));
        self.groups.push(self.out.bytes());
        self.bits.bytes.clear();
        orders.iter().for_each(|&order| self.bits.put_order(order));
        each_number(&self.numbers, &self.ends, |kind, number| self.bits.put_number(number, orders[kind]));
        self.bits.align();
        self.out.write(&self.bits.bytes)?;
        self.numbers.clear();
        self.ends.clear();
        Ok(())
    }

    /// # Errors
    /// [`GraphError::Damaged`] if the file does not have what was written.
    pub fn finish(mut self) -> Result<Packed, GraphError> {
        if !self.ends.is_empty() {
            self.flush()?;
        }
        self.groups.push(self.out.bytes());
        self.groups.shrink_to_fit();
        let (groups, len, items, limit) = (self.groups, self.len, self.items, self.limit);
        Ok(Packed { map: self.out.finish()?, groups, len, items, limit })
    }
}

/// Kinds of numbers, each with an order of its own.
const LENGTH: usize = 0;
const FIRST: usize = 1;
const GAP_AFTER_ZERO: usize = 2;
const GAP: usize = 3;

/// Every number of a group, in the order of the bits.
fn each_number(numbers: &[u32], ends: &[usize], mut put: impl FnMut(usize, u64)) {
    let (mut start, mut last_first) = (0, 0);
    for &end in ends {
        put(LENGTH, (end - start) as u64);
        if let Some((&first, rest)) = numbers[start..end].split_first() {
            put(FIRST, zigzag(i64::from(first) - i64::from(last_first)));
            last_first = first;
            let (mut before, mut kind) = (first, GAP);
            for &number in rest {
                let gap = number - before - 1;
                put(kind, u64::from(gap));
                (before, kind) = (number, if gap == 0 { GAP_AFTER_ZERO } else { GAP });
            }
        }
        start = end;
    }
}

impl Packed {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Numbers in all lists.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Bytes of the file and of the array that finds a group.
    pub fn bytes(&self) -> u64 {
        self.map.as_ref().map_or(0, |map| map.len() as u64) + 8 * self.groups.len() as u64
    }

    /// Calls `visit` for each list of `range`, with its number; `scratch` holds one list at a time.
    ///
    /// # Errors
    /// [`GraphError::Damaged`] for bytes that are no lists.
    pub fn for_each(
        &self,
        range: Range<usize>,
        scratch: &mut Vec<u32>,
        mut visit: impl FnMut(usize, &[u32]),
    ) -> Result<(), GraphError> {
        let range = range.start..range.end.min(self.len);
        let mut at = range.start / GROUP * GROUP;
        while at < range.end {
            let mut group = self.group(at / GROUP).ok_or(GraphError::Damaged)?;
            let end = range.end.min(at + GROUP);
            while at < end {
                group.next_list(scratch).ok_or(GraphError::Damaged)?;
                if scratch.last().is_some_and(|&last| last >= self.limit) {
                    return Err(GraphError::Damaged);
                }
                if at >= range.start {
                    visit(at, scratch);
                }
                at += 1;
            }
        }
        Ok(())
    }

    fn group(&self, group: usize) -> Option<Group<'_>> {
        let (start, end) = (*self.groups.get(group)?, *self.groups.get(group + 1)?);
        let bytes = self.map.as_ref()?.get(start as usize..end as usize)?;
        Group::new(bytes)
    }
}

/// The lists of a group, one after the other.
struct Group<'a> {
    reader: BitReader<'a>,
    orders: [u32; 4],
    last_first: u32,
}

impl<'a> Group<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = BitReader::new(bytes);
        let mut orders = [0; 4];
        for order in &mut orders {
            *order = reader.order()?;
        }
        Some(Group { reader, orders, last_first: 0 })
    }

    /// Puts the next list into `out`; `None` if there is none.
    fn next_list(&mut self, out: &mut Vec<u32>) -> Option<()> {
        out.clear();
        let mut left = self.reader.number(self.orders[LENGTH])?;
        if left == 0 {
            return Some(());
        }
        let first = i64::from(self.last_first) + unzigzag(self.reader.number(self.orders[FIRST])?);
        let mut number = u32::try_from(first).ok()?;
        self.last_first = number;
        out.push(number);
        let mut order = self.orders[GAP];
        left -= 1;
        while left > 0 {
            let gap = self.reader.number(order)?;
            number = u32::try_from(u64::from(number) + gap + 1).ok()?;
            out.push(number);
            order = self.orders[if gap == 0 { GAP_AFTER_ZERO } else { GAP }];
            left -= 1;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    fn pack(lists: &[Vec<u32>]) -> Packed {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = PackedWriter::create(dir.path(), u32::MAX).unwrap();
        lists.iter().for_each(|list| writer.push(list).unwrap());
        writer.finish().unwrap()
    }

    fn read(packed: &Packed, range: Range<usize>) -> Vec<(usize, Vec<u32>)> {
        let mut out = Vec::new();
        packed.for_each(range, &mut Vec::new(), |at, list| out.push((at, list.to_vec()))).unwrap();
        out
    }

    fn any_lists() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let near = btree_set(0u32..300, 0..40);
        let far = btree_set(0..u32::MAX, 0..5);
        let list = prop_oneof![near, far].prop_map(|set| set.into_iter().collect());
        vec(list, 0..200)
    }

    proptest! {
        #[test]
        fn lists_come_back(lists in any_lists(), from in 0usize..200, n in 0usize..200) {
            let packed = pack(&lists);
            prop_assert_eq!(packed.len(), lists.len());
            prop_assert_eq!(packed.items() as usize, lists.iter().map(Vec::len).sum::<usize>());
            let (from, to) = (from.min(lists.len()), (from + n).min(lists.len()));
            let expected: Vec<_> = (from..to).map(|at| (at, lists[at].clone())).collect();
            prop_assert_eq!(read(&packed, from..to), expected);
        }

        #[test]
        fn arbitrary_bytes_are_lists_or_damaged(bytes in vec(any::<u8>(), 0..200)) {
            let Some(mut group) = Group::new(&bytes) else { return Ok(()) };
            let mut list = Vec::new();
            for _ in 0..GROUP {
                if group.next_list(&mut list).is_none() {
                    break;
                }
                prop_assert!(list.is_sorted_by(|a, b| a < b));
            }
        }
    }

    #[test]
    fn neighbours_found_together_take_about_a_bit_each() {
        let lists: Vec<Vec<u32>> = (0..640).map(|n| (n * 40..n * 40 + 30).collect()).collect();
        let packed = pack(&lists);
        assert!(packed.bytes() * 8 < 2 * packed.items(), "{} bytes", packed.bytes());
    }
}
