//! Pages and links read as streams, and gone on with from any line.

use hyper::Request;
use serde_json::{Value, json};

use crate::support::{TestServer, full};

async fn web() -> TestServer {
    let server = TestServer::start().await;
    let pages = json!([
        {"url": "http://a.example/1", "content_hash": 7, "links": ["/2", "http://b.example/", "http://t.example/"]},
        {"url": "http://a.example/2", "content_hash": 7, "links": ["http://t.example/"]},
        {"url": "http://b.example/", "content_hash": "7", "links": ["http://t.example/", "/x.pdf"]}
    ]);
    let request = Request::post("/crawled?wait=applied").body(full(pages.to_string())).unwrap();
    assert_eq!(server.send(request).await.status, 201);
    server
}

async fn lines(server: &TestServer, path: &str) -> Vec<Value> {
    let answer = server.get(path).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/x-ndjson")), "{path}");
    answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn texts(lines: &[Value], field: &str) -> Vec<String> {
    lines.iter().map(|line| line[field].as_str().unwrap().to_owned()).collect()
}

/// Reads a stream a line at a time, each time with the cursor of the last line.
async fn line_by_line(server: &TestServer, path: &str) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    let join = if path.contains('?') { '&' } else { '?' };
    loop {
        let after = all.last().map_or(String::new(), |line| {
            let cursor = line["cursor"].as_str().unwrap();
            format!("&after={}", url::form_urlencoded::byte_serialize(cursor.as_bytes()).collect::<String>())
        });
        let next = lines(server, &format!("{path}{join}limit=1{after}")).await;
        if next.is_empty() {
            return all;
        }
        assert_eq!(next.len(), 1);
        all.extend(next);
    }
}

#[tokio::test]
async fn pages_stream_by_url_and_by_content() {
    let server = web().await;
    let all = lines(&server, "/pages").await;
    let urls = [
        "http://a.example/1",
        "http://a.example/2",
        "http://b.example/",
        "http://b.example/x.pdf",
        "http://t.example/",
    ];
    assert_eq!(texts(&all, "url"), urls);
    assert_eq!(line_by_line(&server, "/pages").await, all);
    for (query, wanted) in [
        ("prefix=http://b.example/", &urls[2..4]),
        ("prefix=http://b", &urls[2..4]),
        ("domain=a.example", &urls[..2]),
        ("regex=%5C.pdf$", &urls[3..4]),
        ("regex=%5C.pdf$&domain=a.example", &[][..]),
        ("after=http://b.example/x", &urls[3..]),
        ("prefix=nothing", &[][..]),
    ] {
        assert_eq!(texts(&lines(&server, &format!("/pages?{query}")).await, "url"), wanted, "{query}");
    }
    let by_content = lines(&server, "/pages?order=content").await;
    let hashes: Vec<&Value> = by_content.iter().map(|page| &page["content_hash"]).collect();
    assert_eq!(hashes, [&json!(7), &json!(7), &json!("7")]);
    assert_eq!(line_by_line(&server, "/pages?order=content").await, by_content);
    assert_eq!(lines(&server, "/pages?content_hash=7").await, by_content[..2]);
    assert_eq!(lines(&server, "/pages?content_hash=%227%22").await, by_content[2..]);
    assert_eq!(lines(&server, "/pages?content_hash=8").await, [Value::Null; 0]);
    for (hash, status) in [("7", 200), ("8", 404)] {
        let request = Request::head(format!("/pages?content_hash={hash}")).body(full("")).unwrap();
        assert_eq!(server.send(request).await.status, status);
    }
    server.stop().await;
}

#[tokio::test]
async fn links_stream_by_source_and_by_target() {
    let server = web().await;
    let to = lines(&server, "/links?to=http://t.example/").await;
    assert_eq!(texts(&to, "from"), ["http://a.example/1", "http://a.example/2", "http://b.example/"]);
    assert_eq!(line_by_line(&server, "/links?to=http://t.example/").await, to);
    let from = lines(&server, "/links?from=http://a.example/1").await;
    assert_eq!(texts(&from, "to"), ["http://a.example/2", "http://b.example/", "http://t.example/"]);
    assert_eq!(line_by_line(&server, "/links?from=http://a.example/1").await, from);
    let by_content = lines(&server, "/links?from_content=7").await;
    assert_eq!(texts(&by_content, "to"), texts(&from, "to"));
    let all = lines(&server, "/links").await;
    assert_eq!(all.len(), 6);
    assert_eq!(line_by_line(&server, "/links").await, all);
    // What has changed since the graph was built is seen at once.
    let request = Request::delete("/page?url=http://a.example/2&wait=applied").body(full("")).unwrap();
    server.send(request).await;
    let to = lines(&server, "/links?to=http://t.example/").await;
    assert_eq!(texts(&to, "from"), ["http://a.example/1", "http://b.example/"]);
    let all = lines(&server, "/links").await;
    assert_eq!(all.len() as u64, server.frontier.stats().unwrap().links);
    assert_eq!(all.len(), 4);
    assert_eq!(server.get("/links?to=http://a.example/2").await.status, 404);
    server.stop().await;
}
