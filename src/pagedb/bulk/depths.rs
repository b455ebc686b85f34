//! The depth of every page by index: two bytes each, and a map for the few that lie deeper.

use std::collections::HashMap;

use crate::pagedb::prefetch::prefetch;
use crate::types::PageIndex;

/// Not mentioned yet.
const UNSEEN: u16 = u16::MAX;
/// Stands in the map.
const DEEP: u16 = u16::MAX - 1;

#[derive(Default)]
pub struct Depths {
    list: Vec<u16>,
    deep: HashMap<u64, u32, foldhash::fast::RandomState>,
}

impl Depths {
    /// Makes room for so many pages; new ones are unseen.
    pub fn resize(&mut self, pages: u64) {
        self.list.resize(pages as usize, UNSEEN);
    }

    /// `None` for a page that nobody mentioned.
    pub fn get(&self, page: PageIndex) -> Option<u32> {
        match self.list[page.0 as usize] {
            UNSEEN => None,
            DEEP => self.deep.get(&page.0).copied(),
            depth => Some(depth.into()),
        }
    }

    /// Asks the processor for the depth of a page that will be asked for soon.
    pub fn prefetch(&self, page: PageIndex) {
        prefetch(&self.list[page.0 as usize]);
    }

    pub fn set(&mut self, page: PageIndex, depth: u32) {
        self.list[page.0 as usize] = if depth < u32::from(DEEP) {
            depth as u16
        } else {
            self.deep.insert(page.0, depth);
            DEEP
        };
    }

    /// The depth of a page that is crawled now: 0 if nobody linked or seeded it before.
    pub fn crawled(&mut self, page: PageIndex) -> u32 {
        self.get(page).unwrap_or_else(|| {
            self.set(page, 0);
            0
        })
    }

    /// A link or a seed leads to the page.
    pub fn linked(&mut self, page: PageIndex, depth: u32) {
        if self.get(page).is_none_or(|known| depth < known) {
            self.set(page, depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_depth_counts_however_deep() {
        let mut depths = Depths::default();
        depths.resize(3);
        let pages = [0, 1, 2].map(PageIndex);
        assert_eq!(depths.get(pages[0]), None);
        assert_eq!(depths.crawled(pages[0]), 0);
        for (linked, depth) in
            [(70_000, 70_000), (80_000, 70_000), (65_534, 65_534), (65_533, 65_533), (7, 7), (9, 7)]
        {
            depths.linked(pages[1], linked);
            assert_eq!(depths.get(pages[1]), Some(depth));
        }
        depths.linked(pages[2], u32::MAX);
        assert_eq!(depths.crawled(pages[2]), u32::MAX);
    }
}
