//! The bare tables: the same rows in the same LMDB tables, in batches of the same size, one synced commit a
//! batch, keys sorted. No log, no parsing, no comparison of URLs, no scores raised, nothing else.

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
    let (mut links, mut urls) = (0, 0);
    let started = Instant::now();
    for chunk in graph.chunks(BATCH) {
        links += batch(&env, &tables, chunk, &mut urls).expect("a batch");
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
        urls,
        live_bytes: sizes.iter().map(|(.., bytes)| bytes).sum(),
        file_bytes: env.real_disk_size().expect("a size"),
        link_bytes: sizes[3].2,
        peak_anonymous: memory.peak(),
        tables: sizes,
    }
}

fn batch(env: &heed::Env, tables: &[Table; 5], pages: &[String], urls: &mut u64) -> heed::Result<u64> {
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
    let mut new = Vec::new();
    for group in mentions.chunk_by(|a, b| a.0 == b.0) {
        let found = hash2idx.get(&txn, &group[0].0.to_be_bytes())?;
        let index = match found {
            Some(value) => u64::from_le_bytes(value.try_into().expect("eight bytes")),
            None => {
                new.push((group[0].0, *urls, group[0].2, group[0].3));
                *urls += 1;
                *urls - 1
            }
        };
        for &(_, number, ..) in group {
            index_of[number as usize] = index;
        }
    }
    let mut value = Vec::new();
    for &(key, index, url, _) in &new {
        hash2idx.put(&mut txn, &key.to_be_bytes(), &index.to_le_bytes())?;
        let path = &url[site_len(url)..];
        value.clear();
        value.extend_from_slice(&key.to_be_bytes());
        value.extend_from_slice(&[0; 5]);
        value.extend_from_slice(path.as_bytes());
        url_table.put_with_flags(&mut txn, PutFlags::APPEND, &index.to_be_bytes()[3..], &value)?;
    }
    let mut entries: Vec<[u8; 13]> =
        new.iter().map(|&(key, index, _, score)| entry(key, index, score)).collect();
    entries.sort_unstable();
    for entry in &entries {
        schedule.put(&mut txn, entry, &[])?;
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
    let site = XxHash3_64::oneshot(url[..site_len(url)].as_bytes());
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
