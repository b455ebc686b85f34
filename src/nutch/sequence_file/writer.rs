//! Writing a SequenceFile.

use std::io::Write;

use super::super::{NutchError, Unwritable, deflate};
use super::block::BlockBuffer;
use super::{Compression, Header, SYNC_ESCAPE, Version};

/// When sync markers and blocks are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// Bytes from one sync marker to the next, at least.
    pub sync_interval: u64,
    /// Bytes of keys and values after which a block is complete.
    pub block_bytes: usize,
}

impl Default for WriteOptions {
    /// As Hadoop 3: `SYNC_INTERVAL` and `io.seqfile.compress.blocksize`.
    fn default() -> Self {
        WriteOptions { sync_interval: 5 * 1024 * 20, block_bytes: 1_000_000 }
    }
}

/// Appends records; [`SequenceWriter::finish`] writes what is left of the last block.
pub struct SequenceWriter<W> {
    out: W,
    header: Header,
    options: WriteOptions,
    /// Bytes written.
    position: u64,
    /// Where the last sync marker ends.
    last_sync: u64,
    block: BlockBuffer,
    scratch: Vec<u8>,
}

impl<W: Write> SequenceWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// [`Unwritable`] for a header that its version cannot have, [`NutchError::Io`].
    pub fn new(out: W, header: Header) -> Result<Self, NutchError> {
        SequenceWriter::with_options(out, header, WriteOptions::default())
    }

    /// # Errors
    /// As [`SequenceWriter::new`].
    pub fn with_options(mut out: W, header: Header, options: WriteOptions) -> Result<Self, NutchError> {
        let scratch = header.encode()?;
        out.write_all(&scratch)?;
        let position = scratch.len() as u64;
        let block = BlockBuffer::default();
        Ok(SequenceWriter { out, header, options, position, last_sync: 0, block, scratch })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Where a reader has to set in to find the record that is appended next: its own offset, or that of its
    /// block.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Appends a record.
    ///
    /// # Errors
    /// [`Unwritable`] if it is too long, or its key is empty in version 1; [`NutchError::Io`].
    pub fn append(&mut self, key: &[u8], value: &[u8]) -> Result<(), NutchError> {
        if key.is_empty() && self.header.version == Version::V1 {
            return Err(Unwritable::EmptyKey.into());
        }
        if self.header.compression == Compression::Block {
            length_of(key.len() + value.len())?;
            self.block.push(key, value);
            return if self.block.bytes() >= self.options.block_bytes { self.end_block() } else { Ok(()) };
        }
        self.scratch.clear();
        if self.header.version == Version::V6 && self.position >= self.last_sync + self.options.sync_interval
        {
            self.put_sync();
        }
        let start = self.scratch.len();
        self.scratch.extend_from_slice(&[0; 8]);
        self.scratch.extend_from_slice(key);
        match self.header.compression {
            Compression::Record => deflate::deflate(value, &mut self.scratch),
            _ => self.scratch.extend_from_slice(value),
        }
        let length = length_of(self.scratch.len() - start - 8)?;
        self.scratch[start..start + 4].copy_from_slice(&length);
        self.scratch[start + 4..start + 8].copy_from_slice(&length_of(key.len())?);
        self.flush_scratch()
    }

    /// Writes what is left and gives back the output, which is not flushed.
    ///
    /// # Errors
    /// [`NutchError::Io`].
    pub fn finish(mut self) -> Result<W, NutchError> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        Ok(self.out)
    }

    fn put_sync(&mut self) {
        self.scratch.extend_from_slice(&SYNC_ESCAPE.to_be_bytes());
        self.scratch.extend_from_slice(&self.header.sync);
        self.last_sync = self.position + 20;
    }

    fn end_block(&mut self) -> Result<(), NutchError> {
        self.scratch.clear();
        self.put_sync();
        self.block.encode(&mut self.scratch);
        self.flush_scratch()
    }

    fn flush_scratch(&mut self) -> Result<(), NutchError> {
        self.out.write_all(&self.scratch)?;
        self.position += self.scratch.len() as u64;
        Ok(())
    }
}

fn length_of(bytes: usize) -> Result<[u8; 4], Unwritable> {
    let length = i32::try_from(bytes).map_err(|_| Unwritable::TooLong {
        what: "a record",
        length: bytes as u64,
        limit: i32::MAX as u64,
    })?;
    Ok(length.to_be_bytes())
}
