//! Pages as a Parquet file: typed columns, Snappy, row groups of bounded size. Written column by column from a
//! buffer of one row group; Arrow has no part in it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::output::Output;
use super::page::{History, links};
use super::{PROGRESS_PAGES, Progress};
use crate::pagedb::{Page, PageDb};
use crate::types::{ContentHash, Naming, Time};

/// Pages in a row group: large enough for dictionaries and statistics to pay, small in memory.
const GROUP_PAGES: usize = 100_000;

/// Bytes of texts after which a row group ends before that: lists of links can be long.
const GROUP_BYTES: usize = 128 << 20;

const SCHEMA: &str = "
    required binary url (STRING);
    required int64 index;
    required binary domain (STRING);
    required binary status (STRING);
    required float score;
    required float given_score;
    required int32 depth (INTEGER(32, false));
    required int32 attempts (INTEGER(32, false));
    optional int64 linked_from;
    optional int64 first_crawl (TIMESTAMP(MILLIS, true));
    optional int64 last_crawl (TIMESTAMP(MILLIS, true));
    required int32 crawls (INTEGER(32, false));
    required int32 changes (INTEGER(32, false));
    optional float content_score;
    optional binary content_hash (STRING);";

const LINKS: &str = "
    optional group links (LIST) { repeated group list { required binary element (STRING); } }";

pub fn write(db: &PageDb, with_links: bool, out: &mut Output, progress: Progress<'_>) -> anyhow::Result<()> {
    let failed = Arc::default();
    let written = write_file(db, with_links, Sink { out, failed: Arc::clone(&failed) }, progress);
    // The library wraps what the writer said; a reader that went away must be told from other errors.
    match failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error.into()),
        None => written,
    }
}

