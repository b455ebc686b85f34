//! What several tests need.

use std::io::Cursor;

use aduana::nutch::record::{FetchListEntry, FetchStatus, FetcherOutput, InPage, Outlink, Page};
use aduana::nutch::sequence_file::{Header, SequenceReader, SequenceWriter, WriteOptions};
use aduana::nutch::{Limits, NutchError, Record};

pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// 2004-06-30T00:00Z, the day of the notes.
pub const NOTES: i64 = 1_088_553_600_000;

pub fn page() -> Page {
    Page {
        url: "http://a.example/".into(),
        md5: *b"0123456789abcdef",
        next_fetch: NOTES,
        retries: 1,
        fetch_interval: 30,
        score: 1.5,
        next_score: 2.0,
        outlink_count: None,
    }
}

pub fn entry() -> FetchListEntry {
    FetchListEntry { fetch: true, page: page(), anchors: vec!["any".into(), "é".into()] }
}

pub fn outlinks() -> Vec<Outlink> {
    let outlink = |url: &str, anchor: &str| Outlink { url: url.into(), anchor: anchor.into() };
    vec![outlink("http://b.example/", "b"), outlink("/c", "")]
}

/// Version 3 with, version 4 without what is in the page.
pub fn output(in_page: bool) -> FetcherOutput {
    let in_page = in_page.then(|| InPage { title: "A".into(), outlinks: outlinks() });
    let (md5, status) = (*b"fedcba9876543210", FetchStatus::SUCCESS);
    FetcherOutput { entry: entry(), md5, status, in_page, fetch_date: NOTES + 1 }
}

pub fn encoded(record: &impl Record) -> Vec<u8> {
    let mut out = Vec::new();
    record.encode(&mut out).unwrap();
    out
}

/// Bytes of a listing in hexadecimal; spaces do not count.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap()).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

pub fn write_sequence(header: Header, options: WriteOptions, pairs: &Pairs) -> Vec<u8> {
    let mut writer = SequenceWriter::with_options(Vec::new(), header, options).unwrap();
    for (key, value) in pairs {
        writer.append(key, value).unwrap();
    }
    writer.finish().unwrap()
}

pub fn read_sequence(bytes: &[u8], limits: Limits) -> Result<(Header, Pairs), NutchError> {
    let mut reader = SequenceReader::with_limits(Cursor::new(bytes), limits)?;
    let mut pairs = Vec::new();
    while let Some(entry) = reader.next()? {
        pairs.push((entry.key.to_vec(), entry.value.to_vec()));
    }
    Ok((reader.header().clone(), pairs))
}
