//! Reading a SequenceFile, one record in memory at a time (or one block).

use std::io::{BufRead, Seek};

use super::super::source::Source;
use super::super::{Fault, Limits, NutchError, deflate};
use super::block::{Block, Spans};
use super::{Compression, Header, SYNC_ESCAPE, Version};

/// Reads the records in their order. After an error it is at its end, until [`SequenceReader::seek`].
pub struct SequenceReader<R> {
    source: Source<R>,
    header: Header,
    limits: Limits,
    /// Where the header ends.
    start: u64,
    ended: bool,
    /// A record as it stands in the file, and its value decompressed.
    record: Vec<u8>,
    value: Vec<u8>,
    block: Block,
    /// Where the last record is.
    place: Option<Place>,
}

/// A key and its value, as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Offset in the file from which the record can be read again: its own, or its block's.
    pub position: u64,
    pub key: &'a [u8],
    pub value: &'a [u8],
}

/// Where the record that was just read is.
enum Place {
    Record { position: u64, key_len: usize },
    Block(Spans),
}

impl<R: BufRead> SequenceReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`NutchError::Malformed`] if it is not one, [`NutchError::Io`].
    pub fn new(input: R) -> Result<Self, NutchError> {
        SequenceReader::with_limits(input, Limits::default())
    }

    /// # Errors
    /// As [`SequenceReader::new`].
    pub fn with_limits(input: R, limits: Limits) -> Result<Self, NutchError> {
        let mut source = Source::new(input, limits.record_bytes);
        let header = Header::read(&mut source)?;
        let start = source.offset();
        let (record, value, block) = Default::default();
        Ok(SequenceReader { source, header, limits, start, ended: false, record, value, block, place: None })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Offset of the first record.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// [`NutchError::Malformed`] with the offset, [`NutchError::Io`].
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, NutchError> {
        self.place = None;
        if self.ended {
            return Ok(None);
        }
        // Until the record is whole, it is the end.
        self.ended = true;
        self.place = self.advance()?;
        self.ended = self.place.is_none();
        Ok(self.current())
    }

    /// The record that [`SequenceReader::next`] gave last.
    pub fn current(&self) -> Option<Entry<'_>> {
        Some(match self.place.as_ref()? {
            Place::Block(spans) => {
                let (key, value) = (self.block.key(spans), self.block.value(spans));
                Entry { position: self.block.position(), key, value }
            }
            Place::Record { position, key_len } => {
                let (key, value) = self.record.split_at(*key_len);
                let plain = self.header.compression == Compression::None;
                Entry { position: *position, key, value: if plain { value } else { &self.value } }
            }
        })
    }

    fn advance(&mut self) -> Result<Option<Place>, NutchError> {
        if self.header.compression == Compression::Block {
            return Ok(self.advance_in_blocks()?.map(Place::Block));
        }
        let position = self.source.offset();
        let Some(length) = self.record_length()? else { return Ok(None) };
        let key_len = self.source.i32("key length")?;
        let key_len = match usize::try_from(key_len) {
            Ok(key_len) if key_len <= length => key_len,
            _ => {
                let fault = Fault::Length { what: "the key", length: i64::from(key_len) };
                return Err(self.source.refuse_at(self.source.offset() - 4, fault));
            }
        };
        self.record.clear();
        let start = self.source.offset();
        self.source.read(length, "record", &mut self.record)?;
        if self.header.compression == Compression::Record {
            self.value.clear();
            let packed = &self.record[key_len..];
            deflate::inflate(packed, "value", self.limits.record_bytes, &mut self.value)
                .map_err(|fault| self.source.refuse_at(start + key_len as u64, fault))?;
        }
        Ok(Some(Place::Record { position, key_len }))
    }

    /// The length of the next record, after any sync markers; `None` at the end.
    fn record_length(&mut self) -> Result<Option<usize>, NutchError> {
        loop {
            if self.source.is_at_end()? {
                return Ok(None);
            }
            let start = self.source.offset();
            let length = self.source.i32("record length")?;
            if length == SYNC_ESCAPE && self.header.version == Version::V6 {
                self.check_sync()?;
                continue;
            }
            return match usize::try_from(length) {
                Ok(length) => Ok(Some(length)),
                Err(_) => {
                    let fault = Fault::Length { what: "the record", length: i64::from(length) };
                    Err(self.source.refuse_at(start, fault))
                }
            };
        }
    }

    fn check_sync(&mut self) -> Result<(), NutchError> {
        let start = self.source.offset();
        let found: [u8; 16] = self.source.array("sync marker")?;
        if found == self.header.sync { Ok(()) } else { Err(self.source.refuse_at(start, Fault::Sync)) }
    }

    fn advance_in_blocks(&mut self) -> Result<Option<Spans>, NutchError> {
        loop {
            let position = self.block.position();
            let next = self.block.next().map_err(|fault| self.source.refuse_at(position, fault))?;
            if next.is_some() {
                return Ok(next);
            }
            if self.source.is_at_end()? {
                return Ok(None);
            }
            let position = self.source.offset();
            if self.source.i32("sync escape")? != SYNC_ESCAPE {
                return Err(self.source.refuse_at(position, Fault::Sync));
            }
            self.check_sync()?;
            self.block.read(&mut self.source, position, self.limits.record_bytes)?;
        }
    }
}

impl<R: BufRead + Seek> SequenceReader<R> {
    /// Goes on at `position`, which an [`Entry`] had, or an index, or [`SequenceReader::start`].
    ///
    /// # Errors
    /// [`NutchError::Malformed`] if no file reaches so far, [`NutchError::Io`].
    pub fn seek(&mut self, position: u64) -> Result<(), NutchError> {
        self.block.clear();
        self.place = None;
        self.ended = true;
        self.source.seek(position)?;
        self.ended = false;
        Ok(())
    }
}
