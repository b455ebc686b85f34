//! First step of an import: reads the input once. Distinct URLs go to disk in runs, sorted by key; the edits
//! in the order of the input, their URLs replaced by numbers of entries.
//!
//! Three threads share the work: the source parses, this one fills a dictionary, a third sorts and writes the
//! dictionary before.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use super::batch::{BatchEdit, EditBatch};
use super::dictionary::{Dictionary, Mention, NO_PARENT};
use super::disk::{Section, Spilled, Writer};
use super::sites::Sites;
use super::{BulkError, Phase, Progress};
use crate::pagedb::env::PageDbError;
use crate::types::anchor::put_list;
use crate::types::codec::put_varint;

/// Batches that wait between the source and the dictionary.
const BATCHES_WAITING: usize = 4;

/// How many mentions ahead the dictionary asks for paths, and as many more for entries, and for slots.
const AHEAD: usize = 8;

/// Kinds of coded edits.
pub(super) const SEEDS: u8 = 0;
pub(super) const CRAWLED: u8 = 1;
/// Before the links stands their number, behind them their anchors.
pub(super) const CRAWLED_WITH_ANCHORS: u8 = 2;

/// A run of the input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// Its entries, sorted by key.
    pub records: Section,
    pub entries: u64,
    /// Its edits.
    pub edits: Section,
}

/// The input, read.
pub(super) struct Read {
    pub runs: Vec<Run>,
    pub records: Spilled,
    pub edits: Spilled,
    pub counts: Counts,
}

/// What the input had.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Crawls of pages.
    pub crawls: u64,
    pub links: u64,
    pub seeds: u64,
    pub skipped_links: u64,
}

/// Reads the source to its end; `memory` bounds the two dictionaries together.
pub(super) fn read<E: Send>(
    source: impl FnMut(&mut EditBatch) -> Result<bool, E> + Send,
    sites: &mut Sites,
    dir: &Path,
    memory: usize,
    progress: Progress<'_>,
) -> Result<Read, BulkError<E>> {
    let records = Writer::create(dir.join("runs"))?;
    let edits = Writer::create(dir.join("edits"))?;
    std::thread::scope(|scope| {
        let (to_builder, batches) = sync_channel(BATCHES_WAITING);
        let (recycle, empties) = channel();
        // A dictionary is handed over only when the one before is written: there are never three.
        let (to_writer, dictionaries) = sync_channel::<Dictionary>(0);
        let named = |name: &str| std::thread::Builder::new().name(name.into());
        let io = |source| PageDbError::Io { path: dir.into(), source };
        let writer = named("aduana-runs").spawn_scoped(scope, move || write_runs(&dictionaries, records));
        let writer = writer.map_err(io)?;
        let filler = named("aduana-source");
        filler.spawn_scoped(scope, move || fill_batches(source, &to_builder, &empties)).map_err(io)?;
        let mut builder = Builder::new(sites, edits, memory / 2, to_writer);
        let built: Result<(), BulkError<E>> = (|| {
            for batch in batches {
                let mut batch = batch.map_err(BulkError::Source)?;
                builder.take(&batch)?;
                progress(Phase::Reading, builder.counts.crawls + builder.counts.seeds, 0);
                batch.clear();
                recycle.send(batch).ok();
            }
            builder.end_run();
            Ok(())
        })();
        let Builder { edits, counts, edit_sections, to_writer, .. } = builder;
        // Without another end of the channel the writer ends.
        drop(to_writer);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        built?;
        let (records, runs) = written;
        let runs = runs.into_iter().zip(edit_sections);
        let runs = runs.map(|((records, entries), edits)| Run { records, entries, edits }).collect();
        Ok(Read { runs, records: records.finish()?, edits: edits.finish()?, counts })
    })
}

/// Ends when the source does, or when nobody takes its batches any more.
fn fill_batches<E>(
    mut source: impl FnMut(&mut EditBatch) -> Result<bool, E>,
    out: &SyncSender<Result<EditBatch, E>>,
    empties: &Receiver<EditBatch>,
) {
    loop {
        let mut batch = empties.try_recv().unwrap_or_default();
        let more = source(&mut batch);
        let (item, more) = match more {
            Ok(more) => (Ok(batch), more),
            Err(error) => (Err(error), false),
        };
        if out.send(item).is_err() || !more {
            return;
        }
    }
}

type WrittenRuns = (Writer, Vec<(Section, u64)>);

fn write_runs(dictionaries: &Receiver<Dictionary>, mut out: Writer) -> Result<WrittenRuns, PageDbError> {
    let mut runs = Vec::new();
    for dictionary in dictionaries {
        let (start, entries) = (out.position(), dictionary.entries.len() as u64);
        dictionary.for_each_sorted(|record| out.record(record))?;
        runs.push((Section { start, end: out.position() }, entries));
    }
    Ok((out, runs))
}

