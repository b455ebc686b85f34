//! A segment: a folder for one round of crawling, with a fetch list and, once it was fetched, what came of it;
//! `docs/nutch.md`, "Segments".

mod fetch_list;
mod fetched;

pub use fetch_list::{FetchListWriter, ListOptions, ToFetch};
pub use fetched::{FetchedPage, SegmentReader};

/// The ArrayFiles of a segment.
const FETCH_LIST: &str = "fetchlist";
const FETCHER: &str = "fetcher";
const FETCHER_UNPARSED: &str = "fetcher_output";
const PARSE_DATA: &str = "parse_data";
