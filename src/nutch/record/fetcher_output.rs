//! FetcherOutput: what came of an entry of the fetch list. Version 3 (Nutch 0.4) has title and outlinks, version 4
//! (0.5) leaves them to ParseData.

use super::super::utf8::put_utf8;
use super::super::{Limits, Malformed, Unwritable};
use super::outlink::{put_list, read_list};
use super::{FetchListEntry, Outlink, Record, decode_either, decode_whole};

/// The outcome of a fetch.
#[derive(Debug, Clone, PartialEq)]
pub struct FetcherOutput {
    pub entry: FetchListEntry,
    /// MD5 of the content.
    pub md5: [u8; 16],
    pub status: FetchStatus,
    /// `Some` in version 3, `None` in version 4.
    pub in_page: Option<InPage>,
    /// Milliseconds since the epoch.
    pub fetch_date: i64,
}

/// What version 3 says of a page's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InPage {
    pub title: String,
    pub outlinks: Vec<Outlink>,
}

/// The status byte, as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchStatus(pub u8);

impl FetchStatus {
    /// It should be tried again.
    pub const RETRY: FetchStatus = FetchStatus(0);
    /// It was fetched.
    pub const SUCCESS: FetchStatus = FetchStatus(1);
    /// It is not there.
    pub const NOT_FOUND: FetchStatus = FetchStatus(2);
}

impl Record for FetcherOutput {
    const CLASS: &'static str = "net.nutch.fetcher.FetcherOutput";
    const NAME: &'static str = "FetcherOutput";

    fn decode_within(bytes: &[u8], limits: Limits) -> Result<FetcherOutput, Malformed> {
        decode_either(|layout| {
            decode_whole(bytes, limits, "the fetcher output", |input| {
                let version = input.version("the fetcher output", &[3, 4], "3, 4")?;
                let entry = FetchListEntry::read(input, layout)?;
                let md5 = input.md5("MD5 of the content")?;
                let status = FetchStatus(input.u8("status")?);
                let in_page = match version {
                    3 => Some(InPage { title: input.utf8("title")?, outlinks: read_list(input)? }),
                    _ => None,
                };
                Ok(FetcherOutput { entry, md5, status, in_page, fetch_date: input.i64("fetch date")? })
            })
        })
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        out.push(if self.in_page.is_some() { 3 } else { 4 });
        self.entry.encode(out)?;
        out.extend_from_slice(&self.md5);
        out.push(self.status.0);
        if let Some(in_page) = &self.in_page {
            put_utf8(out, "title", &in_page.title)?;
            put_list(out, &in_page.outlinks)?;
        }
        out.extend_from_slice(&self.fetch_date.to_be_bytes());
        Ok(())
    }
}
