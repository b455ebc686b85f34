//! `docs/nutch.md` and the code say the same: each of its examples is what the code writes and reads, and each
//! example here stands there.

use std::collections::BTreeMap;

use aduana::nutch::record::{Content, FetcherContent, Page, ParseData, ParseText};
use aduana::nutch::sequence_file::{Compression, Header, WriteOptions};
use aduana::nutch::{Limits, Record};

use crate::support::{Pairs, encoded, entry, outlinks, output, page, read_sequence, write_sequence};

/// Lines `name = bytes`.
fn documented() -> BTreeMap<String, String> {
    let document = include_str!("../../docs/nutch.md");
    let is_hex = |text: &str| {
        text.split(' ').all(|byte| byte.len() == 2 && byte.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    let examples = document.lines().filter_map(|line| line.trim().split_once(" = "));
    let examples: Vec<_> = examples.filter(|(_, bytes)| is_hex(bytes)).collect();
    let found: BTreeMap<_, _> = examples.iter().map(|&(n, b)| (n.to_owned(), b.to_owned())).collect();
    assert_eq!(found.len(), examples.len(), "two examples have one name");
    found
}

#[derive(Default)]
struct Examples(BTreeMap<String, String>);

impl Examples {
    fn add(&mut self, name: &str, bytes: &[u8]) {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(self.0.insert(name.to_owned(), bytes.join(" ")), None, "{name}");
    }

    fn record<T: Record + PartialEq + std::fmt::Debug>(&mut self, name: &str, record: &T) {
        let bytes = encoded(record);
        assert_eq!(&T::decode(&bytes).unwrap(), record);
        self.add(name, &bytes);
    }

    fn sequence(&mut self, name: &str, header: Header, options: WriteOptions, pairs: &Pairs) {
        let head = write_sequence(header.clone(), options, &Vec::new());
        let all = write_sequence(header.clone(), options, pairs);
        assert_eq!(read_sequence(&all, Limits::default()).unwrap(), (header, pairs.clone()));
        self.add(&format!("{name} header"), &head);
        self.add(&format!("{name} records"), &all[head.len()..]);
    }
}

/// Texts and compressed arrays, as they stand in a record behind its version.
fn primitives(examples: &mut Examples) {
    for (name, title) in [("any", "any"), ("é€", "é€"), ("NUL", "\0"), ("😀", "😀")] {
        let data = ParseData { title: title.into(), outlinks: vec![], metadata: vec![] };
        let bytes = encoded(&data);
        examples.add(&format!("UTF8 {name}"), &bytes[1..bytes.len() - 8]);
    }
    examples.add("compressed abc", &encoded(&FetcherContent(Some(b"abc".to_vec())))[1..]);
    examples.add("compressed null", &encoded(&FetcherContent(None))[1..]);
    let metadata = vec![("Server".to_owned(), "x".to_owned())];
    let data = ParseData { title: String::new(), outlinks: vec![], metadata };
    examples.add("properties", &encoded(&data)[7..]);
    let data = ParseData { title: String::new(), outlinks: outlinks(), metadata: vec![] };
    let bytes = encoded(&data);
    examples.add("outlinks", &bytes[3..bytes.len() - 4]);
    // A vint is seen where a header has the length of a text.
    for length in [127, 128, 300, 70_000] {
        let mut header = Header::v6("", "", Compression::None);
        header.metadata = vec![(String::new(), "a".repeat(length))];
        let bytes = write_sequence(header, WriteOptions::default(), &Vec::new());
        let text = bytes.iter().position(|&byte| byte == b'a').unwrap();
        // Magic, two empty names, two flags, the number 1, an empty name.
        examples.add(&format!("vint {length}"), &bytes[4 + 2 + 2 + 4 + 1..text]);
    }
}

fn records(examples: &mut Examples) {
    examples.record("Page", &page());
    examples.record("Page with a count", &Page { outlink_count: Some(7), ..page() });
    examples.record("FetchListEntry", &entry());
    examples.record("FetcherOutput 3", &output(true));
    examples.record("FetcherOutput 4", &output(false));
    examples.record("ParseText", &ParseText("abc".into()));
    examples.record("FetcherContent", &FetcherContent(Some(b"abc".to_vec())));
    examples.record(
        "ParseData",
        &ParseData { title: "A".into(), outlinks: outlinks(), metadata: vec![("Server".into(), "x".into())] },
    );
    let (url, base) = ("http://a.example/".to_owned(), "http://b.example/".to_owned());
    let (content, content_type) = (Some(b"abc".to_vec()), "text/html".to_owned());
    examples.record("Content", &Content { url, base, content, content_type, metadata: vec![] });
}

fn sequences(examples: &mut Examples) {
    let long = |n: i64| n.to_be_bytes().to_vec();
    let pairs = vec![(long(640), long(672_411))];
    let options = WriteOptions { sync_interval: 1, block_bytes: 1_000 };
    examples.sequence("version 1", Header::v1("long", "long"), options, &pairs);
    for (name, compression) in
        [("plain", Compression::None), ("record", Compression::Record), ("block", Compression::Block)]
    {
        let sync = *b"0123456789abcdef";
        let class = "org.apache.hadoop.io.LongWritable";
        let header = Header { sync, ..Header::v6(class, class, compression) };
        examples.sequence(&format!("version 6 {name}"), header, options, &pairs);
    }
}

#[test]
fn the_document_has_these_examples_and_no_others() {
    let mut examples = Examples::default();
    primitives(&mut examples);
    records(&mut examples);
    sequences(&mut examples);
    let documented = documented();
    for (name, bytes) in &examples.0 {
        assert_eq!(documented.get(name), Some(bytes), "docs/nutch.md should say: {name} = {bytes}");
    }
    assert_eq!(documented.len(), examples.0.len(), "{:?}", documented.keys());
}
