//! Java's modified UTF-8, with a length of two bytes before it (Nutch's and Hadoop's class UTF8, Java's
//! `writeUTF`): NUL in two bytes, characters beyond U+FFFF as two surrogates of three bytes each.

use std::borrow::Cow;

use super::Unwritable;

/// Longest text in bytes: its length has 16 bits.
pub(super) const MAX_BYTES: usize = 0xffff;

/// Longest text that Nutch writes, in UTF-16 units: so many need no more than [`MAX_BYTES`] in any case.
const MAX_UNITS: usize = MAX_BYTES / 3;

/// Appends length and text.
pub(super) fn put_utf8(out: &mut Vec<u8>, what: &'static str, text: &str) -> Result<(), Unwritable> {
    let length = text.chars().map(encoded_len).sum::<usize>();
    let Ok(short) = u16::try_from(length) else {
        return Err(Unwritable::TooLong { what, length: length as u64, limit: MAX_BYTES as u64 });
    };
    out.extend_from_slice(&short.to_be_bytes());
    for c in text.chars() {
        let mut units = [0; 2];
        for &unit in c.encode_utf16(&mut units).iter() {
            put_unit(out, unit);
        }
    }
    Ok(())
}

/// As much of the text as Nutch would write: 21,845 UTF-16 units. It cuts between characters.
pub(super) fn cut(text: &str) -> &str {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > MAX_UNITS {
            return &text[..at];
        }
    }
    text
}

fn encoded_len(c: char) -> usize {
    match c {
        '\u{1}'..='\u{7f}' => 1,
        '\0' | '\u{80}'..='\u{7ff}' => 2,
        '\u{800}'..='\u{ffff}' => 3,
        _ => 6,
    }
}

fn put_unit(out: &mut Vec<u8>, unit: u16) {
    let low = |shift: u16| 0x80 | (unit >> shift & 0x3f) as u8;
    match unit {
        0x01..=0x7f => out.push(unit as u8),
        0 | 0x80..=0x7ff => out.extend_from_slice(&[0xc0 | (unit >> 6) as u8, low(0)]),
        0x800.. => out.extend_from_slice(&[0xe0 | (unit >> 12) as u8, low(6), low(0)]),
    }
}

/// The text of these bytes; `None` unless they are what a Java writer writes. Half a surrogate pair, which is
/// left where Nutch cut a long text, becomes U+FFFD.
pub(super) fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if !bytes.contains(&0) && bytes.is_ascii() {
        return std::str::from_utf8(bytes).ok().map(Cow::Borrowed);
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((unit, after)) = split_unit(rest) {
        units.push(unit);
        rest = after;
    }
    rest.is_empty().then(|| Cow::Owned(String::from_utf16_lossy(&units)))
}

/// The first UTF-16 unit; `None` at the end, or if it is not in its only form.
fn split_unit(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let low = |byte: u8| (byte & 0xc0 == 0x80).then_some(u16::from(byte & 0x3f));
    match *bytes {
        [first @ 0x01..=0x7f, ref rest @ ..] => Some((u16::from(first), rest)),
        [first @ 0xc0..=0xdf, second, ref rest @ ..] => {
            let unit = u16::from(first & 0x1f) << 6 | low(second)?;
            (unit == 0 || unit >= 0x80).then_some((unit, rest))
        }
        [first @ 0xe0..=0xef, second, third, ref rest @ ..] => {
            let unit = u16::from(first & 0x0f) << 12 | low(second)? << 6 | low(third)?;
            (unit >= 0x800).then_some((unit, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        put_utf8(&mut out, "text", text).unwrap();
        out
    }

    #[test]
    fn characters_take_the_bytes_that_java_gives_them() {
        assert_eq!(encoded("any"), *b"\0\x03any");
        assert_eq!(encoded("\0"), [0, 2, 0xc0, 0x80]);
        assert_eq!(encoded("é€"), [0, 5, 0xc3, 0xa9, 0xe2, 0x82, 0xac]);
        assert_eq!(encoded("😀"), [0, 6, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]);
    }

    #[test]
    fn what_java_does_not_write_is_refused() {
        for bad in [&[0][..], &[0xc1, 0xbf], &[0xe0, 0x80, 0x80], &[0xf0, 0x9f, 0x98, 0x80], &[0xc3], &[0x80]]
        {
            assert_eq!(decode(bad), None, "{bad:?}");
        }
        assert_eq!(decode(&[b'a', 0xed, 0xa0, 0xbd]).unwrap(), "a\u{fffd}");
    }

    #[test]
    fn long_texts_are_cut_as_nutch_does_or_refused() {
        let long = "€".repeat(30_000);
        assert!(put_utf8(&mut Vec::new(), "anchor", &long).is_err());
        assert_eq!(encoded(cut(&long)).len(), 2 + MAX_BYTES);
        let pairs = "😀".repeat(20_000);
        assert_eq!(cut(&pairs).chars().count(), MAX_UNITS / 2);
        assert_eq!(cut("short"), "short");
    }

    proptest! {
        #[test]
        fn texts_come_back(text in "[\\PC\0é€😀]{0,40}") {
            let bytes = encoded(&text);
            prop_assert_eq!(decode(&bytes[2..]).unwrap(), text);
        }

        #[test]
        fn arbitrary_bytes_are_text_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            if let Some(text) = decode(&bytes).filter(|text| !text.contains('\u{fffd}')) {
                prop_assert_eq!(&encoded(&text)[2..], &bytes[..]);
            }
        }
    }
}
