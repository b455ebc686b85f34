//! Page, version 4: a page of the WebDB.

use super::super::utf8::put_utf8;
use super::super::{Input, Limits, Malformed, Unwritable};
use super::{Layout, Record, decode_either, decode_whole};

const VERSION: u8 = 4;

/// What the WebDB knows of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub url: String,
    /// MD5 of the content or, of a page that was never fetched, of the URL.
    pub md5: [u8; 16],
    /// When it should be fetched next: milliseconds since the epoch.
    pub next_fetch: i64,
    /// Failed attempts since it was last fetched.
    pub retries: u8,
    /// Days from one fetch to the next.
    pub fetch_interval: u8,
    /// Of link analysis; 1 without it.
    pub score: f32,
    pub next_score: f32,
    /// Four bytes that the description of the format does not have and Nutch's source of the time does, between
    /// interval and score. `Some` reads and writes them.
    pub outlink_count: Option<i32>,
}

impl Page {
    pub(super) fn read(input: &mut Input<'_>, layout: Layout) -> Result<Page, Malformed> {
        input.version("the page", &[VERSION], "4")?;
        Ok(Page {
            url: input.utf8("URL")?,
            md5: input.md5("MD5 of the page")?,
            next_fetch: input.i64("time of the next fetch")?,
            retries: input.u8("number of failed attempts")?,
            fetch_interval: input.u8("fetch interval")?,
            outlink_count: match layout {
                Layout::Described => None,
                Layout::Counted => Some(input.i32("number of outlinks")?),
            },
            score: input.f32("score")?,
            next_score: input.f32("next score")?,
        })
    }
}

impl Record for Page {
    const CLASS: &'static str = "net.nutch.db.Page";
    const NAME: &'static str = "Page";

    fn decode_within(bytes: &[u8], limits: Limits) -> Result<Page, Malformed> {
        decode_either(|layout| decode_whole(bytes, limits, "the page", |input| Page::read(input, layout)))
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable> {
        out.push(VERSION);
        put_utf8(out, "URL", &self.url)?;
        out.extend_from_slice(&self.md5);
        out.extend_from_slice(&self.next_fetch.to_be_bytes());
        out.push(self.retries);
        out.push(self.fetch_interval);
        if let Some(count) = self.outlink_count {
            out.extend_from_slice(&count.to_be_bytes());
        }
        out.extend_from_slice(&self.score.to_be_bytes());
        out.extend_from_slice(&self.next_score.to_be_bytes());
        Ok(())
    }
}
