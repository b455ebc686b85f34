//! Segments as a whole: a fetch list as the fetcher reads it, and what fetchers of both versions leave.

use std::fs;
use std::path::Path;

use aduana::nutch::map_file::{ArrayReader, ArrayWriter};
use aduana::nutch::record::{FetchListEntry, FetcherOutput, Page, ParseData};
use aduana::nutch::segment::{FetchListWriter, FetchedPage, ListOptions, SegmentReader, ToFetch};
use aduana::nutch::sequence_file::{Compression, Version};
use aduana::nutch::{NutchError, Record};
use tempfile::TempDir;

use crate::support::{NOTES, encoded, hex, outlinks, output};

/// Writes an ArrayFile of version 1.
fn array(path: &Path, class: &str, values: &[Vec<u8>]) {
    let mut array = ArrayWriter::create(path, class, Version::V1, Compression::None).unwrap();
    for value in values {
        array.append(value).unwrap();
    }
    array.finish().unwrap();
}

fn output_of(url: &str, in_page: bool) -> FetcherOutput {
    let mut output = output(in_page);
    output.entry.page.url = url.into();
    output
}

pub fn segment_0_4(folder: &Path, urls: &[&str]) {
    let values: Vec<_> = urls.iter().map(|url| encoded(&output_of(url, true))).collect();
    array(&folder.join("fetcher"), FetcherOutput::CLASS, &values);
}

pub fn segment_0_5(folder: &Path, urls: &[&str]) {
    let values: Vec<_> = urls.iter().map(|url| encoded(&output_of(url, false))).collect();
    array(&folder.join("fetcher"), FetcherOutput::NAME, &values);
    let title = |url: &&str| ParseData {
        title: format!("title of {url}"),
        outlinks: outlinks(),
        metadata: vec![("Server".into(), "x".into())],
    };
    let values: Vec<_> = urls.iter().map(|url| encoded(&title(url))).collect();
    array(&folder.join("parse_data"), ParseData::NAME, &values);
}

