//! Files of an import that live as long as it: records one after the other, each behind its length.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::pagedb::env::PageDbError;
use crate::types::codec::{Malformed, put_varint};

/// Bytes written at a time.
const WRITE_BUFFER: usize = 1 << 20;

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    pub start: u64,
    pub end: u64,
}

/// A file that is written from front to back.
pub struct Writer {
    path: PathBuf,
    out: BufWriter<File>,
    written: u64,
    head: Vec<u8>,
}

impl Writer {
    pub fn create(path: PathBuf) -> Result<Writer, PageDbError> {
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path);
        let file = file.map_err(|source| PageDbError::Io { path: path.clone(), source })?;
        Ok(Writer { path, out: BufWriter::with_capacity(WRITE_BUFFER, file), written: 0, head: Vec::new() })
    }

    /// Bytes written so far.
    pub fn position(&self) -> u64 {
        self.written
    }

    /// Appends a record.
    pub fn record(&mut self, bytes: &[u8]) -> Result<(), PageDbError> {
        let mut head = std::mem::take(&mut self.head);
        head.clear();
        put_varint(&mut head, bytes.len() as u64);
        let done = self.raw(&head).and_then(|()| self.raw(bytes));
        self.head = head;
        done
    }

    /// Appends bytes without a length.
    pub fn raw(&mut self, bytes: &[u8]) -> Result<(), PageDbError> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|source| PageDbError::Io { path: self.path.clone(), source })
    }

    /// Ends writing.
    pub fn finish(self) -> Result<Spilled, PageDbError> {
        let path = self.path;
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error);
        let file = file.map_err(|source| PageDbError::Io { path: path.clone(), source })?;
        Ok(Spilled { path: path.into(), file: Arc::new(file), bytes: self.written })
    }
}

/// A file that was written and is read now.
#[derive(Clone)]
pub struct Spilled {
    path: Arc<Path>,
    file: Arc<File>,
    pub bytes: u64,
}

impl Spilled {
    pub fn all(&self) -> Section {
        Section { start: 0, end: self.bytes }
    }

    /// Reads the records of a section with a buffer of `buffer` bytes.
    pub fn records(&self, section: Section, buffer: usize) -> Records {
        Records {
            from: self.clone(),
            at: section.start,
            end: section.end,
            buffer: Vec::new(),
            chunk: buffer.max(1 << 12),
            next: 0,
        }
    }

    /// Appends a section to `out`.
    pub fn read(&self, section: Section, out: &mut Vec<u8>) -> Result<(), PageDbError> {
        let len = (section.end - section.start) as usize;
        let start = out.len();
        out.resize(start + len, 0);
        let read = read_exact_at(&self.file, &mut out[start..], section.start);
        read.map_err(|source| PageDbError::Io { path: self.path.to_path_buf(), source })
    }

    /// The error for bytes that are not what was written.
    pub fn damaged(&self) -> PageDbError {
        let source = io::Error::new(io::ErrorKind::InvalidData, "the file has changed under the import");
        PageDbError::Io { path: self.path.to_path_buf(), source }
    }

    /// Deletes the file; what reads it still can.
    pub fn delete(&self) -> Result<(), PageDbError> {
        std::fs::remove_file(&self.path)
            .map_err(|source| PageDbError::Io { path: self.path.to_path_buf(), source })
    }
}

/// The records of a section, one after the other.
pub struct Records {
    from: Spilled,
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    chunk: usize,
    next: usize,
}

impl Records {
    /// The next record; `None` at the end.
    pub fn next(&mut self) -> Result<Option<&[u8]>, PageDbError> {
        loop {
            let rest = &self.buffer[self.next..];
            match length(rest) {
                Ok(Some((head, len))) if rest.len() >= head + len => {
                    let start = self.next + head;
                    self.next = start + len;
                    return Ok(Some(&self.buffer[start..start + len]));
                }
                Err(Malformed) => return Err(self.from.damaged()),
                _ if self.at == self.end => {
                    return if rest.is_empty() { Ok(None) } else { Err(self.from.damaged()) };
                }
                _ => self.fill()?,
            }
        }
    }

    fn fill(&mut self) -> Result<(), PageDbError> {
        self.buffer.drain(..self.next);
        self.next = 0;
        // A record that is longer than the buffer makes it longer.
        let n = self.chunk.max(self.buffer.len()).min((self.end - self.at) as usize);
        let section = Section { start: self.at, end: self.at + n as u64 };
        self.from.read(section, &mut self.buffer)?;
        self.at = section.end;
        Ok(())
    }
}

