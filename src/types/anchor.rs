//! Anchors: the texts of links, as their pages show them.

use super::codec::{Malformed, Reader, put_bytes, put_varint};

/// Longest anchor kept; of a longer one the beginning. Most have less than 50 bytes, and those that have more than
/// this are whole paragraphs, whose ends say nothing of the page that they lead to.
pub const MAX_ANCHOR_BYTES: usize = 256;

/// The text of a link, in normal form: not empty, at most [`MAX_ANCHOR_BYTES`] bytes, and white space and control
/// characters are single blanks between its words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Anchor(Box<str>);

impl Anchor {
    /// Brings a text into normal form; `None` if nothing is left of it. A text that is too long is cut after the
    /// last character that fits.
    pub fn new(text: &str) -> Option<Anchor> {
        let mut normal = String::new();
        for word in text.split(is_blank).filter(|word| !word.is_empty()) {
            if !normal.is_empty() {
                normal.push(' ');
            }
            normal.push_str(&word[..word.floor_char_boundary(MAX_ANCHOR_BYTES)]);
            if normal.len() > MAX_ANCHOR_BYTES {
                // Whatever follows is cut off, too.
                normal.truncate(normal.floor_char_boundary(MAX_ANCHOR_BYTES));
                normal.truncate(normal.trim_end().len());
                break;
            }
        }
        (!normal.is_empty()).then(|| Anchor(normal.into()))
    }

    /// A text that should be in normal form already, as what is stored is.
    ///
    /// # Errors
    /// [`Malformed`] if it is not.
    pub fn from_normal(text: &str) -> Result<Anchor, Malformed> {
        if is_normal(text) { Ok(Anchor(text.into())) } else { Err(Malformed) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text is in the normal form of anchors.
pub fn is_normal(text: &str) -> bool {
    let mut after_blank = true;
    for c in text.chars() {
        let blank = is_blank(c);
        if blank && (after_blank || c != ' ') {
            return false;
        }
        after_blank = blank;
    }
    // An empty text, and one that ends with a blank, end behind one.
    !after_blank && text.len() <= MAX_ANCHOR_BYTES
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// Appends anchors of some things in a list, by their places, which must ascend: for each the distance to the one
/// before (the first: its place), less one, and the text.
pub fn put_list<'a>(anchors: impl IntoIterator<Item = (usize, &'a str)>, out: &mut Vec<u8>) {
    let mut next = 0;
    for (place, text) in anchors {
        put_varint(out, (place - next) as u64);
        put_bytes(out, text.as_bytes());
        next = place + 1;
    }
}

/// Reads one of a list's anchors, whose place is at least `next` and less than `end`.
///
/// # Errors
/// [`Malformed`] if its place or its text cannot be.
pub fn read_one<'a>(reader: &mut Reader<'a>, next: usize, end: usize) -> Result<(usize, &'a str), Malformed> {
    let place = next.checked_add(reader.number()?).filter(|&place| place < end).ok_or(Malformed)?;
    let text = reader.str()?;
    if is_normal(text) { Ok((place, text)) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(text: &str) -> Option<String> {
        Anchor::new(text).map(|anchor| anchor.as_str().to_owned())
    }

    #[test]
    fn white_space_is_single_blanks() {
        assert_eq!(normal("  read\n\t more\u{a0}\u{3000}… \0").as_deref(), Some("read more …"));
        for empty in ["", " ", "\r\n\t", "\u{a0}\0"] {
            assert_eq!(Anchor::new(empty), None);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(normal(&"é".repeat(200)), Some("é".repeat(128)));
        assert_eq!(normal(&format!("a{}", "é".repeat(200))).unwrap().len(), 255);
        // No blank is left at the end.
        assert_eq!(normal(&format!("{} b", "a".repeat(255))), Some("a".repeat(255)));
        assert_eq!(normal(&format!("{} b", "a".repeat(254))).unwrap().len(), 256);
    }

    proptest! {
        #[test]
        fn every_anchor_is_in_normal_form(text in "[a\u{a0}é \n\0]{0,300}|\\PC{0,300}") {
            match Anchor::new(&text) {
                Some(anchor) => {
                    prop_assert_eq!(Anchor::from_normal(anchor.as_str()), Ok(anchor.clone()));
                    prop_assert_eq!(Anchor::new(anchor.as_str()), Some(anchor));
                }
                None => prop_assert!(text.chars().all(is_blank)),
            }
            prop_assert_eq!(is_normal(&text), normal(&text) == Some(text));
        }
    }
}
