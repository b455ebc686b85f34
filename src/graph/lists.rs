//! Many lists of numbers, each ascending: as plain arrays, or packed and mapped.

use std::ops::Range;

use super::GraphError;
use super::packed::Packed;

/// Lists numbered from 0.
pub enum Lists {
    Plain(Plain),
    Packed(Packed),
}

/// Lists one after the other in one array.
#[derive(Debug, Clone)]
pub struct Plain {
    /// Where each list starts in `items`, and at the end their number.
    pub starts: Vec<u32>,
    pub items: Vec<u32>,
}

impl Default for Plain {
    fn default() -> Self {
        Plain { starts: vec![0], items: Vec::new() }
    }
}

impl Plain {
    /// Appends a list.
    pub fn push(&mut self, list: &[u32]) {
        self.items.extend_from_slice(list);
        self.starts.push(self.items.len() as u32);
    }

    #[inline]
    pub fn get(&self, at: usize) -> &[u32] {
        let (start, end) = (self.starts[at], self.starts[at + 1]);
        &self.items[start as usize..end as usize]
    }
}

impl Lists {
    /// Number of lists.
    pub fn count(&self) -> usize {
        match self {
            Lists::Plain(plain) => plain.starts.len() - 1,
            Lists::Packed(packed) => packed.len(),
        }
    }

    /// Numbers in all lists.
    pub fn items(&self) -> u64 {
        match self {
            Lists::Plain(plain) => plain.items.len() as u64,
            Lists::Packed(packed) => packed.items(),
        }
    }

    /// Bytes of the lists and of what finds them.
    pub fn bytes(&self) -> u64 {
        match self {
            Lists::Plain(plain) => 4 * (plain.starts.len() + plain.items.len()) as u64,
            Lists::Packed(packed) => packed.bytes(),
        }
    }

    /// Calls `visit` with the number and the items of each list of `range`, in order. Lists beyond the last
    /// are left out. `scratch` saves an allocation from call to call.
    ///
    /// # Errors
    /// [`GraphError::Damaged`] for packed lists that do not decode.
    #[inline]
    pub fn for_each(
        &self,
        range: Range<usize>,
        scratch: &mut Vec<u32>,
        mut visit: impl FnMut(usize, &[u32]),
    ) -> Result<(), GraphError> {
        match self {
            Lists::Plain(plain) => {
                for at in range.start..range.end.min(self.count()) {
                    visit(at, plain.get(at));
                }
                Ok(())
            }
            Lists::Packed(packed) => packed.for_each(range, scratch, visit),
        }
    }
}