/// Fills dictionaries and writes the edits.
struct Builder<'s> {
    sites: &'s mut Sites,
    dictionary: Dictionary,
    dictionary_bytes: usize,
    edits: Writer,
    edits_start: u64,
    edit_sections: Vec<Section>,
    to_writer: SyncSender<Dictionary>,
    counts: Counts,
    edit: Vec<u8>,
}

impl<'s> Builder<'s> {
    fn new(
        sites: &'s mut Sites,
        edits: Writer,
        dictionary_bytes: usize,
        to_writer: SyncSender<Dictionary>,
    ) -> Builder<'s> {
        Builder {
            sites,
            dictionary: Dictionary::new(),
            dictionary_bytes,
            edits,
            edits_start: 0,
            edit_sections: Vec::new(),
            to_writer,
            counts: Counts::default(),
            edit: Vec::new(),
        }
    }

    fn take(&mut self, batch: &EditBatch) -> Result<(), PageDbError> {
        let mut last = ("", 0);
        let mentions: Vec<Mention<'_>> = batch
            .urls()
            .map(|url| {
                // Links of one site mostly stand together.
                if url.site != last.0 {
                    last = (url.site, self.sites.number_of(url.site));
                }
                let key = self.sites.natural_key(last.1, url.path);
                Mention { key, site: last.1, path: url.path, score: url.score }
            })
            .collect();
        self.counts.skipped_links += batch.skipped_links();
        let mut at = 0;
        let mut anchors = batch.anchors();
        for edit in batch.edits() {
            self.edit.clear();
            match edit {
                BatchEdit::Crawled { links, crawl } => {
                    let page = self.number_of(&mentions, at, NO_PARENT);
                    let domain = mentions[at].key.domain();
                    self.dictionary.crawled(page, crawl);
                    let n_anchors = anchors.partition_point(|&(url, _)| url <= at + links);
                    let (own_anchors, rest) = anchors.split_at(n_anchors);
                    anchors = rest;
                    self.edit.push(if n_anchors > 0 { CRAWLED_WITH_ANCHORS } else { CRAWLED });
                    put_varint(&mut self.edit, page.into());
                    if n_anchors > 0 {
                        put_varint(&mut self.edit, *links as u64);
                    }
                    for link in at + 1..=at + links {
                        let number = self.number_of(&mentions, link, page);
                        let mention = &mentions[link];
                        self.dictionary.linked(number, mention.score);
                        let same_domain = u64::from(mention.key.domain() == domain);
                        put_varint(&mut self.edit, u64::from(number) << 1 | same_domain);
                    }
                    let of_links = own_anchors.iter().map(|(url, anchor)| (url - at - 1, anchor.as_str()));
                    put_list(of_links, &mut self.edit);
                    at += links + 1;
                    self.counts.crawls += 1;
                    self.counts.links += *links as u64;
                }
                BatchEdit::Seeds { seeds } => {
                    self.edit.push(SEEDS);
                    for seed in at..at + seeds {
                        let number = self.number_of(&mentions, seed, NO_PARENT);
                        self.dictionary.linked(number, mentions[seed].score);
                        put_varint(&mut self.edit, number.into());
                    }
                    at += seeds;
                    self.counts.seeds += *seeds as u64;
                }
            }
            self.edits.record(&self.edit)?;
            // An edit stays within one run.
            if self.dictionary.bytes() > self.dictionary_bytes || self.dictionary.is_full() {
                self.end_run();
            }
        }
        Ok(())
    }

    fn number_of(&mut self, mentions: &[Mention<'_>], at: usize, parent: u32) -> u32 {
        if let Some(soon) = mentions.get(at + 3 * AHEAD) {
            self.dictionary.prefetch_slot(soon.key);
        }
        if let Some(soon) = mentions.get(at + 2 * AHEAD) {
            self.dictionary.prefetch_entry(soon.key);
        }
        if let Some(soon) = mentions.get(at + AHEAD) {
            self.dictionary.prefetch_path(soon.key);
        }
        self.dictionary.number_of(&mentions[at], parent)
    }

    /// Passes the dictionary to the thread that writes it.
    fn end_run(&mut self) {
        if self.dictionary.entries.is_empty() {
            return;
        }
        let end = self.edits.position();
        self.edit_sections.push(Section { start: self.edits_start, end });
        self.edits_start = end;
        let full = std::mem::replace(&mut self.dictionary, Dictionary::new());
        // Fails if the writer has: its error is told when it is joined.
        self.to_writer.send(full).ok();
    }
}
