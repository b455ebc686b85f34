//! What an import takes, and what it refuses.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{aduana, contents, import, names, stdout, told};

fn write(dir: &Path, name: &str, text: &str) {
    std::fs::write(dir.join(name), text).unwrap();
}

/// Each text as a gzip member of its own.
fn write_members(dir: &Path, name: &str, members: &[String]) {
    let mut bytes = Vec::new();
    for member in members {
        let mut gzip = flate2::write::GzEncoder::new(&mut bytes, flate2::Compression::default());
        gzip.write_all(member.as_bytes()).unwrap();
        gzip.finish().unwrap();
    }
    std::fs::write(dir.join(name), bytes).unwrap();
}

/// The exported page of a URL.
fn page(contents: &[String], url: &str) -> Value {
    let pages = contents.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    pages.into_iter().find(|page| page["url"] == url).unwrap_or_else(|| panic!("{url} is not there"))
}

fn record(headers: &[(&str, &str)], block: &str) -> String {
    let mut text = "WARC/1.0\r\n".to_owned();
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text + &format!("Content-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

#[test]
fn link_graphs_with_and_without_scores() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.tsv", "http://a.test/\thttp://a.test/1 /2 mailto:x@y\nhttp://a.test/alone\n");
    write(dir.path(), "b.tsv", "http://b.test/\t0.5\thttp://a.test/1 0.25 http://b.test/ 1\n");
    let told = import(dir.path(), &["db", "a.tsv", "b.tsv"]);
    assert!(
        told.contains("read 3 crawled pages with 4 links, 0 URLs to crawl; 1 links cannot be crawled"),
        "{told}"
    );
    let pages = contents(dir.path(), "db");
    let of = |url| page(&pages, url);
    assert_eq!(of("http://a.test/")["links"], json!(["http://a.test/1", "http://a.test/2"]));
    assert_eq!(of("http://a.test/1")["score"], 0.25);
    assert_eq!(of("http://a.test/1")["depth"], 1);
    assert_eq!(of("http://b.test/")["content_score"], 0.5);
    assert_eq!(of("http://a.test/alone")["links"], json!([]));
    assert_eq!(of("http://a.test/alone")["first_crawl"], 1_700_000_000.0);
}

#[test]
fn lists_of_urls_are_seeds() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "urls.txt",
        "\u{feff}# seeds\n\nhttp://a.test 0.5 # best\r\n  HTTP://B.test/x#y\nhttp://a.test/ 1\n",
    );
    import(dir.path(), &["db", "urls.txt", "--format", "urls"]);
    let pages = contents(dir.path(), "db");
    assert_eq!(pages.len(), 2);
    let a = page(&pages, "http://a.test/");
    assert_eq!((&a["score"], &a["depth"], &a["status"]), (&json!(1.0), &json!(0), &json!("scheduled")));
    page(&pages, "http://b.test/x");
}

#[test]
fn ndjson_is_what_the_api_takes() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "pages.ndjson",
        concat!(
            r#"{"url": "http://a.test/p", "base": "/dir/", "score": 0.5, "content_hash": "abc", "time": 5.5,"#,
            r#" "links": ["x", ["/y", 0.25], "mailto:x"]}"#,
            "\n\n",
            r#"{"url": "http://a.test/p", "content_hash": "abd", "time": 6}"#,
        ),
    );
    import(dir.path(), &["db", "pages.ndjson", "--format", "ndjson"]);
    let pages = contents(dir.path(), "db");
    let p = page(&pages, "http://a.test/p");
    assert_eq!((&p["crawls"], &p["changes"], &p["content_hash"]), (&json!(2), &json!(1), &json!("abd")));
    assert_eq!((&p["first_crawl"], &p["last_crawl"]), (&json!(5.5), &json!(6.0)));
    assert_eq!(p["links"], json!([]));
    assert_eq!(page(&pages, "http://a.test/y")["score"], 0.25);
    page(&pages, "http://a.test/dir/x");
}

