//! Hadoop's integers of variable length (`WritableUtils.writeVLong`): -112 to 127 in one byte; beyond, a byte
//! that tells sign and length, then the number (or its complement) big-endian in as few bytes as hold it.

/// Appends `value`.
pub(super) fn put_vint(out: &mut Vec<u8>, value: i64) {
    if (-112..=127).contains(&value) {
        out.push(value as u8);
        return;
    }
    let (base, magnitude) = if value < 0 { (-120i8, !value) } else { (-112i8, value) };
    let bytes = magnitude.to_be_bytes();
    let skipped = (magnitude.leading_zeros() / 8) as usize;
    let length = 8 - skipped;
    out.push((base - length as i8) as u8);
    out.extend_from_slice(&bytes[skipped..]);
}

/// How many bytes follow the first one: 0 to 8.
pub(super) fn bytes_after(first: u8) -> usize {
    match first as i8 {
        -112..=i8::MAX => 0,
        length @ -120..=-113 => usize::from((-112 - length) as u8),
        length => usize::from((-120 - length) as u8),
    }
}

/// The number of a first byte and the [`bytes_after`] it.
pub(super) fn value(first: u8, rest: &[u8]) -> i64 {
    if rest.is_empty() {
        return i64::from(first as i8);
    }
    let magnitude = rest.iter().fold(0i64, |sum, &byte| sum << 8 | i64::from(byte));
    if (first as i8) < -120 { !magnitude } else { magnitude }
}

/// The vint at the start of `bytes` and what follows it; `None` if it is cut off.
pub(super) fn split_vint(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (digits, rest) = rest.split_at_checked(bytes_after(first))?;
    Some((value(first, digits), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(value in any::<i64>(), shift in 0u32..64) {
            let value = value >> shift;
            let mut out = Vec::new();
            put_vint(&mut out, value);
            prop_assert_eq!(split_vint(&out), Some((value, &[][..])));
            prop_assert_eq!(split_vint(&out[..out.len() - 1]), None);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..10)) {
            if let Some((_, rest)) = split_vint(&bytes) {
                prop_assert!(rest.len() < bytes.len());
            }
        }
    }
}
