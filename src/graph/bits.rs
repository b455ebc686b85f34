//! Numbers as bits: exponential Golomb codes, low bits first.
//!
//! Order `k` writes the low `k` bits of a number as they are and the rest, plus one, as so many zeros as it
//! has bits after its top bit, a one, and those bits. Small numbers get short codes and a number twice as
//! large two bits more, whatever its size: right for gaps between links, which are often tiny and sometimes
//! huge.

/// The orders that a code can have.
pub const ORDERS: u32 = 16;

/// Longest run of zeros that a valid code has: numbers have at most 33 bits.
const MAX_ZEROS: u32 = 33;

/// Bits of the code of `value`.
pub fn bits(value: u64, order: u32) -> u64 {
    let rest = (value >> order) + 1;
    u64::from(2 * rest.ilog2() + 1 + order)
}

/// Appends bits to bytes.
#[derive(Debug, Default)]
pub struct BitWriter {
    pub bytes: Vec<u8>,
    held: u64,
    n: u32,
}

impl BitWriter {
    /// The low `n` bits of `value`, which has no others; at most 50.
    fn put(&mut self, value: u64, n: u32) {
        self.held |= value << self.n;
        self.n += n;
        while self.n >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.n -= 8;
        }
    }

    /// A number of at most four bits.
    pub fn put_order(&mut self, order: u32) {
        self.put(u64::from(order), 4);
    }

    /// `value` is less than 2^33, `order` less than [`ORDERS`].
    pub fn put_number(&mut self, value: u64, order: u32) {
        let rest = (value >> order) + 1;
        let zeros = rest.ilog2();
        self.put(1 << zeros, zeros + 1);
        let low = rest ^ 1 << zeros;
        self.put(low << order | value & ((1 << order) - 1), zeros + order);
    }

    /// Fills the last byte with zeros.
    pub fn align(&mut self) {
        if self.n > 0 {
            self.put(0, 8 - self.n);
        }
    }
}

/// Reads what [`BitWriter`] wrote; `None` where the bytes end or are no code.
#[derive(Debug, Clone)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, at: 0 }
    }

    /// The next 57 bits or more, zeros beyond the end.
    #[inline]
    fn peek(&self) -> u64 {
        let byte = self.at / 8;
        let word = match self.bytes.get(byte..byte + 8) {
            Some(eight) => u64::from_le_bytes(eight.try_into().unwrap_or_default()),
            None => {
                let mut eight = [0; 8];
                let rest = self.bytes.get(byte..).unwrap_or_default();
                eight[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(eight)
            }
        };
        word >> (self.at % 8)
    }

    #[inline]
    fn skip(&mut self, n: u32) -> Option<()> {
        self.at += n as usize;
        (self.at <= self.bytes.len() * 8).then_some(())
    }

    #[inline]
    pub fn order(&mut self) -> Option<u32> {
        let order = self.peek() as u32 % ORDERS;
        self.skip(4)?;
        Some(order)
    }

    /// A number below 2^34.
    #[inline]
    pub fn number(&mut self, order: u32) -> Option<u64> {
        let word = self.peek();
        let zeros = word.trailing_zeros();
        let n = 2 * zeros + 1 + order;
        if n <= 57 {
            self.skip(n)?;
            let low = word >> (zeros + 1) & ((1 << (zeros + order)) - 1);
            return Some(finish(low, zeros, order));
        }
        if zeros > MAX_ZEROS {
            return None;
        }
        self.skip(zeros + 1)?;
        let low = self.peek() & ((1 << (zeros + order)) - 1);
        self.skip(zeros + order)?;
        Some(finish(low, zeros, order))
    }

    /// Whether nothing but the zeros that fill the last byte is left.
    #[cfg(test)]
    pub fn at_end(&self) -> bool {
        self.at.div_ceil(8) == self.bytes.len() && self.peek() == 0
    }
}

#[inline]
fn finish(low: u64, zeros: u32, order: u32) -> u64 {
    let rest = 1 << zeros | low >> order;
    (rest - 1) << order | low & ((1 << order) - 1)
}

/// Signed numbers as unsigned ones, small for small distances from zero.
pub fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The inverse of [`zigzag`].
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in vec((0u64..1 << 33, 0u32..34, 0..ORDERS), 0..80)) {
            let numbers: Vec<(u64, u32)> = numbers.into_iter().map(|(n, shift, k)| (n >> shift, k)).collect();
            let mut writer = BitWriter::default();
            let mut total = 0;
            for &(number, order) in &numbers {
                writer.put_number(number, order);
                total += bits(number, order);
            }
            writer.align();
            prop_assert_eq!(writer.bytes.len() as u64, total.div_ceil(8));
            let mut reader = BitReader::new(&writer.bytes);
            for &(number, order) in &numbers {
                prop_assert_eq!(reader.number(order), Some(number));
            }
            prop_assert!(reader.at_end());
        }

        #[test]
        fn arbitrary_bytes_end(bytes in vec(any::<u8>(), 0..40), order in 0..ORDERS) {
            let mut reader = BitReader::new(&bytes);
            let mut numbers = 0;
            while reader.number(order).is_some() {
                numbers += 1;
            }
            prop_assert!(numbers <= bytes.len() * 8);
        }

        #[test]
        fn zigzags_come_back(value in -(1i64 << 40)..1 << 40) {
            prop_assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
