//! The order of keys, which is that of their class, told from their bytes.

use std::cmp::Ordering;

use super::super::{Unwritable, vint};

/// How keys of a class compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrder {
    /// LongWritable: eight bytes, a signed number.
    Long,
    /// IntWritable: four bytes, a signed number.
    Int,
    /// Text: bytes after a vint length.
    Text,
    /// UTF8: bytes after a length of two bytes.
    Utf8,
    /// BytesWritable: bytes after a length of four bytes.
    Bytes,
    /// MD5Hash: bytes.
    Md5,
}

impl KeyOrder {
    /// Of the class with this name: Hadoop's, Nutch's, or the short one of WritableName.
    ///
    /// # Errors
    /// [`Unwritable::KeyClass`] for any other class.
    pub fn of_class(name: &str) -> Result<KeyOrder, Unwritable> {
        let short = ["org.apache.hadoop.io.", "net.nutch.io."].iter().find_map(|p| name.strip_prefix(p));
        match short.unwrap_or(name) {
            "long" | "LongWritable" => Ok(KeyOrder::Long),
            "IntWritable" => Ok(KeyOrder::Int),
            "Text" => Ok(KeyOrder::Text),
            "UTF8" => Ok(KeyOrder::Utf8),
            "BytesWritable" => Ok(KeyOrder::Bytes),
            "MD5Hash" => Ok(KeyOrder::Md5),
            _ => Err(Unwritable::KeyClass(name.to_owned())),
        }
    }

    /// Compares two keys. Bytes that are no key of the class compare as bytes: the order is total whatever a
    /// file has.
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            KeyOrder::Long => compare_as(a, b, |key| key.try_into().ok().map(i64::from_be_bytes)),
            KeyOrder::Int => compare_as(a, b, |key| key.try_into().ok().map(i32::from_be_bytes)),
            KeyOrder::Text => compare_as(a, b, |key| vint::split_vint(key).map(|(_, text)| text)),
            KeyOrder::Utf8 => compare_as(a, b, |key| key.get(2..)),
            KeyOrder::Bytes => compare_as(a, b, |key| key.get(4..)),
            KeyOrder::Md5 => a.cmp(b),
        }
    }
}

/// Keys of the class come before others.
fn compare_as<'k, T: Ord>(a: &'k [u8], b: &'k [u8], parse: impl Fn(&'k [u8]) -> Option<T>) -> Ordering {
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_compare_as_their_class_does() {
        let long = |n: i64| n.to_be_bytes();
        assert_eq!(KeyOrder::Long.compare(&long(-1), &long(0)), Ordering::Less);
        assert_eq!(KeyOrder::Long.compare(&long(256), &long(255)), Ordering::Greater);
        assert_eq!(KeyOrder::Int.compare(&[0xff; 4], &[0; 4]), Ordering::Less);
        // The length does not count: "b" comes after "aa".
        assert_eq!(KeyOrder::Text.compare(b"\x01b", b"\x02aa"), Ordering::Greater);
        assert_eq!(KeyOrder::Utf8.compare(b"\0\x01b", b"\0\x02aa"), Ordering::Greater);
        assert_eq!(KeyOrder::Bytes.compare(b"\0\0\0\x01b", b"\0\0\0\x02aa"), Ordering::Greater);
        assert_eq!(KeyOrder::Long.compare(b"short", &long(0)), Ordering::Greater);
        assert!(KeyOrder::of_class("org.example.Key").is_err());
        assert_eq!(KeyOrder::of_class("net.nutch.io.LongWritable"), Ok(KeyOrder::Long));
    }
}