fn write_file(
    db: &PageDb,
    with_links: bool,
    sink: Sink<'_, impl Write + Send>,
    progress: Progress<'_>,
) -> anyhow::Result<()> {
    let links_column = if with_links { LINKS } else { "" };
    let schema = parse_message_type(&format!("message page {{{SCHEMA}{links_column}}}"))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("aduana ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut file = SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties))?;
    let mut group = Group { links: with_links.then(Lists::default), ..Group::default() };
    for (done, page) in (1..).zip(db.pages()) {
        let page = page?;
        let links = if with_links { links(db, page.state.index)? } else { None };
        group.push(page, links, db.naming());
        if group.urls.len() >= GROUP_PAGES || group.bytes >= GROUP_BYTES {
            group.write(&mut file)?;
        }
        if done % PROGRESS_PAGES == 0 {
            progress(done);
        }
    }
    if !group.urls.is_empty() {
        group.write(&mut file)?;
    }
    file.close()?;
    Ok(())
}

/// The columns of a row group, in the order of the schema.
#[derive(Default)]
struct Group {
    bytes: usize,
    urls: Vec<ByteArray>,
    indices: Vec<i64>,
    domains: Vec<ByteArray>,
    statuses: Vec<ByteArray>,
    scores: Vec<f32>,
    given_scores: Vec<f32>,
    depths: Vec<i32>,
    attempts: Vec<i32>,
    linked_from: Optional<i64>,
    first_crawls: Optional<i64>,
    last_crawls: Optional<i64>,
    crawls: Vec<i32>,
    changes: Vec<i32>,
    content_scores: Optional<f32>,
    content_hashes: Optional<ByteArray>,
    links: Option<Lists>,
}

impl Group {
    fn push(&mut self, mut page: Page, links: Option<Vec<String>>, naming: Naming) {
        let history = History::of(&mut page);
        let state = &page.state;
        let domain = naming.domain_of(page.url.site());
        self.bytes += page.url.as_str().len() + domain.len() + 64;
        self.urls.push(page.url.as_str().into());
        self.indices.push(state.index.0 as i64);
        self.domains.push(domain.into());
        self.statuses.push(state.status.name().into());
        self.scores.push(state.score.get());
        self.given_scores.push(state.given.get());
        // Unsigned, as the schema says.
        self.depths.push(state.depth.cast_signed());
        self.attempts.push(state.attempts.cast_signed());
        self.linked_from.push(page.linked_from.map(|index| index.0 as i64));
        self.first_crawls.push(history.first_crawl.map(millis));
        self.last_crawls.push(history.last_crawl.map(millis));
        self.crawls.push(history.crawls.cast_signed());
        self.changes.push(history.changes.cast_signed());
        self.content_scores.push(history.content_score.map(|score| score.get()));
        self.content_hashes.push(history.content_hash.map(|hash| match hash {
            ContentHash::Number(number) => number.to_string().into_bytes().into(),
            ContentHash::Text(text) => text.into_bytes().into(),
        }));
        if let Some(lists) = &mut self.links {
            self.bytes += links.iter().flatten().map(|url| url.len() + 32).sum::<usize>();
            lists.push(links);
        }
    }

    /// Writes the row group and begins the next one.
    fn write<W: Write + Send>(&mut self, file: &mut SerializedFileWriter<W>) -> anyhow::Result<()> {
        let with_links = self.links.is_some();
        let group = std::mem::take(self);
        self.links = with_links.then(Lists::default);
        let mut out = file.next_row_group()?;
        required::<ByteArrayType, _>(&mut out, &group.urls)?;
        required::<Int64Type, _>(&mut out, &group.indices)?;
        required::<ByteArrayType, _>(&mut out, &group.domains)?;
        required::<ByteArrayType, _>(&mut out, &group.statuses)?;
        required::<FloatType, _>(&mut out, &group.scores)?;
        required::<FloatType, _>(&mut out, &group.given_scores)?;
        required::<Int32Type, _>(&mut out, &group.depths)?;
        required::<Int32Type, _>(&mut out, &group.attempts)?;
        optional::<Int64Type, _>(&mut out, &group.linked_from)?;
        optional::<Int64Type, _>(&mut out, &group.first_crawls)?;
        optional::<Int64Type, _>(&mut out, &group.last_crawls)?;
        required::<Int32Type, _>(&mut out, &group.crawls)?;
        required::<Int32Type, _>(&mut out, &group.changes)?;
        optional::<FloatType, _>(&mut out, &group.content_scores)?;
        optional::<ByteArrayType, _>(&mut out, &group.content_hashes)?;
        if let Some(lists) = &group.links {
            column::<ByteArrayType, _>(
                &mut out,
                &lists.urls,
                Some(&lists.definitions),
                Some(&lists.repetitions),
            )?;
        }
        out.close()?;
        Ok(())
    }
}

/// A column whose values may be absent.
struct Optional<T> {
    values: Vec<T>,
    /// 1 for a value, 0 for none.
    definitions: Vec<i16>,
}

impl<T> Default for Optional<T> {
    fn default() -> Self {
        Optional { values: Vec::new(), definitions: Vec::new() }
    }
}

impl<T> Optional<T> {
    fn push(&mut self, value: Option<T>) {
        self.definitions.push(i16::from(value.is_some()));
        self.values.extend(value);
    }
}

/// A column of lists: Parquet's definition levels (0 no list, 1 an empty one, 2 an element) and repetition levels
/// (0 the first element of a page, 1 a further one).
#[derive(Default)]
struct Lists {
    urls: Vec<ByteArray>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl Lists {
    fn push(&mut self, list: Option<Vec<String>>) {
        let is_there = list.is_some();
        let list = list.unwrap_or_default();
        if list.is_empty() {
            self.definitions.push(i16::from(is_there));
            self.repetitions.push(0);
        }
        for (n, url) in list.into_iter().enumerate() {
            self.definitions.push(2);
            self.repetitions.push(i16::from(n > 0));
            self.urls.push(url.into_bytes().into());
        }
    }
}

fn millis(time: Time) -> i64 {
    i64::try_from(time.0).unwrap_or(i64::MAX)
}

fn required<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> anyhow::Result<()> {
    column::<T, W>(group, values, None, None)
}

fn optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Optional<T::T>,
) -> anyhow::Result<()> {
    self::column::<T, W>(group, &column.values, Some(&column.definitions), None)
}

/// Writes the next column of a row group.
fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) -> anyhow::Result<()> {
    let Some(mut column) = group.next_column()? else { anyhow::bail!("the schema has no more columns") };
    column.typed::<T>().write_batch(values, definitions, repetitions)?;
    Ok(column.close()?)
}

/// Keeps the first error of the writer below.
struct Sink<'w, W> {
    out: &'w mut W,
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl<W: Write> Sink<'_, W> {
    fn keep<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            kind.into()
        })
    }
}

impl<W: Write> Write for Sink<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.keep(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.keep(done)
    }
}
