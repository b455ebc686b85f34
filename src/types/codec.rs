//! The primitives that every stored record is made of: LEB128 varints, fixed little-endian floats and
//! length-prefixed bytes. A reader never trusts its input: short or overlong bytes are [`Malformed`].

/// Bytes that are not what their writer writes. Callers add the table and the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed record")]
pub struct Malformed;

/// Appends `value` as a LEB128 varint: 7 bits a byte, low bits first, 1 to 10 bytes.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the length of `bytes` as a varint, then the bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a 32-bit float, little-endian.
pub fn put_f32(out: &mut Vec<u8>, value: f32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a 64-bit float, little-endian.
pub fn put_f64(out: &mut Vec<u8>, value: f64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// `bit` if it shall be set, else no bit.
pub fn flag(is_set: bool, bit: u8) -> u8 {
    if is_set { bit } else { 0 }
}

/// Reads what the `put_*` functions wrote, front to back.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        let (&first, rest) = self.rest.split_first().ok_or(Malformed)?;
        self.rest = rest;
        Ok(first)
    }

    pub fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0u64;
        let mut shift = 0;
        loop {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte carries the last bit of 64; more would be cut off silently.
            if shift == 63 && bits > 1 {
                return Err(Malformed);
            }
            value |= bits << shift;
            if byte < 0x80 {
                // A final zero byte is a longer way to write the same number: one form only.
                return if byte == 0 && shift > 0 { Err(Malformed) } else { Ok(value) };
            }
            shift += 7;
            if shift > 63 {
                return Err(Malformed);
            }
        }
    }

    /// A varint that must fit the narrower type.
    pub fn number<T: TryFrom<u64>>(&mut self) -> Result<T, Malformed> {
        T::try_from(self.varint()?).map_err(|_| Malformed)
    }

    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or(Malformed)?;
        self.rest = rest;
        Ok(head)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let n = self.number::<usize>()?;
        self.take(n)
    }

    pub fn str(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }

    pub fn f32(&mut self) -> Result<f32, Malformed> {
        Ok(f32::from_le_bytes(self.array()?))
    }

    pub fn f64(&mut self) -> Result<f64, Malformed> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// Everything not read yet.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Number of bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Fails unless every byte was read.
    pub fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

/// Holds `docs/format.md` to the code: its examples are what the codecs write.
#[cfg(test)]
pub mod example {
    pub fn document() -> &'static str {
        include_str!("../../docs/format.md")
    }

    pub fn hex(bytes: &[u8]) -> String {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    }

    /// The bytes of the document's line `name = bytes`.
    pub fn documented(name: &str) -> Vec<u8> {
        let line = document().lines().find_map(|line| line.trim_start().strip_prefix(&format!("{name} = ")));
        let bytes = line.unwrap_or_else(|| panic!("docs/format.md should have a line {name}")).split(' ');
        bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    /// Fails unless the document has a line `name = bytes`.
    pub fn assert_documented(name: &str, bytes: &[u8]) {
        let line = format!("{name} = {}", hex(bytes));
        assert!(
            document().lines().any(|found| found.trim_start() == line),
            "docs/format.md should say: {line}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_come_back_and_are_unique(value in any::<u64>(), shift in 0u32..64) {
            let value = value >> shift;
            let mut out = Vec::new();
            put_varint(&mut out, value);
            let mut reader = Reader::new(&out);
            prop_assert_eq!(reader.varint(), Ok(value));
            prop_assert_eq!(reader.end(), Ok(()));
        }

        #[test]
        fn arbitrary_bytes_decode_to_what_encodes_to_them(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            let mut reader = Reader::new(&bytes);
            if let Ok(value) = reader.varint() {
                let mut out = Vec::new();
                put_varint(&mut out, value);
                prop_assert_eq!(&out[..], &bytes[..bytes.len() - reader.remaining()]);
            }
        }
    }

    #[test]
    fn the_document_has_the_bytes() {
        for value in [0, 1, 127, 128, 300, u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            super::example::assert_documented(&format!("varint {value}"), &bytes);
        }
    }

    #[test]
    fn a_length_beyond_the_input_is_refused() {
        assert_eq!(Reader::new(&[5, b'a']).bytes(), Err(Malformed));
        assert_eq!(Reader::new(&[0xff; 11]).varint(), Err(Malformed));
        assert_eq!(Reader::new(&[0x80, 0]).varint(), Err(Malformed));
    }
}