#[test]
fn wat_files_of_common_crawl() {
    let dir = tempfile::tempdir().unwrap();
    let wat = |json: &Value| {
        let block = json.to_string();
        let head = [
            ("WARC-Type", "metadata"),
            ("WARC-Target-URI", "http://a.test/dir/"),
            ("Content-Type", "application/json"),
        ];
        record(&head, &block)
    };
    let envelope = |kind: &str, status: &str, links: Value| {
        json!({"Container": {"Filename": "x"}, "Envelope": {
            "WARC-Header-Metadata": {"WARC-Type": kind, "WARC-Target-URI": "http://a.test/dir/",
                "WARC-Date": "2023-11-14T22:13:20Z", "WARC-Payload-Digest": "sha1:ABC"},
            "Payload-Metadata": {"HTTP-Response-Metadata": {
                "Response-Message": {"Status": status, "Version": "HTTP/1.1"},
                "HTML-Metadata": {"Head": {"Title": "t\u{e9}", "Base": "/base/"}, "Links": links}}}}})
    };
    let links = json!([
        {"path": "A@/href", "url": "x\u{e9}", "text": "a\n text"},
        {"path": "IMG@/src", "url": "/picture.png"},
        {"path": "A@/href", "url": "http://b.test/"},
    ]);
    let members = [
        record(&[("WARC-Type", "warcinfo"), ("Content-Type", "application/warc-fields")], "software: x\r\n"),
        wat(&envelope("response", "200", links)),
        wat(&envelope("response", "404", json!([{"path": "A@/href", "url": "http://no.test/"}]))),
        wat(&envelope("request", "200", json!([]))),
        wat(&json!({"Envelope": {"WARC-Header-Metadata": {"WARC-Type": "warcinfo"}}})),
    ];
    write_members(dir.path(), "a.wat.gz", &members);
    import(dir.path(), &["db", "a.wat.gz", "--format", "wat"]);
    let pages = contents(dir.path(), "db");
    assert_eq!(pages.len(), 3, "{pages:?}");
    let found = page(&pages, "http://a.test/dir/");
    assert_eq!(
        (&found["first_crawl"], &found["content_hash"]),
        (&json!(1_700_000_000.0), &json!("sha1:ABC"))
    );
    assert_eq!(found["links"], json!(["http://b.test/", "http://a.test/base/x%C3%A9"]));
    assert_eq!(found["anchors"], json!([null, "a text"]));
}

#[test]
fn warc_files_with_and_without_outlinks() {
    let dir = tempfile::tempdir().unwrap();
    let response = |url: &str, status: &str| {
        let head = [
            ("WARC-Type", "response"),
            ("WARC-Target-URI", url),
            ("WARC-Date", "2023-11-14T22:13:20.500Z"),
            ("WARC-Payload-Digest", "sha1:XYZ"),
        ];
        record(
            &head,
            &format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\n\r\n<a href=/ignored>\r\n\r\nWARC/1.0"),
        )
    };
    let outlinks =
        "via: x\r\noutlink: http://a.test/1 L a/@href\r\noutlink: http://a.test/i.png E img/@src\r\n";
    let metadata = record(&[("WARC-Type", "metadata"), ("WARC-Target-URI", "http://a.test/")], outlinks);
    let members = [
        response("http://a.test/", "200 OK"),
        metadata,
        response("http://a.test/gone", "404 Not Found"),
        response("<http://b.test/>", "206 Partial"),
        response("dns:a.test", "200 OK"),
    ];
    write_members(dir.path(), "a.warc.gz", &members);
    write(dir.path(), "plain.warc", &members.concat());
    for (file, db) in [("a.warc.gz", "db"), ("plain.warc", "plain")] {
        import(dir.path(), &[db, file, "--format", "warc"]);
        let pages = contents(dir.path(), db);
        assert_eq!(pages.len(), 3, "{pages:?}");
        let a = page(&pages, "http://a.test/");
        assert_eq!((&a["links"], &a["content_hash"]), (&json!(["http://a.test/1"]), &json!("sha1:XYZ")));
        assert_eq!(a["last_crawl"], 1_700_000_000.5);
        assert_eq!(page(&pages, "http://b.test/")["status"], "crawled");
    }
}

