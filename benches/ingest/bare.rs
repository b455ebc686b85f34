//! The bare tables: a loop that leaves the same rows in the same LMDB tables, in batches of the same size, one
//! synced commit a batch, keys sorted. No log, no normalising, no comparison of URLs, no domains, no codecs,
//! and what it needs to know of a page (score, whether it is crawled) it keeps in memory.

use std::time::Instant;

use heed::types::Bytes;
use heed::{Database, EnvOpenOptions, PutFlags};
use twox_hash::XxHash3_64;

use super::{Figures, Memory, fields};

/// Pages a batch: what fits the writer's batch limit.
const BATCH: usize = 20_000;

type Table = Database<Bytes, Bytes>;

pub fn run(graph: &[String]) -> Figures {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut options = EnvOpenOptions::new();
    options.map_size(64 << 30).max_dbs(8);
    // SAFETY: the directory is this benchmark's own.
    let env = unsafe { options.open(dir.path()) }.expect("a new environment");
    let mut txn = env.write_txn().expect("a transaction");
    let names = ["hash2idx", "urls", "hash2info", "links", "schedule"];
    let tables: [Table; 5] = names.map(|name| env.create_database(&mut txn, Some(name)).expect("a table"));
    txn.commit().expect("committed");

    let memory = Memory::watch();
    let (mut links, mut known) = (0, Known::default());
    let started = Instant::now();
    for chunk in graph.chunks(BATCH) {
        links += batch(&env, &tables, chunk, &mut known).expect("a batch");
    }
    let seconds = started.elapsed().as_secs_f64();
    let txn = env.read_txn().expect("a transaction");
    let sizes: Vec<(String, u64, u64)> = names
        .iter()
        .zip(&tables)
        .map(|(name, table)| {
            let stat = table.stat(&txn).expect("a stat");
            let pages = stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
            ((*name).to_owned(), stat.entries as u64, (pages * stat.page_size as usize) as u64)
        })
        .collect();
    Figures {
        seconds,
        pages: graph.len() as u64,
        links,
        urls: known.keys.len() as u64,
        live_bytes: sizes.iter().map(|(.., bytes)| bytes).sum(),
        file_bytes: env.real_disk_size().expect("a size"),
        link_bytes: sizes[3].2,
        peak_anonymous: memory.peak(),
        tables: sizes,
    }
}

/// What is known of each page, by index.
#[derive(Default)]
struct Known {
    keys: Vec<u64>,
    scores: Vec<f64>,
    crawled: Vec<bool>,
}

impl Known {
    /// A page's row in `schedule`, if it waits.
    fn entry(&self, index: u64) -> Option<[u8; 13]> {
        let at = index as usize;
        (!self.crawled[at]).then(|| entry(self.keys[at], index, self.scores[at]))
    }
}