fn read(folder: &Path) -> Vec<FetchedPage> {
    SegmentReader::open(folder).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Byte by byte: the header, a record, the index.
#[test]
fn a_fetch_list_is_what_the_described_fetcher_reads() {
    let folder = TempDir::new().unwrap();
    let segment = folder.path().join("segments/20040630");
    let mut list = FetchListWriter::create(&segment, ListOptions::default()).unwrap();
    let page = ToFetch {
        url: "http://a.example/",
        score: 1.5,
        md5: Some(*b"0123456789abcdef"),
        next_fetch: NOTES,
        retries: 300,
        anchors: &["any".to_owned()],
    };
    assert_eq!(list.append(&page).unwrap(), 0);
    assert_eq!(list.append(&ToFetch { md5: None, ..page.clone() }).unwrap(), 1);
    assert_eq!(list.finish().unwrap(), 2);
    let bytes = fs::read(segment.join("fetchlist/data")).unwrap();
    let entry = [
        &hex("02 01 04")[..],
        b"\x00\x11http://a.example/",
        b"0123456789abcdef",
        &NOTES.to_be_bytes(),
        &hex("ff 1e 3fc00000 3fc00000 00000001"),
        b"\x00\x03any",
    ]
    .concat();
    let mut expected = b"SEQ\x01\x00\x04long\x00\x1fnet.nutch.pagedb.FetchListEntry".to_vec();
    expected.extend((entry.len() as u32 + 8).to_be_bytes());
    expected.extend(hex("00000008 0000000000000000"));
    expected.extend(&entry);
    assert_eq!(bytes[..expected.len()], expected);
    let index = fs::read(segment.join("fetchlist/index")).unwrap();
    let expected = [
        &b"SEQ\x01\x00\x04long\x00\x04long"[..],
        &hex("00000010 00000008 0000000000000000 000000000000002b"),
    ];
    assert_eq!(index, expected.concat());
    // A page without content has the MD5 of its URL.
    let mut list = ArrayReader::open(&segment.join("fetchlist")).unwrap();
    let second = FetchListEntry::decode(list.get(1).unwrap().unwrap()).unwrap();
    assert_eq!(second.page.md5.to_vec(), hex("b30d4f59eb97517b29db7bf4c7be397d").as_slice());
}

#[test]
fn a_fetch_list_can_have_pages_as_the_source_has_them() {
    let folder = TempDir::new().unwrap();
    let options = ListOptions { outlink_counts: true, fetch_interval: 7 };
    let mut list = FetchListWriter::create(folder.path(), options).unwrap();
    let anchors = ["€".repeat(30_000)];
    let url = "http://a.example/";
    let page = ToFetch { url, score: 0.0, md5: None, next_fetch: 0, retries: 2, anchors: &anchors };
    list.append(&page).unwrap();
    list.finish().unwrap();
    let mut list = ArrayReader::open(&folder.path().join("fetchlist")).unwrap();
    let entry = FetchListEntry::decode(list.next().unwrap().unwrap().value).unwrap();
    let Page { outlink_count, fetch_interval, retries, .. } = entry.page;
    assert_eq!((outlink_count, fetch_interval, retries), (Some(0), 7, 2));
    assert_eq!(entry.anchors[0].chars().count(), 21_845);
    let again = FetchListWriter::create(folder.path(), options).err().unwrap();
    assert!(matches!(again, NutchError::File { .. }));
}

#[test]
fn a_segment_of_nutch_0_4_has_links_in_the_fetchers_output() {
    let folder = TempDir::new().unwrap();
    segment_0_4(folder.path(), &["http://a.example/1", "http://a.example/2"]);
    let pages = read(folder.path());
    assert_eq!(pages.len(), 2);
    assert_eq!((pages[1].number, pages[1].entry.page.url.as_str()), (1, "http://a.example/2"));
    assert_eq!((pages[0].title.as_str(), pages[0].fetch_date), ("A", NOTES + 1));
    assert_eq!(pages[0].outlinks, outlinks());
}

#[test]
fn a_segment_of_nutch_0_5_has_links_in_the_parse_data() {
    let folder = TempDir::new().unwrap();
    let urls: Vec<String> = (0..300).map(|n| format!("http://a.example/{n}")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    segment_0_5(folder.path(), &urls);
    let pages = read(folder.path());
    assert_eq!(pages.len(), 300);
    for (page, url) in pages.iter().zip(urls) {
        assert_eq!((page.entry.page.url.as_str(), &page.title), (url, &format!("title of {url}")));
        assert_eq!(page.outlinks, outlinks());
    }
}

/// Records are joined by their number, not by their place.
#[test]
fn a_page_that_was_not_parsed_has_no_links() {
    let folder = TempDir::new().unwrap();
    segment_0_5(folder.path(), &["http://a.example/0", "http://a.example/1", "http://a.example/2"]);
    let data = folder.path().join("parse_data/data");
    let bytes = fs::read(&data).unwrap();
    let header = 4 + 6 + 2 + ParseData::NAME.len();
    let record = 8 + u32::from_be_bytes(bytes[header..header + 4].try_into().unwrap()) as usize;
    fs::write(&data, [&bytes[..header + record], &bytes[header + 2 * record..]].concat()).unwrap();
    let titles: Vec<_> = read(folder.path()).into_iter().map(|page| page.title).collect();
    assert_eq!(titles, ["title of http://a.example/0", "", "title of http://a.example/2"]);
}

#[test]
fn what_is_no_fetched_segment_says_why() {
    let folder = TempDir::new().unwrap();
    let problem = |folder: &Path| match SegmentReader::open(folder).map(Iterator::collect::<Vec<_>>) {
        Err(error) => error.to_string(),
        Ok(pages) => pages.into_iter().find_map(Result::err).unwrap().to_string(),
    };
    assert!(problem(folder.path()).ends_with("the folder fetcher is missing"));
    fs::create_dir(folder.path().join("fetcher_output")).unwrap();
    assert!(problem(folder.path()).ends_with("let Nutch parse it"));
    segment_0_5(folder.path(), &["http://a.example/"]);
    fs::remove_dir_all(folder.path().join("parse_data")).unwrap();
    assert!(problem(folder.path()).ends_with("without it the pages have no links"));
    array(&folder.path().join("parse_data"), "org.example.Other", &[]);
    assert!(problem(folder.path()).contains("the value class is org.example.Other"));
}

#[test]
fn a_broken_record_is_named_by_file_number_and_place() {
    let folder = TempDir::new().unwrap();
    let bad = [vec![9], encoded(&output(true))[1..].to_vec()].concat();
    array(&folder.path().join("fetcher"), FetcherOutput::CLASS, &[encoded(&output(true)), bad]);
    let mut segment = SegmentReader::open(folder.path()).unwrap();
    assert!(segment.next().unwrap().is_ok());
    let refused = segment.next().unwrap().unwrap_err().to_string();
    let expected =
        "record 1, which begins at byte 189: byte 0: the fetcher output has version 9: known are 3, 4";
    assert!(refused.ends_with(expected), "{refused}");
    assert!(segment.next().is_none());
}
