//! Exports, and that what they write can be imported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aduana::graph_file::GraphReader;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::Value;

use crate::support::{CUT, command, contents, import, names, stdout, told};

/// Score and links of each page of a link-graph text.
fn graph(text: &str) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let mut reader =
        GraphReader::new("export".into(), std::io::Cursor::new(text.to_owned().into_bytes())).unwrap();
    let mut pages = BTreeMap::new();
    while let Some(record) = reader.next_record().unwrap() {
        assert!(record.scored);
        let links = record.links().map(|(url, _)| url.to_owned()).collect();
        let before = pages.insert(record.url.to_owned(), (record.score.to_string(), links));
        assert!(before.is_none());
    }
    pages
}

#[test]
fn an_exported_link_graph_makes_the_same_links() {
    let dir = tempfile::tempdir().unwrap();
    import(dir.path(), &["first", CUT]);
    let exported = stdout(dir.path(), &["export", "first", "--format", "link-graph"]);
    std::fs::write(dir.path().join("exported.tsv"), &exported).unwrap();
    import(dir.path(), &["second", "exported.tsv"]);
    let again = stdout(dir.path(), &["export", "second", "--format", "link-graph", "--output", "-"]);
    let (exported, again) = (graph(&exported), graph(&again));
    assert_eq!(exported.len(), 2_126);
    assert_eq!(exported, again);
    // Pages that nobody crawled are there, too: all are linked.
    assert_eq!(contents(dir.path(), "first").len(), contents(dir.path(), "second").len());
}

#[test]
fn scores_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let text = "http://a.test/\t0.1\thttp://b.test/ 0.3 http://c.test/ 16777216\n\
                http://b.test/\t-1\thttp://a.test/ 1 http://c.test/ 0.000000001\n";
    std::fs::write(dir.path().join("a.tsv"), text).unwrap();
    import(dir.path(), &["first", "a.tsv"]);
    let exported = stdout(dir.path(), &["export", "first", "--format", "link-graph"]);
    std::fs::write(dir.path().join("b.tsv"), &exported).unwrap();
    import(dir.path(), &["second", "b.tsv"]);
    assert_eq!(contents(dir.path(), "first"), contents(dir.path(), "second"));
    assert!(exported.starts_with("http://a.test/\t0.1\t"), "{exported}");
}

#[test]
fn a_parquet_file_has_what_ndjson_has() {
    let dir = tempfile::tempdir().unwrap();
    import(dir.path(), &["db", CUT]);
    std::fs::write(
        dir.path().join("more.ndjson"),
        "{\"url\": \"http://a.test/\", \"content_hash\": 7, \"score\": 0.5, \"time\": 1.25}\n\
         {\"url\": \"http://a.test/2\", \"content_hash\": \"x\"}\n",
    )
    .unwrap();
    import(dir.path(), &["db", "more.ndjson", "--format", "ndjson"]);
    stdout(dir.path(), &["export", "db", "--format", "parquet", "--links", "--output", "pages.parquet"]);
    stdout(dir.path(), &["export", "db", "--format", "parquet", "--output", "short.parquet"]);
    assert_eq!(names(dir.path()), ["db", "more.ndjson", "pages.parquet", "short.parquet"]);
    let mut found = 0;
    let expected: BTreeMap<String, Value> = contents(dir.path(), "db")
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|page| (page["url"].as_str().unwrap().to_owned(), page))
        .collect();
    let columns = [
        "url",
        "index",
        "domain",
        "status",
        "score",
        "given_score",
        "depth",
        "attempts",
        "linked_from",
        "first_crawl",
        "last_crawl",
        "crawls",
        "changes",
        "content_score",
        "content_hash",
        "links",
    ];
    for row in rows(&dir.path().join("pages.parquet")) {
        let names: Vec<&str> = row.get_column_iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, columns);
        let page = &expected[row.get_string(0).unwrap()];
        assert_eq!(page["index"], row.get_long(1).unwrap());
        assert_eq!(page["status"], row.get_string(3).unwrap().as_str());
        assert_eq!(page["score"].as_f64().unwrap() as f32, row.get_float(4).unwrap());
        assert_eq!(page["depth"], row.get_uint(6).unwrap());
        assert_eq!(page["linked_from"].as_i64(), row.get_long(8).ok());
        assert_eq!(
            page["first_crawl"].as_f64().map(|s| (s * 1000.0) as i64),
            row.get_timestamp_millis(9).ok()
        );
        assert_eq!(page["crawls"], row.get_uint(11).unwrap());
        let hash = row.get_string(14).ok().cloned();
        assert_eq!(
            page["content_hash"]
                .as_str()
                .map(str::to_owned)
                .or(page["content_hash"].as_u64().map(|n| n.to_string())),
            hash
        );
        let links = row.get_list(15).ok().map(|list| {
            list.elements().iter().map(|e| e.to_string().trim_matches('"').to_owned()).collect::<Vec<_>>()
        });
        let wanted = page["links"]
            .as_array()
            .map(|links| links.iter().map(|l| l.as_str().unwrap().to_owned()).collect::<Vec<_>>());
        assert_eq!(wanted, links, "{page}");
        found += 1;
    }
    assert_eq!(found, expected.len());
    assert_eq!(rows(&dir.path().join("short.parquet")).len(), found);
}

fn rows(path: &Path) -> Vec<parquet::record::Row> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    import(dir.path(), &["db", CUT]);
    for format in ["ndjson", "link-graph", "parquet"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(dir.path(), &["export", "db", "--format", format])
            .stdout(writer)
            .stderr(std::process::Stdio::piped())
            .output()
            .unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{format}");
    }
}

#[test]
fn a_file_appears_when_it_is_complete_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let told = told(dir.path(), &["export", "none", "--format", "ndjson", "--output", "out"]);
    assert!(told.contains("exit code 1"), "{told}");
    insta::assert_snapshot!("export_of_nothing", told);
    assert!(names(dir.path()).is_empty());
    import(dir.path(), &["db", CUT]);
    std::fs::create_dir(dir.path().join("out")).unwrap();
    // The name is taken by a folder: nothing is left beside it.
    let status = command(dir.path(), &["export", "db", "--format", "ndjson", "--output", "out"]).status();
    assert_eq!(status.unwrap().code(), Some(1));
    assert_eq!(names(dir.path()), ["db", "out"]);
}