/// Length of the head and of the record behind it; `None` if the head is not all there.
fn length(bytes: &[u8]) -> Result<Option<(usize, usize)>, Malformed> {
    let mut value = 0usize;
    for (at, &byte) in bytes.iter().enumerate().take(6) {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Ok(Some((at + 1, value)));
        }
    }
    if bytes.len() < 6 { Ok(None) } else { Err(Malformed) }
}

#[cfg(unix)]
fn read_exact_at(file: &File, out: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut out: &mut [u8], mut at: u64) -> io::Result<()> {
    while !out.is_empty() {
        let n = std::os::windows::fs::FileExt::seek_read(file, out, at)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (out, at) = (&mut out[n..], at + n as u64);
    }
    Ok(())
}

/// Records of many lists, written in any order: each list is read back by itself, whole. One file, in which
/// a list is a chain of blocks.
pub struct Spool {
    out: Writer,
    lists: Vec<List>,
}

#[derive(Default)]
struct List {
    buffer: Vec<u8>,
    blocks: Vec<Section>,
}

/// Bytes of a list gathered before they are written.
const BLOCK_BYTES: usize = 64 << 10;

impl Spool {
    pub fn create(path: PathBuf, lists: usize) -> Result<Spool, PageDbError> {
        Ok(Spool { out: Writer::create(path)?, lists: (0..lists).map(|_| List::default()).collect() })
    }

    /// The end of a list: what is appended to it stays together.
    pub fn append(&mut self, list: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), PageDbError> {
        let list = &mut self.lists[list];
        write(&mut list.buffer);
        if list.buffer.len() >= BLOCK_BYTES { list.flush(&mut self.out) } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<SpoolReader, PageDbError> {
        for list in &mut self.lists {
            list.flush(&mut self.out)?;
        }
        let blocks = self.lists.into_iter().map(|list| list.blocks).collect();
        Ok(SpoolReader { file: self.out.finish()?, blocks })
    }
}

impl List {
    fn flush(&mut self, out: &mut Writer) -> Result<(), PageDbError> {
        let start = out.position();
        out.raw(&self.buffer)?;
        self.buffer.clear();
        self.blocks.push(Section { start, end: out.position() });
        Ok(())
    }
}

/// The lists of a [`Spool`].
pub struct SpoolReader {
    pub file: Spilled,
    blocks: Vec<Vec<Section>>,
}

impl SpoolReader {
    /// All of a list.
    pub fn read(&self, list: usize, out: &mut Vec<u8>) -> Result<(), PageDbError> {
        out.clear();
        for &block in &self.blocks[list] {
            self.file.read(block, out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_whatever_the_buffer() {
        let dir = tempfile::tempdir().unwrap();
        let mut out = Writer::create(dir.path().join("records")).unwrap();
        out.record(b"before").unwrap();
        let start = out.position();
        let records: Vec<Vec<u8>> = (0..200usize).map(|n| vec![n as u8; n * n % 20_000]).collect();
        for record in &records {
            out.record(record).unwrap();
        }
        let section = Section { start, end: out.position() };
        out.record(b"after").unwrap();
        let file = out.finish().unwrap();
        for buffer in [1, 5_000, 1 << 20] {
            let mut reader = file.records(section, buffer);
            for record in &records {
                assert_eq!(reader.next().unwrap(), Some(&record[..]));
            }
            assert_eq!(reader.next().unwrap(), None);
        }
        let cut = Section { end: section.end - 1, ..section };
        let mut reader = file.records(cut, 100);
        assert!((0..=records.len()).any(|_| reader.next().is_err()));
    }

    #[test]
    fn lists_of_a_spool_come_back_whole() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::create(dir.path().join("spool"), 3).unwrap();
        for n in 0..60_000u32 {
            spool.append(n as usize % 2, |out| out.extend_from_slice(&n.to_le_bytes())).unwrap();
        }
        let spool = spool.finish().unwrap();
        let mut bytes = vec![1, 2, 3];
        for list in 0..2 {
            spool.read(list, &mut bytes).unwrap();
            let expected: Vec<u8> = (list as u32..60_000).step_by(2).flat_map(u32::to_le_bytes).collect();
            assert_eq!(bytes, expected);
        }
        spool.read(2, &mut bytes).unwrap();
        assert!(bytes.is_empty());
    }
}
