//! Bad requests and their exact answers. Nothing may change by any of them.
//!
//! The answers are in `snapshots/`; after a change that is meant, `INSTA_UPDATE=always` writes them anew.

use std::fmt::Write;

use bytes::Bytes;
use futures_util::stream;
use hyper::Request;

use crate::support::{Body, MAX_BODY, TestServer, counted, full, streamed};

struct Case {
    method: &'static str,
    path: &'static str,
    headers: &'static [(&'static str, &'static str)],
    body: Vec<u8>,
}

fn case(method: &'static str, path: &'static str) -> Case {
    Case { method, path, headers: &[], body: Vec::new() }
}

fn crawled(body: impl Into<Vec<u8>>) -> Case {
    Case { body: body.into(), ..case("POST", "/crawled") }
}

fn typed(headers: &'static [(&'static str, &'static str)], body: &str) -> Case {
    Case { headers, ..crawled(body) }
}

const GOOD: &str = r#"{"url": "http://a.example/"}"#;
const JSON: &[(&str, &str)] = &[("accept", "application/json")];

async fn answer(server: &TestServer, case: &Case, body: Body) -> String {
    let mut request = Request::builder().method(case.method).uri(case.path);
    for (name, value) in case.headers {
        request = request.header(*name, *value);
    }
    let answer = server.send(request.body(body).unwrap()).await;
    assert!((400..600).contains(&answer.status), "{} {} was taken", case.method, case.path);
    let mut text = format!("{} {}\n", case.method, case.path);
    for (name, value) in case.headers {
        writeln!(text, "{name}: {value}").unwrap();
    }
    if !case.body.is_empty() {
        let body = String::from_utf8_lossy(&case.body);
        let shown: String = body.chars().take(120).collect();
        writeln!(text, "{shown}{}", if shown.len() < body.len() { "..." } else { "" }).unwrap();
    }
    writeln!(text, "  => {}", answer.status).unwrap();
    for name in ["allow", "retry-after", "www-authenticate"] {
        if let Some(value) = answer.header(name) {
            writeln!(text, "     {name}: {value}").unwrap();
        }
    }
    writeln!(text, "     {}", answer.header("content-type").unwrap()).unwrap();
    assert_eq!(answer.body.matches('\n').count(), 1, "one line: {}", answer.body);
    writeln!(text, "     {}", answer.body).unwrap();
    text
}

