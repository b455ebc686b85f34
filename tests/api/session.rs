//! Good requests, the manual's first.

use hyper::Request;
use serde_json::json;

use crate::support::{MAX_BODY, TestServer, full};

const MANUAL: &str = r#"{ "url" : "http://scrapinghub.com",
   "score": 0.5,
   "links": [["http://scrapinghub.com/professional-services/", 1.0],
        ["http://scrapinghub.com/platform/", 0.5],
        ["http://scrapinghub.com/pricing/", 0.8],
        ["http://scrapinghub.com/clients/", 0.9]] }"#;

#[tokio::test]
async fn the_manuals_session_works_as_printed() {
    let server = TestServer::start().await;
    let answer = server.post(MANUAL).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(answer.json(), json!({"pages": 1, "links": 4, "skipped_links": 0}));
    assert_eq!(answer.header("aduana-skipped-links"), Some("0"));

    let answer = server.get("/request?n=3").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    assert_eq!(
        answer.json(),
        json!([
            "http://scrapinghub.com/professional-services/",
            "http://scrapinghub.com/clients/",
            "http://scrapinghub.com/pricing/"
        ])
    );
    // The default number is more than what is left.
    assert_eq!(server.get("/request").await.json(), json!(["http://scrapinghub.com/platform/"]));
    assert_eq!(server.get("/request").await.body, "[]");
}

#[tokio::test]
async fn the_full_format_tells_all_of_a_hand_out() {
    let server = TestServer::start().await;
    server.post(r#"{"url": "http://a.example/", "links": [["/x", 0.1]]}"#).await;
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let answer = server.get("/request?format=full&n=5").await;
    let mut pages = answer.json();
    let lease = pages[0]["lease_expires"].take().as_f64().unwrap();
    assert!((lease - before - 3600.0).abs() < 30.0, "{lease}");
    assert_eq!(
        pages,
        json!([{
            "url": "http://a.example/x", "score": 0.1, "domain": "a.example", "depth": 1,
            "lease_expires": null, "attempts": 0
        }])
    );
    // 0.1 as it was sent, not the nearest 64-bit number to the 32-bit score.
    assert!(answer.body.contains("\"score\":0.1,"), "{}", answer.body);
}

#[tokio::test]
async fn zero_pages_are_an_empty_list_and_urls_is_the_default_format() {
    let server = TestServer::start().await;
    server.post(r#"{"url": "http://a.example/", "links": ["/x"]}"#).await;
    assert_eq!(server.get("/request?n=0").await.body, "[]");
    assert_eq!(server.get("/request?format=urls").await.body, r#"["http://a.example/x"]"#);
}

#[tokio::test]
async fn links_come_in_three_forms_and_bad_ones_are_counted() {
    let server = TestServer::start().await;
    let answer = server
        .post(
            r##"{"url": "http://a.example/dir/page", "base": "/other/", "content_hash": "f00", "time": 1435048846,
                "links": ["bare", ["pair", 2], ["single"], "javascript:void(0)", "mailto:a@b.example", "#top"]}"##,
        )
        .await;
    assert_eq!(answer.json(), json!({"pages": 1, "links": 4, "skipped_links": 2}));
    assert_eq!(answer.header("aduana-skipped-links"), Some("2"));
    assert_eq!(
        server.get("/request").await.json(),
        json!([
            "http://a.example/other/pair",
            "http://a.example/other/bare",
            "http://a.example/other/single",
            "http://a.example/other/"
        ])
    );
}

#[tokio::test]
async fn an_array_is_taken_as_a_whole() {
    let server = TestServer::start().await;
    let body = r#"[{"url": "http://a.example/", "links": ["/x", "tel:1"]}, {"url": "http://b.example/"}]"#;
    assert_eq!(server.post(body).await.json(), json!({"pages": 2, "links": 1, "skipped_links": 1}));
    assert_eq!(server.post("[]").await.json(), json!({"pages": 0, "links": 0, "skipped_links": 0}));
    let stats = server.stats_when(|stats| stats.crawled == 2).await;
    assert_eq!((stats.pages, stats.links, stats.pages_received), (3, 1, 2));
}

#[tokio::test]
async fn json_is_taken_under_the_names_that_clients_give_it() {
    let server = TestServer::start().await;
    for media in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/vnd.spider+json",
        // What curl -d sends.
        "application/x-www-form-urlencoded",
    ] {
        let answer = server.post_as(media, full(r#" {"url": "http://a.example/"}"#)).await;
        assert_eq!(answer.status, 201, "{media}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_taken() {
    let server = TestServer::start().await;
    let page = r#"{"url": "http://a.example/"}"#;
    let body = format!("{page}{}", " ".repeat(MAX_BODY - page.len()));
    assert_eq!(server.post(body).await.status, 201);
}

#[tokio::test]
async fn head_answers_as_get_does_and_hands_nothing_out() {
    let server = TestServer::start().await;
    server.post(r#"{"url": "http://a.example/", "links": ["/x"]}"#).await;
    for path in ["/", "/request?n=5", "/stats", "/health"] {
        let answer = server.send(Request::head(path).body(full("")).unwrap()).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, ""), "{path}");
    }
    let bad = server.send(Request::head("/request?n=x").body(full("")).unwrap()).await;
    assert_eq!(bad.status, 400);
    assert_eq!(server.get("/request").await.body, r#"["http://a.example/x"]"#);
}

#[tokio::test]
async fn health_stats_and_the_index_answer() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/health").await.body, r#"{"live":true,"ready":true}"#);
    server.post(r#"{"url": "http://a.example/", "links": ["/x"]}"#).await;
    server.stats_when(|stats| stats.links == 1).await;
    let stats = server.get("/stats").await;
    assert_eq!(stats.header("content-type"), Some("application/json"));
    assert_eq!((&stats.json()["pages"], &stats.json()["crawled"]), (&json!(2), &json!(1)));
    let index = server.get("/").await;
    for path in ["/crawled", "/request", "/stats", "/health"] {
        assert!(index.body.contains(path), "{}", index.body);
    }
}
