//! Writing a fetch list.

use std::fs;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};

use super::super::error::InFile;
use super::super::map_file::ArrayWriter;
use super::super::record::{FetchListEntry, Page, Record};
use super::super::sequence_file::{Compression, Version};
use super::super::{NutchError, utf8};
use super::FETCH_LIST;

/// A page for a fetch list.
#[derive(Debug, Clone, PartialEq)]
pub struct ToFetch<'a> {
    pub url: &'a str,
    pub score: f32,
    /// MD5 of the content, if it was fetched before. Without it stands that of the URL, as in Nutch.
    pub md5: Option<[u8; 16]>,
    /// When it should be fetched: milliseconds since the epoch.
    pub next_fetch: i64,
    /// Attempts that failed; 255 stands for more.
    pub retries: u32,
    /// Texts of links to it; each is cut at 21,845 UTF-16 units, as in Nutch.
    pub anchors: &'a [String],
}

/// How a fetch list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListOptions {
    /// Whether pages have the four bytes of [`Page::outlink_count`].
    pub outlink_counts: bool,
    /// Days from one fetch to the next.
    pub fetch_interval: u8,
}

impl Default for ListOptions {
    /// The layout of the description; Nutch's `db.default.fetch.interval`.
    fn default() -> Self {
        ListOptions { outlink_counts: false, fetch_interval: 30 }
    }
}

/// Appends pages to the fetch list of a segment, in the order in which they shall be fetched.
pub struct FetchListWriter {
    path: PathBuf,
    array: ArrayWriter,
    options: ListOptions,
    value: Vec<u8>,
}

impl FetchListWriter {
    /// Makes `<segment>/fetchlist`, an ArrayFile of version 1, and the folder `segment` unless it is there.
    ///
    /// # Errors
    /// [`NutchError::File`], also if the segment has a fetch list.
    pub fn create(segment: &Path, options: ListOptions) -> Result<FetchListWriter, NutchError> {
        fs::create_dir_all(segment).in_file(segment)?;
        let path = segment.join(FETCH_LIST);
        let array = ArrayWriter::create(&path, FetchListEntry::CLASS, Version::V1, Compression::None)?;
        Ok(FetchListWriter { path, array, options, value: Vec::new() })
    }

    /// Returns the page's number in the list.
    ///
    /// # Errors
    /// [`NutchError::File`]: the disk, or a URL of more than 65,535 bytes.
    pub fn append(&mut self, page: &ToFetch<'_>) -> Result<i64, NutchError> {
        let entry = FetchListEntry {
            fetch: true,
            page: Page {
                url: page.url.to_owned(),
                md5: page.md5.unwrap_or_else(|| Md5::digest(page.url).into()),
                next_fetch: page.next_fetch,
                retries: u8::try_from(page.retries).unwrap_or(u8::MAX),
                fetch_interval: self.options.fetch_interval,
                score: page.score,
                next_score: page.score,
                outlink_count: self.options.outlink_counts.then_some(0),
            },
            anchors: page.anchors.iter().map(|anchor| utf8::cut(anchor).to_owned()).collect(),
        };
        self.value.clear();
        entry.encode(&mut self.value).in_file(&self.path)?;
        self.array.append(&self.value)
    }

    /// Brings the list to the disk. Returns the number of its pages.
    ///
    /// # Errors
    /// [`NutchError::File`].
    pub fn finish(self) -> Result<u64, NutchError> {
        self.array.finish()
    }
}