async fn check(name: &str, cases: Vec<Case>) {
    let server = TestServer::start().await;
    server.post(r#"{"url": "http://known.example/", "links": ["/waiting"]}"#).await;
    let before = counted(&server.stats_when(|stats| stats.scheduled == 1).await);
    let mut text = String::new();
    for case in cases {
        text += &answer(&server, &case, full(case.body.clone())).await;
    }
    assert_eq!(counted(&server.frontier.stats().unwrap()), before);
    insta::assert_snapshot!(name, text);
}

#[tokio::test]
async fn paths_and_methods() {
    check(
        "paths_and_methods",
        vec![
            case("GET", "/crawl"),
            case("GET", "/requests?n=3"),
            case("POST", "/crawled/"),
            case("GET", "/favicon.ico"),
            case("GET", "/%22%0A"),
            case("GET", "/crawled"),
            case("PUT", "/crawled"),
            case("POST", "/request"),
            case("DELETE", "/stats"),
            case("POST", "/health"),
            Case { headers: JSON, ..case("PATCH", "/") },
            Case { headers: JSON, ..case("GET", "/nothing") },
        ],
    )
    .await;
}

#[tokio::test]
async fn requests() {
    check(
        "requests",
        vec![
            case("GET", "/request?n=three"),
            case("GET", "/request?n=-1"),
            case("GET", "/request?n=1.5"),
            case("GET", "/request?n="),
            case("GET", "/request?n=+3"),
            case("GET", "/request?n=1001"),
            case("GET", "/request?n=99999999999999999999999"),
            case("GET", "/request?n=1&n=2"),
            case("GET", "/request?m=3"),
            case("GET", "/request?fromat=full"),
            case("GET", "/request?domain=a.example"),
            case("GET", "/request?format=xml"),
            case("GET", "/request?format=full&format=urls"),
            Case { headers: JSON, ..case("GET", "/request?n=x") },
            Case {
                headers: &[("accept", "text/plain, application/json;q=0.5")],
                ..case("GET", "/request?n=x")
            },
        ],
    )
    .await;
}

#[tokio::test]
async fn media_types() {
    check(
        "media_types",
        vec![
            typed(&[("content-type", "text/plain")], GOOD),
            typed(&[("content-type", "text/html; charset=utf-8")], GOOD),
            typed(&[("content-type", "multipart/form-data; boundary=x")], GOOD),
            typed(&[("content-type", "application/x-www-form-urlencoded")], "url=http%3A%2F%2Fa.example%2F"),
            typed(&[("content-type", "application/octet-stream"), ("accept", "application/json")], GOOD),
            typed(&[("content-encoding", "gzip")], GOOD),
        ],
    )
    .await;
}

#[tokio::test]
async fn json_that_is_none() {
    check(
        "json_that_is_none",
        vec![
            crawled(""),
            crawled("  \n"),
            crawled("url"),
            crawled("{"),
            crawled(r#"{"url": "http://a.example/",}"#),
            crawled(r#"{"url": "http://a.example/"} trailing"#),
            crawled("{\"url\":\n\"http://a.example/\",\n\"links\": [1 2]}"),
            crawled(r#"{'url': 'http://a.example/'}"#),
            crawled(r#"{"url": "http://a.example/", "score": NaN}"#),
            crawled(r#"{"url": "http://a.example/\ud800"}"#),
            crawled(&b"{\"url\": \"http://a.example/\xff\"}"[..]),
            crawled(r#"{"url": "http://a.example/", "links": [["#),
            crawled("[".repeat(1000)),
        ],
    )
    .await;
}

#[tokio::test]
async fn pages_at_fault() {
    check(
        "pages_at_fault",
        vec![
            crawled("5"),
            crawled("null"),
            crawled(r#""http://a.example/""#),
            crawled("{}"),
            crawled(r#"{"url": null}"#),
            crawled(r#"{"url": 5}"#),
            crawled(r#"{"url": ""}"#),
            crawled(r#"{"url": "/relative"}"#),
            crawled(r#"{"url": "ftp://a.example/"}"#),
            crawled(r#"{"url": "http://"}"#),
            crawled(r#"{"url": "http://a b/"}"#),
            crawled(format!(r#"{{"url": "http://a.example/{}"}}"#, "x".repeat(9000))),
            crawled(r#"{"link": [], "url": "http://a.example/"}"#),
            crawled(r#"{"url": "http://a.example/", "hash": 1}"#),
            crawled(r#"{"url": "http://a.example/", "metadata": {"a": 1}}"#),
            crawled(r#"{"url": "http://a.example/", "url": "http://b.example/"}"#),
            crawled(r#"{"url": "http://a.example/", "score": "0.5"}"#),
            crawled(r#"{"url": "http://a.example/", "score": true}"#),
            crawled(r#"{"url": "http://a.example/", "score": 1e39}"#),
            crawled(r#"{"url": "http://a.example/", "score": 1e999}"#),
            crawled(r#"{"url": "http://a.example/", "content_hash": -1}"#),
            crawled(r#"{"url": "http://a.example/", "content_hash": 0.5}"#),
            crawled(r#"{"url": "http://a.example/", "content_hash": 18446744073709551616}"#),
            crawled(r#"{"url": "http://a.example/", "content_hash": [1]}"#),
            crawled(format!(r#"{{"content_hash": "{}", "url": "http://a.example/"}}"#, "f".repeat(300))),
            crawled(r#"{"url": "http://a.example/", "time": "now"}"#),
            crawled(r#"{"url": "http://a.example/", "time": -1}"#),
            crawled(r#"{"url": "http://a.example/", "time": 1435048846000}"#),
            crawled(r#"{"url": "http://a.example/", "base": 5}"#),
            crawled(r#"{"url": "http://a.example/", "base": "javascript:void(0)"}"#),
            crawled(format!(
                r#"{{"url": "http://a.example/", "score": "{}"}}"#,
                ", expected\\n".repeat(1000)
            )),
            Case { headers: JSON, ..crawled(r#"{"url": "/relative"}"#) },
        ],
    )
    .await;
}

#[tokio::test]
async fn links_at_fault() {
    check(
        "links_at_fault",
        vec![
            crawled(r#"{"url": "http://a.example/", "links": "http://b.example/"}"#),
            crawled(r#"{"url": "http://a.example/", "links": {"http://b.example/": 1}}"#),
            crawled(r#"{"url": "http://a.example/", "links": ["/a", "/b", "/c", 5]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [null]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [[]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [[null, 1]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [["/a", "/b"]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [[1, "/b"]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [["/a", 1, 2]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": ["/b", ["/a", 1, ["text"]]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [["/a", 1, "text", 2]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [["/a", 1e300]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [["/a", 1e999]]}"#),
            crawled(r#"{"url": "http://a.example/", "links": [{"url": "/a"}]}"#),
            Case { headers: JSON, ..crawled(r#"{"url": "http://a.example/", "links": ["/a", 5]}"#) },
        ],
    )
    .await;
}

#[tokio::test]
async fn arrays_at_fault() {
    check(
        "arrays_at_fault",
        vec![
            crawled(r#"[{"url": "http://a.example/"}, {"url": "http://b.example/"}, {"url": "http://c.example/", "score": "x"}]"#),
            crawled(r#"[{"url": "http://a.example/"}, {"url": "/b"}]"#),
            crawled(r#"[{"url": "http://a.example/"}, {}]"#),
            crawled(r#"[{"url": "http://a.example/"}, "http://b.example/"]"#),
            crawled(r#"[{"url": "http://a.example/", "links": ["/x"]}, {"url": "http://b.example/", "links": ["/y", ["/z", {}]]}]"#),
            crawled(r#"[{"url": "http://a.example/"}"#),
            crawled(r#"[{"url": "http://a.example/"}, [{"url": "http://b.example/"}]]"#),
        ],
    )
    .await;
}

/// With an announced length, and in chunks that go beyond the limit unannounced.
#[tokio::test]
async fn bodies_beyond_the_limit() {
    let server = TestServer::start().await;
    let before = counted(&server.frontier.stats().unwrap());
    let large = format!("{GOOD}{}", " ".repeat(MAX_BODY));
    let case = crawled(large.clone());
    let mut text = answer(&server, &case, full(large.clone())).await;
    let chunks: Vec<Bytes> = large.as_bytes().chunks(5000).map(Bytes::copy_from_slice).collect();
    text += &answer(&server, &case, streamed(stream::iter(chunks))).await;
    assert_eq!(counted(&server.frontier.stats().unwrap()), before);
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn edits_at_fault() {
    check(
        "edits_at_fault",
        vec![
            case("GET", "/page"),
            case("GET", "/page?url=nowhere"),
            case("GET", "/page?url=http://nowhere.example/"),
            case("GET", "/pages?order=score"),
            case("GET", "/pages?regex=("),
            case("GET", "/pages?order=content&prefix=http://a"),
            case("GET", "/pages?order=content&after=x"),
            case("GET", "/pages?limit=many"),
            case("GET", "/links?from=http://a/&to=http://b/"),
            case("GET", "/links?to=http://nowhere.example/"),
            case("GET", "/links?after=5"),
            case("GET", "/links?anchors=yes"),
            case("GET", "/links?from_content=7&anchors=true"),
            case("DELETE", "/page"),
            case("DELETE", "/page?url=mailto:a@b"),
            case("DELETE", "/page?url=http://a.example/&wait=always"),
            case("PUT", "/page?url=http://a.example/"),
            case("PUT", "/pages"),
            Case { headers: JSON, ..case("POST", "/pages?presence=skip") },
            Case { headers: JSON, ..case("POST", "/pages?present=no") },
            Case { headers: JSON, ..case("POST", "/pages") },
            Case { headers: JSON, body: "[{}]".into(), ..case("POST", "/pages") },
            Case { headers: JSON, body: "[{\"url\": \"http://a/\"}, 5]".into(), ..case("POST", "/pages") },
            Case { headers: JSON, body: "{\"to\": \"http://a/\"}".into(), ..case("POST", "/links") },
            Case {
                headers: JSON,
                body: "{\"from\": \"http://a/\", \"to\": \"http://b/\", \"anchor\": 5}".into(),
                ..case("POST", "/links")
            },
        ],
    )
    .await;
}
