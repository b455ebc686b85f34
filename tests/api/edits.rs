//! Pages and links added and deleted over HTTP, each read back at once.

use hyper::Request;
use serde_json::{Value, json};

use crate::support::{Answer, TestServer, full};

async fn send(server: &TestServer, method: &str, path: &str, body: Value) -> Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    server.send(request.body(full(body)).unwrap()).await
}

#[tokio::test]
async fn who_waits_reads_his_own_write() {
    let server = TestServer::start().await;
    let crawled =
        json!({"url": "http://a.example/", "content_hash": 7, "links": ["/x", "http://b.example/"]});
    let answer = send(&server, "POST", "/crawled?wait=applied", crawled).await;
    assert_eq!((answer.status, &answer.json()["applied"]), (201, &json!(true)));
    let page = server.get("/page?url=http://a.example/").await.json();
    assert_eq!((&page["status"], &page["content_hash"]), (&json!("crawled"), &json!(7)));

    let answer = send(&server, "DELETE", "/page?url=http://a.example/x&wait=applied", Value::Null).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"edits":1,"applied":true}"#));
    assert_eq!(server.get("/page?url=http://a.example/x").await.status, 404);
    let stats = server.frontier.stats().unwrap();
    assert_eq!((stats.pages, stats.links), (2, 1));
    // Again: nothing, in silence.
    let answer = send(&server, "DELETE", "/page?url=http://a.example/x", Value::Null).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"edits":1}"#));

    let added = json!([
        {"url": "http://c.example/", "score": 2},
        {"url": "http://d.example/", "content_hash": "h", "crawls": 3, "changes": 1,
         "first_crawl": 1.5, "last_crawl": 2}
    ]);
    let answer = send(&server, "POST", "/pages?wait=applied", added).await;
    assert_eq!((answer.status, answer.body.as_str()), (201, r#"{"edits":2,"applied":true}"#));
    let page = server.get("/page?url=http://c.example/").await.json();
    assert_eq!(
        (&page["status"], &page["score"], &page["depth"]),
        (&json!("scheduled"), &json!(2.0), &json!(0))
    );
    let page = server.get("/page?url=http://d.example/").await.json();
    assert_eq!(
        (&page["crawls"], &page["changes"], &page["first_crawl"]),
        (&json!(3), &json!(1), &json!(1.5))
    );

    let links = json!([
        {"from": "http://d.example/", "to": "http://e.example/"},
        {"from_content": 7, "to": "http://a.example/x", "score": 0.5},
        {"from": "http://nowhere.example/", "to": "http://nor.example/"}
    ]);
    let answer = send(&server, "POST", "/links?wait=applied", links).await;
    assert_eq!((answer.status, answer.body.as_str()), (201, r#"{"edits":3,"applied":true}"#));
    assert_eq!(server.frontier.stats().unwrap().links, 3);
    assert_eq!(server.get("/page?url=http://nor.example/").await.status, 404);
    server.stop().await;
}

#[tokio::test]
async fn a_stream_of_pages_may_be_waited_for() {
    let server = TestServer::start().await;
    let lines = (0..700).map(|n| format!("{{\"url\": \"http://a.example/{n}\"}}\n")).collect::<String>();
    let request = Request::post("/crawled?wait=applied").header("content-type", "application/x-ndjson");
    let answer = server.send(request.body(full(lines)).unwrap()).await;
    assert_eq!(answer.json()["applied"], json!(true));
    assert_eq!(server.frontier.stats().unwrap().crawled, 700);
    server.stop().await;
}

#[tokio::test]
async fn what_becomes_of_a_page_that_is_present() {
    let server = TestServer::start().await;
    let with = |score: f64| json!({"url": "http://a.example/", "score": score});
    let mut told = Vec::new();
    for (present, score) in [("keep_score", 1.0), ("skip", 2.0), ("keep_score", 3.0), ("replace", 4.0)] {
        let path = format!("/pages?present={present}&wait=applied");
        assert_eq!(send(&server, "POST", &path, with(score)).await.status, 201);
        told.push(server.get("/page?url=http://a.example/").await.json()["score"].as_f64().unwrap());
    }
    assert_eq!(told, [1.0, 1.0, 1.0, 4.0]);
    // Both or none: no page has this content yet.
    let link = json!({"from_content": 5, "to": "http://c.example/"});
    let page = json!({"url": "http://b.example/", "link": link});
    send(&server, "POST", "/pages?present=skip&wait=applied", page.clone()).await;
    assert_eq!(server.get("/page?url=http://b.example/").await.status, 404);
    let source = json!({"url": "http://s.example/", "content_hash": 5});
    send(&server, "POST", "/pages?wait=applied", source).await;
    send(&server, "POST", "/pages?present=skip&wait=applied", page).await;
    assert_eq!(server.get("/page?url=http://b.example/").await.status, 200);
    assert_eq!(server.get("/page?url=http://c.example/").await.status, 200);
    server.stop().await;
}

/// What `GET /links` tells: source, target and anchor, without the cursors.
async fn links(server: &TestServer, query: &str) -> Vec<[String; 3]> {
    let answer = server.get(&format!("/links{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(!line["anchor"].is_null() || line.get("anchor").is_none(), "{line}");
        ["from", "to", "anchor"].map(|name| {
            line[name].as_str().unwrap_or("").trim_start_matches("http://").replace(".example/", "")
        })
    };
    answer.body.lines().map(line).collect()
}

fn told(lines: &[[&str; 3]]) -> Vec<[String; 3]> {
    lines.iter().map(|line| line.map(str::to_owned)).collect()
}

#[tokio::test]
async fn anchors_are_given_out_with_their_links() {
    let server = TestServer::start().await;
    let crawl = async |page: Value| {
        assert_eq!(send(&server, "POST", "/crawled?wait=applied", page).await.status, 201);
    };
    let long = "é".repeat(200);
    let page = |b: &str| {
        let links = json!([["http://b.example/", 0, b], "http://c.example/", ["http://d.example/", 0, long]]);
        json!({"url": "http://a.example/", "content_hash": 7, "links": links})
    };
    crawl(page("  to \n b\u{a0}")).await;
    crawl(json!({"url": "http://e.example/", "links": [["http://b.example/", 1, "b, says e"]]})).await;
    let cut = "é".repeat(128);
    let from_a = told(&[["a", "b", "to b"], ["a", "c", ""], ["a", "d", &cut]]);
    assert_eq!(links(&server, "?from=http://a.example/").await, from_a);
    let plain = told(&[["a", "b", ""], ["a", "c", ""], ["a", "d", ""]]);
    assert_eq!(links(&server, "?from=http://a.example/&anchors=false").await, plain);
    assert_eq!(links(&server, "?from=http://a.example/&limit=1").await, from_a[..1]);
    let to_b = told(&[["a", "b", "to b"], ["e", "b", "b, says e"]]);
    assert_eq!(links(&server, "?to=http://b.example/&anchors=true").await, to_b);
    assert_eq!(links(&server, "?to=http://b.example/").await, told(&[["a", "b", ""], ["e", "b", ""]]));
    assert_eq!(links(&server, "?from_content=7").await, told(&[["", "b", ""], ["", "c", ""], ["", "d", ""]]));
    let all = links(&server, "?anchors=true").await;
    assert_eq!(all, told(&[["a", "b", "to b"], ["e", "b", "b, says e"], ["a", "c", ""], ["a", "d", &cut]]));

    // By hand; another crawl replaces all of them.
    let link = json!({"from": "http://a.example/", "to": "http://c.example/", "anchor": "see c"});
    assert_eq!(send(&server, "POST", "/links?wait=applied", link).await.status, 201);
    let link = json!({"from_content": 7, "to": "http://f.example/", "anchor": " "});
    let added = json!({"url": "http://f.example/", "link": link});
    assert_eq!(send(&server, "POST", "/pages?present=skip&wait=applied", added).await.status, 201);
    let of_a = links(&server, "?from=http://a.example/").await;
    assert_eq!(of_a[1..], told(&[["a", "c", "see c"], ["a", "d", &cut], ["a", "f", ""]]));
    crawl(page("other")).await;
    let of_a = links(&server, "?from=http://a.example/").await;
    assert_eq!(of_a[..2], told(&[["a", "b", "other"], ["a", "c", ""]]));

    // A deleted target takes its anchor along, the others keep theirs.
    send(&server, "DELETE", "/page?url=http://b.example/&wait=applied", Value::Null).await;
    assert_eq!(links(&server, "?from=http://a.example/").await, told(&[["a", "c", ""], ["a", "d", &cut]]));
    assert_eq!(links(&server, "?from=http://e.example/").await, told(&[]));
    server.stop().await;
}
