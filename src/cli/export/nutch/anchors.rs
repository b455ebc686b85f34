//! The anchors of the links to some pages.

use std::collections::HashMap;

use crate::pagedb::PageDb;
use crate::types::PageIndex;

/// Different anchors of a page, at most: what a hundred links say of it says enough, and millions may lead to one.
const MOST_OF_A_PAGE: usize = 100;

/// For each of some pages the texts of the links to it, each once, those of the pages seen first at first.
pub struct Anchors(HashMap<PageIndex, Vec<String>, foldhash::fast::RandomState>);

impl Anchors {
    /// Reads the table of anchors once, and no page that has none.
    pub fn read(db: &PageDb, pages: impl Iterator<Item = PageIndex>) -> anyhow::Result<Anchors> {
        let mut anchors = Anchors(pages.map(|page| (page, Vec::new())).collect());
        for source in db.anchors() {
            for (target, anchor) in source?.anchors {
                let Some(texts) = anchors.0.get_mut(&target) else { continue };
                if texts.len() < MOST_OF_A_PAGE && texts.iter().all(|text| text != anchor.as_str()) {
                    texts.push(anchor.as_str().to_owned());
                }
            }
        }
        Ok(anchors)
    }

    pub fn of(&self, page: PageIndex) -> &[String] {
        self.0.get(&page).map_or(&[], Vec::as_slice)
    }
}
