//! FetchListEntry, version 2: a page to fetch.

use super::super::input::put_count;
use super::super::utf8::put_utf8;
use super::super::{Fault, Input, Limits, Malformed, Unwritable};
use super::{Layout, Page, Record, decode_either, decode_whole};

const VERSION: u8 = 2;

/// An entry of a fetch list.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchListEntry {
    /// Whether the page should be fetched; if not, its content is known already.
    pub fetch: bool,
    pub page: Page,
    /// Texts of links to the page.
    pub anchors: Vec<String>,
}

impl FetchListEntry {
    pub(super) fn read(input: &mut Input<'_>, layout: Layout) -> Result<FetchListEntry, Malformed> {
        input.version("the fetch list entry", &[VERSION], "2")?;
        let fetch = match input.u8("fetch flag")? {
            0 => false,
            1 => true,
            found => return Err(input.refuse(Fault::Flag { what: "the fetch flag", found })),
        };
        let page = Page::read(input, layout)?;
        let n = input.count("anchors", 2)?;
        let anchors = (0..n).map(|_| input.utf8("anchor")).collect::<Result<_, _>>()?;
        Ok(FetchListEntry { fetch, page, anchors })
    }
}

impl Record for FetchListEntry {
    const CLASS: &'static str = "net.nutch.pagedb.FetchListEntry";
    const NAME: &'static str = "FetchListEntry";

    fn decode_within(bytes: &[u8], limits: Limits) -> Result<FetchListEntry, Malformed> {
        decode_either(|layout| {
            let what = "the fetch list entry";
            decode_whole(bytes, limits, what, |input| FetchListEntry::read(input, layout))
        })
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        out.push(VERSION);
        out.push(u8::from(self.fetch));
        self.page.encode(out)?;
        put_count(out, "the list of anchors", self.anchors.len())?;
        for anchor in &self.anchors {
            put_utf8(out, "anchor", anchor)?;
        }
        Ok(())
    }
}
