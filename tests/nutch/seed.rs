//! Bytes built by hand from the description of Nutch's file formats, field by field: what the codecs must read
//! and write.

use aduana::nutch::record::{
    Content, FetchListEntry, FetcherContent, FetcherOutput, FetcherText, Page, ParseData, ParseText,
};
use aduana::nutch::sequence_file::{Header, WriteOptions};
use aduana::nutch::{Limits, Record};

use crate::support::{encoded, entry, hex, outlinks, output, page, read_sequence, write_sequence};

/// The description's own example: a mapping from long integers to long integers.
#[test]
fn the_example_of_a_mapping_from_long_to_long() {
    let mut bytes = b"SEQ\x01\x00\x04long\x00\x04long".to_vec();
    bytes.extend(hex("00000010 00000008 0000000000000280 00000000000a429b"));
    let pairs = vec![(640i64.to_be_bytes().to_vec(), 672_411i64.to_be_bytes().to_vec())];
    assert_eq!(
        read_sequence(&bytes, Limits::default()).unwrap(),
        (Header::v1("long", "long"), pairs.clone())
    );
    assert_eq!(write_sequence(Header::v1("long", "long"), WriteOptions::default(), &pairs), bytes);
}

#[track_caller]
fn both_ways<T: Record + PartialEq + std::fmt::Debug>(record: &T, parts: &[&[u8]]) {
    let bytes = parts.concat();
    assert_eq!(T::decode(&bytes).unwrap(), *record);
    assert_eq!(encoded(record), bytes);
}

/// gzip of "abc": no flags, no time, no name; deflate with fixed codes; CRC-32 and length, little-endian.
const ABC_GZIP: [u8; 23] =
    [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 0x4b, 0x4c, 0x4a, 0x06, 0x00, 0xc2, 0x41, 0x24, 0x35, 3, 0, 0, 0];
const ABC: [&[u8]; 2] = [&[0, 0, 0, 23], &ABC_GZIP];

const PAGE: [&[u8]; 8] = [
    &[4],                                  // version
    b"\x00\x11http://a.example/",          // URL
    b"0123456789abcdef",                   // MD5
    &[0, 0, 0, 0xfd, 0x72, 0xd9, 0xc4, 0], // next fetch
    &[1],                                  // failed attempts
    &[30],                                 // days
    &[0x3f, 0xc0, 0, 0],                   // score 1.5
    &[0x40, 0, 0, 0],                      // next score 2
];

fn listed() -> Vec<u8> {
    [&[2][..], &[1], &PAGE.concat(), &[0, 0, 0, 2], b"\x00\x03any", &[0, 2, 0xc3, 0xa9]].concat()
}

const OUTLINKS: &[u8] = b"\0\0\0\x02\x00\x11http://b.example/\x00\x01b\x00\x02/c\x00\x00";
const FETCHED: &[u8] = &[0, 0, 0, 0xfd, 0x72, 0xd9, 0xc4, 1];

#[test]
fn page_as_it_is_described() {
    both_ways(&page(), &PAGE);
}

/// The source has four bytes more than the description, the number of outlinks.
#[test]
fn page_as_the_source_has_it() {
    let mut parts = PAGE.to_vec();
    parts.insert(6, &[0, 0, 0, 7]);
    both_ways(&Page { outlink_count: Some(7), ..page() }, &parts);
}

#[test]
fn fetch_list_entry() {
    both_ways(&entry(), &[&listed()]);
    let refused = FetchListEntry { fetch: false, anchors: vec![], ..entry() };
    both_ways(&refused, &[&[2, 0], &PAGE.concat(), &[0, 0, 0, 0]]);
}

#[test]
fn fetcher_output_of_nutch_0_4() {
    let parts: [&[u8]; 7] = [&[3], &listed(), b"fedcba9876543210", &[1], b"\x00\x01A", OUTLINKS, FETCHED];
    both_ways(&output(true), &parts);
}

#[test]
fn fetcher_output_of_nutch_0_5() {
    both_ways(&output(false), &[&[4], &listed(), b"fedcba9876543210", &[1], FETCHED]);
}

#[test]
fn contents_of_nutch_0_4() {
    both_ways(&FetcherContent(Some(b"abc".to_vec())), &[&[1], ABC[0], ABC[1]]);
    both_ways(&FetcherText(Some(b"abc".to_vec())), &[&[1], ABC[0], ABC[1]]);
    both_ways(&FetcherContent(None), &[&[1], &[0xff; 4]]);
}

#[test]
fn content_of_nutch_0_5() {
    let content = Content {
        url: "http://a.example/".into(),
        base: "http://b.example/".into(),
        content: Some(b"abc".to_vec()),
        content_type: "text/html".into(),
        metadata: vec![("Server".into(), "x".into())],
    };
    let parts: [&[u8]; 8] = [
        &[1],
        b"\x00\x11http://a.example/",
        b"\x00\x11http://b.example/",
        ABC[0],
        ABC[1],
        b"\x00\x09text/html",
        &[0, 0, 0, 1],
        b"\x00\x06Server\x00\x01x",
    ];
    both_ways(&content, &parts);
}

#[test]
fn parse_text_and_data() {
    both_ways(&ParseText("abc".into()), &[&[1], ABC[0], ABC[1]]);
    let data = ParseData { title: "A".into(), outlinks: outlinks(), metadata: vec![] };
    both_ways(&data, &[&[1], b"\x00\x01A", OUTLINKS, &[0; 4]]);
}

#[test]
fn records_of_another_version_are_refused_by_number() {
    let refused = |bytes: &[u8]| FetcherOutput::decode(bytes).unwrap_err().to_string();
    assert_eq!(refused(&[5]), "byte 0: the fetcher output has version 5: known are 3, 4");
    assert_eq!(refused(&[4, 1]), "byte 1: the fetch list entry has version 1: known are 2");
    assert_eq!(refused(&[4, 2, 1, 3]), "byte 3: the page has version 3: known are 4");
    assert_eq!(
        ParseData::decode(&[2]).unwrap_err().to_string(),
        "byte 0: the parse data has version 2: known are 1"
    );
}
