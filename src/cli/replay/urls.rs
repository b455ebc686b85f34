//! Texts as small numbers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;
use twox_hash::XxHash3_64;

/// Gives each distinct text a number from 0; the texts lie one after the other in one buffer.
#[derive(Default)]
pub struct Interner {
    text: String,
    ends: Vec<u64>,
    /// Hash of a text, or the next free one if another text has it already, to its number.
    numbers: HashMap<u64, u32, FixedState>,
}

impl Interner {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, number: u32) -> &str {
        let at = number as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start as usize..self.ends[at] as usize]
    }

    /// The number of a text that has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        let mut hash = XxHash3_64::oneshot(text.as_bytes());
        loop {
            let number = *self.numbers.get(&hash)?;
            if self.get(number) == text {
                return Some(number);
            }
            hash = hash.wrapping_add(1);
        }
    }

    /// The number of a text, and whether it is a new one.
    pub fn intern(&mut self, text: &str) -> (u32, bool) {
        let new = self.ends.len() as u32;
        let mut hash = XxHash3_64::oneshot(text.as_bytes());
        loop {
            match self.numbers.entry(hash) {
                Entry::Vacant(slot) => {
                    slot.insert(new);
                    self.text.push_str(text);
                    self.ends.push(self.text.len() as u64);
                    return (new, true);
                }
                Entry::Occupied(slot) => {
                    let number = *slot.get();
                    if self.get(number) == text {
                        return (number, false);
                    }
                    hash = hash.wrapping_add(1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut urls = Interner::default();
        assert_eq!(urls.intern("a"), (0, true));
        assert_eq!(urls.intern(""), (1, true));
        assert_eq!(urls.intern("a"), (0, false));
        assert_eq!((urls.get(0), urls.get(1), urls.len()), ("a", "", 2));
        assert_eq!((urls.find(""), urls.find("b")), (Some(1), None));
    }
}
