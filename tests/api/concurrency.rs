//! Many spiders at once.

use std::collections::HashSet;
use std::sync::Arc;

use hyper::Request;

use crate::support::{TestServer, full};

const CLIENTS: usize = 16;
const PAGES: usize = 100;
const LINKS: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_clients_lose_nothing_and_get_nothing_twice() {
    let server = Arc::new(TestServer::start().await);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let server = Arc::clone(&server);
            tokio::spawn(async move { crawl(&server, client).await })
        })
        .collect();
    let mut handed_out = Vec::new();
    for client in clients {
        handed_out.extend(client.await.unwrap());
    }
    loop {
        let answer = server.get("/request?n=1000").await;
        let urls: Vec<String> = serde_json::from_str(&answer.body).unwrap();
        if urls.is_empty() {
            break;
        }
        handed_out.extend(urls);
    }
    let distinct: HashSet<&String> = handed_out.iter().collect();
    assert_eq!((handed_out.len(), distinct.len()), (CLIENTS * PAGES * LINKS, CLIENTS * PAGES * LINKS));
    let stats = server.stats_when(|stats| stats.crawled as usize == CLIENTS * PAGES).await;
    assert_eq!(stats.pages_received as usize, CLIENTS * PAGES);
}

/// Tells of pages of its own, and asks for a few in between.
async fn crawl(server: &TestServer, client: usize) -> Vec<String> {
    let mut connection = server.connect().await;
    let mut urls = Vec::new();
    for page in 0..PAGES {
        let links: Vec<String> = (0..LINKS).map(|link| format!("/link/{page}/{link}")).collect();
        let body = serde_json::json!({"url": format!("http://c{client}.example/{page}"), "links": links});
        let answer = connection.send(Request::post("/crawled").body(full(body.to_string())).unwrap()).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        let answer = connection.send(Request::get("/request?n=2").body(full("")).unwrap()).await;
        urls.extend(serde_json::from_str::<Vec<String>>(&answer.body).unwrap());
    }
    urls
}
