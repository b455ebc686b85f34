//! Streams of pages, one a line.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use crate::support::{Body, MAX_BODY, TestServer, full, streamed};

const NDJSON: &str = "application/x-ndjson";

#[tokio::test]
async fn good_lines_are_taken_and_bad_ones_named() {
    let server = TestServer::start().await;
    let long = format!(r#"{{"url": "http://a.example/{}"}}"#, "x".repeat(MAX_BODY));
    let body = [
        r#"{"url": "http://a.example/1", "links": ["/x", "tel:1"]}"#,
        "",
        r#"{"url": "/relative"}"#,
        "not json",
        "  \r",
        &long,
        r#"{"url": "http://a.example/2", "links": ["/y", 5, "tel:2"]}"#,
        r#"[{"url": "http://a.example/3"}]"#,
        r#"{"url": "http://a.example/4"}"#,
    ]
    .join("\n");
    let answer = server.post_as(NDJSON, full(body)).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(answer.header("aduana-skipped-links"), Some("1"));
    assert_eq!(
        answer.json(),
        json!({"accepted": 2, "rejected": 5, "skipped_links": 1, "errors": [
            {"line": 3, "error": "url: \"/relative\": relative URL without a base; give an absolute http or https URL"},
            {"line": 4, "error": "not valid JSON at column 2: expected ident"},
            {"line": 6, "error": "the line is longer than max_body_bytes, 65536 bytes"},
            {"line": 7, "error": "links[1]: invalid type: integer `5`; give a URL, [URL], [URL, score] or [URL, score, anchor]"},
            {"line": 8, "error": "invalid type: sequence; give a page, {\"url\": ...}"},
        ]})
    );
    let stats = server.stats_when(|stats| stats.crawled == 2).await;
    assert_eq!((stats.pages, stats.pages_received), (3, 2));
}

#[tokio::test]
async fn a_stream_without_a_good_line_is_refused_and_an_empty_one_is_not() {
    let server = TestServer::start().await;
    let answer = server.post_as(NDJSON, full("{}\n{}\n")).await;
    assert_eq!((answer.status, &answer.json()["rejected"]), (400, &json!(2)));
    let answer = server.post_as("application/jsonl", full("\n\n")).await;
    assert_eq!((answer.status, &answer.json()["accepted"]), (201, &json!(0)));
}

#[tokio::test]
async fn only_the_first_hundred_bad_lines_are_named() {
    let server = TestServer::start().await;
    let answer = server.post_as(NDJSON, full("{}\n".repeat(150))).await;
    let summary = answer.json();
    assert_eq!((&summary["rejected"], summary["errors"].as_array().unwrap().len()), (&json!(150), 100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_megabytes_come_through_in_chunks_of_any_size() {
    const PAGES: usize = 12_000;
    let server = TestServer::start().await;
    let mut page = 0;
    let mut rest: Vec<u8> = Vec::new();
    let chunks = stream::iter(std::iter::from_fn(move || {
        while rest.len() < 50_000 && page < PAGES {
            rest.extend_from_slice(line(page).as_bytes());
            page += 1;
        }
        // Never at the end of a line, but at the very end.
        let size = rest.len().min(37_003);
        let chunk: Vec<u8> = rest.drain(..size).collect();
        (!chunk.is_empty()).then(|| Bytes::from(chunk))
    }));
    let answer = server.post_as(NDJSON, streamed(chunks)).await;
    let summary = answer.json();
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!((&summary["accepted"], &summary["rejected"]), (&json!(PAGES), &json!(0)), "{summary}");
    let stats = server.stats_when(|stats| stats.crawled as usize == PAGES).await;
    assert_eq!(stats.links as usize, PAGES * 30);
}

fn line(page: usize) -> String {
    let links: Vec<String> = (0..30)
        .map(|link| format!(r#"["http://site{}.example/some/page/{}.html", 0.5]"#, link % 3, page * 7 + link))
        .collect();
    format!("{{\"url\": \"http://site.example/{page}\", \"links\": [{}]}}\n", links.join(", "))
}

/// A body that is written while the server reads it.
fn live() -> (mpsc::Sender<Bytes>, Body) {
    let (sender, receiver) = mpsc::channel(4);
    let chunks =
        stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|chunk| (chunk, receiver)));
    // The box wants to be shared between threads; a stream is only ever polled by one.
    (sender, streamed(sync_wrapper(chunks)))
}

fn sync_wrapper<S>(inner: S) -> impl futures_util::Stream<Item = Bytes> + Send + Sync
where
    S: futures_util::Stream<Item = Bytes> + Send + 'static,
{
    let inner = parking_lot::Mutex::new(Box::pin(inner));
    stream::poll_fn(move |cx| inner.lock().as_mut().poll_next(cx))
}

#[tokio::test]
async fn lines_count_while_the_stream_goes_on() {
    let server = TestServer::start().await;
    let (sender, body) = live();
    let post = server.post_as(NDJSON, body);
    let write = async {
        sender.send(Bytes::from("{\"url\": \"http://a.example/1\"}\n{\"url\": ")).await.unwrap();
        server.stats_when(|stats| stats.crawled == 1).await;
        sender.send(Bytes::from("\"http://a.example/2\"}")).await.unwrap();
        drop(sender);
    };
    let (answer, ()) = tokio::join!(post, write);
    assert_eq!((answer.status, &answer.json()["accepted"]), (201, &json!(2)), "{}", answer.body);
}

#[tokio::test]
async fn what_came_whole_before_the_client_died_stays() {
    let server = TestServer::start().await;
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let lines = "{\"url\": \"http://a.example/1\"}\n{\"url\": \"http://a.example/cut-off\"}";
    let request = format!(
        "POST /crawled HTTP/1.1\r\nhost: x\r\ncontent-type: {NDJSON}\r\ncontent-length: 1000\r\n\r\n{lines}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    server.stats_when(|stats| stats.crawled == 1).await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(50)).await;
    // The last line had no end: whether it was whole nobody knows.
    assert_eq!(server.frontier.stats().unwrap().pages_received, 1);
}

#[tokio::test]
async fn a_closed_frontier_is_a_503_with_a_summary() {
    let server = TestServer::start().await;
    server.frontier.close().unwrap();
    let answer = server.post_as(NDJSON, full("{\"url\": \"http://a.example/\"}\n")).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert_eq!(answer.json()["accepted"], json!(0));
    assert_eq!(answer.json()["error"], json!("the server is shutting down: try again when it is back"));
}
