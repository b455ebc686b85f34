//! A block of records in a block-compressed file: four zlib streams.

use std::io::BufRead;
use std::ops::Range;

use super::super::source::Source;
use super::super::{Fault, NutchError, deflate, vint};

/// The records of the block that is being read.
#[derive(Default)]
pub(super) struct Block {
    /// Offset of the block in the file.
    position: u64,
    records_left: usize,
    key_lengths: Column,
    keys: Column,
    value_lengths: Column,
    values: Column,
}

/// A decompressed stream and how much of it was used.
#[derive(Default)]
struct Column {
    bytes: Vec<u8>,
    used: usize,
}

/// What a block holds for one record: where it is in the two columns.
pub(super) struct Spans {
    pub key: Range<usize>,
    pub value: Range<usize>,
}

impl Block {
    /// Forgets what is left of the block.
    pub fn clear(&mut self) {
        *self = Block::default();
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn key(&self, spans: &Spans) -> &[u8] {
        &self.keys.bytes[spans.key.clone()]
    }

    pub fn value(&self, spans: &Spans) -> &[u8] {
        &self.values.bytes[spans.value.clone()]
    }

    /// Reads the block whose sync marker was just read.
    pub fn read<R: BufRead>(
        &mut self,
        source: &mut Source<R>,
        position: u64,
        limit: usize,
    ) -> Result<(), NutchError> {
        self.position = position;
        self.records_left = source.vint_length("number of records")?;
        self.key_lengths.read(source, "key lengths", limit)?;
        self.keys.read(source, "keys", limit)?;
        self.value_lengths.read(source, "value lengths", limit)?;
        self.values.read(source, "values", limit)
    }

    /// The next record; `None` after the last.
    pub fn next(&mut self) -> Result<Option<Spans>, Fault> {
        if self.records_left == 0 {
            for (column, what) in [
                (&self.key_lengths, "key lengths"),
                (&self.keys, "keys"),
                (&self.value_lengths, "value lengths"),
                (&self.values, "values"),
            ] {
                column.end(what)?;
            }
            return Ok(None);
        }
        self.records_left -= 1;
        let key = self.key_lengths.length("key length")?;
        let value = self.value_lengths.length("value length")?;
        Ok(Some(Spans { key: self.keys.span(key, "key")?, value: self.values.span(value, "value")? }))
    }
}

impl Column {
    fn read<R: BufRead>(
        &mut self,
        source: &mut Source<R>,
        what: &'static str,
        limit: usize,
    ) -> Result<(), NutchError> {
        let length = source.vint_length(what)?;
        let start = source.offset();
        let mut packed = Vec::new();
        source.read(length, what, &mut packed)?;
        self.bytes.clear();
        self.used = 0;
        deflate::inflate(&packed, what, limit, &mut self.bytes)
            .map_err(|fault| source.refuse_at(start, fault))
    }

    /// A column of lengths: the next one.
    fn length(&mut self, what: &'static str) -> Result<usize, Fault> {
        let rest = &self.bytes[self.used..];
        let (length, after) = vint::split_vint(rest).ok_or(Fault::CutOff(what))?;
        self.used = self.bytes.len() - after.len();
        usize::try_from(length).map_err(|_| Fault::Length { what, length })
    }

    /// A column of keys or values: the next one.
    fn span(&mut self, length: usize, what: &'static str) -> Result<Range<usize>, Fault> {
        if length > self.bytes.len() - self.used {
            return Err(Fault::CutOff(what));
        }
        let start = self.used;
        self.used += length;
        Ok(start..self.used)
    }

    fn end(&self, what: &'static str) -> Result<(), Fault> {
        match self.bytes.len() - self.used {
            0 => Ok(()),
            left => Err(Fault::LeftOver { what, left: left as u64 }),
        }
    }
}

/// The records of the block that is being written.
#[derive(Default)]
pub(super) struct BlockBuffer {
    records: usize,
    columns: [Vec<u8>; 4],
}

impl BlockBuffer {
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        let [key_lengths, keys, value_lengths, values] = &mut self.columns;
        vint::put_vint(key_lengths, key.len() as i64);
        keys.extend_from_slice(key);
        vint::put_vint(value_lengths, value.len() as i64);
        values.extend_from_slice(value);
        self.records += 1;
    }

    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Bytes of keys and values.
    pub fn bytes(&self) -> usize {
        self.columns[1].len() + self.columns[3].len()
    }

    /// Appends the block without its sync marker, and forgets its records.
    pub fn encode(&mut self, out: &mut Vec<u8>) {
        vint::put_vint(out, self.records as i64);
        let mut packed = Vec::new();
        for column in &mut self.columns {
            packed.clear();
            deflate::deflate(column, &mut packed);
            vint::put_vint(out, packed.len() as i64);
            out.extend_from_slice(&packed);
            column.clear();
        }
        self.records = 0;
    }
}
