//! Sites in several forms (setting `same_site`), over HTTP.

use aduana::types::SameSite;
use serde_json::{Value, json};

use crate::support::{TestServer, options};

async fn answer(server: &TestServer, path: &str) -> Vec<Value> {
    let answer = server.get(path).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn answers_have_the_main_form_whatever_form_is_asked_for() {
    let server = TestServer::start_of(options(), SameSite { www: true, scheme: true }).await;
    let page =
        json!({"url": "http://www.a.example/", "links": [["https://a.example/x", 1], "http://b.example/"]});
    assert_eq!(server.post(page.to_string()).await.status, 201);
    server.stats_when(|stats| stats.crawled == 1).await;

    // A page that is handed out in the main form may be posted in another.
    let (main, x) = ("http://www.a.example/", "http://www.a.example/x");
    assert_eq!(server.get("/request?n=1").await.json(), json!([x]));
    server.stats_when(|stats| stats.leased == 1).await;
    let crawled = json!({"url": "https://a.example/x", "links": ["/"]}).to_string();
    assert_eq!(server.post(crawled).await.status, 201);
    let stats = server.stats_when(|stats| stats.crawled == 2).await;
    assert_eq!((stats.pages, stats.leased, stats.domains), (3, 0, 2));

    let ends = |links: Vec<Value>| -> Vec<[Value; 2]> {
        links.iter().map(|link| [link["from"].clone(), link["to"].clone()]).collect()
    };
    for form in ["http://a.example", "https://a.example", "http://www.a.example", "https://www.a.example"] {
        assert_eq!(answer(&server, &format!("/page?url={form}/x")).await[0]["url"], x);
        let from = ends(answer(&server, &format!("/links?from={form}/")).await);
        assert_eq!(from, [[json!(main), json!(x)], [json!(main), json!("http://b.example/")]]);
        let to = ends(answer(&server, &format!("/links?to={form}/")).await);
        assert_eq!(to, [[json!(x), json!(main)]]);
        let pages = answer(&server, &format!("/pages?prefix={form}/")).await;
        assert_eq!(pages.iter().map(|page| &page["url"]).collect::<Vec<_>>(), [main, x]);
    }
    server.stop().await;
}
