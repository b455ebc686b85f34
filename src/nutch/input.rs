//! The primitives of a record, read front to back: Java's DataInput over a slice. Numbers are big-endian.

use super::{Fault, Limits, Malformed, Unwritable, deflate, utf8};

/// Reads what Java's DataOutput and Nutch's WritableUtils wrote.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    limit: usize,
}

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8], limits: Limits) -> Self {
        Input { bytes, at: 0, limit: limits.record_bytes }
    }

    /// An error at the next byte.
    pub fn refuse(&self, fault: Fault) -> Malformed {
        Malformed { offset: self.at as u64, fault }
    }

    /// An error `back` bytes before the next one.
    fn refuse_before(&self, back: usize, fault: Fault) -> Malformed {
        Malformed { offset: (self.at - back) as u64, fault }
    }

    pub fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..n).ok_or_else(|| self.refuse(Fault::CutOff(what)))?;
        self.at += n;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub fn u8(&mut self, what: &'static str) -> Result<u8, Malformed> {
        Ok(self.array::<1>(what)?[0])
    }

    pub fn i32(&mut self, what: &'static str) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(self.array(what)?))
    }

    pub fn i64(&mut self, what: &'static str) -> Result<i64, Malformed> {
        Ok(i64::from_be_bytes(self.array(what)?))
    }

    pub fn f32(&mut self, what: &'static str) -> Result<f32, Malformed> {
        Ok(f32::from_be_bytes(self.array(what)?))
    }

    /// An MD5Hash: 16 bytes.
    pub fn md5(&mut self, what: &'static str) -> Result<[u8; 16], Malformed> {
        self.array(what)
    }

    /// A UTF8: length in two bytes, modified UTF-8.
    pub fn utf8(&mut self, what: &'static str) -> Result<String, Malformed> {
        let length = usize::from(u16::from_be_bytes(self.array(what)?));
        let bytes = self.take(length, what)?;
        let text = utf8::decode(bytes).ok_or_else(|| self.refuse_before(length, Fault::Text(what)))?;
        Ok(text.into_owned())
    }

    /// The number of things that follow, each of at least `least` bytes: no more than the input has room for.
    pub fn count(&mut self, what: &'static str, least: usize) -> Result<usize, Malformed> {
        let n = self.i32(what)?;
        let length = |n: i32| Fault::Length { what, length: i64::from(n) };
        let count = usize::try_from(n).map_err(|_| self.refuse_before(4, length(n)))?;
        if count > (self.bytes.len() - self.at) / least {
            return Err(self.refuse_before(4, Fault::CutOff(what)));
        }
        Ok(count)
    }

    /// A compressed byte array: length in four bytes, -1 for none, then a gzip file.
    pub fn compressed(&mut self, what: &'static str) -> Result<Option<Vec<u8>>, Malformed> {
        if self.bytes[self.at..].starts_with(&[0xff; 4]) {
            self.at += 4;
            return Ok(None);
        }
        let length = self.count(what, 1)?;
        let packed = self.take(length, what)?;
        let mut out = Vec::new();
        deflate::gunzip(packed, what, self.limit, &mut out)
            .map_err(|fault| self.refuse_before(length, fault))?;
        Ok(Some(out))
    }

    /// A version byte, which must be one of the known ones.
    pub fn version(
        &mut self,
        what: &'static str,
        known: &[u8],
        names: &'static str,
    ) -> Result<u8, Malformed> {
        let found = self.u8(what)?;
        if known.contains(&found) {
            Ok(found)
        } else {
            Err(self.refuse_before(1, Fault::Version { what, found, known: names }))
        }
    }

    /// Fails unless every byte was read.
    pub fn end(&self, what: &'static str) -> Result<(), Malformed> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            left => Err(self.refuse(Fault::LeftOver { what, left: left as u64 })),
        }
    }
}

/// Appends a number as Java's writeInt does; a list longer than that is refused.
pub(super) fn put_count(out: &mut Vec<u8>, what: &'static str, n: usize) -> Result<(), Unwritable> {
    let count = i32::try_from(n).map_err(|_| Unwritable::TooLong {
        what,
        length: n as u64,
        limit: i32::MAX as u64,
    })?;
    out.extend_from_slice(&count.to_be_bytes());
    Ok(())
}

/// Appends a compressed byte array, or that there is none.
pub(super) fn put_compressed(
    out: &mut Vec<u8>,
    what: &'static str,
    bytes: Option<&[u8]>,
) -> Result<(), Unwritable> {
    let Some(bytes) = bytes else {
        out.extend_from_slice(&[0xff; 4]);
        return Ok(());
    };
    let packed = deflate::gzip(bytes);
    put_count(out, what, packed.len())?;
    out.extend_from_slice(&packed);
    Ok(())
}