fn batch(env: &heed::Env, tables: &[Table; 5], pages: &[String], known: &mut Known) -> heed::Result<u64> {
    let [hash2idx, url_table, hash2info, link_table, schedule] = tables;
    let mut mentions: Vec<(u64, u32, &str, f64)> = Vec::new();
    // Number of each page's own mention, and the end of its links'.
    let mut spans = Vec::new();
    for line in pages {
        let start = mentions.len();
        for (url, score) in fields(line) {
            mentions.push((key(url), mentions.len() as u32, url, score));
        }
        spans.push((start, mentions[start].0, mentions.len()));
    }
    let mut index_of = vec![0u64; mentions.len()];
    mentions.sort_unstable_by_key(|&(key, number, ..)| (key, number));
    let mut txn = env.write_txn()?;
    let first_new = known.keys.len() as u64;
    let mut new = Vec::new();
    for group in mentions.chunk_by(|a, b| a.0 == b.0) {
        let found = hash2idx.get(&txn, &group[0].0.to_be_bytes())?;
        let index = match found {
            Some(value) => u64::from_le_bytes(value[..8].try_into().expect("eight bytes")),
            None => {
                let index = known.keys.len() as u64;
                new.push((index, group[0].2));
                known.keys.push(group[0].0);
                known.scores.push(f64::NEG_INFINITY);
                known.crawled.push(true);
                index
            }
        };
        for &(_, number, ..) in group {
            index_of[number as usize] = index;
        }
    }
    let touched: Vec<(u64, u64)> =
        mentions.chunk_by(|a, b| a.0 == b.0).map(|g| (g[0].0, index_of[g[0].1 as usize])).collect();
    let before: Vec<Option<[u8; 13]>> = touched.iter().map(|&(_, index)| known.entry(index)).collect();
    for &(index, _) in &new {
        known.crawled[index as usize] = false;
    }
    for &(_, number, _, score) in &mentions {
        let at = index_of[number as usize] as usize;
        known.scores[at] = known.scores[at].max(score);
    }
    for &(start, ..) in &spans {
        known.crawled[index_of[start] as usize] = true;
    }
    let mut value = Vec::new();
    for (index, url) in new {
        value.clear();
        value.extend_from_slice(&known.keys[index as usize].to_be_bytes());
        value.extend_from_slice(&[0; 5]);
        value.extend_from_slice(&url.as_bytes()[site_len(url)..]);
        url_table.put_with_flags(&mut txn, PutFlags::APPEND, &index.to_be_bytes()[3..], &value)?;
    }
    let mut moves: Vec<([u8; 13], bool)> = Vec::new();
    for (&(key, index), before) in touched.iter().zip(&before) {
        let after = known.entry(index);
        if *before != after || index >= first_new {
            let mut row = index.to_le_bytes().to_vec();
            row.push(u8::from(after.is_some()));
            hash2idx.put(&mut txn, &key.to_be_bytes(), &row)?;
            moves.extend(before.map(|entry| (entry, false)));
            moves.extend(after.map(|entry| (entry, true)));
        }
    }
    moves.sort_unstable();
    for (entry, added) in &moves {
        if *added {
            schedule.put(&mut txn, entry, &[])?;
        } else {
            schedule.delete(&mut txn, entry)?;
        }
    }
    let mut crawled: Vec<u64> = spans.iter().map(|&(_, key, _)| key).collect();
    crawled.sort_unstable();
    for key in crawled {
        hash2info.put(&mut txn, &key.to_be_bytes(), &[0; 15])?;
    }
    let mut lists = Vec::new();
    for (start, _, end) in spans {
        let mut targets = index_of[start + 1..end].to_vec();
        targets.sort_unstable();
        lists.push((index_of[start], targets));
    }
    lists.sort_unstable_by_key(|(index, _)| *index);
    let mut n = 0;
    for (index, targets) in lists {
        n += targets.len() as u64;
        value.clear();
        let mut previous = 0;
        for target in targets {
            varint(&mut value, target - previous);
            previous = target;
        }
        link_table.put(&mut txn, &index.to_be_bytes()[3..], &value)?;
    }
    txn.commit()?;
    Ok(n)
}

fn site_len(url: &str) -> usize {
    let start = url.find("://").map_or(0, |at| at + 3);
    url[start..].find('/').map_or(url.len(), |at| start + at)
}

fn key(url: &str) -> u64 {
    let site = XxHash3_64::oneshot(&url.as_bytes()[..site_len(url)]);
    site >> 32 << 32 | XxHash3_64::oneshot(url.as_bytes()) >> 32
}

fn entry(key: u64, index: u64, score: f64) -> [u8; 13] {
    let mut out = [0; 13];
    out[..4].copy_from_slice(&key.to_be_bytes()[..4]);
    out[4..8].copy_from_slice(&(!(score as f32).to_bits()).to_be_bytes());
    out[8..].copy_from_slice(&index.to_be_bytes()[3..]);
    out
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
