//! The same graph by `aduana import`'s way: a new database in bulk.

use std::convert::Infallible;
use std::time::Instant;

use aduana::frontier::import::{ImportOptions, import};
use aduana::frontier::layout;
use aduana::pagedb::PageDb;
use aduana::pagedb::bulk::{EditBatch, RawPage};
use aduana::types::{Score, Time, UrlHasher};

use super::{Figures, Memory, fields};

/// Bytes for sorting: the default of the command.
const MEMORY: usize = 1 << 30;

pub fn run(graph: &[String]) -> Figures {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let options = ImportOptions {
        memory: MEMORY,
        domain_unit: None,
        same_site: None,
        max_crawl_depth: None,
        hasher: UrlHasher::default(),
    };
    let mut lines = graph.iter();
    let source = |batch: &mut EditBatch| {
        while !batch.is_full() {
            let Some(line) = lines.next() else { return Ok::<_, Infallible>(false) };
            let score = |score| Score::new(score).expect("a score");
            let mut urls = fields(line).map(|(url, number)| (url, score(number)));
            let (url, score) = urls.next().expect("a page");
            let page = RawPage { url, base: None, score, time: Time(0), content_hash: None };
            batch.crawled(page, urls).expect("a URL");
        }
        Ok(true)
    };
    let memory = Memory::watch();
    let started = Instant::now();
    let mut phase = None;
    let mut progress = |now, _, _| {
        if phase.replace(now) != Some(now) && std::env::var_os("PHASES").is_some() {
            println!("{:>9.2} s  {now:?}", started.elapsed().as_secs_f64());
        }
    };
    let imported = import(dir.path(), options, source, &mut progress).expect("imported");
    let seconds = started.elapsed().as_secs_f64();
    let peak_anonymous = memory.peak();
    let db = PageDb::open_read_only(&dir.path().join(layout::PAGES)).expect("the database");
    let tables = db.table_sizes().expect("sizes");
    let (file_bytes, live_bytes) = db.file_bytes().expect("sizes");
    Figures {
        seconds,
        pages: imported.counters.crawled,
        links: imported.counters.links,
        urls: imported.counters.pages,
        live_bytes,
        file_bytes,
        link_bytes: tables.iter().find(|(name, ..)| *name == "links").map_or(0, |t| t.2),
        peak_anonymous,
        tables: tables.into_iter().map(|(name, rows, bytes)| (name.to_owned(), rows, bytes)).collect(),
    }
}
