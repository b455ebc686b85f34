//! The links of crawled pages, and their anchors, as rows.

use heed::RwTxn;

use super::identity::Cells;
use super::transitions::Crawl;
use crate::pagedb::anchor_list::{Encoder, first_of_each};
use crate::pagedb::env::{InTable, PageDbError, Tables};
use crate::pagedb::info::Counters;
use crate::pagedb::link_list;
use crate::types::PageIndex;

/// Writes rows of `links` and `anchors`.
pub(super) struct LinkRows<'a> {
    cells: &'a Cells,
    /// Of the whole batch, in order of mention.
    anchors: &'a [(u32, &'a str)],
    other: Vec<PageIndex>,
    same: Vec<PageIndex>,
    value: Vec<u8>,
    encoder: Encoder,
}

impl<'a> LinkRows<'a> {
    pub fn new(cells: &'a Cells, anchors: &'a [(u32, &'a str)]) -> LinkRows<'a> {
        LinkRows {
            cells,
            anchors,
            other: Vec::new(),
            same: Vec::new(),
            value: Vec::new(),
            encoder: Encoder::default(),
        }
    }

    /// Replaces the links of the page `index` by those of a crawl.
    pub fn write(
        &mut self,
        txn: &mut RwTxn<'_>,
        tables: &Tables,
        crawl: &Crawl<'_>,
        index: PageIndex,
        had_links: bool,
        counters: &mut Counters,
    ) -> Result<(), PageDbError> {
        let cells = self.cells;
        let domain = cells.list[crawl.cell as usize].key.domain();
        self.other.clear();
        self.same.clear();
        for mention in crawl.links.clone() {
            cells.prefetch_target(mention);
            let target = &cells.list[cells.of_url[mention as usize] as usize];
            let group = if target.key.domain() == domain { &mut self.same } else { &mut self.other };
            group.push(target.new.index);
        }
        for group in [&mut self.other, &mut self.same] {
            group.sort_unstable();
            group.dedup();
        }
        let row = index.to_bytes();
        if had_links && let Some(old) = tables.links.get(txn, &row)? {
            counters.links -= link_list::count(old).in_table("links", &row)?;
        }
        counters.links += (self.other.len() + self.same.len()) as u64;
        self.value.clear();
        link_list::encode(&self.other, &self.same, &mut self.value);
        tables.links.put(txn, &row, &self.value)?;
        let anchors = self.anchors_of(crawl);
        if had_links || !anchors.is_empty() {
            tables.anchors.put(txn, index, anchors, &mut self.encoder)?;
        }
        Ok(())
    }

    /// The anchors of a crawl by the places of their links.
    fn anchors_of(&self, crawl: &Crawl<'_>) -> Vec<(usize, &'a str)> {
        let first = self.anchors.partition_point(|&(mention, _)| mention < crawl.links.start);
        let anchors = self.anchors[first..].iter().take_while(|(mention, _)| *mention < crawl.links.end);
        let mut placed: Vec<(usize, &str)> = anchors
            .filter_map(|&(mention, text)| {
                let target = self.cells.list[self.cells.of_url[mention as usize] as usize].new.index;
                Some((link_list::place(&self.other, &self.same, target)?, text))
            })
            .collect();
        first_of_each(&mut placed);
        placed
    }
}
