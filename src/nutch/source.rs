//! A stream that knows its offset and never allocates ahead of the bytes that are there.

use std::io::{BufRead, ErrorKind, Read, Seek, SeekFrom};

use super::{Fault, Malformed, NutchError, vint};

pub(super) struct Source<R> {
    input: R,
    offset: u64,
    limit: usize,
}

impl<R: BufRead> Source<R> {
    pub fn new(input: R, limit: usize) -> Self {
        Source { input, offset: 0, limit }
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The longest thing that may be read.
    pub fn limit(&self) -> usize {
        self.limit
    }

    pub fn refuse(&self, fault: Fault) -> NutchError {
        self.refuse_at(self.offset, fault)
    }

    pub fn refuse_at(&self, offset: u64, fault: Fault) -> NutchError {
        Malformed { offset, fault }.into()
    }

    pub fn is_at_end(&mut self) -> Result<bool, NutchError> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.is_empty()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Appends the next `length` bytes. The vector grows with what is read, not with what is promised.
    pub fn read(&mut self, length: usize, what: &'static str, out: &mut Vec<u8>) -> Result<(), NutchError> {
        if length > self.limit {
            let fault = Fault::TooLong { what, length: length as u64, limit: self.limit as u64 };
            return Err(self.refuse(fault));
        }
        let read = (&mut self.input).take(length as u64).read_to_end(out)?;
        self.offset += read as u64;
        if read < length { Err(self.refuse(Fault::CutOff(what))) } else { Ok(()) }
    }

    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], NutchError> {
        let mut array = [0; N];
        match self.input.read_exact(&mut array) {
            Ok(()) => {
                self.offset += N as u64;
                Ok(array)
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.refuse(Fault::CutOff(what))),
            Err(error) => Err(error.into()),
        }
    }

    pub fn i32(&mut self, what: &'static str) -> Result<i32, NutchError> {
        Ok(i32::from_be_bytes(self.array(what)?))
    }

    pub fn flag(&mut self, what: &'static str) -> Result<bool, NutchError> {
        match self.array::<1>(what)?[0] {
            0 => Ok(false),
            1 => Ok(true),
            found => Err(self.refuse_at(self.offset - 1, Fault::Flag { what, found })),
        }
    }

    /// A length as Hadoop's vint.
    pub fn vint_length(&mut self, what: &'static str) -> Result<usize, NutchError> {
        let start = self.offset;
        let [first] = self.array(what)?;
        let mut digits = [0; 8];
        let digits = &mut digits[..vint::bytes_after(first)];
        for digit in digits.iter_mut() {
            [*digit] = self.array(what)?;
        }
        let length = vint::value(first, digits);
        i32::try_from(length)
            .ok()
            .and_then(|length| usize::try_from(length).ok())
            .ok_or_else(|| self.refuse_at(start, Fault::Length { what, length }))
    }
}

impl<R: BufRead + Seek> Source<R> {
    pub fn seek(&mut self, offset: u64) -> Result<(), NutchError> {
        self.offset = offset;
        match self.input.seek(SeekFrom::Start(offset)) {
            Ok(_) => Ok(()),
            // No file of this file system is so long.
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                Err(self.refuse(Fault::CutOff("the file before this byte")))
            }
            Err(error) => Err(error.into()),
        }
    }
}
