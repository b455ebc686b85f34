use std::io::Write;

use super::*;
use proptest::prelude::*;

fn reader(bytes: &[u8]) -> GraphReader {
    GraphReader::new("graph.tsv".into(), Cursor::new(bytes.to_vec())).unwrap()
}

/// Each record as `line url score [link score ...]`, each error as its message.
fn all(bytes: &[u8]) -> Vec<String> {
    let mut reader = reader(bytes);
    let mut out = Vec::new();
    loop {
        match reader.next_record() {
            Ok(None) => return out,
            Ok(Some(record)) => {
                let links: Vec<String> =
                    record.links().map(|(url, score)| format!("{url} {score}")).collect();
                out.push(format!("{} {} {} {links:?}", record.line_number, record.url, record.score));
            }
            Err(error) => out.push(error.to_string()),
        }
    }
}

#[test]
fn both_forms_are_read() {
    let text = "http://a/\thttp://b/ ../c\n\nhttp://b/\nhttp://c/\t\r\nhttp://d/\t0.5\thttp://a/ 0.25 x -1\n\
                http://e/\t1\t\nhttp://f/\t a  b ";
    assert_eq!(
        all(text.as_bytes()),
        [
            r#"1 http://a/ 0 ["http://b/ 0", "../c 0"]"#,
            r#"3 http://b/ 0 []"#,
            r#"4 http://c/ 0 []"#,
            r#"5 http://d/ 0.5 ["http://a/ 0.25", "x -1"]"#,
            r#"6 http://e/ 1 []"#,
            r#"7 http://f/ 0 ["a 0", "b 0"]"#,
        ]
    );
}

#[test]
fn a_bad_line_is_named_and_the_next_one_is_read() {
    let text =
        b"http://a/\tb\tc 1\nhttp://a/\t1\tb 1 c\nhttp://a/\t1\tb x\na\t1\tb 1\tc\n\tb\nhttp://\xff/\nok\n";
    assert_eq!(
        all(text),
        [
            r#"graph.tsv:1: "b" is no score: give a finite number"#,
            r#"graph.tsv:2: the link "c" has no score: write url<TAB>score<TAB>link score link score ..."#,
            r#"graph.tsv:3: "x" is no score: give a finite number"#,
            "graph.tsv:4: 3 tabs: write url<TAB>links or url<TAB>score<TAB>links",
            "graph.tsv:5: the line starts with no URL: write url<TAB>links or url<TAB>score<TAB>links",
            "graph.tsv:6: the text is not UTF-8 at byte 8 of the line",
            "7 ok 0 []",
        ]
    );
}

#[test]
fn compressed_files_are_known_by_their_first_bytes() {
    let text = b"http://a/\thttp://b/\nhttp://b/\thttp://a/\n";
    let plain = all(text);
    let gzip = |part: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    assert_eq!(all(&gzip(text)), plain);
    // Several members one after the other are one file, as for gzip itself.
    assert_eq!(all(&[gzip(&text[..5]), gzip(&text[5..])].concat()), plain);
    assert_eq!(all(&zstd::encode_all(&text[..], 3).unwrap()), plain);
    assert_eq!(all(b""), [""; 0]);
}

#[test]
fn a_file_cut_short_is_an_error_that_names_it() {
    let whole = zstd::encode_all(&b"http://a/\thttp://b/\n"[..], 3).unwrap();
    let error = reader(&whole[..whole.len() - 3]).next_record().unwrap_err();
    assert!(error.to_string().starts_with("graph.tsv: "), "{error}");
    let missing = GraphReader::open(Path::new("/nowhere/graph.tsv")).err().unwrap();
    assert!(missing.to_string().starts_with("/nowhere/graph.tsv: "), "{missing}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut reader = reader(&bytes);
        for _ in 0..400 {
            match reader.next_record() {
                Ok(None) | Err(GraphFileError::Io { .. }) => break,
                Ok(Some(record)) => { record.links().count(); }
                Err(GraphFileError::Line { .. }) => (),
            }
        }
    }

    #[test]
    fn lines_of_tabs_spaces_and_words_never_panic(text in "[a\t\n 1.é-]{0,80}") {
        all(text.as_bytes());
    }
}