#[test]
fn wrong_input_is_named_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "good.tsv", "http://a.test/\thttp://a.test/1\n");
    import(dir.path(), &["old", "good.tsv"]);
    let before = contents(dir.path(), "old");
    write(dir.path(), "page.tsv", "http://b.test/\n\nftp://c.test/\thttp://c.test/1\nhttp://d.test/\n");
    write(dir.path(), "score.tsv", "http://b.test/\tx\thttp://c.test/ 1\n");
    write(dir.path(), "urls.txt", "http://b.test/\nhttp://b.test/ high\n");
    write(
        dir.path(),
        "pages.ndjson",
        "{\"url\": \"http://b.test/\"}\n{\"url\": \"http://b.test/\", \"lnks\": []}\n",
    );
    let cut =
        record(&[("WARC-Type", "metadata"), ("Content-Type", "application/json")], "{\"Envelope\": {}}");
    write(dir.path(), "cut.wat", &format!("{}{}", cut, &cut[..cut.len() - 10]));
    write(dir.path(), "text.warc", "This is no WARC file.\n");
    for (name, args) in [
        ("page", &["page.tsv"][..]),
        ("score", &["score.tsv"]),
        ("urls", &["urls.txt", "--format", "urls"]),
        ("ndjson", &["pages.ndjson", "--format", "ndjson"]),
        ("wat", &["cut.wat", "--format", "wat"]),
        ("warc", &["text.warc", "--format", "warc"]),
        ("missing", &["good.tsv", "missing.tsv"]),
    ] {
        for db in ["new", "old"] {
            let told = told(dir.path(), &[&["import", db], args].concat());
            assert!(told.contains("exit code 1"), "{told}");
            if db == "new" {
                insta::assert_snapshot!(format!("wrong_{name}"), told);
            }
        }
        assert!(!dir.path().join("new").exists(), "{name}");
        assert_eq!(contents(dir.path(), "old"), before);
        assert_eq!(names(&dir.path().join("old")), ["LOCK", "log", "pages"], "{name}");
    }
    insta::assert_snapshot!("skipped", told(dir.path(), &["import", "new", "page.tsv", "--skip-bad"]));
    assert_eq!(contents(dir.path(), "new").len(), 2);
}

#[test]
fn a_new_database_is_made_as_it_is_asked_for_and_an_old_one_stays_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.tsv", "http://x.a.test/\thttp://y.a.test/\nhttp://y.a.test/\thttp://z.a.test/\n");
    import(dir.path(), &["db", "a.tsv", "--domain-unit", "registrable", "--max-crawl-depth", "1"]);
    let pages = contents(dir.path(), "db");
    assert_eq!(page(&pages, "http://z.a.test/")["status"], "too_deep");
    import(dir.path(), &["db", "a.tsv"]);
    assert_eq!(page(&contents(dir.path(), "db"), "http://z.a.test/")["status"], "too_deep");
    let told = told(dir.path(), &["import", "db", "a.tsv", "--domain-unit", "host"]);
    assert!(told.contains("domain_unit = \"registrable\""), "{told}");
}

#[test]
fn sites_of_an_import_may_count_as_one() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.tsv", "http://a.test/\thttps://www.b.test/ http://www.a.test/1 http://b.test/\n");
    write(dir.path(), "b.tsv", "https://a.test/1\thttp://b.test/ http://www.c.test/ https://c.test/1\n");
    import(dir.path(), &["db", "a.tsv", "--same-site", "www,scheme"]);
    // The forms of the old database stay, its setting too.
    import(dir.path(), &["db", "b.tsv"]);
    let pages = contents(dir.path(), "db");
    assert_eq!(pages.len(), 5, "{pages:?}");
    for url in [
        "http://a.test/",
        "http://a.test/1",
        "https://www.b.test/",
        "http://www.c.test/",
        "http://www.c.test/1",
    ] {
        page(&pages, url);
    }
    let found: Value =
        serde_json::from_str(&stdout(dir.path(), &["find", "db", "https://b.test/", "--json"])).unwrap();
    assert_eq!((&found["url"], &found["domain"]), (&json!("https://www.b.test/"), &json!("b.test")));
    let told = told(dir.path(), &["import", "db", "a.tsv", "--same-site", "www"]);
    assert!(told.contains("same_site = [\"www\", \"scheme\"]"), "{told}");
    import(dir.path(), &["other", "a.tsv", "--same-site", ""]);
    assert_eq!(contents(dir.path(), "other").len(), 4);
}

#[test]
fn the_help_texts() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["import", "export"] {
        insta::assert_snapshot!(format!("help_of_{command}"), told(dir.path(), &[command, "--help"]));
    }
    let few = aduana(dir.path(), &["import", "db", "x", "--memory", "1M"]);
    assert_eq!(few.status.code(), Some(2));
}
