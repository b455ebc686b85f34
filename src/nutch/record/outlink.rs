//! Outlink: a link on a page. It has no version byte; it stands only inside other records.

use super::super::input::put_count;
use super::super::utf8::put_utf8;
use super::super::{Input, Malformed, Unwritable};

/// A link on a page and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlink {
    pub url: String,
    pub anchor: String,
}

/// A number, then so many outlinks.
pub(super) fn read_list(input: &mut Input<'_>) -> Result<Vec<Outlink>, Malformed> {
    let n = input.count("outlinks", 4)?;
    let outlink = |_| {
        Ok(Outlink { url: input.utf8("URL of an outlink")?, anchor: input.utf8("anchor of an outlink")? })
    };
    (0..n).map(outlink).collect()
}

pub(super) fn put_list(out: &mut Vec<u8>, outlinks: &[Outlink]) -> Result<(), Unwritable> {
    put_count(out, "the list of outlinks", outlinks.len())?;
    for outlink in outlinks {
        put_utf8(out, "URL of an outlink", &outlink.url)?;
        put_utf8(out, "anchor of an outlink", &outlink.anchor)?;
    }
    Ok(())
}
