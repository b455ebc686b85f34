//! The values of a segment's files, as Nutch 0.4 and 0.5 wrote them; `docs/nutch.md`, "Records".

mod content;
mod fetch_list_entry;
mod fetcher_output;
mod outlink;
mod page;
mod parse;
mod properties;

use super::{Input, Limits, Malformed, Unwritable};

pub use content::{Content, FetcherContent, FetcherText};
pub use fetch_list_entry::FetchListEntry;
pub use fetcher_output::{FetchStatus, FetcherOutput, InPage};
pub use outlink::Outlink;
pub use page::Page;
pub use parse::{ParseData, ParseText};
pub use properties::Properties;

/// A value that Nutch stored.
pub trait Record: Sized {
    /// Java's name of the class: written into headers, read by both versions.
    const CLASS: &'static str;
    /// Its short name, which Nutch 0.5 writes into headers.
    const NAME: &'static str;

    /// Reads exactly one record.
    ///
    /// # Errors
    /// [`Malformed`] unless the bytes are what Nutch writes; its offset is that in `bytes`.
    fn decode_within(bytes: &[u8], limits: Limits) -> Result<Self, Malformed>;

    /// Appends the bytes of the record.
    ///
    /// # Errors
    /// [`Unwritable`] names what is too long.
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Unwritable>;

    /// [`Record::decode_within`] the default limits.
    ///
    /// # Errors
    /// [`Malformed`].
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::decode_within(bytes, Limits::default())
    }
}

/// Which of the two layouts of a Page; see [`Page::outlink_count`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Described,
    Counted,
}

/// Reads a record that has a Page inside: in the described layout or, if it does not fit that, in the one with a
/// count. Both are read to the last byte, and where one fits the other misses by four bytes (unless the next score is a denormal number,
/// which reads as a small number of anchors).
fn decode_either<T>(decode: impl Fn(Layout) -> Result<T, Malformed>) -> Result<T, Malformed> {
    let described = match decode(Layout::Described) {
        Ok(record) => return Ok(record),
        Err(fault) => fault,
    };
    // If neither fits, the one that came further tells more.
    decode(Layout::Counted).map_err(
        |counted| {
            if counted.offset > described.offset { counted } else { described }
        },
    )
}

/// Reads a whole record of one version.
fn decode_whole<'a, T>(
    bytes: &'a [u8],
    limits: Limits,
    what: &'static str,
    read: impl FnOnce(&mut Input<'a>) -> Result<T, Malformed>,
) -> Result<T, Malformed> {
    let mut input = Input::new(bytes, limits);
    let record = read(&mut input)?;
    input.end(what)?;
    Ok(record)
}
